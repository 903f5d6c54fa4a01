/* SPDX-License-Identifier: Apache-2.0 */
/* Empties and reduces capability sets. Process: set-up child, root-mode executor. Privilege: CAP_SETPCAP where it stands. */
#include "executor/ns/caps.h"

#include <errno.h>
#include <linux/securebits.h>
#include <stdbool.h>
#include <sys/prctl.h>

#include "executor/shared/ak_err.h"

#define LOCKED_SECUREBITS                                                                                            \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |              \
	 SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

static int drop_bounding(struct ak_err *err)
{
	/* cap_max_bits() asks the running kernel, which may know more capabilities than our headers */
	for (cap_value_t c = 0; c < cap_max_bits(); c++)
		if (cap_drop_bound(c) < 0)
			return ak_err_sys(err, errno, "drop capability %d from the bounding set", (int)c);
	return 0;
}

/* cap_reset_ambient() asks for each capability first: 41 calls more */
static int clear_ambient(struct ak_err *err)
{
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return ak_err_sys(err, errno, "clear the ambient set");
	return 0;
}

static int set_process_caps(const cap_value_t *keep, int n, struct ak_err *err)
{
	cap_t caps = cap_init();
	int r = 0;

	if (!caps)
		return ak_err_sys(err, errno, "cap_init");
	if (n > 0 && (cap_set_flag(caps, CAP_PERMITTED, n, keep, CAP_SET) < 0 ||
		      cap_set_flag(caps, CAP_EFFECTIVE, n, keep, CAP_SET) < 0))
		r = ak_err_sys(err, errno, "cap_set_flag");
	if (r == 0 && cap_set_proc(caps) < 0)
		r = ak_err_sys(err, errno, "set the capability sets");
	(void)cap_free(caps);
	return r;
}

static int check_empty(struct ak_err *err)
{
	cap_t caps = cap_get_proc();
	cap_t empty = cap_init();
	bool left = !caps || !empty || cap_compare(caps, empty) != 0;

	if (caps)
		(void)cap_free(caps);
	if (empty)
		(void)cap_free(empty);
	return left ? ak_err_set(err, EPERM, "a capability is left after dropping them all") : 0;
}

static int drop_all(bool bounding, struct ak_err *err)
{
	int r;

	if (prctl(PR_SET_SECUREBITS, LOCKED_SECUREBITS) < 0)
		return ak_err_sys(err, errno, "lock the securebits");
	r = bounding ? drop_bounding(err) : 0;
	if (r == 0)
		r = clear_ambient(err);
	if (r == 0)
		r = set_process_caps(NULL, 0, err);
	return r < 0 ? r : check_empty(err);
}

int caps_drop_all(struct ak_err *err)
{
	return drop_all(true, err);
}

int caps_drop_rest(struct ak_err *err)
{
	return drop_all(false, err);
}

static bool may_drop_bounding(void)
{
	cap_flag_value_t held = CAP_CLEAR;
	cap_t caps = cap_get_proc();

	if (caps) {
		(void)cap_get_flag(caps, CAP_SETPCAP, CAP_EFFECTIVE, &held);
		(void)cap_free(caps);
	}
	return held == CAP_SET;
}

int caps_drop_held(struct ak_err *err)
{
	int r;

	if (may_drop_bounding())
		return caps_drop_all(err);
	r = clear_ambient(err);
	if (r == 0)
		r = set_process_caps(NULL, 0, err);
	return r < 0 ? r : check_empty(err);
}

int caps_keep(const cap_value_t *keep, int n, struct ak_err *err)
{
	int r = drop_bounding(err);

	if (r == 0)
		r = clear_ambient(err);
	return r < 0 ? r : set_process_caps(keep, n, err);
}
