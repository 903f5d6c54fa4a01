/* SPDX-License-Identifier: Apache-2.0 */
/* Parts the words of `ak run`; see run_words.h. Process: executor. Privilege: none. */
#include "executor/run_words.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_err.h"

#define BARE_WORDS 2u

enum kind {
	SHAPE = 1 << 0, /* of the sandbox: the executor's */
	VALUE = 1 << 1, /* has one */
};

struct row {
	const char *name; /* with its dashes */
	char letter;
	unsigned kind;
};

/* The agent's own table is in agent/run_opts.c; the suite run tries every option that the help names */
static const struct row rows[] = {
	{ "--workspace", 'C', SHAPE | VALUE }, { "--write", 0, SHAPE | VALUE },	   { "--rootfs", 0, SHAPE | VALUE },
	{ "--image", 0, SHAPE | VALUE },	     { "--ro", 0, SHAPE | VALUE },	   { "--rw", 0, SHAPE | VALUE },
	{ "--tmpfs", 0, SHAPE | VALUE },	     { "--hide", 0, SHAPE | VALUE },	   { "--env", 0, SHAPE | VALUE },
	{ "--env-file", 0, SHAPE | VALUE },    { "--net", 0, SHAPE | VALUE },	   { "--memory", 0, SHAPE | VALUE },
	{ "--cpus", 0, SHAPE | VALUE },	     { "--pids", 0, SHAPE | VALUE },	   { "--cpu-time", 0, SHAPE | VALUE },
	{ "--disk", 0, SHAPE | VALUE },	     { "--nofile", 0, SHAPE | VALUE },	   { "--fsize", 0, SHAPE | VALUE },
	{ "--seccomp", 0, SHAPE | VALUE },     { "--isolation", 0, SHAPE | VALUE },	   { "--backend", 0, SHAPE | VALUE },
	{ "--identity", 0, SHAPE | VALUE },    { "--allow-protected", 0, SHAPE | VALUE }, { "--config", 0, SHAPE | VALUE },
	{ "--profile", 0, SHAPE | VALUE },

	{ "--model", 'm', VALUE },	     { "--api", 0, VALUE },		   { "--base-url", 0, VALUE },
	{ "--replay", 0, VALUE },		     { "--effort", 0, VALUE },		   { "--max-response-tokens", 0, VALUE },
	{ "--context", 0, VALUE },	     { "--apply", 0, VALUE },		   { "--approval", 0, VALUE },
	{ "--yes", 'y', 0 },		     { "--plan", 0, 0 },			   { "--allow", 0, VALUE },
	{ "--deny", 0, VALUE },		     { "--max-cost", 0, VALUE },		   { "--max-input-tokens", 0, VALUE },
	{ "--max-output-tokens", 0, VALUE },   { "--max-turns", 0, VALUE },		   { "--max-tool-calls", 0, VALUE },
	{ "--timeout", 0, VALUE },	     { "--tool-timeout", 0, VALUE },	   { "--max-tool-timeout", 0, VALUE },
	{ "--output", 'o', VALUE },	     { "--json", 0, 0 },			   { "--output-last-message", 0, VALUE },
	{ "--output-schema", 0, VALUE },	     { "--attach", 0, VALUE },	     { "--resume", 0, VALUE },		   { "--continue", 0, 0 },
	{ "--ephemeral", 0, 0 },		     { "--system-prompt", 0, VALUE },	   { "--system-prompt-file", 0, VALUE },
	{ "--append-system-prompt", 0, VALUE }, { "--no-instructions", 0, 0 },	   { "--bare", 0, 0 },
	{ "--price", 0, VALUE },		   { "--unknown-price", 0, VALUE },
	{ "--fail-on-denied", 0, 0 },	     { "--verbose-trace", 0, 0 },		   { "--plain-http", 0, 0 },
	{ "--ca-file", 0, VALUE },	     { "--quiet", 'q', 0 },		   { "--help", 'h', 0 },
};

const char *run_words_option(size_t i)
{
	return i < sizeof(rows) / sizeof(rows[0]) ? rows[i].name : NULL;
}

