/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An executor with --write cow: CHANGES, FINISH, who may have the copy, and SIGKILL at a random moment to whoever takes part in it.
 * Usage: copy AK WORKSPACE TIMES; XDG_STATE_HOME is where an overlay's layer can live. Tests only.
 */
#include "tests/client/drive.h"

#include <sys/prctl.h>

#define GONE_S 10.0

static const char *const plain[] = { "--write", "cow", NULL }, *const taking[] = { "--write", "cow", "--apply", "always", NULL };

/* ---- helpers ---- */

static void put(struct drive *d, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", d->ws, name);
	f = fopen(path, "we");
	if (!want(d, f && fputs(text, f) >= 0 && fclose(f) == 0, "write %s", path) && f)
		(void)fclose(f);
}

static const char *get(struct drive *d, const char *name)
{
	static char buf[4096];
	char path[512];
	FILE *f;
	size_t n;

	(void)snprintf(path, sizeof(path), "%s/%s", d->ws, name);
	f = fopen(path, "re");
	if (!f)
		return "(none)";
	n = fread(buf, 1, sizeof(buf) - 1, f);
	buf[n] = '\0';
	(void)fclose(f);
	return buf;
}

static bool sh_is(struct drive *d, const char *text, const char *out)
{
	struct ran x = run_sh(d, text);
	bool ok = want(d, x.r == 0 && strcmp(x.out[0], out) == 0, "'%.60s' gave '%.60s' and '%.60s', %s", text, x.out[0], x.out[1], d->err.msg);

	ran_free(&x);
	return ok;
}

/* "path:op:flags path:op:flags" */
static const char *said(const struct ak_change_set *s)
{
	static char buf[4096];
	struct ak_change c;
	size_t pos = 0, n = 0;

	buf[0] = '\0';
	while (ak_change_next(s->data, s->len, &pos, &c) == 1 && n < sizeof(buf))
		n += (size_t)snprintf(buf + n, sizeof(buf) - n, "%s%s:%s:%u", n ? " " : "", c.path, ak_change_op_name(c.op), c.flags);
	return buf;
}

static void changes_are(struct drive *d, const char *what)
{
	struct ak_change_set s = { 0 };
	int r = ak_changes(d->cl, 0, 0, &s, &d->err);

	if (want(d, r == 0, "CHANGES: %s", d->err.msg))
		want(d, strcmp(said(&s), what) == 0, "changes are '%s', not '%s'", said(&s), what);
	ak_change_set_release(&s);
}

/* Return: its outcome; -1 refused */
static int finish(struct drive *d, enum ak_finish_action action, uint32_t flags, struct ak_change_set *ret)
{
	*ret = (struct ak_change_set){ 0 };
	d->err = (struct ak_err){ 0 };
	return ak_finish(d->cl, 0, action, flags, ret, &d->err) < 0 ? -1 : (int)ret->outcome;
}

static void finish_gives(struct drive *d, enum ak_finish_action action, int outcome)
{
	struct ak_change_set s;
	int o = finish(d, action, 0, &s);

	want(d, o == outcome, "FINISH %d gave %d, not %d: %s %s", action, o, outcome, d->err.msg, s.why.msg);
	ak_change_set_release(&s);
}

static void refused_with(struct drive *d, int r, enum ak_code code)
{
	want(d, r == -EREMOTEIO && ak_refusal(d->cl, NULL) == code, "gave %d, code %d: %s", r, ak_refusal(d->cl, NULL), d->err.msg);
}

static void again(struct drive *d)
{
	want(d, ak_create(d->cl, NULL, &d->box, &d->err) == 0, "CREATE: %s", d->err.msg);
}

static bool begin(struct drive *d, const char *const *options)
{
	return want(d, drive_box(d, options) == 0, "start: %s", d->err.msg);
}

static void over(struct drive *d)
{
	ak_close(d->cl);
	d->cl = NULL;
}

/* ---- what is there ---- */

