/* SPDX-License-Identifier: Apache-2.0 */
/* ECMA-262's regular expressions on PCRE2: the common part, translated where letters mean something else. Process: agent. */
#include "agent/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

/* ECMA's white space (22.2.2.9, WhiteSpace and LineTerminator), without brackets */
#define SPACES "\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}"
#define ENDS "\\n\\r\\x{2028}\\x{2029}"

struct pattern {
	pcre2_code *code;
	pcre2_match_context *limits;
};

/* The text that is read, and what PCRE2 gets */
struct walk {
	const char *p;
	bool in_class;
	bool quantified; /* the last thing was a quantifier */
	struct ak_buf out;
	struct ak_err *err;
};

static int unsupported(const struct walk *w, const char *what)
{
	return ak_err_set(w->err, EOPNOTSUPP, "the pattern uses %s, which is not supported", what);
}

static bool hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* \p{..}: only what both languages call the same */
static int property(struct walk *w)
{
	static const char *const names[] = { "L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc",
					     "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S",  "Sm", "Sc", "Sk", "So", "Z", "Zs", "Zl", "Zp" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i]);

		if (w->p[2] == '{' && strncmp(w->p + 3, names[i], n) == 0 && w->p[3 + n] == '}') {
			ak_buf_add(&w->out, w->p, n + 4);
			w->p += n + 4;
			return 0;
		}
	}
	return unsupported(w, "\\p or \\P with a long name");
}

static int unicode_escape(struct walk *w)
{
	size_t n = 2;

	if (w->p[1] == 'u' && w->p[2] == '{') {
		for (n = 3; n < 10 && hex(w->p[n]); n++)
			;
		if (n == 3 || w->p[n] != '}')
			return ak_err_set(w->err, EBADMSG, "the pattern has a broken \\u escape");
		ak_buf_printf(&w->out, "\\x{%.*s}", (int)(n - 3), w->p + 3);
		w->p += n + 1;
		return 0;
	}
	size_t digits = w->p[1] == 'u' ? 4 : 2;

	while (n < 2 + digits && hex(w->p[n]))
		n++;
	if (n < 2 + digits)
		return ak_err_set(w->err, EBADMSG, "the pattern has a broken \\%c escape", w->p[1]);
	if (digits == 4 && (w->p[2] == 'd' || w->p[2] == 'D') && strchr("89abcdefABCDEF", w->p[3]))
		return unsupported(w, "surrogates; write \\u{...}");
	ak_buf_printf(&w->out, "\\x{%.*s}", (int)digits, w->p + 2);
	w->p += n;
	return 0;
}

static int escape(struct walk *w)
{
	char c = w->p[1];

	switch (c) {
	case 'd':
	case 'D':
	case 'w':
	case 'W':
	case 'n':
	case 'r':
	case 't':
	case 'f':
		break;
	case 'b':
	case 'B':
		if (c == 'B' && w->in_class)
			return unsupported(w, "\\B in a class");
		break;
	case 'v':
		ak_buf_str(&w->out, "\\x{b}");
		w->p += 2;
		return 0;
	case 's':
		ak_buf_str(&w->out, w->in_class ? SPACES : "[" SPACES "]");
		w->p += 2;
		return 0;
	case 'S':
		if (w->in_class)
			return unsupported(w, "\\S in a class");
		ak_buf_str(&w->out, "[^" SPACES "]");
		w->p += 2;
		return 0;
	case 'x':
	case 'u':
		return unicode_escape(w);
	case 'p':
	case 'P':
		return property(w);
	default:
		if (c >= '1' && c <= '9' && w->in_class)
			return unsupported(w, "a number escape in a class");
		if (c == '0' && (w->p[2] < '0' || w->p[2] > '9')) {
			ak_buf_str(&w->out, "\\x{0}");
			w->p += 2;
			return 0;
		}
		if (c == '\0' || !((c >= '1' && c <= '9') || strchr("^$\\.*+?()[]{}|/-", c)))
			return unsupported(w, "an escape that ECMA-262 has not");
	}
	ak_buf_add(&w->out, w->p, 2);
	w->p += 2;
	return 0;
}

static int group(struct walk *w)
{
	static const char *const known[] = { "(?:", "(?=", "(?!", "(?<=", "(?<!" };

	if (w->p[1] == '*')
		return ak_err_set(w->err, EBADMSG, "the pattern has nothing to repeat behind (");
	if (w->p[1] != '?') {
		ak_buf_str(&w->out, "(");
		w->p++;
		return 0;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t n = strlen(known[i]);

		if (strncmp(w->p, known[i], n) == 0) {
			ak_buf_add(&w->out, w->p, n);
			w->p += n;
			return 0;
		}
	}
	return unsupported(w, "a group that starts with (?");
}

/* Is this { the start of {n}, {n,} or {n,m}? */
static size_t braces(const char *p)
{
	size_t n = 1;

	while (p[n] >= '0' && p[n] <= '9')
		n++;
	if (n == 1)
		return 0;
	if (p[n] == ',')
		n++;
	while (p[n] >= '0' && p[n] <= '9')
		n++;
	return p[n] == '}' ? n + 1 : 0;
}

