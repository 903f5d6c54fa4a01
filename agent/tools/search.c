/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find_files, search_text: ak-search, run in the sandbox as any command is. Process: agent. Privilege: none.
 *
 * The program is read from beside ak-agent when the run starts, into a sealed memory file, which is handed to the sandbox with each
 * call: it is no file there, so that no command of the model's can replace, change or trace it, whatever the root file system is.
 * What it reads is the sandbox's all the same, and so is the processor time: it can be lied to, stopped and killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/json.h"
#include "agent/limits_note.h"
#include "agent/tool.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define NAME "ak-search"
#define KILL_AFTER_MS 500u
#define WORDS_MAX 8u

int tool_search_load(struct tool_env *env, struct ak_err *err)
{
	char path[PATH_MAX + 16];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	AK_AUTO_FD fd = -1;
	char *slash;

	env->search = -1;
	if (n < 0)
		return ak_err_sys(err, errno, "find the folder of ak-agent");
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return ak_err_set(err, ENOENT, "find the folder of ak-agent: /proc/self/exe is no path");
	memcpy(slash + 1, NAME, sizeof(NAME));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return ak_err_sys(err, errno, "open %s", path);
	env->search = ak_program(NAME, fd, err);
	return env->search < 0 ? env->search : 0;
}

static uint64_t time_left(const struct tool_run *r)
{
	uint64_t now = tool_now_ms();
	uint64_t left = r->env->deadline_ms > now ? r->env->deadline_ms - now : 1;
	uint64_t wish = r->env->tool_timeout_ms;

	return r->env->deadline_ms && left < wish ? left : wish;
}

/* Runs the program with these words in the workspace */
static int go(struct tool_run *r, const char *const *words)
{
	struct ak_request rq = { .kind = AK_EXEC_PROGRAM, .program = r->env->search, .argv = words, .flags = AK_EXEC_TIMEOUT_SET, .kill_after_ms = KILL_AFTER_MS,
				 .cwd = r->env->xc->workspace, .stream = { AK_STREAM_NULL, AK_STREAM_CAPTURE, AK_STREAM_CAPTURE } };
	struct ak_err err = { 0 };
	int rc;

	if (r->env->search < 0)
		return tool_say(r, true, "ak-search is not installed beside ak-agent; use bash with find and grep");
	rc = tool_sandbox(r, &rq.sandbox);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	r->timeout_ms = time_left(r);
	rq.timeout_ms = r->timeout_ms;
	rc = ak_exec_start(r->env->xc->cl, &rq, &r->tag, &err);
	if (rc < 0)
		return tool_failed(r, rc, NULL, &err);
	r->state = TOOL_RUNNING;
	return 0;
}

/* The path of an argument, which may be left out. NULL: the call is done with the reason, or there is no memory */
static char *start_path(struct tool_run *r)
{
	const char *path = json_str(json_get(r->args, "path"));

	return tool_path(r, path ? path : ".");
}

static int files_start(struct tool_run *r)
{
	char *path = start_path(r);
	const char *words[WORDS_MAX] = { NAME, "files", "--", json_str(json_get(r->args, "pattern")), path, NULL };
	int rc;

	if (!path)
		return r->state == TOOL_DONE ? 0 : -ENOMEM;
	rc = go(r, words);
	free(path);
	return rc;
}

static int text_start(struct tool_run *r)
{
	const char *glob = json_str(json_get(r->args, "glob"));
	char *path = start_path(r);
	const char *words[WORDS_MAX] = { NAME, "text" };
	size_t n = 2;
	int rc;

	if (!path)
		return r->state == TOOL_DONE ? 0 : -ENOMEM;
	if (glob) {
		words[n++] = "-g";
		words[n++] = glob;
	}
	words[n++] = "--";
	words[n++] = json_str(json_get(r->args, "pattern"));
	words[n] = path;
	rc = go(r, words);
	free(path);
	return rc;
}

