/* SPDX-License-Identifier: Apache-2.0 */
/* What is written down about a named sandbox for `ak ls`: lines of "key value". Pure; no privilege. */
#ifndef AK_RUNTIME_FACTS_H
#define AK_RUNTIME_FACTS_H

#include <stddef.h>
#include <stdint.h>

struct ak_buf;
struct ak_err;

#define RUNTIME_FACTS_MAX 16384u	/* bytes of the file: a path of 4095 bytes may need three times as many */
#define RUNTIME_VERSION_MAX 31

struct runtime_facts {
	char version[RUNTIME_VERSION_MAX + 1];	/* of the ak that serves */
	uint32_t pid;
	uint64_t created_s;	/* CLOCK_REALTIME */
	uint64_t ttl_ms;
	uint32_t pool;
	uint32_t uid, gid;	/* on the host, of the sandbox's user: whom a pipe must let in that is opened again by name */
	char *workspace;	/* owned; absolute */
};

/** runtime_facts_write() - append the lines to @out; bytes of the path that would end a line or hide are written as %XX */
void runtime_facts_write(const struct runtime_facts *f, struct ak_buf *out);

/**
 * runtime_facts_read() - read lines that runtime_facts_write() wrote; a line with an unknown key is skipped
 * @ret:	release with runtime_facts_release(); untouched on failure
 * Return: 0; -EBADMSG (a value that does not parse, a key twice or missing, or not a text of lines); -ENOMEM.
 */
int runtime_facts_read(const char *text, size_t len, struct runtime_facts *ret, struct ak_err *err);

/** runtime_facts_release() - free what was read; safe twice */
void runtime_facts_release(struct runtime_facts *f);

#endif
