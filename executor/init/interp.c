/* SPDX-License-Identifier: Apache-2.0 */
/* Which interpreter a file asks for; runs in the command's child after a failed exec, no privilege. */
#include "executor/init/interp.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define PHDRS_MAX 128u

static bool read_at(int fd, void *buf, size_t n, uint64_t at)
{
	return at <= INT64_MAX && pread(fd, buf, n, (off_t)at) == (ssize_t)n;
}

/* Source: fs/binfmt_script.c: blanks after #!, then the name up to a blank or the line's end */
static bool script_interp(const char *head, size_t len, char ret[INTERP_MAX])
{
	size_t from = 2, n;

	while (from < len && (head[from] == ' ' || head[from] == '\t'))
		from++;
	for (n = 0; from + n < len && !strchr(" \t\n", head[from + n]); n++)
		; /* strchr finds the NUL too */
	if (n == 0 || n >= INTERP_MAX)
		return false;
	memcpy(ret, head + from, n);
	ret[n] = 0;
	return true;
}

static bool elf_string(int fd, uint64_t at, uint64_t n, char ret[INTERP_MAX])
{
	if (n < 2 || n > INTERP_MAX || !read_at(fd, ret, n, at))
		return false;
	return ret[n - 1] == 0;
}

static bool elf64_interp(int fd, char ret[INTERP_MAX])
{
	Elf64_Ehdr e;
	Elf64_Phdr p;

	if (!read_at(fd, &e, sizeof(e), 0))
		return false;
	for (unsigned int i = 0; i < e.e_phnum && i < PHDRS_MAX; i++) {
		if (!read_at(fd, &p, sizeof(p), e.e_phoff + i * sizeof(p)))
			return false;
		if (p.p_type == PT_INTERP)
			return elf_string(fd, p.p_offset, p.p_filesz, ret);
	}
	return false;
}

static bool elf32_interp(int fd, char ret[INTERP_MAX])
{
	Elf32_Ehdr e;
	Elf32_Phdr p;

	if (!read_at(fd, &e, sizeof(e), 0))
		return false;
	for (unsigned int i = 0; i < e.e_phnum && i < PHDRS_MAX; i++) {
		if (!read_at(fd, &p, sizeof(p), (uint64_t)e.e_phoff + i * sizeof(p)))
			return false;
		if (p.p_type == PT_INTERP)
			return elf_string(fd, p.p_offset, p.p_filesz, ret);
	}
	return false;
}

bool interp_of(const char *file, char ret[INTERP_MAX])
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char head[INTERP_MAX];
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);
	bool found = false;

	if (n > EI_CLASS && memcmp(head, ELFMAG, SELFMAG) == 0)
		found = head[EI_CLASS] == ELFCLASS64 ? elf64_interp(fd, ret) : elf32_interp(fd, ret);
	else if (n > 2 && memcmp(head, "#!", 2) == 0)
		found = script_interp(head, (size_t)n, ret);
	if (fd >= 0)
		(void)close(fd);
	return found;
}

bool interp_is_elf(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char head[SELFMAG];
	bool elf = fd >= 0 && read_at(fd, head, sizeof(head), 0) && memcmp(head, ELFMAG, SELFMAG) == 0;

	if (fd >= 0)
		(void)close(fd);
	return elf;
}
