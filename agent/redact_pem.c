/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private keys in PEM: where one starts, which lines belong to it. Pure. Process: agent. Privilege: none. Source: RFC 7468,
 * RFC 1421 (headers), RFC 4880 section 6.2 (OpenPGP armour).
 *
 * A BEGIN line alone, as in a program that looks for one, is no key: one needs base64 within the next lines, or an END. Keys may
 * stand in one line with \n in it, and every line may have a prefix (grep, diff, cat -n).
 */
#include "agent/redact_int.h"

#include <string.h>

#define NAME_MAX_LEN 48u	/* "RSA PRIVATE KEY" and the like */
#define BEGIN_LOOK 2048u /* bytes within which a key has to follow */
#define BEGIN_LINES 7u
#define BEHIND_MAX 16u
#define LINE_LOOK 4096u
#define END_LOOK 512u	 /* bytes of a line in which an END mark is looked for */
#define MARK_LEN 96u	 /* an END mark is shorter */
#define RUN_MIN 24u	 /* base64 characters in a row */

static bool base64(int c)
{
	return redact_alnum(c) || c == '+' || c == '/';
}

/* Behind "-----BEGIN " or "-----END " and a name, with its "-----". 0: no such mark, -1: not clear yet */
static int mark_len(const struct redact_view *v, size_t from, const char *start, const char *what)
{
	size_t n = strlen(start);
	size_t name;

	for (size_t i = 0; i < n; i++) {
		int c = redact_at(v, from + i);

		if (c == REDACT_NEED)
			return -1;
		if (c != (unsigned char)start[i])
			return 0;
	}
	for (name = n; name < n + NAME_MAX_LEN; name++) {
		int c = redact_at(v, from + name);

		if (c == REDACT_NEED)
			return -1;
		if (!redact_upper(c) && !redact_digit(c) && c != ' ')
			break;
	}
	if (what && (name - n < strlen(what) || !memmem(v->p + v->i + from + n, name - n, what, strlen(what))))
		return 0;
	for (size_t i = 0; i < 5; i++) {
		int c = redact_at(v, from + name + i);

		if (c == REDACT_NEED)
			return -1;
		if (c != '-')
			return 0;
	}
	return (int)(name + 5);
}

/* Base64 in a row, as keys have it: capitals, small letters and a digit or sign */
struct run {
	size_t len;
	bool upper, lower, other;
};

static bool run_add(struct run *r, int c)
{
	if (!base64(c)) {
		*r = (struct run){ 0 };
		return false;
	}
	r->len++;
	r->upper = r->upper || redact_upper(c);
	r->lower = r->lower || redact_lower(c);
	r->other = r->other || !(redact_upper(c) || redact_lower(c));
	return r->len >= RUN_MIN && r->upper && r->lower && r->other;
}

/* What stands behind a BEGIN mark in its line, as '#10+ in a program: with it, when it is little. -1: not clear yet */
static int behind(const struct redact_view *v, size_t o)
{
	for (size_t k = 0; k <= BEHIND_MAX; k++) {
		int c = redact_at(v, o + k);

		if (c == REDACT_NEED)
			return -1;
		if (c == REDACT_END || c == '\n')
			return (int)k;
		if (c == '-')
			break;
	}
	return 0;
}

enum redact_verdict redact_pem_begin(const struct redact_view *v, struct redact_hit *ret)
{
	int begin = mark_len(v, 0, "-----BEGIN ", "PRIVATE KEY");
	struct run run = { 0 };
	unsigned lines = 0;

	if (begin <= 0)
		return begin < 0 ? REDACT_MORE : REDACT_NO;
	int more = behind(v, (size_t)begin);

	if (more < 0)
		return REDACT_MORE;
	*ret = (struct redact_hit){ .drop = (size_t)begin + (size_t)more, .next = REDACT_PEM };
	for (size_t o = (size_t)begin; o < BEGIN_LOOK && lines < BEGIN_LINES; o++) {
		int c = redact_at(v, o);
		int mark;

		if (c == REDACT_NEED)
			return REDACT_MORE;
		if (c == REDACT_END)
			return REDACT_NO;
		lines += c == '\n';
		/* in one line: what \n stands for is no part of a run, but its n looks like one */
		if (run_add(&run, c))
			return REDACT_YES;
		if (c != '-')
			continue;
		mark = mark_len(v, o, "-----BEGIN ", NULL);
		if (mark != 0)
			return mark < 0 ? REDACT_MORE : REDACT_NO;
		mark = mark_len(v, o, "-----END ", "PRIVATE KEY");
		if (mark != 0)
			return mark < 0 ? REDACT_MORE : REDACT_YES;
	}
	return REDACT_NO;
}

/* Nothing in it but base64, blanks, and what stands around strings in programs */
static bool is_rest(const struct redact_view *v, size_t len)
{
	for (size_t o = 0; o < len; o++) {
		int c = redact_at(v, o);

		if (!base64(c) && c != '=' && c != '\r' && c != '\n' && !redact_blank(c) && !redact_quote(c) && c != '\\' && c != ',')
			return false;
	}
	return true;
}

static bool is_header(const struct redact_view *v, size_t len)
{
	static const char *const names[] = { "Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:", "MessageID:" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (memmem(v->p + v->i, len, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

/* Is an END mark in the line behind this one? The last line of a key is short, and may have a prefix that is no base64 */
static enum redact_verdict end_follows(const struct redact_view *v, size_t o)
{
	for (size_t k = o; k < o + END_LOOK; k++) {
		int c = redact_at(v, k);
		int mark = c == '-' ? mark_len(v, k, "-----END ", "PRIVATE KEY") : 0;

		if (c == REDACT_NEED || mark < 0)
			return REDACT_MORE;
		if (c == REDACT_END || c == '\n')
			break;
		if (mark > 0)
			return REDACT_YES;
	}
	return REDACT_NO;
}

enum redact_verdict redact_pem_line(const struct redact_view *v, size_t *ret_len, bool *ret_end)
{
	struct run run = { 0 };
	bool key = false;
	bool line = false;
	size_t o = 0;

	*ret_len = 0;
	*ret_end = false;
	for (; o < LINE_LOOK && !line; o++) {
		int c = redact_at(v, o);
		int mark = c == '-' ? mark_len(v, o, "-----END ", "PRIVATE KEY") : 0;

		if (c == REDACT_NEED || mark < 0)
			return REDACT_MORE;
		if (mark > 0) {
			*ret_len = o + (size_t)mark;
			*ret_end = true;
			return REDACT_YES;
		}
		if (c == REDACT_END)
			break;
		key = run_add(&run, c) || key;
		line = c == '\n';
	}
	if (!key && !is_rest(v, o) && !is_header(v, o)) {
		enum redact_verdict last = line ? end_follows(v, o) : REDACT_NO;

		if (last != REDACT_YES)
			return last;
	}
	/* of a line that goes on, an END mark may lie across the border */
	*ret_len = o == LINE_LOOK && !line ? o - MARK_LEN : o;
	return REDACT_YES;
}
