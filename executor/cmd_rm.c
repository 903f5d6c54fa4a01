/* SPDX-License-Identifier: Apache-2.0 */
/* `ak rm NAME`: ends a named sandbox. Process: a client. Privilege: the caller's. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "executor/changes.h"
#include "executor/cmd_named.h"
#include "executor/named.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define END_MS 10000u		/* for everything in the sandbox to end */
#define FORCE_MS 3000u		/* the same, before the executor is killed */
#define KILLED_MS 5000u
#define AGAIN_NS 20000000L	/* between two looks at an executor that is just starting or ending */

static const char usage[] = "usage: ak rm NAME [--force]\n"
			    "End a named sandbox with everything in it. --force: also while commands run in it, and when its\n"
			    "executor does not answer. Of a sandbox with --write cow the changes are kept, and their id is printed.\n";

static int tell_kept(const struct ak_change_set *s)
{
	char line[AK_CHANGES_ID_MAX + 1];

	if (s->outcome != AK_CHANGES_KEPT)
		return 0;
	changes_say("%llu change%s kept as %s (ak diff %s, ak apply %s, ak discard %s)", (unsigned long long)s->total,
		    s->total == 1 ? "" : "s", s->id, s->id, s->id, s->id);
	(void)snprintf(line, sizeof(line), "%s\n", s->id);
	return named_print(line, strlen(line));
}

/* Ends the sandbox and keeps its changes; with it the executor ends. Return: as ask(). */
static int ask_finish(struct named *n, bool force, bool *ret_unprinted, struct ak_err *err)
{
	struct ak_change_set s = { 0 };
	int r = ak_finish(n->cl, 0, AK_FINISH_KEEP, force ? AK_FINISH_FORCE : 0, &s, err);
	enum ak_code code = r == -EREMOTEIO ? ak_refusal(n->cl, NULL) : 0;

	if (r == 0)
		*ret_unprinted = tell_kept(&s) != 0;
	ak_change_set_release(&s);
	/* what cannot be read stays what it is: it ends all the same, and `ak sessions` shows what is left */
	if (code == AK_CODE_NO_CHANGES || code == AK_CODE_CHANGES) {
		changes_say("%s", err->msg);
		return ak_shutdown(n->cl, force, err);
	}
	return r;
}

/* Asks the executor to end. Return: 0 when it said yes. */
static int ask(struct named *n, bool force, bool *ret_unprinted, struct ak_err *err)
{
	int r = ak_connect_fd(ak_fd_take(&n->peer.fd), "ak rm", &n->cl, err);

	if (r == 0 && ak_hello_facts(n->cl)->facts.write == AK_WRITE_COW)
		r = ask_finish(n, force, ret_unprinted, err);
	else if (r == 0)
		r = ak_shutdown(n->cl, force, err);
	if (r == -EREMOTEIO && ak_refusal(n->cl, NULL) == AK_CODE_BUSY)
		ak_err_hint(err, "--force ends what runs in it");
	else if (r < 0 && r != -ECONNRESET)
		ak_err_hint(err, "--force ends it without its consent");
	return r < 0 ? ak_err_wrap(err, "sandbox %s", n->name) : 0;
}

static void signal_executor(const struct named *n, int signo)
{
	/* without a pidfd (a kernel without pidfds, another pid namespace) there is nobody to signal; the wait tells */
	if (n->peer.pidfd >= 0)
		(void)syscall(SYS_pidfd_send_signal, n->peer.pidfd, signo, NULL, 0);
}

static int not_gone(const struct named *n, struct ak_err *err)
{
	return ak_err_set(err, ETIMEDOUT, "sandbox %s has not ended yet: its executor is process %d", n->name, (int)n->peer.pid);
}

static int end(struct named *n, bool force, bool *ret_unprinted, struct ak_err *err)
{
	int r = ask(n, force, ret_unprinted, err);

	if (r == -ECONNRESET) {	/* it was ending before it could be asked to: that is what was wanted */
		if (n->cl && ak_hello_facts(n->cl)->facts.write == AK_WRITE_COW)
			changes_say("sandbox %s was ending by itself; what it changed is kept: `ak sessions list` shows it", n->name);
		r = 0;
	}
	if (r < 0 && !force)
		return r;
	if (r == 0 && runtime_wait_gone(&n->rt, n->name, force ? FORCE_MS : END_MS) == 0)
		return 0;
	if (!force)
		return not_gone(n, err);
	signal_executor(n, SIGTERM);
	if (r < 0 && runtime_wait_gone(&n->rt, n->name, FORCE_MS) == 0)
		return 0;
	signal_executor(n, SIGKILL);
	return runtime_wait_gone(&n->rt, n->name, KILLED_MS) == 0 ? 0 : not_gone(n, err);
}

/* Return: 0; 1: nothing of it is left, and what an executor left by its death has been removed; else as named_find() */
static int find(struct named *n, const char *name, char *const env[], struct ak_err *err)
{
	const struct timespec pause = { .tv_nsec = AGAIN_NS };
	const uint64_t end_ns = ak_now_ns() + (uint64_t)END_MS * 1000000u;
	int r = named_find(n, name, env, err);
	bool ending = r == -EAGAIN;

	while (r == -EAGAIN && ak_now_ns() < end_ns) {
		(void)nanosleep(&pause, NULL);
		*err = (struct ak_err){ 0 };
		r = runtime_connect(&n->rt, name, &n->peer, err);
	}
	return r == -EOWNERDEAD || (ending && r == -ENOENT) ? 1 : r;
}

int cmd_rm(int argc, char *const argv[], char *const env[])
{
	bool force = false, unprinted = false;
	const struct cmd_flag flags[] = { { "--force", "-f", &force }, { NULL, NULL, NULL } };
	const char *words[CMD_WORDS_MAX];
	struct named n = NAMED_NONE;
	struct ak_err err = { 0 };
	int r = cmd_words(argc, argv, usage, flags, 1, words, &err);

	if (r != 0)
		return r == 1 ? 0 : named_usage(&err);
	if (runtime_check_name(words[0], &err) < 0)
		return named_usage(&err);
	r = find(&n, words[0], env, &err);
	if (r == 0)
		r = end(&n, force, &unprinted, &err);
	named_release(&n);
	return r < 0 ? named_fail(&err) : unprinted;
}
