/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of command lines, and the rules over what it reads. Laws: a word that is known has no hole; a command of known words,
 * written with quotes, is read as the same words; a line that rules for ls and echo allow starts nothing else and writes
 * nothing; shown text is printable and can be turned back.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/approve_int.h"
#include "agent/json.h"
#include "agent/shell/shell.h"
#include "agent/show.h"
#include "executor/shared/ak_buf.h"

#define LAW(x)                                                                                               \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void words_law(const struct shell_word *w, size_t n, size_t size)
{
	for (size_t i = 0; i < n; i++) {
		LAW(w[i].text && w[i].text[w[i].len] == '\0');
		LAW(w[i].why || strlen(w[i].text) == w[i].len);
		LAW(w[i].at <= w[i].end && w[i].end <= size);
	}
}

/* Read again what was read */
static void again_law(const struct shell_cmd *c)
{
	struct ak_buf text = { .max = 8 * SHELL_BYTES_MAX };
	struct shell_line *line;

	for (size_t i = 0; i < c->n_words; i++) {
		if (c->words[i].why) {
			ak_buf_release(&text);
			return;
		}
		ak_buf_str(&text, "'");
		for (const char *t = c->words[i].text; *t; t++)
			ak_buf_str(&text, *t == '\'' ? "'\\''" : (char[]){ *t, '\0' });
		ak_buf_str(&text, "' ");
	}
	if (!text.failed && text.data && text.len < SHELL_BYTES_MAX) {
		LAW(shell_parse(text.data, text.len, &line, NULL) == 0);
		LAW(!(line->forms & SHELL_F_UNKNOWN) && line->n_cmds == 1 && line->cmds[0].n_words == c->n_words);
		for (size_t i = 0; i < c->n_words; i++)
			LAW(shell_word_is(&line->cmds[0].words[i], c->words[i].text));
		shell_line_free(line);
	}
	ak_buf_release(&text);
}

static void rules_law(const struct shell_line *line, const char *text)
{
	static const struct approve_options o = { .policy = APPROVE_ALWAYS_ASK, .workspace = "/ws", .session = "s" };
	struct approve_answer r;
	struct approver *a;
	struct cJSON *args = json_new_obj();

	LAW(args && json_set(args, "command", json_new_str(text, strlen(text))) == 0);
	LAW(approver_new(&o, &a, NULL) == 0);
	LAW(approver_rule(a, false, "bash(ls*)", NULL) == 0 && approver_rule(a, false, "bash(echo *)", NULL) == 0);
	LAW(approver_rule(a, false, "write_file", NULL) == 0 && approver_rule(a, true, "bash(* rm*)", NULL) == 0);
	LAW(approve_call(a, "bash", args, &r) == 0);
	if (r.verdict == APPROVE_ALLOW) {
		LAW(!(line->forms & (SHELL_F_UNKNOWN | SHELL_F_SUBST | SHELL_F_CONTROL | SHELL_F_FUNCTION)));
		for (size_t i = 0; i < line->n_cmds; i++) {
			const struct shell_cmd *c = &line->cmds[i];

			LAW(c->n_assigns == 0);
			LAW(c->n_words == 0 || strncmp(c->words[0].text, "ls", 2) == 0 || shell_word_is(&c->words[0], "echo"));
			for (size_t k = 0; k < c->n_redirs; k++)
				LAW(!shell_redir_writes(&c->redirs[k]) || shell_word_is(&c->redirs[k].target, "/dev/null"));
		}
	}
	approver_free(a);
	json_free(args);
}

static void shown_law(const char *text, size_t size)
{
	struct ak_buf shown = { .max = 1u << 22 }, back = { .max = 1u << 22 }, frame = { .max = 1u << 22 };

	show_text(text, size, 0, &shown, NULL);
	for (size_t i = 0; i < shown.len; i++)
		LAW(shown.data[i] == '\n' || ((unsigned char)shown.data[i] >= 0x20 && shown.data[i] != 0x7f));
	if (shown.data) {
		LAW(show_back(shown.data, shown.len, &back) == 0);
		LAW(back.len == size && (size == 0 || memcmp(back.data, text, size) == 0));
		show_frame(shown.data, shown.len, 40, &frame);
	}
	ak_buf_release(&shown);
	ak_buf_release(&back);
	ak_buf_release(&frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct shell_line *line = NULL;
	char *text = malloc(size + 1);

	if (!text || size > 20000) {
		free(text);
		return 0;
	}
	memcpy(text, data, size);
	text[size] = '\0';
	LAW(shell_parse(text, size, &line, NULL) == 0);
	LAW(!(line->forms & SHELL_F_UNKNOWN) == !line->problem);
	LAW(line->problem_at <= size);
	words_law(line->sets, line->n_sets, size);
	for (size_t i = 0; i < line->n_cmds; i++) {
		const struct shell_cmd *c = &line->cmds[i];

		words_law(c->words, c->n_words, size);
		words_law(c->assigns, c->n_assigns, size);
		if (!(line->forms & SHELL_F_NUL))
			again_law(c);
	}
	if (!(line->forms & (SHELL_F_NUL | SHELL_F_BAD_UTF8)))
		rules_law(line, text);
	shown_law(text, size);
	shell_line_free(line);
	free(text);
	return 0;
}
