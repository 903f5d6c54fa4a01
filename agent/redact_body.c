/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private keys without their BEGIN line, as tail, sed -n and grep -A show them. Pure. Process: agent. Privilege: none.
 * Source: RFC 7468 (64 characters a line), RFC 5208 and 8017 (PrivateKeyInfo, RSAPrivateKey), RFC 5915 (ECPrivateKey), openssh's
 * PROTOCOL.key (70 characters a line).
 *
 * A key is known by any of: its END line behind lines of base64; how its first bytes look; BODY_LINES lines of one of the two widths
 * that keys have. The last is a guess: other data in base64 of that width is taken out as well. What stands in a block of another
 * name (CERTIFICATE, PUBLIC KEY, PGP MESSAGE), or ends as one, is none, and neither is what is longer than any key.
 */
#include "agent/redact_int.h"

#include <string.h>

#define LINE_MAX 512u	 /* a longer line is no line of a key */
#define BODY_MAX 8192u	 /* an RSA key of 8192 bits has 6.3 KB */
#define BODY_LINES 4u
#define BEHIND 8u	 /* bytes between the end of a string in a program and the end of its line: '#10+ */
#define SHORT_MIN 12u
#define FULL_MIN 40u	 /* base64 characters at the end of a line that is not the last one */

enum kind {
	NONE,	     /* no line of a key */
	BLANK,	     /* nothing, or only what stands around strings in programs */
	FULL,	     /* ends with much base64 */
	SHORT,	     /* nothing but base64, and little; with a prefix only what looks like it */
	BEGIN_OTHER, /* -----BEGIN of what is no private key */
	END_OTHER,
	END_KEY,
};

/* @len: with what ends it: a newline, or \n in a string; @run, @width: where the base64 at its end starts, and how long it is */
struct line {
	enum kind kind;
	size_t len;
	size_t run;
	size_t width;
	bool header; /* NAME: VALUE, or nothing at all */
};

static bool base64(unsigned char c)
{
	return redact_alnum(c) || c == '+' || c == '/';
}

static bool around(unsigned char c)
{
	return redact_blank(c) || redact_quote(c) || c == '\r' || c == ',' || c == ';' || c == '\\';
}

/* Where the line that starts at @o ends. Return: false when that is not clear yet; *@ret_len 0: it is too long */
static bool line_end(const struct redact_view *v, size_t o, size_t *ret_end, size_t *ret_len)
{
	*ret_len = 0;
	for (size_t k = o; k < o + LINE_MAX; k++) {
		int c = redact_at(v, k);

		if (c == REDACT_NEED || (c == '\\' && redact_at(v, k + 1) == REDACT_NEED))
			return false;
		if (c != REDACT_END && c != '\n' && !(c == '\\' && redact_at(v, k + 1) == 'n'))
			continue;
		*ret_end = k;
		*ret_len = k - o + (c == '\n' ? 1 : c == '\\' ? 2 : 0);
		return true;
	}
	return true;
}

static enum kind mark_kind(const char *p, size_t n)
{
	const char *begin = memmem(p, n, "--BEGIN ", 8), *end = memmem(p, n, "--END ", 6);

	if (!begin)
		begin = memmem(p, n, "-- BEGIN ", 9); /* RFC 4716 */
	if (!end)
		end = memmem(p, n, "-- END ", 7);
	if (memmem(p, n, "PRIVATE KEY", 11))
		return end && !begin ? END_KEY : NONE;
	return end ? END_OTHER : begin ? BEGIN_OTHER : NONE;
}

static bool mixed(const char *p, size_t n)
{
	bool upper = false, lower = false, other = false;

	for (size_t i = 0; i < n; i++) {
		upper = upper || redact_upper(p[i]);
		lower = lower || redact_lower(p[i]);
		other = other || !(redact_upper(p[i]) || redact_lower(p[i]));
	}
	return upper && lower && other;
}

/* How much of the line is left without what stands behind it in a program */
static size_t trimmed(const char *p, size_t n)
{
	for (size_t k = n; k > 0 && n - k < BEHIND && (around((unsigned char)p[k - 1]) || strchr("#+.&)0123456789", p[k - 1])); k--) {
		if (redact_quote(p[k - 1])) {
			n = k - 1;
			break;
		}
	}
	while (n > 0 && around((unsigned char)p[n - 1]))
		n--;
	return n;
}

/* What the line that starts at @o is. Return: false when that is not clear yet */
static bool read_line(const struct redact_view *v, size_t o, struct line *ret)
{
	const char *p = (const char *)v->p + v->i + o;
	size_t end = 0, n, from, front = 0;

	*ret = (struct line){ .kind = NONE };
	if (!line_end(v, o, &end, &ret->len))
		return false;
	if (ret->len == 0 && redact_at(v, o) != REDACT_END)
		return true;
	n = end - o;
	if (memmem(p, n, "--", 2)) {
		ret->kind = mark_kind(p, n);
		return true;
	}
	ret->header = memchr(p, ':', n) != NULL;
	n = trimmed(p, n);
	for (from = n; from > 0 && p[from - 1] == '=' && n - from < 2; from--)
		continue;
	while (from > 0 && base64((unsigned char)p[from - 1]))
		from--;
	while (front < from && around((unsigned char)p[front]))
		front++;
	if (from == 0 && p[0] == '+' && (n == 65 || n == 71))
		from++; /* a line that a diff adds */
	ret->run = from;
	ret->width = n - from;
	if (ret->width == 0)
		ret->kind = front == n && end - o <= BEHIND ? BLANK : NONE;
	else if (ret->width >= FULL_MIN && mixed(p + from, ret->width))
		ret->kind = FULL;
	else if (front == from || (ret->width >= SHORT_MIN && mixed(p + from, ret->width)))
		ret->kind = SHORT;
	return true;
}