static const struct row *find(const char *word, const char **ret_value)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		size_t n = strlen(r->name);

		if (word[1] != '-') {
			if (r->letter != 0 && word[1] == r->letter && word[2] == '\0')
				return r;
			continue;
		}
		if (strncmp(word, r->name, n) != 0 || (word[n] != '\0' && word[n] != '='))
			continue;
		*ret_value = word[n] == '=' ? word + n + 1 : NULL;
		return r;
	}
	return NULL;
}

static void note(struct run_words *w, const struct row *r, const char *value)
{
	if (strcmp(r->name, "--quiet") == 0)
		w->quiet = true;
	if (strcmp(r->name, "--json") == 0)
		w->output = RUN_OUTPUT_JSON;
	if (strcmp(r->name, "--output") == 0 && value)
		w->output = strcmp(value, "json") == 0	       ? RUN_OUTPUT_JSON
			    : strcmp(value, "stream-json") == 0 ? RUN_OUTPUT_STREAM
								 : RUN_OUTPUT_TEXT;
	if (strcmp(r->name, "--config") == 0)
		w->config = value;
	if (strcmp(r->name, "--bare") == 0)
		w->bare = true;
	if (r->kind & SHAPE)
		return;
	w->options[w->noptions] = (struct run_word){ .option = r->name, .value = value, .said = r->name };
	if (strcmp(r->name, "--yes") == 0) {
		w->options[w->noptions].option = "--approval";
		w->options[w->noptions].value = "auto";
	}
	w->noptions++;
}

/* one option with its value; *@i stands on it and moves to its last word */
static int take(struct run_words *w, int argc, char *const argv[], int *i, struct ak_err *err)
{
	const char *value = NULL;
	char *word = argv[*i];
	const struct row *r = find(word, &value);

	if (!r) {
		(void)ak_err_set(err, EINVAL, "run: unknown option %.60s", word);
		ak_err_hint(err, "`ak run --help` lists the options; `--` ends them");
		return -EINVAL;
	}
	if (!(r->kind & VALUE) && value)
		return ak_err_set(err, EINVAL, "run: %s takes no value", r->name);
	if ((r->kind & VALUE) && !value && *i + 1 >= argc)
		return ak_err_set(err, EINVAL, "run: %s: a value is missing", r->name);

	char ***list = r->kind & SHAPE ? &w->shape : &w->agent;
	int *n = r->kind & SHAPE ? &w->nshape : &w->nagent;

	(*list)[(*n)++] = word;
	if ((r->kind & VALUE) && !value) {
		value = argv[++*i];
		(*list)[(*n)++] = argv[*i];
	}
	note(w, r, value);
	return 0;
}

static int leave_config_out(struct run_words *w, struct ak_err *err)
{
	static const char *const words[BARE_WORDS] = { "--config", "/dev/null" };

	if (w->config)
		return ak_err_set(err, EINVAL, "run: --bare and --config exclude each other");
	for (size_t i = 0; i < BARE_WORDS; i++)
		w->shape[w->nshape++] = (char *)(uintptr_t)words[i];
	return 0;
}

int run_words_split(int argc, char *const argv[], struct run_words *ret, struct ak_err *err)
{
	int first = 0;

	*ret = (struct run_words){ 0 };
	ret->shape = calloc((size_t)argc + 1 + BARE_WORDS, sizeof(*ret->shape));
	ret->agent = calloc((size_t)argc + 1, sizeof(*ret->agent));
	ret->options = calloc((size_t)argc + 1, sizeof(*ret->options));
	if (!ret->shape || !ret->agent || !ret->options)
		return ak_err_set(err, ENOMEM, "run: not enough memory for the command line");
	for (int i = 0; i < argc; i++) {
		int rc = 0;

		if (strcmp(argv[i], "--") == 0) {
			while (i < argc)
				ret->agent[ret->nagent++] = argv[i++];
			break;
		}
		if (argv[i][0] != '-' || argv[i][1] == '\0')
			ret->agent[ret->nagent++] = argv[i];
		else
			rc = take(ret, argc, argv, &i, first ? NULL : err);
		if (rc < 0 && first == 0)
			first = rc;
	}
	if (first == 0 && ret->bare)
		first = leave_config_out(ret, err);
	return first;
}

void run_words_release(struct run_words *w)
{
	free(w->shape);
	free(w->agent);
	free(w->options);
	*w = (struct run_words){ 0 };
}
