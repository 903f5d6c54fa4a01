/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, sizes, durations, lines, fields and paths. Laws are at each check. */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_json_out.h"
#include "executor/shared/ak_parse.h"
#include "executor/shared/ak_path.h"

#define LAW(x)                                                                                               \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What parses parses to the same value when it is written in the smallest unit; what does not leaves the
 * output alone */
static void numbers(const char *s)
{
	uint64_t v = 7, again = 0;
	char text[32];
	int rc = ak_parse_size(s, &v);

	LAW(rc == 0 || ((rc == -EINVAL || rc == -ERANGE) && v == 7));
	(void)snprintf(text, sizeof(text), "%" PRIu64, v);
	LAW(v <= INT64_MAX && ak_parse_size(text, &again) == 0 && again == v);

	v = 7;
	rc = ak_parse_duration(s, &v);
	LAW(rc == 0 || ((rc == -EINVAL || rc == -ERANGE) && v == 7));
	(void)snprintf(text, sizeof(text), "%" PRIu64 "ms", v);
	LAW(ak_parse_duration(text, &again) == 0 && again == v);
	/* above zero never becomes zero */
	LAW(rc != 0 || v > 0 || strpbrk(s, "123456789") == NULL);

	v = 7;
	rc = ak_parse_milli(s, &v);
	LAW(rc == 0 || ((rc == -EINVAL || rc == -ERANGE) && v == 7));
	(void)snprintf(text, sizeof(text), "%" PRIu64 ".%03u", v / 1000, (unsigned)(v % 1000));
	LAW(ak_parse_milli(text, &again) == 0 && again == v);

	v = 7;
	rc = ak_parse_u64(s, 5, 1000, &v);
	LAW(rc == 0 ? v >= 5 && v <= 1000 : (rc == -EINVAL || rc == -ERANGE) && v == 7);
}

/* Lines and fields put together again are the input */
static void lines(const char *text, size_t len)
{
	struct ak_lines l;
	const char *line;
	size_t n;
	size_t at = 0;

	ak_lines_init(&l, text, len, 64);
	while (ak_lines_next(&l, &line, &n)) {
		LAW(line == text + at && n <= 64 && !memchr(line, '\0', n) && !memchr(line, '\n', n));

		const char *rest = line;
		size_t left = n;
		size_t used = 0;
		const char *f;
		size_t nf;

		while (ak_field(&rest, &left, ':', &f, &nf)) {
			LAW(f == line + used && !memchr(f, ':', nf));
			used += nf + 1;
		}
		LAW(used == n + 1);
		at += n;
		at += at < len && text[at] == '\n';
	}
	LAW(l.error != 0 || at == len);
}

/* A normalised path is absolute, without empty, "." and ".." components, below its own root, and stays as it
 * is */
static void paths(const char *s)
{
	char *p = ak_path_normalize("/base/dir", s);

	if (!p) {
		LAW(errno == EINVAL || errno == ENAMETOOLONG);
		return;
	}
	LAW(p[0] == '/' && !strstr(p, "//") && !strstr(p, "/./") && !strstr(p, "/../"));

	size_t n = strlen(p);

	LAW(n <= 4095 && (n == 1 || p[n - 1] != '/'));

	char *again = ak_path_normalize(NULL, p);

	LAW(again && strcmp(again, p) == 0);
	LAW(ak_path_below(p, "/") && ak_path_below(p, p));
	LAW((ak_path_depth(p) == 0) == (n == 1));
	free(again);
	free(p);
}

/* What lies before an unfinished character is as valid as the whole text is without it */
static void utf8(const uint8_t *data, size_t size)
{
	size_t part = ak_utf8_partial(data, size);

	LAW(part <= 3 && part <= size);
	if (ak_utf8_valid(data, size)) {
		LAW(part == 0);
		for (size_t n = 0; n < size; n++)
			LAW(ak_utf8_valid(data, n - ak_utf8_partial(data, n)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 16384)
		return 0;

	char *s = malloc(size + 1);

	if (!s)
		return 0;
	memcpy(s, data, size);
	s[size] = '\0';
	numbers(s);
	lines(s, size);
	paths(s);
	if (size <= 512)
		utf8(data, size);
	free(s);
	return 0;
}
