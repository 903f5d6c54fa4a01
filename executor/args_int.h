/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the command line's parser share: args*.c only. Process: executor. Privilege: none. */
#ifndef AK_ARGS_INT_H
#define AK_ARGS_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/shared/ak_config_keys.h"

struct ak_err;
struct exec_opts;
struct arg_def;
struct config;
struct config_value;

/* One parse */
struct args {
	struct exec_opts *o;
	struct ak_err *err;	/* NULL once an error is recorded: the first one counts */
	char *const *argv;	/* borrowed */
	int argc;
	int pos;		/* next argument to read */
	const char *shell_text;	/* -c; borrowed from argv */
	bool max_output_given;
	bool seccomp_given;
	uint64_t given;		/* bit n: row n of the table was on the command line */
	unsigned where;		/* enum arg_where: what is being parsed */
	bool names;		/* a word that is no option is a sandbox's NAME */
	bool agent;		/* `ak run`: a copy of the workspace unless something else is said */
	struct config *config;	/* borrowed; NULL: no settings but the command line */
};

/* Kinds of command lines; an option says in its row where it means something */
enum arg_where {
	ARG_RUN = 1u << 0,	/* `ak exec`: a sandbox for one command */
	ARG_IN = 1u << 1,	/* `ak exec --in NAME` */
	ARG_JOB = 1u << 2,	/* the same with --detach */
	ARG_CREATE = 1u << 3,	/* `ak create NAME`, `ak serve` */
	ARG_SERVE = 1u << 4,	/* beside it: `ak serve` */
};

/* Sets what @value says (NULL for a flag). Return: 0; 1 for --help; negative errno with a->err filled. */
typedef int arg_fn(struct args *a, const struct arg_def *d, const char *value);

struct arg_def {
	const char *name;	/* as typed and as shown in messages: "--memory", "-v" */
	char letter;		/* 0: none */
	bool has_value;
	size_t field;		/* offset in struct exec_opts, for the handlers that serve several options */
	unsigned where;		/* enum arg_where */
	arg_fn *set;
};

/** arg_by_name() - row of a long option; @len bytes at @name, dashes included. Return: NULL when unknown. */
const struct arg_def *arg_by_name(const char *name, size_t len);
/** arg_row() - row @i of the table. Return: NULL behind the last one. */
const struct arg_def *arg_row(size_t i);
/** arg_index() - where in the table @d stands */
size_t arg_index(const struct arg_def *d);
/** arg_by_letter() - row of a short option. Return: NULL when unknown. */
const struct arg_def *arg_by_letter(char letter);
/** arg_nearest() - the long option that was probably meant (edit distance 1 or 2). Return: its name or NULL. */
const char *arg_nearest(const char *typed);

/* handlers, each for the options that args_table.c names: args_values.c, args_binds.c, args_env.c */
arg_fn arg_flag, arg_help, arg_shell, arg_text, arg_workspace, arg_write, arg_apply, arg_allow_protected, arg_rootfs, arg_rootfs_write,
	arg_net, arg_memory, arg_cpus, arg_pids, arg_nofile, arg_fsize, arg_disk, arg_max_output, arg_duration, arg_kill_after,
	arg_seccomp, arg_isolation, arg_identity, arg_user, arg_fd, arg_in, arg_ttl, arg_pool, arg_backend, arg_image;
arg_fn arg_ro, arg_rw, arg_ro_try, arg_rw_try, arg_volume, arg_tmpfs, arg_hide, arg_dev;
arg_fn arg_env, arg_env_file;

/**
 * args_check_where() - refuse options that mean nothing on this command line, all of them by name
 * Return: 0 or -EINVAL.
 */
int args_check_where(struct args *a);

/**
 * args_config_apply() - set what files and variables say, before the command line is walked
 * @agents:	the keys of the agent, and only these: they are noted, and read by the agent
 * a->where says what the command is; options of other commands are noted and not set.
 * Return: as args_parse().
 */
int args_config_apply(struct args *a, bool agents);
/** args_config_apply_kind() - of the files only the keys of one kind (enum ak_cfg_kind), profiles not looked at. Return: the same. */
int args_config_apply_kind(struct args *a, enum ak_cfg_kind kind);
/** args_config_flag() - note an option of the command line. Return: 0; -EPERM when the policy locks it. */
int args_config_flag(struct args *a, const struct arg_def *d, const char *value);
/** args_config_say() - the same for a key and a value. Return: as args_config_flag(). */
int args_config_say(struct args *a, const struct ak_cfg_key *k, const struct config_value *v);
/** args_config_is_agents() - is it a key that the agent obeys, not the executor? */
bool args_config_is_agents(const struct ak_cfg_key *k);
/** args_config_name() - the key as its layer calls it; borrowed */
const char *args_config_name(const struct ak_cfg_key *k, const struct config_value *v);
/**
 * args_config_expand() - what a path in a file means: "~/" is the home, since no shell has seen it
 * @ret:	malloc'ed; NULL: the text as it is
 * Return: 0; -EINVAL (a relative path of the host, no home); -ENOMEM.
 */
int args_config_expand(struct args *a, const struct ak_cfg_key *k, const struct config_value *v, char **ret);

/** args_config_lowered() - note in the options what settings take from the isolation. Return: 0 or -ENOMEM. */
int args_config_lowered(struct args *a);
/** args_said() - how @option was said, for messages: itself, a variable, or a key of a config file. Borrowed. */
const char *args_said(const struct args *a, const char *option);

/** args_is_net_name() - may @value be a network of docker's: a plain name, and none of the words in two NULL-terminated lists */
bool args_is_net_name(const char *value, const char *const names[], const char *const later[]);

/**
 * args_check_backend() - refuse options that the backend does not know, all of them by name, and values that it does not take
 * Return: 0 or -EINVAL.
 */
int args_check_backend(struct args *a);

/** arg_copy() - strdup() that records ENOMEM. Return: the copy or NULL. */
char *arg_copy(struct args *a, const char *text, size_t len);

/**
 * args_env_text() - add the variables of an env file's text
 * @ret_line:	number of the line read last, which is the one in error after a failure
 * Return: 0, -EINVAL, -ENOMEM. Variables before the line in error have been added.
 */
int args_env_text(struct args *a, const char *text, size_t len, unsigned *ret_line);

#endif