static void look(struct drive *d)
{
	struct ak_create none = { .flags = AK_NARROW_WRITE_NONE };
	struct ak_request fresh = { .argv = (const char *[]){ "true", NULL }, .flags = AK_EXEC_FRESH };
	uint32_t box = d->box, other = 0;
	struct ak_change_set s;
	struct ran x;

	t(d, "copy:nothing-was-changed");
	changes_are(d, "");

	t(d, "copy:commands-and-file-operations-change-the-copy");
	sh_is(d, "cat old; echo more >>old; mkdir d; echo n >d/n; rm gone; chmod 700 x; mkdir -p .git/hooks; echo h >.git/hooks/post-merge; mkfifo p", "1\n");
	want(d, ak_file_write(d->cl, d->box, "w", "w", 1, 0644, 0, &d->err) == 0, "%s", d->err.msg);
	changes_are(d, ".git:added:0 .git/hooks:added:0 .git/hooks/post-merge:added:1 d:added:0 d/n:added:0 gone:deleted:0 old:modified:0 "
		       "p:added:4 w:added:0 x:mode:0");
	want(d, strcmp(get(d, "old"), "1\n") == 0 && strcmp(get(d, "gone"), "1\n") == 0 && strcmp(get(d, "w"), "(none)") == 0,
	     "the workspace was changed");

	t(d, "copy:a-list-that-is-cut-names-protected-ones-first");
	want(d, ak_changes(d->cl, d->box, 2, &s, &d->err) == 0, "%s", d->err.msg);
	want(d, s.total == 10 && s.nprotected == 1 && s.entries == 2 && s.more && strcmp(said(&s), ".git:added:0 .git/hooks/post-merge:added:1") == 0,
	     "%s", said(&s));
	ak_change_set_release(&s);

	t(d, "copy:one-sandbox-at-a-time-has-it");
	refused_with(d, ak_create(d->cl, NULL, &other, &d->err), AK_CODE_BUSY);
	want(d, ak_create(d->cl, &none, &other, &d->err) == 0, "read-only: %s", d->err.msg);
	d->box = other;
	sh_is(d, "cat old; touch t 2>/dev/null || echo no", "1\nno\n");
	refused_with(d, ak_changes(d->cl, other, 0, &s, &d->err), AK_CODE_NO_SANDBOX);
	d->box = box;

	t(d, "copy:no-fresh-sandboxes");
	x = run_request(d, &fresh);
	refused_with(d, x.r, AK_CODE_NOT_ALLOWED);
	ran_free(&x);
}

static void pid_of(void *arg, const struct ak_stat *st)
{
	*(pid_t *)arg = (pid_t)st->sandbox.pid;
}

static void lives_on(struct drive *d)
{
	pid_t pid = 0;
	bool dead = false;

	t(d, "copy:what-a-killed-sandbox-changed-is-there-for-the-next");
	want(d, ak_stat(d->cl, d->box, pid_of, &pid, &d->err) == 0 && pid > 0 && kill(pid, SIGKILL) == 0, "kill init: %s", d->err.msg);
	for (double t0 = now_s(); !dead && now_s() - t0 < GONE_S; nap_ms(5))
		dead = ak_stat(d->cl, d->box, pid_of, &pid, NULL) < 0;
	again(d);
	sh_is(d, "cat d/n w", "n\nw");

	t(d, "copy:and-of-a-destroyed-one");
	want(d, ak_destroy(d->cl, d->box, &d->err) == 0, "%s", d->err.msg);
	again(d);
	sh_is(d, "cat d/n; rm -r .git p", "n\n");
}

