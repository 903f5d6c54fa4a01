/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a file that a regular expression matches. Process: in the sandbox. Privilege: none. */
#include "agent/search/text.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_err.h"

#define BINARY_LOOK 8000u /* as git looks */

struct text_search {
	pcre2_code *code;
	pcre2_match_context *limits;
	pcre2_match_data *data;
	char *file; /* TEXT_FILE_MAX bytes, of which the kernel gives what is used */
};

int text_new(const char *pattern, bool ignore_case, struct text_search **ret, struct ak_err *err)
{
	uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C | (ignore_case ? PCRE2_CASELESS : 0);
	struct text_search *s;
	unsigned char message[128] = "";
	PCRE2_SIZE at = 0;
	int code;

	if (strlen(pattern) > TEXT_PATTERN_MAX)
		return ak_err_set(err, EINVAL, "the pattern has over %u bytes", TEXT_PATTERN_MAX);
	s = calloc(1, sizeof(*s));
	if (!s)
		return ak_err_set(err, ENOMEM, "no memory");
	s->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &code, &at, NULL);
	if (!s->code) {
		text_free(s);
		(void)pcre2_get_error_message(code, message, sizeof(message));
		return ak_err_set(err, EINVAL, "the pattern is no regular expression: %s (at byte %zu)", (char *)message, (size_t)at);
	}
	s->limits = pcre2_match_context_create(NULL);
	s->data = pcre2_match_data_create(1, NULL);
	s->file = malloc(TEXT_FILE_MAX);
	if (!s->limits || !s->data || !s->file) {
		text_free(s);
		return ak_err_set(err, ENOMEM, "no memory");
	}
	(void)pcre2_set_match_limit(s->limits, TEXT_STEPS);
	(void)pcre2_set_depth_limit(s->limits, TEXT_DEPTH);
	(void)pcre2_set_heap_limit(s->limits, TEXT_HEAP_KIB);
	*ret = s;
	return 0;
}

void text_free(struct text_search *s)
{
	if (!s)
		return;
	pcre2_match_data_free(s->data);
	pcre2_match_context_free(s->limits);
	pcre2_code_free(s->code);
	free(s->file);
	free(s);
}

static enum text_result read_file(struct text_search *s, int fd, size_t *ret_len)
{
	struct stat st;
	size_t len = 0;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return TEXT_UNREADABLE;
	if (st.st_size > (off_t)TEXT_FILE_MAX)
		return TEXT_TOO_LARGE;
	while (len < TEXT_FILE_MAX) {
		ssize_t n = read(fd, s->file + len, TEXT_FILE_MAX - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return TEXT_UNREADABLE;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	*ret_len = len;
	return memchr(s->file, '\0', len < BINARY_LOOK ? len : BINARY_LOOK) ? TEXT_BINARY : TEXT_OK;
}

enum text_result text_file(struct text_search *s, int fd, text_line_fn *fn, void *ctx, unsigned long *ret_hard)
{
	unsigned long number = 0;
	size_t len = 0;
	enum text_result r = read_file(s, fd, &len);

	for (size_t at = 0; r == TEXT_OK && at < len;) {
		const char *line = s->file + at;
		const char *end = memchr(line, '\n', len - at);
		size_t n = end ? (size_t)(end - line) : len - at;
		int rc;

		number++;
		at += n + 1;
		if (n > 0 && line[n - 1] == '\r')
			n--;
		rc = pcre2_match(s->code, (PCRE2_SPTR)line, n, 0, 0, s->data, s->limits);
		if (rc >= 0 && !fn(ctx, number, line, n))
			break;
		*ret_hard += rc < 0 && rc != PCRE2_ERROR_NOMATCH;
	}
	return r;
}
