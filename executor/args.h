/* SPDX-License-Identifier: Apache-2.0 */
/* Command line of `ak exec` into struct exec_opts. Process: executor. Privilege: none. */
#ifndef AK_ARGS_H
#define AK_ARGS_H

struct ak_err;
struct config;
struct exec_opts;

/* Kinds of command lines for args_parse() */
enum args_words {
	ARGS_EXEC,	/* behind `ak exec`: args_parse_exec() */
	ARGS_CREATE,	/* behind `ak create`: args_parse_create() */
	ARGS_SERVE,	/* behind `ak serve`: args_parse_serve() */
	ARGS_AGENT,	/* what shapes the sandbox of `ak run`: as ARGS_SERVE, with a copy of the workspace unless something else is said */
	ARGS_SHOW	/* behind `ak config show`: options of `ak exec`, no command */
};

/**
 * args_parse() - read a command line over settings from elsewhere
 * @words:	enum args_words
 * @c:		settings that the command line counts more than, within the policy's locks; what is in force is noted in it.
 *		NULL: none
 * @ret:	as for args_parse_exec(), which is this without settings, as are the two below it
 * Return: as args_parse_exec(); also -EINVAL for a setting that is no good value or that its file may not make, and -EPERM for
 * one that the policy locks. The message of a file's setting starts with "FILE:LINE:COLUMN: ".
 */
int args_parse(int words, int argc, char *const argv[], struct config *c, struct exec_opts *ret, struct ak_err *err);

/**
 * args_parse_exec() - read the arguments after `ak exec`
 * @argc:	number of arguments, without "ak" and "exec"
 * @argv:	borrowed; nothing in it is changed
 * @ret:	filled with values of its own (copied); release with exec_opts_release(). Set even on failure as far as the
 *		parse came, so that the caller knows whether --json was asked for (`json` is true when --json stands anywhere
 *		before the command).
 *
 * --env-file is read here, line by line.
 * Return: 0; 1 when --help was asked for; -EINVAL with a message that names the option and, where it helps, a hint;
 * -ENOENT, -EACCES ... when an --env-file cannot be read; -ENOMEM.
 */
int args_parse_exec(int argc, char *const argv[], struct exec_opts *ret, struct ak_err *err);

/**
 * args_parse_create() - read the arguments after `ak create`: NAME and options, in any order
 * The same table as for `ak exec`; options that concern one command are refused by name. @ret->name is set on success.
 * Return: as args_parse_exec().
 */
int args_parse_create(int argc, char *const argv[], struct exec_opts *ret, struct ak_err *err);

/**
 * args_parse_serve() - read the arguments of an executor that serves one client: what `ak create` takes, without NAME
 * ttl_ms is 0 where it was not given. Return: as args_parse_exec().
 */
int args_parse_serve(int argc, char *const argv[], struct exec_opts *ret, struct ak_err *err);

/** exec_opts_release() - free what args_parse_exec() made; copes with a half-filled or zeroed struct */
void exec_opts_release(struct exec_opts *o);

/** args_exec_help() - text of `ak exec --help`: one line an option, from the same table that parses. Static storage is fine. */
const char *args_exec_help(void);
/** args_create_help() - the same for `ak create --help` */
const char *args_create_help(void);

#endif
