/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command line, as `bash -c TEXT` and `sh -c TEXT` read it, as a flat list of its simple commands. Pure. Process: agent.
 * Privilege: none.
 *
 * This is for judging, not for running: nothing is expanded. A word counts as known only if bash and a POSIX sh give it the
 * same one value whatever the variables, files and options are; every other word says why it is not. What is not understood
 * with certainty makes the whole line SHELL_F_UNKNOWN, and the commands seen so far stay in the list (a deny rule may still
 * match one of them; no allow rule may). Where the two shells differ, the line is unknown or the form has a flag of its own.
 * A text that begins with - or + is an option to some shells: run it as `bash -c -- TEXT`. Time and memory are linear in the text; nesting, words and commands have maxima.
 *
 * Source: POSIX.1-2017 XCU 2 (Shell Command Language); bash(1) of bash 5.2; dash(1) 0.5.12.
 */
#ifndef AK_AGENT_SHELL_SHELL_H
#define AK_AGENT_SHELL_SHELL_H

#include <stdbool.h>
#include <stddef.h>

struct ak_err;

#define SHELL_BYTES_MAX (128u << 10) /* one argument of execve is at most this long: MAX_ARG_STRLEN */
#define SHELL_DEPTH_MAX 32u	     /* compound commands, substitutions and quotes inside each other */
#define SHELL_ITEMS_MAX 20000u	     /* words, redirections and commands of one line */
#define SHELL_NESTED_MAX (256u << 10)	 /* bytes read again for backticks, in all */

/* In shell_word.text a part whose value is not known is this one byte; a text never holds it otherwise */
#define SHELL_HOLE '\0'

/* Why a word's value is not known */
enum shell_why {
	SHELL_W_PARAM = 1 << 0,	   /* $x, ${x} */
	SHELL_W_SUBST = 1 << 1,	   /* $(...), `...` */
	SHELL_W_ARITH = 1 << 2,	   /* $((...)) */
	SHELL_W_GLOB = 1 << 3,	   /* * ? [ unquoted */
	SHELL_W_TILDE = 1 << 4,	   /* ~ where it is, or may be, a home folder */
	SHELL_W_BRACE = 1 << 5,	   /* {a,b} {1..3} */
	SHELL_W_ANSI = 1 << 6,	   /* $'...', $"..." */
	SHELL_W_PROC = 1 << 7,	   /* <(...) >(...) */
	SHELL_W_HISTORY = 1 << 8,  /* !word: an interactive bash would replace it */
	SHELL_W_ARRAY = 1 << 9,	   /* the value of NAME=(...) */
};

/**
 * struct shell_word - one word
 * @text:	its value with quotes removed; a hole for each part that is not known; NUL behind the last byte
 * @len:	bytes of @text, holes counted
 * @why:	0: the value is known and is exactly one argument. Else enum shell_why.
 * @quoted:	some part was quoted or escaped (then it is no reserved word, no alias, and a here-document is not expanded)
 * @at, @end:	where it stands in the line, in bytes; both 0 for a word read inside backticks
 */
struct shell_word {
	char *text;
	size_t len;
	unsigned why;
	bool quoted;
	size_t at, end;
};

enum shell_redir_kind {
	SHELL_IN,	   /* <  */
	SHELL_OUT,	   /* >  */
	SHELL_APPEND,	   /* >> */
	SHELL_CLOBBER,	   /* >| */
	SHELL_RDWR,	   /* <> */
	SHELL_DUP_IN,	   /* <& */
	SHELL_DUP_OUT,	   /* >& with a number or - behind it; with another word it is SHELL_BOTH */
	SHELL_BOTH,	   /* &> and >&word (in bash both streams; in sh `&` and `>`) */
	SHELL_BOTH_APPEND, /* &>> */
	SHELL_HEREDOC,	   /* <<  */
	SHELL_HEREDOC_TAB, /* <<- */
	SHELL_HERESTR,	   /* <<< (bash) */
};

/**
 * struct shell_redir - one redirection
 * @fd:		the number in front, or -1
 * @target:	the word behind; for here-documents the delimiter
 */
struct shell_redir {
	enum shell_redir_kind kind;
	int fd;
	struct shell_word target;
};

/** shell_redir_writes() - can it make or change a file (or reach what a name under /dev means to bash)? */
bool shell_redir_writes(const struct shell_redir *r);

