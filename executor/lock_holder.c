/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds a lock. Process and privilege: see lock_holder.h. */
#include "executor/lock_holder.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_parse.h"

#define LOCKS_BYTES (4u << 20)
#define STATUS_BYTES 65536u

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

/* Source: proc_locks(5) */
pid_t lock_holder(int fd)
{
	struct ak_lines lines;
	char *text = NULL;
	const char *line;
	size_t len = 0;
	uint64_t pid = 0;
	struct stat st;

	if (fstat(fd, &st) < 0 || ak_read_file("/proc/locks", LOCKS_BYTES, &text, &len) < 0)
		return 0;
	ak_lines_init(&lines, text, len, 4096);
	while (pid == 0 && ak_lines_next(&lines, &line, &len)) {
		pid = pid_of_line(line, len, st.st_ino);
		if (pid == (uint64_t)getpid())
			pid = 0;
	}
	free(text);
	return (pid_t)pid;
}

/* is SIGKILL on its way? @field: "SigPnd:" of the thread, "ShdPnd:" of the process; a bit for each signal */
static bool kill_pending(const char *status, const char *field)
{
	const char *at = strstr(status, field);

	return at && (strtoull(at + strlen(field), NULL, 16) >> (SIGKILL - 1) & 1);
}

/* Source: proc_pid_status(5); a process without memory has begun to end */
bool lock_holder_stays(pid_t pid)
{
	char path[40], *text = NULL;
	size_t len = 0;
	bool stays;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (pid <= 0 || ak_read_file(path, STATUS_BYTES, &text, &len) < 0)
		return false;
	stays = strstr(text, "\nVmSize:") && !kill_pending(text, "\nSigPnd:") && !kill_pending(text, "\nShdPnd:");
	free(text);
	return stays;
}
