/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings that do not come from the command line: files of policy, user and workspace, and AK_* variables. Process: executor.
 * Privilege: the caller's, nothing changed but the cache.
 *
 * Files are found and checked here, and read as bytes; ak-policy makes settings of them (executor/shared/ak_config_file.h), one
 * process for each file, so that whoever takes one over speaks for that file only. What a file's layer may say is checked on
 * its answer once more, and the values go through the handlers of the options they stand for (args_config.c).
 */
#ifndef AK_CONFIG_H
#define AK_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/shared/ak_config_file.h"

struct ak_buf;
struct ak_err;
struct exec_opts;

#define CONFIG_POLICY_PATH "/etc/ak/policy.json"
#define CONFIG_WORKSPACE_FOLDER ".ak"
#define CONFIG_WORKSPACE_NAME CONFIG_WORKSPACE_FOLDER "/config.json"
#define CONFIG_FILES 3u	/* policy, user, workspace; in this order */

/* One file; nothing in it when it is not there */
struct config_source {
	enum ak_cfg_layer layer;
	char *path;		/* owned; for messages, and where it was looked for; NULL: it was not looked for */
	char *text;		/* owned; NULL: not there */
	size_t len;
	char *answer;		/* owned; what the items point into */
	struct ak_cfg_file *file;	/* owned; NULL: not there */
};

/* A value and where it was said */
struct config_value {
	const char *text;	/* borrowed from a source, the environment, the command line or the key table; NULL: unset */
	enum ak_cfg_layer layer;
	enum ak_cfg_section section;	/* of a file: where in it */
	const char *where;	/* path, variable or option; NULL: nowhere */
	uint32_t line, col;	/* 0: no file */
};

struct config_entry {
	const struct ak_cfg_key *key;
	struct config_value v;
};

struct config {
	struct config_source source[CONFIG_FILES];
	const char *profile;		/* chosen; borrowed; NULL: none */
	uint32_t profile_id;		/* as in struct ak_cfg_item; 0: none */
	char *const *env;		/* borrowed */
	char *home;			/* for ~/; owned; NULL: unknown */
	const char *workspace;		/* as named; borrowed; NULL: the current directory */
	enum ak_cfg_section section;	/* which command asks: settings of the other section are left out */
	/* while the layers are applied, and what `ak config show` shows */
	struct config_value value[AK_CFG_KEYS_MAX];	/* in force; of a list: unused */
	struct config_value lock[AK_CFG_KEYS_MAX];	/* what the policy says; where is NULL without a lock */
	struct config_entry *entries;			/* of lists, in the order they count; owned */
	size_t n_entries;
	char *lines[AK_CFG_KEYS_MAX];			/* variables that were cut; owned */
	bool in, detach;		/* the command is for a sandbox that is there: as in struct config_scan */
};

/* What the command line says about files, found before it is parsed */
struct config_scan {
	const char *config;	/* --config; borrowed; NULL: not given */
	const char *profile;
	const char *workspace;
	bool in;		/* --in: the sandbox is there, and its workspace with it */
	bool detach;
	bool help;
	enum ak_cfg_section section;	/* set by the caller, not by config_scan(); AK_CFG_EXEC */
};

/**
 * config_scan() - look through a command line for the options that decide which files are read
 * @words_go_on:	a word that is no option does not end the options
 * Finds them where args_parse_*() will, without judging anything. @ret->section is AK_CFG_EXEC.
 */
void config_scan(int argc, char *const argv[], bool words_go_on, struct config_scan *ret);

/**
 * config_load() - find the files and have them read
 * @env:	the caller's environment; borrowed as long as @ret is used
 * @want:	make @ret also when there is no file and no variable
 * @ret:	NULL when there is nothing to obey; release with config_free(); untouched on failure
 *
 * Without any file this costs three calls that fail with ENOENT; ak-policy is not started.
 * Return: 0; -EPERM (somebody else's file, or one that others can write; for the user's own place also somebody else's folder or
 * link on the way); -EINVAL (no regular file; what ak-policy refused; no such profile); -ELOOP, -EXDEV (a link on the way to a
 * workspace's file or in --config; too many of them); -EFBIG; what open(2) and companion_run() give.
 */
int config_load(const struct config_scan *scan, char *const env[], bool want, struct config **ret, struct ak_err *err);
void config_free(struct config *c);

/**
 * config_parse() - config_load(), then the command line over it; the one call of commands that make or use a sandbox
 * @words:	ARGS_EXEC ... of args.h
 * @ret:	as args_parse_exec(); also after a failure as far as --json and --report go
 * Return: as args_parse_exec(), or as config_load().
 */
int config_parse(int words, int argc, char *const argv[], char *const env[], struct exec_opts *ret, struct ak_err *err);

/** config_show() - text of `ak config show`: what is in force for `ak exec` and `ak run`, and why; @json: schema ak-config/1 */
void config_show(const struct config *c, const struct config *run, bool json, struct ak_buf *out);

/** cmd_config() - `ak config show`; @argc, @argv: behind "config". Return: exit code. */
int cmd_config(int argc, char *const argv[], char *const env[]);

/* --- for config_*.c and args_config.c --- */

/**
 * config_open() - the bytes of one file, when it is there and may be believed
 * @s:		layer and path are set; text is set when there is one
 * @dir:	the workspace, for AK_CFG_WORKSPACE; AT_FDCWD
 * @named:	the user named it: then it must be there, and no link may lead to it; /dev/null means no file
 * Return: as config_load().
 */
int config_open(struct config_source *s, int dir, bool named, struct ak_err *err);

/**
 * config_settings() - have ak-policy read @s->text, or take what it said about the same bytes before
 * @state:	ak's state folder; NULL: no cache
 * Return: as config_load().
 */
int config_settings(struct config_source *s, const char *state, struct ak_err *err);

/** config_cache_state() - where answers of ak-policy are kept: ak's state folder. Return: malloc'ed; NULL: there is no cache */
char *config_cache_state(char *const env[], const char *home);

/** config_getenv() - value of a variable in @env; NULL when it is unset or empty */
const char *config_getenv(char *const env[], const char *name);

#endif