static void end(struct drive *d)
{
	struct ak_request q = { .argv = (const char *[]){ "sleep", "1000", NULL }, .sandbox = d->box };
	struct ak_change_set s;
	char path[4096], told[sizeof(s.why.msg)];
	bool marked;
	uint32_t job;
	int o;

	t(d, "copy:not-taken-over-while-commands-run");
	want(d, ak_exec_job(d->cl, &q, &job, &d->err) == 0, "%s", d->err.msg);
	refused_with(d, finish(d, AK_FINISH_APPLY, 0, &s) < 0 ? -EREMOTEIO : 0, AK_CODE_BUSY);
	o = finish(d, AK_FINISH_APPLY, AK_FINISH_FORCE, &s);

	t(d, "copy:taken-over");
	want(d, o == AK_CHANGES_APPLIED && s.total == 6 && !s.why.msg[0], "%d of %u: %s %s", o, (unsigned)s.total, d->err.msg, s.why.msg);
	ak_change_set_release(&s);
	want(d, strcmp(get(d, "old"), "1\nmore\n") == 0 && strcmp(get(d, "d/n"), "n\n") == 0 && strcmp(get(d, "gone"), "(none)") == 0, "not all of it");
	refused_with(d, ak_stat(d->cl, d->box, pid_of, &o, &d->err), AK_CODE_NO_SANDBOX);

	t(d, "copy:the-next-sandbox-begins-anew");
	changes_are(d, "");
	again(d);
	sh_is(d, "cat old; echo x >old", "1\nmore\n");
	changes_are(d, "old:modified:0");
	finish_gives(d, AK_FINISH_DISCARD, AK_CHANGES_DISCARDED);
	again(d);
	sh_is(d, "cat old", "1\nmore\n");
	finish_gives(d, AK_FINISH_APPLY, AK_CHANGES_NONE);

	t(d, "copy:special-files-are-left-out-and-named");
	again(d);
	/* before 6.7 no command can set such an attribute in a copy; that it was set, "marked" tells */
	sh_is(d, "mkfifo pipe; echo f >beside; "
		 "python3 -c 'import os; os.setxattr(\"beside\", \"user.overlay.metacopy\", b\"y\")' 2>/dev/null && echo >marked; :", "");
	o = finish(d, AK_FINISH_APPLY, 0, &s);
	want(d, o == AK_CHANGES_APPLIED && s.why.code == 0 && strstr(s.why.msg, "1 special file was not taken over: \"pipe\""), "%d '%s' %s", o,
	     s.why.msg, d->err.msg);
	(void)snprintf(told, sizeof(told), "%s", s.why.msg);
	ak_change_set_release(&s);
	(void)snprintf(path, sizeof(path), "%s/pipe", d->ws);
	want(d, strcmp(get(d, "beside"), "f\n") == 0 && access(path, F_OK) < 0, "the FIFO came over");
	(void)snprintf(path, sizeof(path), "%s/marked", d->ws);
	marked = unlink(path) == 0;
	want(d, marked == (strstr(told, "; 1 attribute user.overlay.* left out") != NULL), "marked: %d, '%s'", marked, told);
	(void)snprintf(path, sizeof(path), "%s/beside", d->ws);
	want(d, unlink(path) == 0, "unlink");

	t(d, "copy:conflicts-keep-everything");
	again(d);
	sh_is(d, "echo inside >old; echo y >y", "");
	put(d, "old", "outside\n");
	o = finish(d, AK_FINISH_APPLY, 0, &s);
	want(d, o == AK_CHANGES_KEPT && s.why.code == EBUSY && s.nconflicts == 1 && strstr(said(&s), "old:modified:") && strstr(s.why.msg, "old"),
	     "%d '%s' '%s' %s", o, said(&s), s.why.msg, d->err.msg);
	ak_change_set_release(&s);
	want(d, strcmp(get(d, "old"), "outside\n") == 0 && strcmp(get(d, "y"), "(none)") == 0, "something was taken over");
	refused_with(d, ak_create(d->cl, NULL, &job, &d->err), AK_CODE_BUSY);
	finish_gives(d, AK_FINISH_DISCARD, AK_CHANGES_DISCARDED);

	t(d, "copy:protected-names-keep-everything");
	again(d);
	sh_is(d, "echo x >.envrc; echo z >z", "");
	o = finish(d, AK_FINISH_APPLY, 0, &s);
	want(d, o == AK_CHANGES_KEPT && s.why.code == EPERM && strcmp(said(&s), ".envrc:added:1 z:added:0") == 0, "%d '%s' %s", o, said(&s), s.why.msg);
	ak_change_set_release(&s);
	want(d, strcmp(get(d, "z"), "(none)") == 0, "something was taken over");
	finish_gives(d, AK_FINISH_KEEP, AK_CHANGES_KEPT);
	finish_gives(d, AK_FINISH_DISCARD, AK_CHANGES_DISCARDED);
}

/* ---- checkpoints ---- */

#define TREE "find . -mindepth 1 -printf '%P %y %m %s %T@ %n %l\\n' | sort; find . -type f -size -100k | sort | xargs -r cat | cksum"

/* everything that is seen inside; owned */
static char *tree(struct drive *d)
{
	struct ran x = run_sh(d, TREE);
	char *out = strdup(x.out[0]);

	want(d, x.r == 0 && x.res.exit_code == 0 && x.len[0] > 0, "find: %s %s", x.out[1], d->err.msg);
	ran_free(&x);
	return out;
}

static uint32_t keep(struct drive *d)
{
	struct ak_checkpointed c = { 0 };

	want(d, ak_checkpoint(d->cl, 0, 0, &c, &d->err) == 0, "CHECKPOINT: %s", d->err.msg);
	return c.point;
}