/* Where a simple command stands */
enum shell_place {
	SHELL_P_SUBST = 1 << 0,	   /* inside $(...), `...`, <(...), >(...) or a here-document */
	SHELL_P_FUNCTION = 1 << 1, /* in the body of a function */
	SHELL_P_COMPOUND = 1 << 2, /* not a command: the redirections behind a compound command; has no words */
	SHELL_P_COND = 1 << 3,	   /* words of [[ ]] up to && or ||: a command only for a shell that does not know [[ */
	SHELL_P_TEST = 1 << 4,	   /* behind SHELL_P_COND: not the first of its [[ ]] */
};

/**
 * struct shell_cmd - one simple command, in the order of the text
 * @assigns:	NAME=VALUE in front, as words ("NAME=VALUE", "NAME+=VALUE")
 * @words:	command word and arguments; none for a bare assignment or redirection
 */
struct shell_cmd {
	struct shell_word *assigns;
	size_t n_assigns;
	struct shell_word *words;
	size_t n_words;
	struct shell_redir *redirs;
	size_t n_redirs;
	unsigned place; /* enum shell_place */
	size_t at;
};

/* What forms a line holds */
enum shell_form {
	SHELL_F_UNKNOWN = 1 << 0, /* not understood: see shell_line.problem */
	SHELL_F_SEQ = 1 << 1,	  /* ; or newline between commands */
	SHELL_F_AND_OR = 1 << 2,  /* && || */
	SHELL_F_PIPE = 1 << 3,	  /* | |& */
	SHELL_F_BG = 1 << 4,	  /* & */
	SHELL_F_NOT = 1 << 5,	  /* ! */
	SHELL_F_TIME = 1 << 6,	  /* time (the reserved word of bash) */
	SHELL_F_SUBSHELL = 1 << 7,
	SHELL_F_GROUP = 1 << 8,
	SHELL_F_IF = 1 << 9,
	SHELL_F_LOOP = 1 << 10,	  /* while, until */
	SHELL_F_FOR = 1 << 11,
	SHELL_F_CASE = 1 << 12,
	SHELL_F_FUNCTION = 1 << 13,
	SHELL_F_COND = 1 << 14,	  /* [[ ]] */
	SHELL_F_SUBST = 1 << 15,  /* a command or process substitution anywhere */
	SHELL_F_HEREDOC = 1 << 16,
	SHELL_F_COMMENT = 1 << 17,
	SHELL_F_CONTINUED = 1 << 18, /* backslash newline */
	SHELL_F_BASH = 1 << 19,	     /* something sh reads differently: |& &> <<< >&word [[ function $'' <() time */
	/* bytes of the text, whatever the grammar makes of them */
	SHELL_F_CONTROL = 1 << 20,   /* C0 (not newline and tab), DEL, C1; CR is SHELL_F_CR as well */
	SHELL_F_CR = 1 << 21,
	SHELL_F_BIDI = 1 << 22,	     /* bidirectional controls, zero-width, tag and other invisible characters */
	SHELL_F_BAD_UTF8 = 1 << 23,
	SHELL_F_NUL = 1 << 24,	     /* always with SHELL_F_UNKNOWN: a shell would see the text only up to there */
};

/**
 * struct shell_line - a command line
 * @forms:	enum shell_form
 * @sets:	names of variables that get a value by for or ${NAME=WORD}; a hole for the name in ${!NAME=WORD}
 * @problem:	NULL, or what was not understood (a static text); @problem_at: where, in bytes
 */
struct shell_line {
	struct shell_cmd *cmds;
	size_t n_cmds;
	struct shell_word *sets;
	size_t n_sets;
	unsigned forms;
	const char *problem;
	size_t problem_at;
};

/**
 * shell_parse() - read a command line
 * @text:	borrowed; need not end with NUL
 * @ret:	free with shell_line_free(); a line that is not understood gives a result too
 * Return: 0; -ENOMEM. *@ret is untouched then.
 */
int shell_parse(const char *text, size_t len, struct shell_line **ret, struct ak_err *err);
/** shell_line_free() - NULL does nothing */
void shell_line_free(struct shell_line *line);

/** shell_word_is() - is the word known and equal to @text? */
bool shell_word_is(const struct shell_word *w, const char *text);

#endif
