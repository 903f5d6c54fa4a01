/* SPDX-License-Identifier: Apache-2.0 */
/* Text of an --env-file. Laws are at each check. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/args.h"
#include "executor/args_int.h"
#include "executor/opts.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"
#include "executor/shared/ak_parse.h"

#define LAW(x)                                                                                               \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int parse(const char *text, size_t len, struct exec_opts *o, struct ak_err *err)
{
	struct args a = {.o = o, .err = err};
	unsigned line;

	*o = (struct exec_opts){0};
	return args_env_text(&a, text, len, &line);
}

/* Every variable has a good name, is none of ak's own, and fits the kernel's maximum */
static void check_rows(const struct exec_opts *o)
{
	for (size_t i = 0; i < o->nenv; i++) {
		const char *name = o->env[i].name;

		LAW(ak_env_name_ok(name, strlen(name)));
		LAW(strncmp(name, "AK_", 3) != 0 && strcmp(name, "OPENAI_API_KEY") != 0);
		LAW(!o->env[i].value || !strchr(o->env[i].value, '\n'));
		LAW(strlen(name) + (o->env[i].value ? strlen(o->env[i].value) + 1 : 0) < 131072);
	}
}

/* What parses, written again, parses to the same rows */
static void check_round_trip(const struct exec_opts *o)
{
	struct ak_buf b = {0};
	struct exec_opts again;

	for (size_t i = 0; i < o->nenv; i++) {
		ak_buf_str(&b, o->env[i].name);
		if (o->env[i].value)
			ak_buf_printf(&b, "=%s\r", o->env[i].value);
		ak_buf_str(&b, "\n");
	}
	LAW(!b.failed && parse(b.data ? b.data : "", b.len, &again, NULL) == 0 && again.nenv == o->nenv);
	for (size_t i = 0; i < o->nenv; i++) {
		LAW(strcmp(again.env[i].name, o->env[i].name) == 0);
		LAW(!again.env[i].value == !o->env[i].value);
		LAW(!o->env[i].value || strcmp(again.env[i].value, o->env[i].value) == 0);
	}
	exec_opts_release(&again);
	ak_buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct exec_opts o;
	struct ak_err err = {0};
	int rc = parse((const char *)data, size, &o, &err);

	check_rows(&o);
	if (rc == 0) {
		check_round_trip(&o);
	} else {
		LAW(rc == -EINVAL && err.code == EINVAL && err.msg[0] &&
		    ak_utf8_valid(err.msg, strlen(err.msg)));
	}
	exec_opts_release(&o);
	return 0;
}
