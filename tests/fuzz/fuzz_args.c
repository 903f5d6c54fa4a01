/* SPDX-License-Identifier: Apache-2.0 */
/* The command lines of `ak exec` and `ak create`; NUL bytes or newlines in the input end a word. Laws are at each check. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/args.h"
#include "executor/opts.h"
#include "executor/runtime.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"

#define WORDS_MAX 128

#define LAW(x)                                                                                               \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Cuts @text into words; --env-file would read files of the machine, so such an input is not used */
static int split(char *text, size_t size, char *words[])
{
	int n = 0;

	for (size_t at = 0; at < size && n < WORDS_MAX;) {
		char *end = text + at;

		while (*end && *end != '\n')
			end++;
		*end = '\0';
		if (strncmp(text + at, "--env-file", 10) == 0)
			return -1;
		words[n++] = text + at;
		at = (size_t)(end - text) + 1;
	}
	return n;
}

/* The command is a suffix of the input, word for word, unless -c made it */
static void check_command(const struct exec_opts *o, char *const words[], int n)
{
	LAW(o->argc >= 1 && !o->argv[o->argc]);
	if (o->shell) {
		LAW(o->argc == 3 && strcmp(o->argv[0], "sh") == 0 && strcmp(o->argv[1], "-c") == 0);
		return;
	}
	LAW(o->argc <= n);
	for (int i = 0; i < o->argc; i++)
		LAW(strcmp(o->argv[i], words[n - o->argc + i]) == 0);
}

/* Whatever was given, no limit is 0 by the user's wish, lists are in order, and names point where they should
 */
static void check_values(const struct exec_opts *o)
{
	LAW(o->memory_bytes.max || o->memory_bytes.value > 0);
	LAW(o->pids.max || o->pids.value > 0);
	LAW(o->cpu_milli.max || o->cpu_milli.value > 0);
	LAW(o->max_output_bytes > 0);
	for (size_t i = 0; i < o->nfds; i++)
		LAW(o->fds[i] >= 3 && (i == 0 || o->fds[i - 1] < o->fds[i]));
	for (size_t i = 0; i < o->nbinds; i++) {
		const struct bind_opt *b = &o->binds[i];

		LAW(b->opt && (b->src || b->dst) && (!b->src || b->src[0]) && (!b->dst || b->dst[0]));
		LAW((b->kind == BIND_TMPFS || b->kind == BIND_HIDE) == !b->src);
	}
}

/* The same words as those of `ak create`: a name, and nothing that a sandbox without a command does not know */
static void check_create(int n, char *const words[])
{
	struct exec_opts o;
	struct ak_err err = {0};
	int rc = args_parse_create(n, words, &o, &err);

	LAW(rc == 0 || rc == 1 || rc == -EINVAL);
	if (rc == 0) {
		LAW(o.name && runtime_check_name(o.name, NULL) == 0 && !o.argv && !o.in && !o.tty && !o.json);
		LAW(o.ttl_ms > 0 && o.timeout_ms == 0 && o.nfds == 0);
		check_values(&o);
	}
	LAW(rc >= 0 || (err.code == EINVAL && err.msg[0] && ak_utf8_valid(err.msg, strlen(err.msg))));
	exec_opts_release(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words[WORDS_MAX + 1] = {NULL};
	char *text = size <= 65536 ? malloc(size + 1) : NULL;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';

	int n = split(text, size, words);

	if (n >= 0) {
		struct exec_opts o;
		struct ak_err err = {0};
		int rc = args_parse_exec(n, words, &o, &err);

		LAW(rc == 0 || rc == 1 || rc == -EINVAL);
		if (rc == 0) {
			check_command(&o, words, n);
			check_values(&o);
		}
		LAW(rc >= 0 || (err.code == EINVAL && err.msg[0] && ak_utf8_valid(err.msg, strlen(err.msg))));
		exec_opts_release(&o);
		check_create(n, words);
	}
	free(text);
	return 0;
}
