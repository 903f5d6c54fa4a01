/* SPDX-License-Identifier: Apache-2.0 */
/* Signals that the caller ignores. Process: set-up child. System calls without errno, nothing of libc. */
#include "executor/ns/sigs.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "executor/ns/vclone.h"

#define SIGNALS 64
#define STATUS_MAX 2048	/* SigIgn comes in the first 700 bytes, and the groups of the caller: some 250 have room */

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Return: what stands behind the key, or NULL */
static const char *find(const char *text, const char *key)
{
	for (; *text; text++) {
		size_t n = 0;

		while (key[n] && text[n] == key[n])
			n++;
		if (!key[n])
			return text + n;
	}
	return NULL;
}

/* Return: bit N - 1 for signal N; all where /proc does not tell. Source: proc_pid_status(5), 16 hexadecimal digits */
static uint64_t ignored(void)
{
	static const char path[] = "/proc/self/status", key[] = "\nSigIgn:\t";
	char text[STATUS_MAX];
	long fd = vcall(SYS_openat, AT_FDCWD, (long)(uintptr_t)path, O_RDONLY | O_CLOEXEC, 0, 0);
	long n = fd < 0 ? fd : vcall(SYS_read, fd, (long)(uintptr_t)text, sizeof(text) - 1, 0, 0);
	const char *p;
	uint64_t bits = 0;

	if (fd >= 0)
		(void)vcall(SYS_close, fd, 0, 0, 0, 0);
	if (n <= 0)
		return UINT64_MAX;
	text[n] = 0;
	p = find(text, key);
	for (int i = 0; p && i < 16; i++) {
		int v = hex(p[i]);

		if (v < 0)
			return UINT64_MAX;
		bits = bits << 4 | (unsigned)v;
	}
	return p && p[16] == '\n' ? bits : UINT64_MAX;
}

void sigs_default(void)
{
	/* all zero is SIG_DFL; raw, because libc hides the real-time signals it uses itself (32 to 34) */
	static const uint64_t dfl[4];
	uint64_t bits = ignored();

	for (int n = 1; n <= SIGNALS; n++)
		if (bits >> (n - 1) & 1)	/* KILL, STOP: EINVAL */
			(void)vcall(SYS_rt_sigaction, n, (long)(uintptr_t)dfl, 0, sizeof(uint64_t), 0);
}