/* Return: the checkpoint of what was there before */
static uint32_t back_to(struct drive *d, uint32_t point, const char *was)
{
	struct ak_change_set s = { 0 };
	uint32_t before;
	char *now;

	want(d, ak_restore(d->cl, 0, point, 0, &s, &d->err) == 0, "RESTORE %u: %s", point, d->err.msg);
	before = s.point;
	ak_change_set_release(&s);
	again(d);
	now = tree(d);
	if (strcmp(now, was) != 0 && getenv("AK_COPY_VERBOSE"))
		fprintf(stderr, "--- was\n%s--- is\n%s", was, now);
	want(d, strcmp(now, was) == 0, "after RESTORE %u it is not as it was", point);
	free(now);
	return before;
}

static void points(struct drive *d)
{
	struct ak_request q = { .argv = (const char *[]){ "sleep", "1000", NULL } };
	struct ak_checkpointed c;
	struct ak_change_set s;
	char *first, *second;
	uint32_t one, two, three, job;

	t(d, "copy:checkpoints-of-all-kinds-of-changes");
	if (!begin(d, taking))
		return;
	sh_is(d, "mkdir -p t/u/v e; echo 1 >t/f; ln -s f t/l; ln t/f t/h; mkfifo t/p; printf 'a b' >'t/o d'; chmod 500 t/u; touch -d @5 t/f; rm gone", "");
	one = keep(d);
	first = tree(d);
	sh_is(d, "chmod 700 t/u; rm -r t/u; echo u >t/u; echo 22 >t/f; rm t/l; mkdir t/l; rmdir e; echo g >gone; chmod 755 x; mv 't/o d' t/n; rm old; mkdir old", "");
	two = keep(d);
	second = tree(d);
	want(d, strcmp(first, second) != 0, "nothing was changed");
	three = back_to(d, one, first);
	back_to(d, two, second);
	back_to(d, one, first);
	back_to(d, three, second);
	free(second);

	t(d, "copy:checkpoints-and-what-runs");
	q.sandbox = d->box;
	want(d, ak_exec_job(d->cl, &q, &job, &d->err) == 0, "%s", d->err.msg);
	refused_with(d, ak_checkpoint(d->cl, 0, 0, &c, &d->err), AK_CODE_BUSY);
	refused_with(d, ak_restore(d->cl, 0, one, 0, &s, &d->err), AK_CODE_BUSY);
	want(d, ak_checkpoint(d->cl, 0, AK_CHECKPOINT_LIVE, &c, &d->err) == 0 && c.point > three, "live: %s", d->err.msg);
	sh_is(d, "echo alive", "alive\n");	/* and nothing is left frozen */
	want(d, ak_kill(d->cl, job, &d->err) == 0, "%s", d->err.msg);
	want(d, ak_restore(d->cl, 0, one, AK_FINISH_FORCE, &s, &d->err) == 0, "%s", d->err.msg);
	ak_change_set_release(&s);
	again(d);

	t(d, "copy:no-such-checkpoint");
	refused_with(d, ak_restore(d->cl, 0, 1000000, 0, &s, &d->err), AK_CODE_CHANGES);
	again(d);
	second = tree(d);
	want(d, strcmp(first, second) == 0, "something was changed");
	free(second);
	finish_gives(d, AK_FINISH_DISCARD, AK_CHANGES_DISCARDED);
	refused_with(d, ak_restore(d->cl, 0, one, 0, &s, &d->err), AK_CODE_CHANGES);
	again(d);
	want(d, keep(d) > three, "a number came twice");
	free(first);
	over(d);
}

