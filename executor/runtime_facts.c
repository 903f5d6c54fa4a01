/* SPDX-License-Identifier: Apache-2.0 */
/* What is written down about a named sandbox. Pure; no privilege. */
#include "executor/runtime_facts.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_parse.h"

static bool plain(unsigned char c)
{
	return c > 0x20 && c < 0x7f && c != '%';
}

void runtime_facts_write(const struct runtime_facts *f, struct ak_buf *out)
{
	ak_buf_printf(out, "version %s\npid %u\ncreated %llu\nttl_ms %llu\npool %u\nuid %u\ngid %u\nworkspace ", f->version,
		      f->pid, (unsigned long long)f->created_s, (unsigned long long)f->ttl_ms, f->pool, f->uid, f->gid);
	for (const char *p = f->workspace; *p; p++) {
		if (plain((unsigned char)*p))
			ak_buf_add(out, p, 1);
		else
			ak_buf_printf(out, "%%%02X", (unsigned char)*p);
	}
	ak_buf_str(out, "\n");
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Return: the byte that @v starts with, and in *@ret_len how long it is written; -1 for one that is not written so */
static int decode_byte(const char *v, size_t len, size_t *ret_len)
{
	unsigned char c = (unsigned char)v[0];
	int hi, lo;

	*ret_len = 1;
	if (c != '%')
		return plain(c) ? c : -1;
	hi = len >= 3 ? hex(v[1]) : -1;
	lo = len >= 3 ? hex(v[2]) : -1;
	if (hi < 0 || lo < 0 || hi * 16 + lo == 0 || plain((unsigned char)(hi * 16 + lo)))
		return -1;	/* one way to write each byte */
	*ret_len = 3;
	return hi * 16 + lo;
}

static int decode_path(const char *v, size_t len, char **ret)
{
	char *path;
	size_t n = 0;

	if (len == 0 || v[0] != '/' || *ret)
		return -EBADMSG;
	path = malloc(len + 1);
	if (!path)
		return -ENOMEM;
	for (size_t i = 0, k; i < len; i += k) {
		int c = decode_byte(v + i, len - i, &k);

		if (c < 0 || n >= PATH_MAX - 1) {
			free(path);
			return -EBADMSG;
		}
		path[n++] = (char)c;
	}
	path[n] = '\0';
	*ret = path;
	return 0;
}

static int decode_number(const char *v, size_t len, uint64_t max, uint64_t *ret)
{
	char text[24];

	if (len == 0 || len >= sizeof(text) || (len > 1 && v[0] == '0'))
		return -EBADMSG;
	memcpy(text, v, len);
	text[len] = '\0';
	return ak_parse_u64(text, 0, max, ret) < 0 ? -EBADMSG : 0;
}

static int decode_version(const char *v, size_t len, char *ret)
{
	if (len == 0 || len > RUNTIME_VERSION_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < len; i++) {
		if (!plain((unsigned char)v[i]))
			return -EBADMSG;
	}
	memcpy(ret, v, len);
	ret[len] = '\0';
	return 0;
}

enum key { KEY_VERSION, KEY_PID, KEY_CREATED, KEY_TTL, KEY_POOL, KEY_UID, KEY_GID, KEY_WORKSPACE, KEYS };

static const char *const keys[KEYS] = { "version", "pid", "created", "ttl_ms", "pool", "uid", "gid", "workspace" };

static int decode_small(const char *v, size_t len, uint32_t *ret)
{
	uint64_t n = 0;
	int r = decode_number(v, len, UINT32_MAX, &n);

	if (r == 0)
		*ret = (uint32_t)n;
	return r;
}

static int take(struct runtime_facts *f, enum key key, const char *v, size_t len)
{
	switch (key) {
	case KEY_VERSION:
		return decode_version(v, len, f->version);
	case KEY_CREATED:
		return decode_number(v, len, UINT64_MAX, &f->created_s);
	case KEY_TTL:
		return decode_number(v, len, UINT64_MAX, &f->ttl_ms);
	case KEY_WORKSPACE:
		return decode_path(v, len, &f->workspace);
	case KEY_PID:
		return decode_small(v, len, &f->pid);
	case KEY_POOL:
		return decode_small(v, len, &f->pool);
	case KEY_UID:
		return decode_small(v, len, &f->uid);
	default:
		return decode_small(v, len, &f->gid);
	}
}

static int read_line(struct runtime_facts *f, const char *line, size_t len, unsigned *seen)
{
	const char *space = memchr(line, ' ', len);
	size_t n = space ? (size_t)(space - line) : 0;

	if (n == 0)
		return -EBADMSG;
	for (enum key k = 0; k < KEYS; k++) {
		if (strlen(keys[k]) != n || memcmp(keys[k], line, n) != 0)
			continue;
		if (*seen & (1u << k))
			return -EBADMSG;
		*seen |= 1u << k;
		return take(f, k, space + 1, len - n - 1);
	}
	return 0;	/* of a later version */
}

int runtime_facts_read(const char *text, size_t len, struct runtime_facts *ret, struct ak_err *err)
{
	struct runtime_facts f = { 0 };
	struct ak_lines lines;
	unsigned seen = 0;
	const char *line;
	size_t n;
	/* a text that was cut short may end in the middle of a path */
	int r = len > 0 && text[len - 1] == '\n' ? 0 : -EBADMSG;

	ak_lines_init(&lines, text, len, RUNTIME_FACTS_MAX);
	while (r == 0 && ak_lines_next(&lines, &line, &n))
		r = read_line(&f, line, n, &seen);
	if (r == 0 && (lines.error || seen != (1u << KEYS) - 1))
		r = -EBADMSG;
	if (r < 0) {
		runtime_facts_release(&f);
		return ak_err_set(err, -r, r == -ENOMEM ? "out of memory" : "not the facts of a sandbox");
	}
	*ret = f;
	return 0;
}

void runtime_facts_release(struct runtime_facts *f)
{
	free(f->workspace);
	f->workspace = NULL;
}
