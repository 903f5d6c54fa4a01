/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, sizes, durations and line formats from outside. Pure; any process, no privilege. */
#ifndef AK_SHARED_AK_PARSE_H
#define AK_SHARED_AK_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** ak_parse_u64() - decimal digits only, no sign, no space. Return: 0, -EINVAL, -ERANGE. */
int ak_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *ret);

/**
 * ak_parse_size() - SIZE of CLI.md: digits, then nothing or k, m, g in either case, optionally followed by iB or B
 * ("512", "512B", "64k", "1G", "1GiB", "2mb"), in either case too; 1024-based; no fractions, no sign, no space.
 * Return: 0; -EINVAL (does not parse); -ERANGE (over 2^63-1).
 */
int ak_parse_size(const char *s, uint64_t *ret_bytes);

/**
 * ak_parse_duration() - DUR of CLI.md: "90" (seconds), "500ms", "30s", "5m", "1h"; a decimal fraction is allowed ("0.5", "1.5m")
 * Return: 0 and milliseconds, rounded up, so that a value above zero never becomes 0; -EINVAL; -ERANGE (over 10 years).
 */
int ak_parse_duration(const char *s, uint64_t *ret_ms);

/** ak_parse_milli() - a decimal number with up to three places ("1", "0.5", "2.25") as thousandths. Return: 0, -EINVAL, -ERANGE. */
int ak_parse_milli(const char *s, uint64_t *ret);

/**
 * struct ak_lines - the one reader of line formats (passwd, subuid, env files, /proc)
 * A text in memory is cut at newlines; the last line needs none. Lines over @max bytes and lines with NUL are errors.
 */
struct ak_lines {
	const char *text;	/* borrowed */
	size_t len;
	size_t pos;
	size_t max;
	unsigned line_no;	/* of the line returned last or in error, from 1 */
	int error;		/* 0, or -EMSGSIZE (line too long), -EBADMSG (NUL byte) */
};

void ak_lines_init(struct ak_lines *l, const char *text, size_t len, size_t max);
/** ak_lines_next() - Return: true with the next line (not NUL-terminated, without its newline); false at the end or on error. */
bool ak_lines_next(struct ak_lines *l, const char **ret_line, size_t *ret_len);

/**
 * ak_field() - cut the next field off @line at @sep. Fields may be empty; "a:" has two, "" has one.
 * Return: false when the line is used up; *@line is NULL from the last field on.
 */
bool ak_field(const char **line, size_t *len, char sep, const char **ret_field, size_t *ret_len);

/**
 * ak_read_file() - a small file into memory
 * @max:	bytes at most
 * Return: 0 with *@ret malloc'ed, NUL-terminated, *@ret_len without the NUL; -EFBIG (over @max), or the errno of open/read.
 */
int ak_read_file(const char *path, size_t max, char **ret, size_t *ret_len);

/** ak_env_name_ok() - letters, digits, underscore, not starting with a digit, 1..255 bytes */
bool ak_env_name_ok(const char *s, size_t len);

#endif
