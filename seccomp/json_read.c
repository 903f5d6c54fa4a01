/* SPDX-License-Identifier: Apache-2.0 */
/* A strict reader of JSON text with places. Process: ak-policy. Privilege: none. */
#include "seccomp/json_read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	const unsigned char *p, *end;
	const unsigned char *line_start;
	uint32_t line;
	unsigned flags;
	unsigned depth;
	struct json_doc *d;
	uint32_t cap;
	struct json_error *err;
};

static int value(struct reader *r, const char *key, uint32_t *ret);

static int __attribute__((format(printf, 3, 4))) bad(struct reader *r, int code, const char *fmt, ...)
{
	va_list ap;

	r->err->line = r->line;
	r->err->col = (uint32_t)(r->p - r->line_start) + 1;
	va_start(ap, fmt);
	(void)vsnprintf(r->err->text, sizeof(r->err->text), fmt, ap);
	va_end(ap);
	return code;
}

static bool is_space(unsigned char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void step(struct reader *r)
{
	if (*r->p++ == '\n') {
		r->line++;
		r->line_start = r->p;
	}
}

/* Return: 1 when a comment was skipped, 0 when there is none, or a negative errno */
static int comment(struct reader *r)
{
	if (r->end - r->p < 2 || r->p[0] != '/' || (r->p[1] != '/' && r->p[1] != '*'))
		return 0;
	if (!(r->flags & JSON_RELAXED))
		return bad(r, -EINVAL, "comments are not allowed here");
	if (r->p[1] == '/') {
		while (r->p < r->end && *r->p != '\n')
			step(r);
		return 1;
	}
	r->p += 2;
	while (r->end - r->p >= 2 && !(r->p[0] == '*' && r->p[1] == '/'))
		step(r);
	if (r->end - r->p < 2)
		return bad(r, -EINVAL, "a comment without end");
	r->p += 2;
	return 1;
}

static int skip(struct reader *r)
{
	for (;;) {
		int rc;

		while (r->p < r->end && is_space(*r->p))
			step(r);
		rc = comment(r);
		if (rc <= 0)
			return rc;
	}
}

/* length of a well-formed sequence at p, or 0: RFC 3629 */
static size_t utf8_len(const unsigned char *p, const unsigned char *end)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] <= 0xdf ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : p[0] >= 0xf0 && p[0] <= 0xf4 ? 4 : 0;

	if (!n || (size_t)(end - p) < n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

static int hex4(struct reader *r, uint32_t *ret)
{
	uint32_t v = 0;

	if (r->end - r->p < 4)
		return bad(r, -EINVAL, "four hexadecimal digits are expected after \\u");
	for (int i = 0; i < 4; i++) {
		unsigned char c = *r->p;
		uint32_t x = c >= '0' && c <= '9' ? (uint32_t)c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (uint32_t)(c | 0x20) - 'a' + 10 : 16;

		if (x > 15)
			return bad(r, -EINVAL, "four hexadecimal digits are expected after \\u");
		v = v << 4 | x;
		r->p++;
	}
	*ret = v;
	return 0;
}

static char *put_utf8(char *o, uint32_t c)
{
	if (c < 0x80) {
		*o++ = (char)c;
	} else if (c < 0x800) {
		*o++ = (char)(0xc0 | c >> 6);
		*o++ = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*o++ = (char)(0xe0 | c >> 12);
		*o++ = (char)(0x80 | (c >> 6 & 63));
		*o++ = (char)(0x80 | (c & 63));
	} else {
		*o++ = (char)(0xf0 | c >> 18);
		*o++ = (char)(0x80 | (c >> 12 & 63));
		*o++ = (char)(0x80 | (c >> 6 & 63));
		*o++ = (char)(0x80 | (c & 63));
	}
	return o;
}

/* after "\u" */
static int unicode(struct reader *r, char **o)
{
	uint32_t c = 0, low = 0;
	int rc = hex4(r, &c);

	if (rc < 0)
		return rc;
	if (c == 0)
		return bad(r, -EINVAL, "a NUL in a string");
	if (c >= 0xdc00 && c <= 0xdfff)
		return bad(r, -EINVAL, "half of a surrogate pair");
	if (c >= 0xd800 && c <= 0xdbff) {
		if (r->end - r->p < 2 || r->p[0] != '\\' || r->p[1] != 'u')
			return bad(r, -EINVAL, "half of a surrogate pair");
		r->p += 2;
		rc = hex4(r, &low);
		if (rc < 0)
			return rc;
		if (low < 0xdc00 || low > 0xdfff)
			return bad(r, -EINVAL, "half of a surrogate pair");
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	*o = put_utf8(*o, c);
	return 0;
}

static int escape(struct reader *r, char **o)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	const char *at;

	r->p++;
	if (r->p == r->end)
		return bad(r, -EINVAL, "a string without end");
	if (*r->p == 'u') {
		r->p++;
		return unicode(r, o);
	}
	at = *r->p ? strchr(from, *r->p) : NULL;
	if (!at)
		return bad(r, -EINVAL, "unknown escape in a string");
	*(*o)++ = to[at - from];
	r->p++;
	return 0;
}

/* at the opening quote; the decoded text is never longer than the written one, so the arena has room */
static int string(struct reader *r, const char **ret)
{
	char *start = r->d->arena + r->d->used, *o = start;

	r->p++;
	while (r->p < r->end && *r->p != '"') {
		size_t n;
		int rc = 0;

		if (*r->p == '\\') {
			rc = escape(r, &o);
		} else if (*r->p < 0x20) {
			rc = bad(r, -EINVAL, *r->p == '\n' ? "a string without end" : "a control byte in a string");
		} else {
			n = utf8_len(r->p, r->end);
			if (n == 0)
				return bad(r, -EINVAL, "not UTF-8");
			memcpy(o, r->p, n);
			o += n;
			r->p += n;
		}
		if (rc < 0)
			return rc;
	}
	if (r->p == r->end)
		return bad(r, -EINVAL, "a string without end");
	r->p++;
	*o++ = '\0';
	r->d->used += (size_t)(o - start);
	*ret = start;
	return 0;
}

static bool digits(struct reader *r)
{
	const unsigned char *from = r->p;

	while (r->p < r->end && *r->p >= '0' && *r->p <= '9')
		r->p++;
	return r->p > from;
}

static int number(struct reader *r, const char **ret)
{
	const unsigned char *from = r->p;
	char *o = r->d->arena + r->d->used;
	bool ok;

	if (*r->p == '-')
		r->p++;
	ok = r->p < r->end && *r->p == '0' ? (r->p++, true) : digits(r);
	if (ok && r->p < r->end && *r->p == '.') {
		r->p++;
		ok = digits(r);
	}
	if (ok && r->p < r->end && (*r->p | 0x20) == 'e') {
		r->p++;
		if (r->p < r->end && (*r->p == '+' || *r->p == '-'))
			r->p++;
		ok = digits(r);
	}
	if (!ok || (r->p < r->end && ((*r->p >= '0' && *r->p <= '9') || *r->p == '.')))
		return bad(r, -EINVAL, "a number that is none");
	memcpy(o, from, (size_t)(r->p - from));
	o[r->p - from] = '\0';
	r->d->used += (size_t)(r->p - from) + 1;
	*ret = o;
	return 0;
}

static int node_new(struct reader *r, const char *key, uint32_t *ret)
{
	struct json_doc *d = r->d;

	if (d->n == JSON_NODES_MAX)
		return bad(r, -E2BIG, "more than %u values", JSON_NODES_MAX);
	if (d->n == r->cap) {
		uint32_t cap = r->cap ? r->cap * 2 : 256;
		struct json_node *n = realloc(d->nodes, cap * sizeof(*n));

		if (!n)
			return bad(r, -ENOMEM, "out of memory");
		d->nodes = n;
		r->cap = cap;
	}
	d->nodes[d->n] = (struct json_node){ .key = key, .line = r->line, .col = (uint32_t)(r->p - r->line_start) + 1 };
	*ret = d->n++;
	return 0;
}

static int check_key(struct reader *r, uint32_t obj, const char *key)
{
	const struct json_doc *d = r->d;

	if (d->nodes[obj].count == JSON_KEYS_MAX)
		return bad(r, -E2BIG, "more than %u keys in one object", JSON_KEYS_MAX);
	for (uint32_t i = d->nodes[obj].first; i; i = d->nodes[i].next)
		if (key && d->nodes[i].key && strcmp(d->nodes[i].key, key) == 0)
			return bad(r, -EINVAL, "key \"%.60s\" twice", key);
	return 0;
}

static int member_key(struct reader *r, uint32_t obj, const char **ret)
{
	int rc;

	if (*r->p != '"')
		return bad(r, -EINVAL, "a key in quotes is expected");
	rc = string(r, ret);
	if (rc == 0)
		rc = check_key(r, obj, *ret);
	if (rc == 0)
		rc = skip(r);
	if (rc < 0)
		return rc;
	if (r->p == r->end || *r->p != ':')
		return bad(r, -EINVAL, "a colon is expected after the key \"%.60s\"", *ret);
	r->p++;
	return skip(r);
}

/* after an element. Return: 1 there is another one, 0 the end was taken, or a negative errno */
static int after_element(struct reader *r, unsigned char close)
{
	int rc = skip(r);

	if (rc < 0)
		return rc;
	if (r->p < r->end && *r->p == close) {
		r->p++;
		return 0;
	}
	if (r->p == r->end || *r->p != ',')
		return bad(r, -EINVAL, "a comma or \"%c\" is expected", close);
	r->p++;
	rc = skip(r);
	if (rc < 0)
		return rc;
	if ((r->flags & JSON_RELAXED) && r->p < r->end && *r->p == close) {
		r->p++;
		return 0;
	}
	return 1;
}

/* at the opening bracket */
static int elements(struct reader *r, uint32_t self, unsigned char close)
{
	uint32_t last = 0, el = 0;
	const char *key = NULL;
	int rc;

	if (++r->depth > JSON_DEPTH_MAX)
		return bad(r, -E2BIG, "more than %u levels", JSON_DEPTH_MAX);
	r->p++;
	rc = skip(r);
	if (rc == 0 && r->p < r->end && *r->p == close) {
		r->p++;
		r->depth--;
		return 0;
	}
	do {
		if (rc >= 0 && r->p == r->end)
			rc = bad(r, -EINVAL, "the text ends too early");
		if (rc >= 0 && close == '}')
			rc = member_key(r, self, &key);
		if (rc >= 0)
			rc = value(r, key, &el);
		if (rc < 0)
			return rc;
		if (last)
			r->d->nodes[last].next = el;
		else
			r->d->nodes[self].first = el;
		last = el;
		r->d->nodes[self].count++;
		rc = after_element(r, close);
	} while (rc > 0);
	r->depth--;
	return rc;
}

static int word(struct reader *r, uint32_t self)
{
	static const struct { const char *text; enum json_kind kind; } words[] = {
		{ "null", JSON_NULL }, { "false", JSON_FALSE }, { "true", JSON_TRUE },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i].text);

		if ((size_t)(r->end - r->p) < n || memcmp(r->p, words[i].text, n) != 0)
			continue;
		r->d->nodes[self].kind = words[i].kind;
		r->p += n;
		return 0;
	}
	return bad(r, -EINVAL, "a value is expected");
}