/* One line of what it said is wrong, without its own name */
static int tell_fault(struct tool_run *r, const struct ak_done *d)
{
	static const char name[] = NAME ": ";
	char note[LIMITS_NOTE_MAX];
	const uint8_t *head, *tail;
	size_t nh, nt;

	if (d->r.status == AK_STATUS_TIMED_OUT)
		return tool_say(r, true, "the search took longer than %llus and was ended; use a narrower path or pattern",
				(unsigned long long)((r->timeout_ms + 999) / 1000));
	if (d->r.status == AK_STATUS_FAILED)
		return tool_say(r, true, "the search did not run: %s; use bash with find and grep", d->r.text);
	ak_done_output(d, 1, &head, &nh, &tail, &nt);
	if (d->r.exit_code == 2 && nh + nt > 0) {
		size_t skip = nh >= sizeof(name) - 1 && memcmp(head, name, sizeof(name) - 1) == 0 ? sizeof(name) - 1 : 0;
		struct tool_piece v[] = { { head + skip, nh - skip }, { tail, nt } };

		while (v[0].n > 0 && head[skip + v[0].n - 1] == '\n')
			v[0].n--;
		return tool_finish(r, true, v, 2);
	}
	r->env->limits_hit |= limits_note(&d->r, note, sizeof(note));
	return tool_say(r, true, "the search did not run (exit code %u); use bash with find and grep%s%s", (unsigned)d->r.exit_code,
			note[0] ? "\n" : "", note);
}

static int tell(struct tool_run *r, const struct ak_done *d)
{
	const uint8_t *head, *tail;
	size_t nh, nt;

	tool_ended(r, &d->r);
	if (d->r.status != AK_STATUS_EXITED || d->r.exit_code > 1)
		return tell_fault(r, d);
	ak_done_output(d, 0, &head, &nh, &tail, &nt);
	if (nh + nt == 0)
		return tool_say(r, false, "Nothing found.");
	struct tool_piece v[] = { { head, nh }, { tail, nt } };

	if (nt > 0 && tail[nt - 1] == '\n')
		v[1].n--;
	else if (nt == 0 && head[nh - 1] == '\n')
		v[0].n--;
	return tool_finish(r, false, v, 2);
}

static int search_event(struct tool_run *r, struct ak_event *ev)
{
	switch (ev->type) {
	case AK_EVENT_STARTED:
		r->cmd = ev->cmd;
		return 0;
	case AK_EVENT_DONE:
		return tell(r, &ev->done);
	case AK_EVENT_REFUSED:
		if (ev->code == AK_CODE_DEAD || ev->code == AK_CODE_NO_SANDBOX)
			r->env->sandbox_dead = true;
		return tool_say(r, true, "the search could not be started: %s", ev->err.msg);
	}
	return 0;
}

const struct tool tool_find_files = {
	.name = "find_files",
	.description = "List files whose name matches a pattern, or with a slash in the pattern whose path below the start does: *.c, "
		       "src/**/*.h. Files that .gitignore names are left out, unless the path leads into their folder.",
	.schema = "{\"type\":\"object\",\"properties\":{\"pattern\":{\"type\":\"string\",\"minLength\":1,\"description\":\"*, ?, [a-z], **\"},"
		  "\"path\":{\"type\":\"string\",\"description\":\"folder to start in; the workspace if left out\"}},"
		  "\"required\":[\"pattern\"],\"additionalProperties\":false}",
	.start = files_start,
	.event = search_event,
};

const struct tool tool_search_text = {
	.name = "search_text",
	.description = "Lines that a regular expression (PCRE2) matches, as PATH:LINE: TEXT. Binary files and files that .gitignore names are "
		       "left out.",
	.schema = "{\"type\":\"object\",\"properties\":{\"pattern\":{\"type\":\"string\",\"minLength\":1},"
		  "\"glob\":{\"type\":\"string\",\"minLength\":1,\"description\":\"only in files that match, such as *.c\"},"
		  "\"path\":{\"type\":\"string\",\"description\":\"file or folder; the workspace if left out\"}},"
		  "\"required\":[\"pattern\"],\"additionalProperties\":false}",
	.start = text_start,
	.event = search_event,
};
