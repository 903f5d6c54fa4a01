/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the words of `ak exec` and `ak create`; what an option means is in args_*.c. Process: executor. Privilege: none. */
#include "executor/args.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/args_int.h"
#include "executor/backend.h"
#include "executor/config.h"
#include "executor/opts.h"
#include "executor/runtime.h"
#include "executor/shared/ak_err.h"

#define DEFAULT_MEMORY_BYTES (UINT64_C(512) << 20)
#define DEFAULT_CPU_MILLI 1000
#define DEFAULT_PIDS 256
#define DEFAULT_KILL_AFTER_MS 2000
#define DEFAULT_JSON_OUTPUT_BYTES (UINT64_C(16) << 20)
#define DEFAULT_TTL_MS (UINT64_C(3600) * 1000)

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
		ak_err_hint(a->err, "`ak %s --help` lists the options; `--` ends them",
			    (a->where & ARG_CREATE) ? "create" : "exec");

	/* a word behind it is probably its value: the search for --json goes on behind that */
	if (!strchr(word, '=') && a->pos < a->argc && a->argv[a->pos][0] != '-')
		a->pos++;
	return -EINVAL;
}

/* @attached: value that came in the same word, or NULL */
static int apply(struct args *a, const struct arg_def *d, const char *attached)
{
	const char *value = attached;

	a->given |= UINT64_C(1) << arg_index(d);
	if (d->has_value && !value) {
		if (a->pos >= a->argc)
			return ak_err_set(a->err, EINVAL, "%s: a value is missing", d->name);
		value = a->argv[a->pos++];
	}
	if (a->config) {
		int rc = args_config_flag(a, d, value);

		if (rc < 0)
			return rc;
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

/* `ak create`: the word read last is NAME */
static int take_name(struct args *a)
{
	const char *word = a->argv[a->pos - 1];
	struct exec_opts *o = a->o;

	if (o->name)
		return ak_err_set(a->err, EINVAL, "one NAME is taken, and \"%.60s\" is one too many", word);
	if (runtime_check_name(word, a->err) < 0)
		return -EINVAL;
	o->name = arg_copy(a, word, strlen(word));
	return o->name ? 0 : -ENOMEM;
}

/*
 * Options up to the command; for `ak create` all words. After an error the walk goes on with a->err NULL, so that --json and --report
 * are known wherever they stand.
 */
static int walk(struct args *a)
{
	int first = 0;

	while (a->pos < a->argc) {
		const char *word = a->argv[a->pos];

		if (word[0] != '-' || word[1] == '\0') {
			if (!a->names)
				break;
			word = NULL;
		} else if (strcmp(word, "--") == 0) {
			a->pos++;
			break;
		}
		a->pos++;

		int rc = !word ? take_name(a) : word[1] == '-' ? long_option(a, word) : short_options(a, word);

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

/* What excludes each other, or needs another option. @kept: a sandbox that stays */
static int check_kinds(struct args *a, bool kept)
{
	struct exec_opts *o = a->o;
	bool nested = o->seccomp && strcmp(o->seccomp, "nested") == 0;
	const char *what = o->isolation == ISOLATION_LANDLOCK ? "--isolation landlock" : o->nesting ? "--nesting" : NULL;

	if (kept && what) {
		(void)ak_err_set(a->err, EINVAL, "%s is for `ak exec` only in this version", what);
		ak_err_hint(a->err, "`ak exec %s` makes a sandbox for one command", what);
		return -EINVAL;
	}
	if (o->nesting && o->isolation == ISOLATION_LANDLOCK)
		return ak_err_set(a->err, EINVAL, "--nesting and --isolation landlock exclude each other: a Landlock domain forbids to mount");
	if (o->write == WRITE_COW && o->isolation == ISOLATION_LANDLOCK) {
		(void)ak_err_set(a->err, EINVAL, "--write cow: --isolation landlock cannot mount a copy over the workspace");
		ak_err_hint(a->err, "use --write direct or none");
		return -EINVAL;
	}
	if (nested && !o->nesting)
		return ak_err_set(a->err, EINVAL, "--seccomp nested: this profile comes with --nesting only");
	if (o->nesting && a->seccomp_given && o->seccomp && !nested) {
		(void)ak_err_set(a->err, EINVAL, "--nesting: the profile %s forbids namespaces", o->seccomp);
		ak_err_hint(a->err, "leave --seccomp out; the profile is \"nested\" then");
		return -EINVAL;
	}
	if (o->nesting && o->seccomp)
		o->seccomp = "nested";
	return 0;
}

static const struct exec_opts defaults = {
	.write = WRITE_DIRECT,
	.net = NET_NONE,
	.memory_bytes = {.value = DEFAULT_MEMORY_BYTES},
	.cpu_milli = {.value = DEFAULT_CPU_MILLI},
	.pids = {.value = DEFAULT_PIDS},
	.kill_after_ms = DEFAULT_KILL_AFTER_MS,
	.max_output_bytes = UINT64_MAX,
	.seccomp = "default",
	.isolation = ISOLATION_NAMESPACES,
	.identity = IDENTITY_AUTO,
	.rootfs_write = ROOTFS_WRITE_NONE,
	.ttl_ms = DEFAULT_TTL_MS,
};

static int check_cow(struct args *a)
{
	bool cow = a->o->write == WRITE_COW;

	if (a->o->apply && a->names) {
		(void)ak_err_set(a->err, EINVAL, "--apply: the changes of a named sandbox are kept when it ends");
		ak_err_hint(a->err, "`ak rm NAME` prints their id, and `ak apply ID` takes them over");
		return -EINVAL;
	}
	if (a->o->apply && !cow)
		return ak_err_set(a->err, EINVAL, "--apply: there is nothing to apply without --write cow");
	if ((a->where & ARG_CREATE) && cow && a->o->pool) {
		(void)ak_err_set(a->err, EINVAL, "--pool: prepared sandboxes would each need a copy of the workspace of their own (--write cow)");
		ak_err_hint(a->err, "leave --pool out; `ak exec --write cow` makes a copy for one command");
		return -EINVAL;
	}
	return 0;
}

/* settings first, then the words over them. After an error in the settings the words are walked for --json and --report only */
static int settings_and_words(struct args *a)
{
	struct ak_err *err = a->err;
	int rc = a->config ? args_config_apply(a, false) : 0;

	if (rc == 0)
		return walk(a);
	a->config = NULL;
	a->err = NULL;
	(void)walk(a);
	a->err = err;
	return rc;
}

static int parse_exec(struct args *a)
{
	struct exec_opts *o = a->o;
	int rc;

	/* settings of a sandbox's shape mean nothing for one that is there */
	if (a->config && a->config->in)
		a->where = a->config->detach ? ARG_JOB : ARG_IN;
	rc = settings_and_words(a);
	if (o->json && !a->max_output_given)
		o->max_output_bytes = DEFAULT_JSON_OUTPUT_BYTES;
	if (rc != 0)
		return rc;
	if (o->in)
		a->where = o->detach ? ARG_JOB : ARG_IN;
	rc = args_check_where(a);
	if (rc == 0 && !o->in)
		rc = args_config_lowered(a);
	if (rc == 0)
		rc = args_check_backend(a);
	if (rc == 0)
		rc = check_kinds(a, false);
	if (rc == 0)
		rc = check_cow(a);
	return rc != 0 ? rc : take_command(a);
}

static int parse_create(struct args *a)
{
	int rc = settings_and_words(a);

	/* behind "--" */
	while (rc == 0 && a->pos < a->argc) {
		a->pos++;
		rc = take_name(a);
	}
	if (rc != 0)
		return rc;
	rc = check_cow(a);
	if (rc == 0)
		rc = args_check_where(a);
	if (rc == 0)
		rc = args_config_lowered(a);
	if (rc == 0)
		rc = args_check_backend(a);
	if (rc == 0)
		rc = check_kinds(a, true);
	if (rc == 0 && !a->o->name) {
		rc = ak_err_set(a->err, EINVAL, "no NAME given");
		ak_err_hint(a->err, "usage: ak create NAME [OPTIONS]");
	}
	return rc;
}

/* a copy unless something else is said. Only a native sandbox can hold changes back: who takes another one says what becomes of them */
static int choose_write(struct args *a)
{
	const struct ak_cfg_key *k = ak_cfg_find(AK_CFG_RUN, "write");
	bool flag = a->given & UINT64_C(1) << arg_index(arg_by_name(k->option, strlen(k->option)));

	if (flag || (a->config && a->config->value[ak_cfg_index(k)].layer != AK_CFG_DEFAULT))
		return 0;
	if (a->o->backend == BACKEND_NATIVE)
		a->o->write = WRITE_COW;
	/* `ak config show` runs nothing */
	if (a->o->backend == BACKEND_NATIVE || !a->agent)
		return 0;
	(void)ak_err_set(a->err, EINVAL, "run: --backend %s: it cannot hold back what the agent changes, so --write has to be said",
			 backend_name(a->o->backend));
	ak_err_hint(a->err, "add --write direct or --write none, or leave --backend out");
	return -EINVAL;
}

/* `ak serve`, `ak run`, `ak config show` */
static int parse_options(struct args *a)
{
	bool run = a->agent || (a->config && a->config->section == AK_CFG_RUN);
	int rc;

	if (run && a->config)
		a->config->value[ak_cfg_index(ak_cfg_find(AK_CFG_RUN, "write"))].text = "cow";
	rc = settings_and_words(a);
	if (rc == 0 && run)
		rc = choose_write(a);

	if (rc == 0 && a->pos < a->argc)
		rc = ak_err_set(a->err, EINVAL, "\"%.60s\" is one word too many: options only", a->argv[a->pos]);
	if (rc == 0)
		rc = args_check_where(a);
	if (rc == 0)
		rc = args_config_lowered(a);
	if (rc == 0)
		rc = args_check_backend(a);
	if (rc == 0)
		rc = check_cow(a);
	/* `ak config show` makes nothing */
	return rc != 0 ? rc : check_kinds(a, a->where & ARG_CREATE);
}

int args_parse(int words, int argc, char *const argv[], struct config *c, struct exec_opts *ret, struct ak_err *err)
{
	struct args a = {.o = ret, .err = err, .argv = argv, .argc = argc, .where = ARG_RUN, .config = c};

	*ret = defaults;
	switch (words) {
	case ARGS_CREATE:
		a.where = ARG_CREATE;
		a.names = true;
		return parse_create(&a);
	case ARGS_AGENT:
	case ARGS_SERVE:
		a.agent = words == ARGS_AGENT;
		a.where = ARG_CREATE | ARG_SERVE;
		ret->ttl_ms = 0;	/* it ends with its client */
		return parse_options(&a);
	case ARGS_SHOW:
		return parse_options(&a);
	default:
		return parse_exec(&a);
	}
}

int args_parse_exec(int argc, char *const argv[], struct exec_opts *ret, struct ak_err *err)
{
	return args_parse(ARGS_EXEC, argc, argv, NULL, ret, err);
}

int args_parse_create(int argc, char *const argv[], struct exec_opts *ret, struct ak_err *err)
{
	return args_parse(ARGS_CREATE, argc, argv, NULL, ret, err);
}

int args_parse_serve(int argc, char *const argv[], struct exec_opts *ret, struct ak_err *err)
{
	return args_parse(ARGS_SERVE, argc, argv, NULL, ret, err);
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
	free(o->config);
	free(o->profile);
	free(o->lowered);
	free(o->image);
	free(o->net_name);
	free(o->in);
	free(o->name);
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