static int value(struct reader *r, const char *key, uint32_t *ret)
{
	const char *text = NULL;
	enum json_kind kind;
	uint32_t self = 0;
	int rc;

	if (r->p == r->end)
		return bad(r, -EINVAL, "the text ends too early");
	rc = node_new(r, key, &self);
	if (rc < 0)
		return rc;
	*ret = self;
	switch (*r->p) {
	case '{':
	case '[':
		kind = *r->p == '{' ? JSON_OBJECT : JSON_ARRAY;
		r->d->nodes[self].kind = kind;
		return elements(r, self, kind == JSON_OBJECT ? '}' : ']');
	case '"':
		rc = string(r, &text);
		kind = JSON_STRING;
		break;
	case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
		rc = number(r, &text);
		kind = JSON_NUMBER;
		break;
	default:
		return word(r, self);
	}
	r->d->nodes[self].kind = kind;
	r->d->nodes[self].text = text;
	return rc;
}

int json_read(const char *text, size_t len, unsigned flags, struct json_doc *ret, struct json_error *ret_err)
{
	struct reader r = { .p = (const unsigned char *)text, .end = (const unsigned char *)text + len,
			    .line_start = (const unsigned char *)text, .line = 1, .flags = flags, .d = ret, .err = ret_err };
	uint32_t root;
	int rc;

	*ret = (struct json_doc){ 0 };
	*ret_err = (struct json_error){ 0 };
	if (len > JSON_BYTES_MAX)
		return bad(&r, -E2BIG, "longer than %u bytes", JSON_BYTES_MAX);
	/* every key, string and number is at most as long as it is written, plus its NUL, of which quotes or a comma make up */
	ret->arena = malloc(len + 2);
	if (!ret->arena)
		return bad(&r, -ENOMEM, "out of memory");
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		return bad(&r, -EINVAL, "a byte order mark: save the file without one");
	rc = skip(&r);
	if (rc == 0)
		rc = value(&r, NULL, &root);
	if (rc == 0)
		rc = skip(&r);
	if (rc == 0 && r.p != r.end)
		rc = bad(&r, -EINVAL, "something follows the value");
	return rc;
}