/* What follows the lines of base64 that end at @o. Return: REDACT_YES: the END of a key; REDACT_NO; REDACT_MORE */
static enum redact_verdict ends_as_key(const struct redact_view *v, size_t o, bool *ret_other)
{
	struct line line;

	/* in a program the end of a string stands between two lines; OpenPGP has a check sum of its own there */
	for (unsigned i = 0; i < 3; i++, o += line.len) {
		if (!read_line(v, o, &line))
			return REDACT_MORE;
		*ret_other = line.kind == END_OTHER;
		if (line.kind == END_KEY)
			return REDACT_YES;
		if (*ret_other || line.len == 0 || (line.kind != BLANK && line.kind != SHORT && line.width > 5))
			return REDACT_NO;
	}
	return REDACT_NO;
}

/* SEQUENCE in SEQUENCE: a certificate, or a request for one, as XML signatures have it without a mark */
static bool is_certificate(const unsigned char *p)
{
	return memcmp(p, "MII", 3) == 0 && memcmp(p + 6, "CC", 2) == 0;
}

/* The whole of what starts with the full line @first */
static enum redact_verdict judge(const struct redact_view *v, const struct line *first)
{
	struct line line = *first;
	unsigned lines = 0;
	bool other = false;
	size_t o = 0;
	enum redact_verdict end;

	while ((line.kind == FULL && line.width == first->width) || (line.kind == BLANK && line.len > 1)) {
		lines += line.kind == FULL;
		o += line.len;
		if (o > BODY_MAX || line.len == 0)
			return REDACT_NO;
		if (!read_line(v, o, &line))
			return REDACT_MORE;
	}
	if (line.width > 0 && line.width < first->width && line.kind != END_KEY && line.kind != END_OTHER)
		o += line.len;
	end = ends_as_key(v, o, &other);
	if (end != REDACT_NO)
		return end;
	if (other || lines < BODY_LINES || is_certificate(v->p + v->i + first->run))
		return REDACT_NO;
	return first->width == 64 || first->width == 70 ? REDACT_YES : REDACT_NO;
}

enum redact_verdict redact_body_line(const struct redact_view *v, struct redact_body *b, size_t *ret_behind)
{
	enum redact_verdict verdict = REDACT_NO;
	bool other = false;
	struct line line;

	if (!read_line(v, 0, &line))
		return REDACT_MORE;
	if (line.kind == FULL && !b->full && !b->other)
		verdict = judge(v, &line);
	else if (line.kind == SHORT && !b->full && !b->other)
		verdict = ends_as_key(v, line.len, &other);
	if (verdict == REDACT_MORE)
		return verdict;
	if (line.kind == BEGIN_OTHER || line.kind == END_OTHER)
		b->other = line.kind == BEGIN_OTHER;
	else if (line.kind == NONE && !line.header)
		b->other = false;
	b->full = line.kind == FULL || (b->full && line.kind == BLANK);
	*ret_behind = line.run;
	return verdict;
}

/* The first bytes of a key in DER, as base64: SEQUENCE, INTEGER 0 or 1; "any" of a group stands for the length */
static bool starts_as_key(const unsigned char *p)
{
	static const char openssh[] = "b3BlbnNzaC1rZXktdjE";

	if (memcmp(p, openssh, sizeof(openssh) - 1) == 0)
		return true;
	if (memcmp(p, "MII", 3) == 0)
		return strchr("AQgw", p[5]) && memcmp(p + 6, "IBA", 3) == 0 && (p[9] == 'A' || p[9] == 'D');
	if (p[0] == 'M' && p[1] == 'I' && (p[2] == 'G' || p[2] == 'H'))
		return memcmp(p + 4, "AgE", 3) == 0 && (p[7] == 'A' || p[7] == 'B');
	return p[0] == 'M' && p[1] >= 'A' && p[1] <= 'H' && memcmp(p + 3, "CAQ", 3) == 0 &&
	       (memcmp(p + 6, "Aw", 2) == 0 || memcmp(p + 6, "Ew", 2) == 0 || memcmp(p + 6, "EE", 2) == 0);
}

enum redact_verdict redact_body_start(const struct redact_view *v, struct redact_hit *ret)
{
	size_t len = 0, end = 0, whole, n;

	if (base64(redact_back(v, 1)))
		return REDACT_NO;
	for (; len < FULL_MIN; len++) {
		int c = redact_at(v, len);

		if (c == REDACT_NEED)
			return REDACT_MORE;
		if (c == REDACT_END || !base64((unsigned char)c))
			return REDACT_NO;
	}
	if (!starts_as_key(v->p + v->i))
		return REDACT_NO;
	if (!line_end(v, 0, &end, &whole))
		return REDACT_MORE;
	/* up to the end of its line it is a line of a key, and others follow; in the middle of one it stands alone */
	n = whole ? trimmed((const char *)v->p + v->i, end) : 0;
	while (len < n && (base64(v->p[v->i + len]) || v->p[v->i + len] == '='))
		len++;
	*ret = (struct redact_hit){ .drop = FULL_MIN, .next = whole && len == n ? REDACT_PEM : REDACT_BASE64 };
	return REDACT_YES;
}