/* random changes, random ways back */
static void rounds(struct drive *d, int n)
{
	static const char *const acts[] = {
		"[ -p $F ] || echo $N >$F", "mkdir -p $F", "rm -rf $F", "ln -sfn $G $F", "mv -f $F $G", "chmod $M $F", "rm -rf $F; mkdir $F; echo $N >$F/in",
		"cp -a $F $G", "[ -p $F ] || echo more >>$F", "ln -f $F $G", "touch -d @$N $F", "truncate -s 70000 $F", "rm -rf $F; echo x >$F",
	};
	uint32_t at[8] = { 0 };
	char *was[8] = { 0 };

	t(d, "copy:random-changes-and-ways-back");
	if (!begin(d, plain))
		return;
	for (int i = 0; i < n && !d->why[0]; i++) {
		size_t k = (size_t)random() % 8;
		char text[2048];
		size_t len = 0;
		struct ran x;

		for (int j = 0; j < 6; j++)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "{ N=%ld F=%c%s G=%c M=%o; %s; } 2>/dev/null\n", random() % 100000,
						"abcxd"[random() % 5], random() % 3 ? "" : "/e", "abcxd"[random() % 5], (unsigned)(0400 | (random() & 0777)),
						acts[(size_t)random() % (sizeof(acts) / sizeof(acts[0]))]);
		x = run_sh(d, text);
		ran_free(&x);
		if (random() % 3 || !at[k]) {
			free(was[k]);
			at[k] = keep(d);
			was[k] = tree(d);
		} else {
			back_to(d, at[k], was[k]);
		}
	}
	for (size_t k = 0; k < 8; k++)
		free(was[k]);
	over(d);
}

static void not_allowed(struct drive *d)
{
	struct ak_change_set s;

	t(d, "copy:taking-over-must-have-been-allowed");
	if (!begin(d, plain))
		return;
	sh_is(d, "echo kept >kept", "");
	refused_with(d, finish(d, AK_FINISH_APPLY, 0, &s) < 0 ? -EREMOTEIO : 0, AK_CODE_NOT_ALLOWED);
	sh_is(d, "cat kept", "kept\n");	/* and nothing has ended */
	over(d);
	want(d, strcmp(get(d, "kept"), "(none)") == 0, "it was taken over");

	t(d, "copy:none-without-write-cow");
	if (!begin(d, NULL))
		return;
	refused_with(d, ak_changes(d->cl, 0, 0, &s, &d->err), AK_CODE_NO_CHANGES);
	refused_with(d, finish(d, AK_FINISH_KEEP, 0, &s) < 0 ? -EREMOTEIO : 0, AK_CODE_NO_CHANGES);
	over(d);
}

static void disk(struct drive *d)
{
	static const char *const small[] = { "--write", "cow", "--disk", "16m", NULL };
	struct ran x;

	t(d, "copy:disk-ends-what-writes-too-much");
	if (!begin(d, small))
		return;
	x = run_sh(d, "for i in 1 2 3 4 5 6 7 8 9; do head -c 3000000 /dev/urandom >f$i; done; sleep 1000");
	want(d, x.res.status == AK_STATUS_SIGNALED && x.res.signal == SIGKILL && x.res.nwarnings == 1, "status %u signal %u %u warnings, %s",
	     x.res.status, x.res.signal, x.res.nwarnings, d->err.msg);
	ran_free(&x);
	want(d, ak_file_write(d->cl, d->box, "more", "x", 1, 0644, 0, &d->err) == -EREMOTEIO, "a file was written all the same");
	want(d, ak_file_remove(d->cl, d->box, "f1", false, &d->err) == 0, "remove: %s", d->err.msg);
	over(d);
}

/* ---- killed ---- */

static bool alive(pid_t pid)
{
	char path[64], buf[512] = "", *p;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(buf, sizeof(buf), f))
		buf[0] = '\0';
	(void)fclose(f);
	p = strrchr(buf, ')');
	return p && p[1] == ' ' && p[2] != 'Z' && p[2] != 'X';
}

/* the executor's children: init and scribe */
static size_t children(pid_t executor, pid_t *v, size_t cap)
{
	char path[64], buf[512] = "", *p = buf, *e;
	size_t n = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", executor, executor);
	f = fopen(path, "re");
	if (f && !fgets(buf, sizeof(buf), f))
		buf[0] = '\0';
	if (f)
		(void)fclose(f);
	for (long pid; n < cap && (pid = strtol(p, &e, 10)) > 0; p = e)
		v[n++] = (pid_t)pid;
	return n;
}

#define PIDS 4