void json_release(struct json_doc *d)
{
	free(d->nodes);
	free(d->arena);
	*d = (struct json_doc){ 0 };
}

const struct json_node *json_first(const struct json_doc *d, const struct json_node *n)
{
	return n && n->first ? &d->nodes[n->first] : NULL;
}

const struct json_node *json_next(const struct json_doc *d, const struct json_node *n)
{
	return n && n->next ? &d->nodes[n->next] : NULL;
}

const struct json_node *json_get(const struct json_doc *d, const struct json_node *n, const char *key)
{
	if (!n || n->kind != JSON_OBJECT)
		return NULL;
	for (const struct json_node *m = json_first(d, n); m; m = json_next(d, m))
		if (strcmp(m->key, key) == 0)
			return m;
	return NULL;
}

int json_u64(const struct json_node *n, uint64_t *ret)
{
	uint64_t v = 0;

	if (!n || n->kind != JSON_NUMBER)
		return -EINVAL;
	for (const char *p = n->text; *p; p++) {
		unsigned d;

		if (*p < '0' || *p > '9')
			return -EINVAL;
		d = (unsigned)(*p - '0');
		if (v > (UINT64_MAX - d) / 10)
			return -ERANGE;
		v = v * 10 + d;
	}
	*ret = v;
	return 0;
}

static int small_number(const char **p, unsigned *ret)
{
	const char *from = *p;
	unsigned v = 0;

	while (**p >= '0' && **p <= '9' && *p - from < 4)
		v = v * 10 + (unsigned)(*(*p)++ - '0');
	*ret = v;
	return *p == from || (**p >= '0' && **p <= '9') ? -EINVAL : 0;
}

int json_version(const char *s, bool whole, unsigned *ret_major, unsigned *ret_minor)
{
	unsigned major, minor;

	if (small_number(&s, &major) < 0 || *s++ != '.' || small_number(&s, &minor) < 0 || (whole && *s))
		return -EINVAL;
	*ret_major = major;
	*ret_minor = minor;
	return 0;
}
