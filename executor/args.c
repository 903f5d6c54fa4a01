/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the words of `ak exec`; what an option means is in args_*.c. Process: executor. Privilege: none. */
#include "executor/args.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/args_int.h"
#include "executor/opts.h"
#include "executor/shared/ak_err.h"

#define DEFAULT_MEMORY_BYTES (UINT64_C(512) << 20)
#define DEFAULT_CPU_MILLI 1000
#define DEFAULT_PIDS 256
#define DEFAULT_KILL_AFTER_MS 2000
#define DEFAULT_JSON_OUTPUT_BYTES (UINT64_C(16) << 20)

char *arg_copy(struct args *a, const char *text, size_t len)
{
	char *copy = strndup(text, len);

	if (!copy)
		(void)ak_err_sys(a->err, ENOMEM, "read the command line");
	return copy;
}

static int unknown_option(struct args *a, const char *typed, size_t len)
{
	const char *word = a->argv[a->pos - 1];
	const char *meant = arg_nearest(word);

	(void)ak_err_set(a->err, EINVAL, "unknown option %.*s", len < 60 ? (int)len : 60, typed);
	if (meant)
		ak_err_hint(a->err, "did you mean %s?", meant);
	else
		ak_err_hint(a->err, "`ak exec --help` lists the options; `--` ends them");

	/* a word behind it is probably its value: the search for --json goes on behind that */
	if (!strchr(word, '=') && a->pos < a->argc && a->argv[a->pos][0] != '-')
		a->pos++;
	return -EINVAL;
}

/* @attached: value that came in the same word, or NULL */
static int apply(struct args *a, const struct arg_def *d, const char *attached)
{
	const char *value = attached;

	if (d->has_value && !value) {
		if (a->pos >= a->argc)
			return ak_err_set(a->err, EINVAL, "%s: a value is missing", d->name);
		value = a->argv[a->pos++];
	}
	return d->set(a, d, value);
}

static int long_option(struct args *a, const char *word)
{
	size_t len = strcspn(word, "=");
	const struct arg_def *d = arg_by_name(word, len);

	if (!d)
		return unknown_option(a, word, len);
	if (!d->has_value && word[len] == '=')
		return ak_err_set(a->err, EINVAL, "%s takes no value", d->name);
	return apply(a, d, word[len] == '=' ? word + len + 1 : NULL);
}

/* "-q", "-qi", "-m512m", "-qm" with the value in the next word */
static int short_options(struct args *a, const char *word)
{
	for (const char *p = word + 1; *p; p++) {
		const struct arg_def *d = arg_by_letter(*p);
		char typed[3] = {'-', *p, '\0'};

		if (!d)
			return unknown_option(a, typed, 2);
		if (d->has_value) {
			int rc = apply(a, d, p[1] ? p + 1 : NULL);

			if (rc < 0 && *p == 't')
				ak_err_hint(a->err, "-t is --timeout; a terminal for the command is --tty");
			return rc;
		}

		int rc = apply(a, d, NULL);

		if (rc != 0)
			return rc;
	}
	return 0;
}

/*
 * Options up to the command. After an error the walk goes on with a->err NULL, so that --json and --report
 * are known wherever they stand.
 */
static int walk(struct args *a)
{
	int first = 0;

	while (a->pos < a->argc) {
		const char *word = a->argv[a->pos];

		if (word[0] != '-' || word[1] == '\0')
			break;
		a->pos++;
		if (strcmp(word, "--") == 0)
			break;

		int rc = word[1] == '-' ? long_option(a, word) : short_options(a, word);

		if (rc > 0 && first == 0)
			return rc;
		if (rc < 0 && first == 0) {
			first = rc;
			a->err = NULL;
		}
	}
	return first;
}

/* Copies @n words, NULL-terminated, into the options */
static int set_argv(struct args *a, const char *const words[], int n)
{
	struct exec_opts *o = a->o;

	o->argv = calloc((size_t)n + 1, sizeof(*o->argv));
	if (!o->argv)
		return ak_err_sys(a->err, ENOMEM, "read the command line");
	for (; o->argc < n; o->argc++) {
		o->argv[o->argc] = arg_copy(a, words[o->argc], strlen(words[o->argc]));
		if (!o->argv[o->argc])
			return -ENOMEM;
	}
	return 0;
}

static int take_command(struct args *a)
{
	int left = a->argc - a->pos;

	if (a->shell_text && left > 0)
		return ak_err_set(a->err, EINVAL, "-c TEXT and a command (%.60s) exclude each other",
				  a->argv[a->pos]);
	if (a->shell_text)
		return set_argv(a, (const char *[]){"sh", "-c", a->shell_text}, 3);
	if (left == 0) {
		(void)ak_err_set(a->err, EINVAL, "no command given");
		ak_err_hint(a->err, "usage: ak exec [OPTIONS] [--] COMMAND [ARG...]");
		return -EINVAL;
	}
	return set_argv(a, (const char *const *)a->argv + a->pos, left);
}

int args_parse_exec(int argc, char *const argv[], struct exec_opts *ret, struct ak_err *err)
{
	struct args a = {.o = ret, .err = err, .argv = argv, .argc = argc};

	*ret = (struct exec_opts){
		.write = WRITE_DIRECT,
		.net = NET_NONE,
		.memory_bytes = {.value = DEFAULT_MEMORY_BYTES},
		.cpu_milli = {.value = DEFAULT_CPU_MILLI},
		.pids = {.value = DEFAULT_PIDS},
		.kill_after_ms = DEFAULT_KILL_AFTER_MS,
		.max_output_bytes = UINT64_MAX,
		.seccomp = "default",
		.identity = IDENTITY_AUTO,
		.rootfs_write = ROOTFS_WRITE_NONE,
	};

	int rc = walk(&a);

	if (ret->json && !a.max_output_given)
		ret->max_output_bytes = DEFAULT_JSON_OUTPUT_BYTES;
	return rc != 0 ? rc : take_command(&a);
}

static void free_words(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

void exec_opts_release(struct exec_opts *o)
{
	free_words(o->argv);
	free_words(o->allow_protected);
	free(o->workspace);
	free(o->workdir);
	free(o->rootfs);
	free(o->seccomp_file);
	free(o->report);
	free(o->fds);
	for (size_t i = 0; i < o->nbinds; i++) {
		free(o->binds[i].src);
		free(o->binds[i].dst);
	}
	free(o->binds);
	for (size_t i = 0; i < o->nenv; i++) {
		free(o->env[i].name);
		free(o->env[i].value);
	}
	free(o->env);
	*o = (struct exec_opts){0};
}
