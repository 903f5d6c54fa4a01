/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes files of a cgroup. Process: executor, keeper. Privilege: the caller's. */
#include "executor/ns/cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/ns/cgroup_place.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_parse.h"

#define FILE_BYTES 4096
#define MOUNTINFO_BYTES (1u << 20)

long cgroup_read(int dir, const char *name, char *buf, size_t size)
{
	AK_AUTO_FD fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n;

	buf[0] = '\0';
	if (fd < 0)
		return -errno;
	do
		n = read(fd, buf, size - 1);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	return n;
}

int cgroup_read_u64(int dir, const char *name, uint64_t *ret)
{
	char text[32];
	long n = cgroup_read(dir, name, text, sizeof(text));

	if (n < 0)
		return (int)n;
	if (n > 0 && text[n - 1] == '\n')
		text[n - 1] = '\0';
	if (strcmp(text, "max") == 0) {
		*ret = UINT64_MAX;
		return 0;
	}
	return ak_parse_u64(text, 0, UINT64_MAX, ret) < 0 ? -EINVAL : 0;
}

int cgroup_read_key(int dir, const char *name, const char *key, uint64_t *ret)
{
	char text[FILE_BYTES];
	long n = cgroup_read(dir, name, text, sizeof(text));

	if (n < 0)
		return (int)n;
	return cgroup_key_u64(text, (size_t)n, key, ret) ? 0 : -ENOENT;
}

int cgroup_write(int dir, const char *name, const char *text)
{
	AK_AUTO_FD fd = openat(dir, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return -errno;
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

int cgroup_write_u64(int dir, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return cgroup_write(dir, name, text);
}

int cgroup_procs(int dir, unsigned *ret_others, bool *ret_self)
{
	char text[FILE_BYTES];
	long n = cgroup_read(dir, "cgroup.procs", text, sizeof(text));
	struct ak_lines l;
	const char *line;
	char self[16];
	size_t len;
	unsigned others = 0;
	bool found = false;

	if (n < 0)
		return (int)n;
	snprintf(self, sizeof(self), "%d", (int)getpid());
	ak_lines_init(&l, text, (size_t)n, FILE_BYTES);
	while (ak_lines_next(&l, &line, &len)) {
		/* a process of an outer pid namespace is listed as 0 */
		if (len == strlen(self) && memcmp(line, self, len) == 0)
			found = true;
		else
			others++;
	}
	*ret_others = others;
	*ret_self = found;
	return 0;
}

/* Source: proc(5), mountinfo: type and options of the file system stand behind " - " */
bool cgroup_nsdelegate(void)
{
	char *text = NULL, *at;
	bool found = false;
	size_t len;

	if (ak_read_file("/proc/self/mountinfo", MOUNTINFO_BYTES, &text, &len) < 0)
		return false;
	at = strstr(text, " - cgroup2 ");
	if (at) {
		at[strcspn(at, "\n")] = '\0';
		found = strstr(at, "nsdelegate") != NULL;
	}
	free(text);
	return found;
}
