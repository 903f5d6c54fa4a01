/* SPDX-License-Identifier: Apache-2.0 */
/* Locks on workspaces. Process: executor; the commands around checkpoints. Privilege: the caller's. */
#include "executor/busy.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/hostinfo.h"
#include "executor/runtime.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_parse.h"
#include "executor/shared/ak_path.h"

#define WAIT_STEP_MS 5
#define LOCKS_BYTES (4u << 20)

/* "1: FLOCK  ADVISORY  READ 4711 fe:00:1234 0 EOF": the process of the line with this inode, 0: none */
static uint64_t pid_of_line(const char *line, size_t len, uint64_t ino)
{
	uint64_t pid = 0, n;
	unsigned word = 0;

	while (len > 0) {
		size_t blank = strspn(line, " "), k;
		char text[64];

		if (blank > len)
			break;
		line += blank;
		len -= blank;
		for (k = 0; k < len && line[k] != ' '; k++)
			;
		if (k > 0 && k < sizeof(text)) {
			memcpy(text, line, k);
			text[k] = '\0';
			if (word == 1 && strcmp(text, "FLOCK") != 0)
				return 0;
			if (word == 4 && ak_parse_u64(text, 1, INT32_MAX, &pid) < 0)
				return 0;
			if (word == 5)
				return strrchr(text, ':') && ak_parse_u64(strrchr(text, ':') + 1, 0, UINT64_MAX, &n) == 0 && n == ino ?
					       pid :
					       0;
		}
		word++;
		line += k;
		len -= k;
	}
	return 0;
}

/* Source: proc_locks(5). A process that cannot be seen from here has no number there */
static uint64_t holder(int dir)
{
	struct ak_lines lines;
	char *text = NULL;
	const char *line;
	size_t len = 0;
	uint64_t pid = 0;
	struct stat st;

	if (fstat(dir, &st) < 0 || ak_read_file("/proc/locks", LOCKS_BYTES, &text, &len) < 0)
		return 0;
	ak_lines_init(&lines, text, len, 4096);
	while (pid == 0 && ak_lines_next(&lines, &line, &len)) {
		pid = pid_of_line(line, len, st.st_ino);
		if (pid == (uint64_t)getpid())
			pid = 0;
	}
	free(text);
	return pid;
}

static int lock_or_wait(int dir, int op, unsigned wait_ms)
{
	for (unsigned waited = 0; flock(dir, op | LOCK_NB) < 0; waited += WAIT_STEP_MS) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return 0;	/* no locks here (some network file systems): nothing can be told */
		if (waited >= wait_ms)
			return -EBUSY;
		(void)usleep(WAIT_STEP_MS * 1000);
	}
	return 0;
}

static int refuse(int dir, const char *workspace, const char *what, struct ak_err *err)
{
	uint64_t pid = holder(dir);

	if (pid)
		(void)ak_err_set(err, EBUSY, "workspace \"%.300s\": %s (process %llu)", workspace, what, (unsigned long long)pid);
	else
		(void)ak_err_set(err, EBUSY, "workspace \"%.300s\": %s", workspace, what);
	return -EBUSY;
}

int busy_share(int dir, const char *workspace, struct ak_err *err)
{
	int r = lock_or_wait(dir, LOCK_SH, BUSY_WAIT_MS);

	if (r < 0) {
		(void)refuse(dir, workspace, "it is being restored, or a process holds a lock on it", err);
		ak_err_hint(err, "wait for the end of that process, or end it");
	}
	return r;
}

static int check_sandboxes(const struct runtime *rt, const char *workspace, struct ak_err *err)
{
	struct runtime_names *names = calloc(1, sizeof(*names));
	int r = names ? runtime_list(rt, names, NULL) : -ENOMEM;

	for (size_t i = 0; r == 0 && i < names->n; i++) {
		struct runtime_facts f = {0};

		if (runtime_read_facts(rt, names->name[i], &f, NULL) < 0)
			continue;
		if (f.workspace && (ak_path_below(f.workspace, workspace) || ak_path_below(workspace, f.workspace))) {
			r = ak_err_set(err, EBUSY, "workspace \"%.300s\": sandbox %s (process %u) may be at work in it", workspace,
				       names->name[i], f.pid);
			ak_err_hint(err, "end it (ak rm %s), or go on all the same with --live", names->name[i]);
		}
		runtime_facts_release(&f);
	}
	free(names);
	return r == -EBUSY ? r : 0;	/* what cannot be listed is not there */
}

int busy_alone(const struct hostinfo *h, int dir, const char *workspace, bool stay, struct ak_err *err)
{
	struct runtime rt = {.dir = -1};
	int r = 0;

	if (runtime_open(h, false, &rt, NULL) == 0)
		r = check_sandboxes(&rt, workspace, err);
	runtime_close(&rt);
	if (r == 0) {
		r = lock_or_wait(dir, LOCK_EX, 0);
		if (r < 0) {
			(void)refuse(dir, workspace, "a command is at work in it", err);
			ak_err_hint(err, "wait for its end, or end it; or go on all the same with --live");
		}
	}
	if (r == 0 && !stay)
		(void)flock(dir, LOCK_SH);	/* never waits: we have it */
	return r;
}
