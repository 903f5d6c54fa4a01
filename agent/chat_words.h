/* SPDX-License-Identifier: Apache-2.0 */
/* What a line typed into `ak chat` is: a command, a message, a line that goes on, a paste. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_CHAT_WORDS_H
#define AK_AGENT_CHAT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct ak_buf;

enum chat_command {
	CHAT_MESSAGE,	/* no command: it is for the model */
	CHAT_UNKNOWN,	/* looks like a command, and is none */
	CHAT_CLEAR,
	CHAT_COST,
	CHAT_DIFF,
	CHAT_EXIT,
	CHAT_HELP,
	CHAT_ROLLBACK,
	CHAT_TOOLS,
};

/**
 * struct chat_row - a command
 * @name:	with its slash
 * @arg:	what may stand behind it, for the help; NULL: nothing
 * @text:	what it does
 */
struct chat_row {
	const char *name;
	enum chat_command command;
	const char *arg;
	const char *text;
};

/** chat_row_at() - row @i of the table, in the order of the names. Return: NULL behind the last one. */
const struct chat_row *chat_row_at(size_t i);

/**
 * chat_parse() - what a line is
 * A command is a slash and letters at the very start of a single line, then the end or a blank: "/etc/passwd is odd", " /clear" and a
 * paste of several lines are messages.
 * @ret_arg:	what stands behind a command, without blanks around it; ""; malloc'ed; NULL: no memory
 * @ret_word:	with CHAT_UNKNOWN: bytes of its first word
 */
enum chat_command chat_parse(const char *line, char **ret_arg, size_t *ret_word);

/** chat_blank() - nothing but white space */
bool chat_blank(const char *text, size_t len);

/** chat_goes_on() - does the line end with an odd number of backslashes? Then the last one stands for a line break. */
bool chat_goes_on(const char *line, size_t len);

#define CHAT_PASTES_MAX 64u	   /* of one message that are kept aside */
#define CHAT_PASTE_PLAIN 256u	   /* bytes of a paste that is put into the line as it is */

/* Pasted texts that stand in the line as a mark, such as "[paste 2: 14 lines]"; start with zeroes */
struct chat_pastes {
	struct {
		char *text; /* owned */
		size_t len;
		char mark[48];
	} v[CHAT_PASTES_MAX];
	size_t n;
};
void chat_pastes_release(struct chat_pastes *p);

/**
 * chat_paste_clean() - line ends become newlines, NUL bytes go; in place
 * Return: the new length; NUL-terminated there.
 */
size_t chat_paste_clean(char *text, size_t len);

/** chat_paste_plain() - may it stand in the line as it is: one short line of printable text? A newline at its end does not count. */
bool chat_paste_plain(const char *text, size_t len);

/**
 * chat_paste_keep() - keep a text aside
 * @text:	copied
 * Return: its mark, borrowed; NULL: no memory, or CHAT_PASTES_MAX are there.
 */
const char *chat_paste_keep(struct chat_pastes *p, const char *text, size_t len);

/** chat_paste_expand() - append @line with each mark replaced by its text, once; a failure latches in @out */
void chat_paste_expand(const struct chat_pastes *p, const char *line, struct ak_buf *out);

#endif