/* in a child: changes of all kinds, looks at them, and their end, over and over */
static void work(struct drive *d, int tell)
{
	pid_t pids[PIDS] = { 0 };
	struct ak_change_set s;

	if (drive_box(d, taking) < 0)
		_exit(3);
	pids[0] = (pid_t)executor_pid(d);
	(void)children(pids[0], pids + 1, PIDS - 1);
	if (write(tell, pids, sizeof(pids)) != (ssize_t)sizeof(pids))
		_exit(3);
	for (unsigned i = 0;; i++) {
		struct ran x = run_sh(d, "i=0; while [ $i -lt 20 ]; do echo $$ >r$i; mkdir -p q/$i; i=$((i+1)); done; rm -rf q; echo whole >whole");

		ran_free(&x);
		if (ak_changes(d->cl, 0, 0, &s, &d->err) == -ECONNRESET)
			_exit(0);
		ak_change_set_release(&s);
		if (i % 3 == 2) {
			(void)finish(d, i % 2 ? AK_FINISH_APPLY : AK_FINISH_DISCARD, 0, &s);
			ak_change_set_release(&s);
			if (ak_create(d->cl, NULL, &d->box, NULL) < 0)
				_exit(0);
		}
	}
}

static int shell(const char *text)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		(void)execl("/bin/sh", "sh", "-c", text, NULL);
		_exit(127);
	}
	(void)waitpid(pid, &status, 0);
	return status;
}

/* whatever was cut off: the lists work, what is kept can be taken over, and an executor can be started */
static void afterwards(struct drive *d, int round)
{
	char cmd[1024];
	int r;

	(void)snprintf(cmd, sizeof(cmd),
		       "cd '%s' && for i in $('%s' sessions list | sed -n 's/^\\(c-[0-9a-f]*\\).*/\\1/p'); do '%s' apply --force $i || exit 1; done"
		       " && test -z \"$('%s' sessions list | grep -o '^c-')\"",
		       d->ws, d->ak, d->ak, d->ak);
	r = shell(cmd);
	want(d, r == 0, "round %d: what was left could not be taken over (%d)", round, r);
	want(d, strcmp(get(d, "whole"), "(none)") == 0 || strcmp(get(d, "whole"), "whole\n") == 0, "a half-written file: '%s'", get(d, "whole"));
}

static void once(struct drive *d, int who, int round)
{
	pid_t pids[PIDS] = { 0 }, child;
	bool any = true;
	int p[2];

	if (!want(d, pipe2(p, O_CLOEXEC) == 0, "pipe"))
		return;
	child = fork();
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(p[0]);
		work(d, p[1]);
		_exit(0);
	}
	(void)close(p[1]);
	want(d, read(p[0], pids, sizeof(pids)) == (ssize_t)sizeof(pids), "round %d: it could not start: the next use does not work", round);
	(void)close(p[0]);
	nap_ms(random() % 80);
	(void)kill(who == 0 ? child : pids[who - 1] > 0 ? pids[who - 1] : child, SIGKILL);
	if (who > 1) {	/* the others live: end them as their user would */
		nap_ms(20);
		(void)kill(child, SIGKILL);
	}
	(void)waitpid(child, NULL, 0);
	for (double t0 = now_s(); any && now_s() - t0 < GONE_S; nap_ms(5)) {
		any = false;
		for (int i = 0; i < PIDS; i++)
			any = any || (pids[i] > 0 && alive(pids[i]));
	}
	want(d, !any, "round %d: something still runs", round);
	afterwards(d, round);
}

static void killing(struct drive *d, int times)
{
	static const char *const names[] = { "copy:killed-client", "copy:killed-executor", "copy:killed-scribe", "copy:killed-init" };

	for (int who = 0; who < 4; who++) {
		t(d, names[who]);
		for (int i = 0; i < times && !d->why[0]; i++)
			once(d, who, i);
	}
}

int main(int argc, char *argv[])
{
	struct drive d = { .ak = argv[1], .ws = argv[2] };

	if (argc == 4 && number(argv[3]) < 0) {	/* only the random part, so often */
		srandom((unsigned)getpid());
		rounds(&d, -(int)number(argv[3]));
		t_end(&d);
		return d.failed ? 1 : 0;
	}
	if (argc != 4)
		return 2;
	srandom((unsigned)getpid());
	put(&d, "old", "1\n");
	put(&d, "gone", "1\n");
	put(&d, "x", "1\n");
	nap_ms(50);	/* older than the changeset, whatever the clock's tick */
	if (begin(&d, taking)) {
		look(&d);
		lives_on(&d);
		end(&d);
		over(&d);
	}
	not_allowed(&d);
	disk(&d);
	points(&d);
	rounds(&d, 10 * (int)number(argv[3]));
	killing(&d, (int)number(argv[3]));
	t_end(&d);
	return d.failed ? 1 : 0;
}
