/* SPDX-License-Identifier: Apache-2.0 */
/* Options of ak-agent's subcommands. Process: agent. Privilege: none. */
#include "agent/cli/cli_opt.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/show.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

static const struct cli_opt *find(const struct cli_opt *opts, const char *word, const char **ret_value)
{
	for (const struct cli_opt *o = opts; o->name; o++) {
		size_t n = strlen(o->name);

		if (word[1] == o->letter && o->letter && word[2] == '\0')
			return o;
		if (word[1] != '-' || strncmp(word + 2, o->name, n) != 0)
			continue;
		if (word[2 + n] == '\0')
			return o;
		if (word[2 + n] == '=') {
			*ret_value = word + 2 + n + 1;
			return o;
		}
	}
	return NULL;
}

int cli_opts(int argc, char *argv[], const char *command, const struct cli_opt *opts, const char **args, size_t max,
	     size_t *ret_n, struct ak_err *err)
{
	size_t n = 0;
	bool only_args = false;

	for (int i = 0; i < argc; i++) {
		const char *value = NULL;
		const struct cli_opt *o;

		if (!only_args && strcmp(argv[i], "--") == 0) {
			only_args = true;
			continue;
		}
		if (only_args || argv[i][0] != '-' || argv[i][1] == '\0') {
			if (n == max)
				return ak_err_set(err, EINVAL, "%s: unexpected argument \"%s\"", command, argv[i]);
			args[n++] = argv[i];
			continue;
		}
		o = find(opts, argv[i], &value);
		if (!o)
			return ak_err_set(err, EINVAL, "%s: unknown option \"%s\"", command, argv[i]);
		if (o->flag && value)
			return ak_err_set(err, EINVAL, "%s: --%s takes no value", command, o->name);
		if (o->flag) {
			*o->flag = true;
			continue;
		}
		if (!value && i + 1 == argc)
			return ak_err_set(err, EINVAL, "%s: --%s needs a value", command, o->name);
		*o->value = value ? value : argv[++i];
	}
	*ret_n = n;
	return 0;
}

int cli_fail(const struct ak_err *err, int code)
{
	struct ak_buf b = { 0 };

	ak_buf_str(&b, "ak: ");
	show_text(err->msg, strlen(err->msg), SHOW_LINE, &b, NULL);
	ak_buf_str(&b, *err->hint ? " - " : "");
	show_text(err->hint, strlen(err->hint), SHOW_LINE, &b, NULL);
	ak_buf_str(&b, "\n");
	if (!b.failed)
		(void)ak_write_all(STDERR_FILENO, b.data, b.len);
	ak_buf_release(&b);
	return code;
}

void cli_warn(const char *fmt, ...)
{
	struct ak_err e = { 0 };
	char text[AK_ERR_MSG_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)ak_err_set(&e, 0, "%s", text);
	(void)cli_fail(&e, 0);
}
