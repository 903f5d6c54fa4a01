/* SPDX-License-Identifier: Apache-2.0 */
/* The file about a session. Process: agent. Privilege: none. */
#include "agent/session_about.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/budget.h"
#include "agent/money.h"
#include "agent/redact.h"
#include "agent/result.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_fd.h"

#define REDACT_SOME (4u * AK_SESSION_TASK_MAX) /* bytes of a task that are looked at for secrets: more than are kept */

static uint64_t now_ms(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* no longer than @max bytes, and no character in halves */
static size_t whole(const char *text, size_t max)
{
	size_t n = strnlen(text, max + 1);

	if (n <= max)
		return n;
	for (n = max; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
		;
	return n;
}

/* what an earlier run has left. Return: was there anything to go on with? */
static bool take_before(struct session_about *s)
{
	char bytes[AK_SESSION_ABOUT_MAX];
	ssize_t n = pread(s->fd, bytes, sizeof(bytes), 0);

	if (n <= 0)
		return false;
	memcpy(s->texts, bytes, (size_t)n);
	return ak_session_about_decode(s->texts, (size_t)n, &s->before) == 0;
}

static void begin(struct session_about *s, const char *workspace, const char *model, const char *task)
{
	struct ak_buf masked = { 0 };
	size_t room = sizeof(s->texts), at = 0;
	const char *text[3] = { workspace, model, "" };
	const char **to[3] = { &s->before.workspace, &s->before.model, &s->before.task };
	size_t most[3] = { room, 256, AK_SESSION_TASK_MAX };

	(void)redact_text(task, whole(task, REDACT_SOME), &masked);
	if (!masked.failed && masked.data)
		text[2] = masked.data;
	s->before = (struct ak_session_about){ .created_ms = now_ms() };
	for (size_t i = 0; i < 3; i++) {
		size_t n = whole(text[i], most[i]);

		n = n < room - at - 3 ? n : room - at - 3;
		memcpy(s->texts + at, text[i], n);
		s->texts[at + n] = '\0';
		*to[i] = s->texts + at;
		at += n + 1;
	}
	ak_buf_release(&masked);
}

void session_about_open(struct session_about *s, int dir, const char *workspace, const char *model, const char *task)
{
	s->fd = dir < 0 ? -1 : openat(dir, AK_SESSION_ABOUT, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (s->fd < 0)
		return;
	if (!take_before(s)) {
		(void)!ftruncate(s->fd, 0);
		begin(s, workspace, model, task);
	}
	s->before.runs++;
}

void session_about_task(struct session_about *s, const char *task)
{
	struct ak_buf masked = { 0 };
	size_t n;

	if (s->fd < 0 || (s->before.task && *s->before.task))
		return;
	(void)redact_text(task, whole(task, REDACT_SOME), &masked);
	if (!masked.failed && masked.data) {
		n = whole(masked.data, AK_SESSION_TASK_MAX);
		memcpy(s->task, masked.data, n);
		s->task[n] = '\0';
		s->before.task = s->task;
	}
	ak_buf_release(&masked);
}

static void add_cost(uint64_t *to, const struct budget *b)
{
	if (b->unpriced || *to == AK_SESSION_COST_UNKNOWN)
		*to = AK_SESSION_COST_UNKNOWN;
	else
		*to = money_add(*to, b->total.cost_picousd);
}

void session_about_next(struct session_about *s, const struct budget *b)
{
	add_cost(&s->before.cost_picousd, b);
}

void session_about_turn(struct session_about *s, const struct run_result *r, const struct budget *b, uint32_t exit_code)
{
	struct ak_session_about a = s->before;
	uint8_t buf[AK_SESSION_ABOUT_MAX];
	long n;

	if (s->fd < 0)
		return;
	a.updated_ms = now_ms();
	a.turns += r->turns;
	a.tool_calls += r->tool_calls;
	add_cost(&a.cost_picousd, b);
	a.exit_code = exit_code;
	n = ak_session_about_encode(&a, buf, sizeof(buf));
	/* its length changes only when it begins, and with a chat's first message: the texts stay, and numbers have fixed widths */
	if (n > 0)
		(void)!pwrite(s->fd, buf, (size_t)n, 0);
}

void session_about_close(struct session_about *s)
{
	ak_fd_close(&s->fd);
}
