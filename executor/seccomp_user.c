/* SPDX-License-Identifier: Apache-2.0 */
/* A user's own seccomp profile becomes a filter of the plan. Process: executor. Privilege: the caller's. */
#include "executor/seccomp_user.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "executor/cache.h"
#include "executor/companion.h"
#include "executor/hostinfo.h"
#include "executor/plan.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_canary.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_filter_file.h"
#include "seccomp/own_arch.h"
#include "seccomp/sim.h"

#define CACHE "seccomp"	/* folder in the state folder */

struct bytes {
	char *p;	/* owned */
	size_t n;
};

static int read_profile(const char *who, const char *path, struct bytes *ret, struct ak_err *err)
{
	AK_AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int rc;

	if (fd < 0 && errno == ENOENT && !strchr(path, '/')) {
		(void)ak_err_set(err, ENOENT, "%s: %s is no profile of ak's and no file", who, path);
		ak_err_hint(err, "the profiles are default and strict; anything else is the path of a Docker-format JSON file");
		return -ENOENT;
	}
	if (fd < 0)
		return ak_err_sys(err, errno, "%s: open %s", who, path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return ak_err_set(err, EINVAL, "%s: %s is not a regular file", who, path);
	rc = cache_read_whole(fd, AK_FILTER_SOURCE_MAX, &ret->p, &ret->n);
	if (rc == -E2BIG)
		return ak_err_set(err, E2BIG, "%s: %s is longer than 1 MiB: no profile needs that", who, path);
	return rc < 0 ? ak_err_sys(err, -rc, "%s: read %s", who, path) : 0;
}

int seccomp_user_read(const char *who, const char *path, char **ret, size_t *ret_len, struct ak_err *err)
{
	struct bytes b = { 0 };
	int rc = read_profile(who, path, &b, err);

	if (rc == 0) {
		*ret = b.p;
		*ret_len = b.n;
	}
	return rc;
}

/* ---- the cache ---- */

static void entry_name(const struct bytes *profile, char ret[32])
{
	(void)snprintf(ret, 32, "%016llx", (unsigned long long)ak_fnv64(profile->p, profile->n));
}

/* of this ak, for this kernel, and a program that the kernel takes */
static bool usable(const struct ak_filter_file *f, const struct utsname *u)
{
	struct sock_filter insns[AK_FILTER_INSNS_MAX] AK_UNINIT;

	if (strcmp(f->maker, AK_VERSION) != 0 || strcmp(f->arch, u->machine) != 0 || strcmp(f->release, u->release) != 0)
		return false;
	memcpy(insns, f->insns, (size_t)f->count * sizeof(insns[0]));	/* which is not aligned */
	return bpf_sim_check(insns, f->count);
}

/* Return: true when @ret_file (which points into @ret_bytes) is this profile's, made by this ak for this kernel */
static bool from_cache(const struct hostinfo *h, const struct bytes *profile, const struct utsname *u, struct bytes *ret_bytes,
		       struct ak_filter_file *ret_file)
{
	char name[32];

	entry_name(profile, name);
	if (cache_get(h->state_dir, CACHE, name, AK_FILTER_FILE_MAX, &ret_bytes->p, &ret_bytes->n) < 0)
		return false;
	return ak_filter_file_decode(ret_bytes->p, ret_bytes->n, ret_file) == 0 && usable(ret_file, u) &&
	       ret_file->source && profile->p && ret_file->source_len == profile->n && memcmp(ret_file->source, profile->p, profile->n) == 0;
}

static void to_cache(const struct hostinfo *h, const struct bytes *profile, struct ak_filter_file f)
{
	char name[32], *buf = malloc(AK_FILTER_FILE_MAX);
	long n;

	if (!buf)
		return;
	f.source = profile->p;
	f.source_len = profile->n;
	n = ak_filter_file_encode(&f, buf, AK_FILTER_FILE_MAX);
	entry_name(profile, name);
	if (n > 0)
		cache_put(h->state_dir, CACHE, name, buf, (size_t)n);
	free(buf);
}

/* ---- the filter ---- */

uint32_t seccomp_user_canaries(const uint8_t *insns, uint32_t count)
{
	uint32_t skip = 0;

	for (uint32_t i = 0; i < AK_CANARIES; i++) {
		struct seccomp_data d = { .nr = (int)ak_canaries[i].nr, .arch = SECCOMP_OWN_ARCH };
		uint32_t a;

		for (int k = 0; k < 3; k++)
			d.args[k] = (uint64_t)ak_canaries[i].arg[k];
		a = bpf_sim_run((const struct sock_filter *)(const void *)insns, count, &d) & SECCOMP_RET_ACTION_FULL;
		if (a != SECCOMP_RET_ALLOW && a != SECCOMP_RET_ERRNO)
			skip |= 1u << i;
	}
	return skip;
}

static int put_plan(const struct ak_filter_file *f, struct plan *plan, struct ak_err *err)
{
	plan->filter = malloc((size_t)f->count * 8);
	if (!plan->filter)
		return ak_err_set(err, ENOMEM, "out of memory");
	memcpy(plan->filter, f->insns, (size_t)f->count * 8);
	plan->filter_count = f->count;
	plan->canary_skip = seccomp_user_canaries(plan->filter, f->count);
	for (uint32_t i = 0; i < f->n_notes; i++)
		plan_warn(plan, "seccomp profile: %s", f->notes[i]);
	return 0;
}

static int compile(const char *path, const struct bytes *profile, const struct utsname *u, struct bytes *ret_bytes,
		   struct ak_filter_file *ret_file, struct ak_err *err)
{
	const char *argv[] = { "ak-policy", "compile", path, NULL };
	int rc = companion_run(argv, profile->p, profile->n, AK_FILTER_FILE_MAX, &ret_bytes->p, &ret_bytes->n, err);

	if (rc < 0)
		return rc;
	if (ak_filter_file_decode(ret_bytes->p, ret_bytes->n, ret_file) < 0 || !usable(ret_file, u)) {
		(void)ak_err_set(err, EBADMSG, "ak-policy gave an answer that ak does not understand");
		ak_err_hint(err, "ak and ak-policy are of different versions: install both anew");
		return -EBADMSG;
	}
	return 0;
}

int seccomp_user_load(const char *path, bool keep, const struct hostinfo *h, struct plan *plan, struct ak_err *err)
{
	struct bytes profile = { 0 }, compiled = { 0 };
	struct ak_filter_file f = { 0 };
	struct utsname u;
	int rc = read_profile("--seccomp", path, &profile, err);

	if (rc == 0 && uname(&u) < 0)
		rc = ak_err_sys(err, errno, "uname");
	if (rc == 0 && !from_cache(h, &profile, &u, &compiled, &f)) {
		free(compiled.p);
		compiled = (struct bytes){ 0 };
		rc = compile(path, &profile, &u, &compiled, &f, err);
		if (rc == 0 && keep)
			to_cache(h, &profile, f);
	}
	if (rc == 0)
		rc = put_plan(&f, plan, err);
	free(compiled.p);
	free(profile.p);
	return rc;
}
