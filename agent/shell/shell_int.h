/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the reader of command lines. Process: agent. Privilege: none. */
#ifndef AK_AGENT_SHELL_SHELL_INT_H
#define AK_AGENT_SHELL_SHELL_INT_H

#include "agent/shell/shell.h"
#include "executor/shared/ak_buf.h"

#define PENDING_MAX 16u /* here-documents that begin in one line */
#define END_OF_TEXT (-1)

/* A here-document whose body has not begun: its delimiter, copied, since the command's list may move */
struct pending {
	char *delimiter;
	size_t len;
	bool tabs;
	bool quoted;
};

/**
 * struct reader - one text being read
 * @line:	what is built; shared by the reader of a backtick's text
 * @nested:	positions are not those of the line
 * @place:	enum shell_place of what is read now
 * @budget:	bytes that may still be read again; shared
 */
struct reader {
	const char *text;
	size_t len;
	size_t pos;
	struct shell_line *line;
	bool nested;
	bool no_memory;
	unsigned depth;
	unsigned place;
	size_t items;
	size_t budget;
	struct pending pending[PENDING_MAX];
	size_t n_pending;
};

/* shell_list.c */
void shell_fail(struct reader *r, const char *problem);
bool shell_stopped(const struct reader *r);
bool shell_enter(struct reader *r);
bool shell_item(struct reader *r);
void shell_word_release(struct shell_word *w);
void shell_cmd_release(struct shell_cmd *c);
void shell_add_word(struct reader *r, struct shell_word **list, size_t *n, struct shell_word *taken);
void shell_add_redir(struct reader *r, struct shell_cmd *c, struct shell_redir *taken);
void shell_add_cmd(struct reader *r, struct shell_cmd *taken);
void shell_add_set(struct reader *r, const char *name, size_t len);

/* shell_lex.c: bytes, with backslash newline gone */
int shell_cur(struct reader *r);
int shell_after(const struct reader *r, unsigned n);
void shell_step(struct reader *r);
bool shell_op(struct reader *r, const char *op);
bool shell_at_op(const struct reader *r, const char *op);
void shell_blanks(struct reader *r);
bool shell_ends_word(int c);
size_t shell_plain(struct reader *r, char *buf, size_t size);
bool shell_is_reserved(const char *word);
/** shell_is_name() - may a variable, or a function in every shell, be called so? */
bool shell_is_name(const char *text, size_t len);

/* shell_words.c */
enum word_mode {
	WORD_PLAIN,
	WORD_ASSIGN, /* NAME=(...) may stand here */
};
bool shell_read_word(struct reader *r, enum word_mode mode, struct shell_word *ret, bool *ret_assign);

/* shell_expand.c: the parts of a word behind $ and ` */
struct part {
	struct ak_buf text;
	unsigned why;
	bool quoted;
	bool swallow; /* the rest of the word is part of a hole */
};
void shell_put(struct part *p, char c);
void shell_hole(struct part *p, unsigned why);
void shell_dollar(struct reader *r, struct part *p, bool in_quotes);
void shell_backtick(struct reader *r, struct part *p, bool in_quotes);
void shell_double_quotes(struct reader *r, struct part *p);
void shell_process(struct reader *r, struct part *p);

/* shell_parse.c, shell_compound.c, shell_heredoc.c */
void shell_list(struct reader *r);
void shell_substitution(struct reader *r);
void shell_newline(struct reader *r);
void shell_linebreak(struct reader *r);
bool shell_redirection(struct reader *r, struct shell_cmd *c);
bool shell_compound(struct reader *r);
void shell_function_body(struct reader *r);
void shell_heredoc_want(struct reader *r, const struct shell_word *delimiter, bool tabs);
void shell_heredoc_bodies(struct reader *r);
void shell_read_nested(struct reader *r, const char *text, size_t len, unsigned place, void (*read)(struct reader *));

#endif