static int quantifier(struct walk *w, size_t n)
{
	if (w->quantified) {
		/* a+? is lazy in both; a++ is possessive in one and a fault in the other */
		if (*w->p != '?' || n != 1)
			return ak_err_set(w->err, EBADMSG, "the pattern has nothing to repeat before %c", *w->p);
	}
	ak_buf_add(&w->out, w->p, n);
	w->p += n;
	w->quantified = true;
	if (*w->p == '?') {
		ak_buf_str(&w->out, "?");
		w->p++;
	}
	return 0;
}

static int in_class(struct walk *w)
{
	if (*w->p == '\\')
		return escape(w);
	if (*w->p == '[') {
		/* [:alpha:] and its like mean something in PCRE2 only */
		ak_buf_str(&w->out, "\\[");
		w->p++;
		return 0;
	}
	w->in_class = *w->p != ']';
	ak_buf_add(&w->out, w->p++, 1);
	return 0;
}

static int one(struct walk *w)
{
	size_t n = *w->p == '{' ? braces(w->p) : 1;

	if (w->in_class)
		return in_class(w);
	if (n > 0 && strchr("*+?{", *w->p))
		return quantifier(w, n);
	w->quantified = false;
	switch (*w->p) {
	case '\\':
		return escape(w);
	case '(':
		return group(w);
	case '{':
	case '}':
		return unsupported(w, "a brace that is no quantifier");
	case '.':
		ak_buf_str(&w->out, "[^" ENDS "]");
		w->p++;
		return 0;
	case '[':
		w->in_class = true;
		ak_buf_str(&w->out, "[");
		w->p++;
		if (*w->p == '^')
			ak_buf_add(&w->out, w->p++, 1);
		return 0;
	default:
		ak_buf_add(&w->out, w->p++, 1);
		return 0;
	}
}

static int translate(const char *text, struct ak_buf *out, struct ak_err *err)
{
	struct walk w = { .p = text, .err = err };
	int rc = 0;

	while (*w.p && rc == 0)
		rc = one(&w);
	if (rc == 0 && w.in_class)
		rc = ak_err_set(err, EBADMSG, "the pattern has a [ without its ]");
	if (rc == 0 && w.out.failed)
		rc = ak_err_set(err, ENOMEM, "no memory for a pattern");
	if (rc < 0) {
		ak_buf_release(&w.out);
		return rc;
	}
	*out = w.out;
	return 0;
}

static int compile(struct pattern *p, const struct ak_buf *text, struct ak_err *err)
{
	uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF |
			   PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UCP;
	unsigned char message[128];
	PCRE2_SIZE at;
	int code;

	p->code = pcre2_compile((PCRE2_SPTR)(text->data ? text->data : ""), text->len, options, &code, &at, NULL);
	if (!p->code) {
		if (pcre2_get_error_message(code, message, sizeof(message)) < 0)
			message[0] = '\0';
		return ak_err_set(err, EBADMSG, "the pattern is no regular expression: %s", (char *)message);
	}
	p->limits = pcre2_match_context_create(NULL);
	if (!p->limits)
		return ak_err_set(err, ENOMEM, "no memory for a pattern");
	(void)pcre2_set_match_limit(p->limits, PATTERN_STEPS);
	(void)pcre2_set_depth_limit(p->limits, PATTERN_DEPTH);
	(void)pcre2_set_heap_limit(p->limits, PATTERN_HEAP_KIB);
	return 0;
}

int pattern_new(const char *text, struct pattern **ret, struct ak_err *err)
{
	struct pattern *p;
	struct ak_buf b = { 0 };
	int rc;

	if (strlen(text) > PATTERN_MAX)
		return ak_err_set(err, EOPNOTSUPP, "the pattern has over %u bytes", PATTERN_MAX);
	rc = translate(text, &b, err);
	if (rc < 0)
		return rc;
	p = calloc(1, sizeof(*p));
	rc = p ? compile(p, &b, err) : ak_err_set(err, ENOMEM, "no memory for a pattern");
	ak_buf_release(&b);
	if (rc < 0) {
		pattern_free(p);
		return rc;
	}
	*ret = p;
	return 0;
}

void pattern_free(struct pattern *p)
{
	if (!p)
		return;
	pcre2_match_context_free(p->limits);
	pcre2_code_free(p->code);
	free(p);
}

int pattern_match(const struct pattern *p, const char *text, size_t len)
{
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	int rc;

	if (!data)
		return -ENOMEM;
	rc = pcre2_match(p->code, (PCRE2_SPTR)text, len, 0, 0, data, p->limits);
	pcre2_match_data_free(data);
	if (rc >= 0)
		return 1;
	switch (rc) {
	case PCRE2_ERROR_NOMATCH:
		return 0;
	case PCRE2_ERROR_MATCHLIMIT:
	case PCRE2_ERROR_DEPTHLIMIT:
	case PCRE2_ERROR_HEAPLIMIT:
		return -E2BIG;
	case PCRE2_ERROR_NOMEMORY:
		return -ENOMEM;
	default:
		return -EILSEQ;
	}
}
