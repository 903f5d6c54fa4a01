/* SPDX-License-Identifier: Apache-2.0 */
/* Finds marks in the standard error of `docker exec`. Pure but for the random numbers. Process: executor. Privilege: none. */
#include "executor/docker/docker_marks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "executor/shared/ak_err.h"

#define SOH 1u	/* starts a mark in the stream */

int docker_marks_make(struct docker_marks *m, struct ak_err *err)
{
	uint8_t r[16];

	*m = (struct docker_marks){0};
	if (getrandom(r, sizeof(r), 0) != (ssize_t)sizeof(r))
		return ak_err_sys(err, errno ? errno : EIO, "take random numbers");
	memcpy(m->mark, "ak-", 3);
	for (size_t i = 0; i < sizeof(r); i++)
		(void)snprintf(m->mark + 3 + 2 * i, 3, "%02x", r[i]);
	return 0;
}

static void keep_before(struct docker_marks *m, uint8_t byte)
{
	if (m->nbefore == DOCKER_BEFORE_MAX) {
		memmove(m->before, m->before + DOCKER_BEFORE_MAX / 2, DOCKER_BEFORE_MAX / 2);
		m->nbefore = DOCKER_BEFORE_MAX / 2;
	}
	m->before[m->nbefore++] = byte ? (char)byte : '?';
	m->before[m->nbefore] = '\0';
}

static void pass(struct docker_marks *m, uint8_t byte, uint8_t *out, size_t *n)
{
	if (!m->started)
		keep_before(m, byte);
	else if (!m->ended)
		out[(*n)++] = byte;
}

static void flush_held(struct docker_marks *m, uint8_t *out, size_t *n)
{
	for (size_t i = 0; i < m->nheld; i++)
		pass(m, m->held[i], out, n);
	m->nheld = 0;
}

enum match { MATCH_NO, MATCH_PART, MATCH_START, MATCH_END };

/* "eDIGITS\n" behind the colon */
static enum match match_end(const uint8_t *p, size_t n, unsigned *ret_code)
{
	unsigned code = 0;

	for (size_t i = 1; i < n; i++) {
		if (p[i] == '\n' && i > 1) {
			*ret_code = code;
			return MATCH_END;
		}
		if (p[i] < '0' || p[i] > '9' || i > 3)
			return MATCH_NO;
		code = code * 10 + (unsigned)(p[i] - '0');
		if (code > 255)
			return MATCH_NO;
	}
	return MATCH_PART;
}

/* Do the held bytes form a mark, or the beginning of one? */
static enum match match(const struct docker_marks *m, unsigned *ret_code)
{
	size_t len = strlen(m->mark), n = m->nheld - 1;
	const uint8_t *p = m->held + 1;

	if (memcmp(p, m->mark, n < len ? n : len) != 0)
		return MATCH_NO;
	if (n <= len)
		return MATCH_PART;
	if (p[len] != ':')
		return MATCH_NO;
	p += len + 1;
	n -= len + 1;
	if (n == 0)
		return MATCH_PART;
	if (p[0] == 's')
		return n == 1 ? MATCH_PART : p[1] == '\n' ? MATCH_START : MATCH_NO;
	return p[0] == 'e' ? match_end(p, n, ret_code) : MATCH_NO;
}

/* a mark counts once, and its end only after its start; another one is output like any other */
static bool take_mark(struct docker_marks *m, enum match found, unsigned code)
{
	if (found == MATCH_START && !m->started) {
		m->started = true;
		return true;
	}
	if (found == MATCH_END && m->started && !m->ended) {
		m->ended = true;
		m->code = code;
		return true;
	}
	return false;
}

static void hold(struct docker_marks *m, uint8_t byte, uint8_t *out, size_t *n)
{
	unsigned code = 0;
	enum match found;

	m->held[m->nheld++] = byte;
	found = match(m, &code);
	if (found == MATCH_PART)
		return;
	if (take_mark(m, found, code)) {
		m->nheld = 0;
		return;
	}
	/* a mark starts with SOH and holds no other, so at most the last byte starts a new one */
	if (byte == SOH && m->nheld > 1) {
		m->nheld--;
		flush_held(m, out, n);
		m->held[m->nheld++] = byte;
		return;
	}
	flush_held(m, out, n);
}

size_t docker_marks_feed(struct docker_marks *m, const uint8_t *in, size_t n, uint8_t *out)
{
	size_t done = 0;

	for (size_t i = 0; i < n; i++) {
		if (m->nheld > 0 || in[i] == SOH)
			hold(m, in[i], out, &done);
		else
			pass(m, in[i], out, &done);
	}
	return done;
}

size_t docker_marks_end(struct docker_marks *m, uint8_t *out)
{
	size_t n = 0;

	flush_held(m, out, &n);
	return n;
}
