/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scribe of a cow run: a child that is the workspace's owner, measures the layer while the run goes on, and reads it, or
 * takes it over, afterwards. Process and privilege: see cow_scribe.h.
 */
#include "executor/cow_scribe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/cow.h"
#include "executor/plan_keys.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_fd.h"
#include "executor/workspace/apply.h"
#include "executor/workspace/apply_text.h"
#include "executor/workspace/owner.h"
#include "executor/workspace/protected_place.h"
#include "executor/workspace/scan.h"
#include "executor/workspace/walk.h"

#define KEPT_MAX 8	/* of the cow run, and of the child itself */

void scribe_close_others(int *keep, size_t n)
{
	unsigned from = 0;

	for (size_t i = 0; i < n; i++)	/* few: by insertion */
		for (size_t k = i; k > 0 && keep[k - 1] > keep[k]; k--) {
			int t = keep[k];

			keep[k] = keep[k - 1];
			keep[k - 1] = t;
		}
	for (size_t i = 0; i <= n; i++) {
		unsigned to = i < n ? (unsigned)keep[i] : ~0U;

		if (i < n && keep[i] < 0)
			continue;
		if (to > from)
			(void)syscall(SYS_close_range, from, i < n ? to - 1 : to, 0);
		from = to + 1;
	}
}

static int add_blocks(void *arg, const struct ws_entry *e, struct ak_err *err)
{
	(void)err;
	*(uint64_t *)arg += e->id.blocks * 512;
	return WS_GO_ON;
}

static int unreadable(void *arg, const char *path, int code, struct ak_err *err)
{
	(void)arg;
	(void)path;
	(void)code;
	(void)err;
	return 0;	/* gone again, or too deep: the scan afterwards tells */
}

uint64_t scribe_layer_bytes(const struct cow *c)
{
	uint64_t bytes = 0;

	return ws_walk(c->cs.upper, "", add_blocks, unreadable, &bytes, NULL) < 0 ? UINT64_MAX : bytes;
}

/* Return: the order, or 0 for end of file */
static char wait_for_order(const struct cow *c, int go, int alarm)
{
	uint64_t wait_ms = SCRIBE_MEASURE_MIN_MS;
	bool told = !c->disk_bytes;
	char order;

	for (;;) {
		struct pollfd p = { .fd = go, .events = POLLIN };
		int n = poll(&p, 1, told ? -1 : (int)wait_ms);
		uint64_t start;

		if (n < 0 && errno == EINTR)
			continue;
		if (n != 0)
			return read(go, &order, 1) == 1 ? order : 0;
		start = ak_now_ns();
		if (scribe_layer_bytes(c) > c->disk_bytes) {
			told = true;
			if (write(alarm, "d", 1) != 1)
				return 0;	/* nobody is there any more */
		}
		wait_ms = (ak_now_ns() - start) / 1000000 * SCRIBE_MEASURE_SHARE;
		if (wait_ms < SCRIBE_MEASURE_MIN_MS)
			wait_ms = SCRIBE_MEASURE_MIN_MS;
		else if (wait_ms > 60000)
			wait_ms = 60000;
	}
}

static int put_out(const struct cow *c, const struct journal *j, struct ak_err *err)
{
	struct ak_buf b = { .max = JOURNAL_BYTES_MAX + 64u };
	int r;

	journal_encode(j, &b);
	r = b.failed ? -ENOMEM : ak_write_all(c->out, b.data, b.len);
	ak_buf_release(&b);
	return r < 0 ? ak_err_sys(err, -r, "pass on the list of changes") : 0;
}

int scribe_take_over(struct cow *c, const char *prefix, struct journal *j, struct apply *ret, struct ak_err *err)
{
	char temp[CHANGESET_ID_MAX + 16];
	int r;

	(void)snprintf(temp, sizeof(temp), CHANGESET_TEMP_FMT, c->cs.id);
	*ret = (struct apply){ .upper = c->cs.upper, .lower = c->lower, .j = j, .temp = temp, .allow = c->allow,
			       .prefix = prefix, .resumed = changeset_has(&c->cs, "applying"),
			       .dropped = c->shared ? &c->shared->dropped : &c->dropped };
	if (ret->resumed)
		apply_clean(ret);
	r = apply_check(ret, err);
	if (r == 0 && ret->n[APPLY_CONFLICT] + ret->n[APPLY_PROTECTED] > 0)
		r = apply_refuse(ret, c->cs.id, err);
	if (r == 0)
		r = changeset_mark(&c->cs, true, err);
	if (r == 0)
		r = apply_run(ret, err);
	ret->temp = NULL;
	ret->dropped = NULL;
	if (r < 0 && err && !err->hint[0])
		ak_err_hint(err, "the changes are kept as %s: `ak apply %s` goes on", c->cs.id, c->cs.id);
	return r;
}

static void do_order(struct cow *c, struct protected_place *place, char order)
{
	struct apply a = { 0 };
	struct journal j;
	int r = scan_layer(c->cs.upper, c->lower, place, c->cs.meta.start_ns, &j, &c->shared->scan);

	if (r == 0)
		r = put_out(c, &j, &c->shared->scan);
	if (r == 0 && j.n > 0)
		r = changeset_store(&c->cs, &j, &c->shared->scan);
	if (r == 0 && order == SCRIBE_APPLY && j.n > 0)
		c->shared->applied = scribe_take_over(c, place->prefix, &j, &a, &c->shared->apply) == 0;
	apply_release(&a);
	if (r == 0 && (j.n == 0 || c->shared->applied))
		c->shared->removed = changeset_remove(c->sessions, &c->cs, NULL) == 0;
	journal_release(&j);
}

int scribe_alone(struct cow *c, struct protected_place *place, const int *keep, size_t n, struct ak_err *err)
{
	int all_kept[KEPT_MAX] = { c->out, c->sessions, c->lower, c->cs.dir, c->cs.lock, c->cs.upper };
	sigset_t all;

	/* a signal to the whole process group ends the command and ak, and by that this process */
	sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	(void)prctl(PR_SET_NAME, "ak-scribe");
	plan_keys_forget(environ, NULL);
	for (size_t i = 0; i < 2; i++)
		all_kept[KEPT_MAX - 2 + i] = i < n ? keep[i] : -1;
	scribe_close_others(all_kept, KEPT_MAX);
	protected_place_find(place, c->cs.meta.workspace);
	return owner_become(c->cs.meta.uid, c->cs.meta.gid, err);
}

_Noreturn void scribe_main(struct cow *c, int go, int alarm)
{
	struct protected_place place AK_UNINIT;
	char order;

	if (scribe_alone(c, &place, (int[]){ go, alarm }, 2, &c->shared->scan) < 0)
		_exit(0);	/* the reason is in shared memory */
	order = wait_for_order(c, go, alarm);
	if (order)
		do_order(c, &place, order);
	_exit(0);
}
