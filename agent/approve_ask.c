/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person is shown, and what is remembered of the answer. The text shown is made from the very arguments that run.
 * Process: agent. Privilege: none.
 */
#include "agent/approve_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/show.h"
#include "executor/shared/ak_buf.h"

#define NOTES_MAX 16u
#define NOTE_BYTES 200u
#define WIDTH 80u
#define REMEMBER_BYTES_MAX (16u << 10) /* a longer call is asked for every time */

struct notes {
	char text[NOTES_MAX][NOTE_BYTES];
	const char *list[NOTES_MAX];
	size_t n;
};

static void note(struct notes *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void note(struct notes *n, const char *fmt, ...)
{
	va_list ap;

	if (n->n == NOTES_MAX)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(n->text[n->n], NOTE_BYTES, fmt, ap);
	va_end(ap);
	n->list[n->n] = n->text[n->n];
	n->n++;
}

static void note_facts(struct notes *n, const struct show_facts *f)
{
	if (f->controls)
		note(n, "%zu control character%s", f->controls, f->controls == 1 ? "" : "s");
	if (f->bidi)
		note(n, "%zu character%s that change%s the direction of text", f->bidi, f->bidi == 1 ? "" : "s", f->bidi == 1 ? "s" : "");
	if (f->invisible)
		note(n, "%zu invisible character%s", f->invisible, f->invisible == 1 ? "" : "s");
	if (f->blanks)
		note(n, "%zu unusual blank%s", f->blanks, f->blanks == 1 ? "" : "s");
	if (f->bad_bytes)
		note(n, "%zu byte%s that are not text", f->bad_bytes, f->bad_bytes == 1 ? "" : "s");
	if (f->foreign)
		note(n, "%zu letter%s that may look like others", f->foreign, f->foreign == 1 ? "" : "s");
}

/* A short text of others inside of a note */
static void note_shown(struct notes *n, const char *what, const char *text, size_t len)
{
	struct ak_buf shown = { .max = 1u << 20 };
	size_t fits;

	show_text(text, len, SHOW_LINE, &shown, NULL);
	fits = shown.len > 120 ? 120 : shown.len;
	while (fits && fits < shown.len && (shown.data[fits] & 0xc0) == 0x80)
		fits--;
	if (!shown.failed && shown.data)
		note(n, "%s %.*s%s", what, (int)fits, shown.data, fits < shown.len ? " (cut)" : "");
	ak_buf_release(&shown);
}

static void note_command(struct notes *n, const char *command)
{
	struct shell_line *line;

	if (shell_parse(command, strlen(command), &line, NULL) < 0)
		return;
	if (line->forms & SHELL_F_UNKNOWN)
		note(n, "not understood: %.120s (byte %zu)", line->problem, line->problem_at);
	for (size_t i = 0; i < line->n_cmds; i++) {
		const struct shell_cmd *c = &line->cmds[i];

		if (c->n_words && c->words[0].why && !(c->place & SHELL_P_COND))
			note(n, "a program whose name is not plain text");
		else if (c->n_words && i > 0 && !(c->place & SHELL_P_COND))
			note_shown(n, "also runs", c->words[0].text, c->words[0].len);
		for (size_t k = 0; k < c->n_redirs; k++) {
			if (!shell_redir_writes(&c->redirs[k]))
				continue;
			if (c->redirs[k].target.why)
				note(n, "writes a file whose name is not plain text");
			else
				note_shown(n, "writes", c->redirs[k].target.text, c->redirs[k].target.len);
		}
	}
	shell_line_free(line);
}

/* Every argument as "name: value"; a text that has several lines begins on its own */
static void put_arguments(const struct cJSON *args, struct ak_buf *out)
{
	for (const struct cJSON *item = json_first(args); item; item = json_next(item)) {
		const char *text = json_str(item);

		ak_buf_str(out, out->len ? "\n" : "");
		ak_buf_str(out, json_name(item) ? json_name(item) : "");
		ak_buf_str(out, text && strchr(text, '\n') ? ":\n" : ": ");
		if (text)
			ak_buf_str(out, text);
		else
			json_print(item, 0, out);
	}
}

static enum approve_reply ask(struct approver *a, const char *tool, const char *text, size_t len, const char *why, struct notes *notes,
			      bool may_remember)
{
	struct ak_buf folder = { 0 }, shown = { .max = AK_BUF_MAX }, framed = { .max = AK_BUF_MAX }, brief = { .max = AK_BUF_MAX };
	const char *where = a->folder ? a->folder : "a folder that is not known";
	enum approve_reply reply = APPROVE_NO_ANSWER;
	struct show_facts facts;
	bool opened = false;
	size_t hidden;

	show_text(where, strlen(where), SHOW_LINE, &folder, NULL);
	show_text(text, len, 0, &shown, &facts);
	note_facts(notes, &facts);
	show_frame(shown.data ? shown.data : "", shown.len, a->o.width ? a->o.width : WIDTH, &framed);
	hidden = framed.data ? show_fold(framed.data, framed.len, APPROVE_FOLD_LINES, &brief) : 0;
	if (!folder.failed && !shown.failed && !framed.failed && !brief.failed && framed.data) {
		struct approve_question q = {
			.tool = tool,
			.folder = folder.data,
			.shown = framed.data,
			.shown_len = framed.len,
			.brief = brief.data,
			.brief_len = brief.len,
			.hidden_bytes = hidden,
			.why = why,
			.notes = notes->list,
			.n_notes = notes->n,
			.may_remember = may_remember,
		};

		reply = a->o.person.ask(a->o.person.ctx, &q, &opened);
	}
	if (hidden && !opened && reply != APPROVE_NO_ANSWER)
		reply = APPROVE_NO;
	ak_buf_release(&folder);
	ak_buf_release(&shown);
	ak_buf_release(&framed);
	ak_buf_release(&brief);
	return reply;
}

enum approve_reply approve_ask(struct approver *a, const char *tool, const struct cJSON *args, const char *why, bool may_remember)
{
	const char *command = strcmp(tool, "bash") == 0 ? json_str(json_get(args, "command")) : NULL;
	struct notes notes = { .n = 0 };
	struct ak_buf text = { .max = AK_BUF_MAX };
	struct ak_buf value = { 0 };
	enum approve_reply reply = APPROVE_NO_ANSWER;

	if (command) {
		ak_buf_str(&text, command);
		note_command(&notes, command);
		for (const struct cJSON *item = json_first(args); item; item = json_next(item)) {
			if (strcmp(json_name(item), "command") == 0)
				continue;
			ak_buf_release(&value);
			ak_buf_printf(&value, "%s: ", json_name(item));
			json_print(item, 0, &value);
			if (!value.failed)
				note_shown(&notes, "with", value.data, value.len);
		}
		ak_buf_release(&value);
	} else {
		put_arguments(args, &text);
	}
	if (!text.failed)
		reply = ask(a, tool, text.data ? text.data : "", text.len, why, &notes, may_remember);
	ak_buf_release(&text);
	return reply;
}

enum approve_reply approve_ask_plan(struct approver *a, const char *text, size_t len)
{
	struct notes notes = { .n = 0 };

	return ask(a, "plan", text, len, "plan mode: nothing is changed before the plan is approved", &notes, false);
}

/* Tool, folder, session and the arguments, each of which is told from the next by a NUL byte */
static bool memory_key(const struct approver *a, const char *tool, const struct cJSON *args, struct ak_buf *out)
{
	if (!a->folder)
		return false;
	ak_buf_add(out, tool, strlen(tool) + 1);
	ak_buf_add(out, a->folder, strlen(a->folder) + 1);
	ak_buf_add(out, a->o.session, strlen(a->o.session) + 1);
	json_print(args, JSON_SORTED, out);
	return !out->failed;
}

bool approve_is_remembered(const struct approver *a, const char *tool, const struct cJSON *args)
{
	struct ak_buf key = { .max = AK_BUF_MAX };
	bool found = false;

	if (a->n_remembered && memory_key(a, tool, args, &key)) {
		for (size_t i = 0; i < a->n_remembered && !found; i++)
			found = a->remembered_len[i] == key.len && memcmp(a->remembered[i], key.data, key.len) == 0;
	}
	ak_buf_release(&key);
	return found;
}

/* Return: false when there is no room; the call is asked for again then */
bool approve_remember(struct approver *a, const char *tool, const struct cJSON *args)
{
	struct ak_buf key = { .max = REMEMBER_BYTES_MAX };
	char **texts = reallocarray(a->remembered, a->n_remembered + 1, sizeof(*texts));
	size_t *lens;

	if (!texts)
		return false;
	a->remembered = texts;
	lens = reallocarray(a->remembered_len, a->n_remembered + 1, sizeof(*lens));
	if (!lens)
		return false;
	a->remembered_len = lens;
	if (a->n_remembered >= APPROVE_REMEMBERED_MAX || !memory_key(a, tool, args, &key)) {
		ak_buf_release(&key);
		return false;
	}
	texts[a->n_remembered] = key.data;
	lens[a->n_remembered++] = key.len;
	return true;
}
