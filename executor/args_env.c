/* SPDX-License-Identifier: Apache-2.0 */
/* --env and --env-file: variables for the command. Process: executor. Privilege: none. */
#include "executor/args_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/args_agent.h"
#include "executor/opts.h"
#include "executor/plan_keys.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_init_proto.h"
#include "executor/shared/ak_parse.h"

/* execve(2): a string of the environment with its NUL is at most MAX_ARG_STRLEN, 32 pages (linux/binfmts.h)
 */
#define ENV_STRING_MAX (131072u - 1)
#define ENV_FILE_MAX AK_INIT_CONFIG_MAX /* more could not be handed to the command anyway */

/* Keys of ak's own providers are for the agent and never for what it runs */
static bool is_key_variable(const struct args *a, const char *name, size_t len)
{
	return (len >= 3 && memcmp(name, "AK_", 3) == 0) || plan_key(name, len) || args_providers_key(a->config, name, len);
}

static int append(struct args *a, const char *text, size_t name_len, size_t len)
{
	struct exec_opts *o = a->o;
	struct env_opt *env = reallocarray(o->env, o->nenv + 1, sizeof(*env));

	if (!env)
		return ak_err_sys(a->err, ENOMEM, "read the environment");
	o->env = env;

	struct env_opt row = {.name = arg_copy(a, text, name_len)};

	if (name_len < len)
		row.value = arg_copy(a, text + name_len + 1, len - name_len - 1);
	if (!row.name || (name_len < len && !row.value)) {
		free(row.name);
		free(row.value);
		return -ENOMEM;
	}
	env[o->nenv++] = row;
	return 0;
}

/*
 * Adds "K=V" or "K". Values never appear in messages, and text that is no name only when @show says so: a
 * line of a file may be a stray secret.
 */
static int add_variable(struct args *a, const char *text, size_t len, bool show)
{
	const char *eq = memchr(text, '=', len);
	size_t name_len = eq ? (size_t)(eq - text) : len;
	int shown = name_len < 60 ? (int)name_len : 60;

	if (!ak_env_name_ok(text, name_len)) {
		(void)ak_err_set(a->err, EINVAL,
				 show ? "\"%.*s\" is not a variable's name" : "no variable's name", shown,
				 text);
		ak_err_hint(a->err,
			    "use K=V or K; K is letters, digits and _, and does not start with a digit");
		return -EINVAL;
	}
	if (is_key_variable(a, text, name_len)) {
		(void)ak_err_set(a->err, EINVAL,
				 "%.*s is one of ak's own variables and never passed to a command", shown,
				 text);
		ak_err_hint(a->err, "use another name if the command must have the value");
		return -EINVAL;
	}
	if (len > ENV_STRING_MAX)
		return ak_err_set(a->err, EINVAL,
				  "%.*s=... is %zu bytes; the kernel takes at most %u in one variable", shown,
				  text, len, ENV_STRING_MAX);
	if (a->o->nenv >= AK_INIT_STRINGS_MAX / 2)
		return ak_err_set(a->err, EINVAL, "more than %u variables", AK_INIT_STRINGS_MAX / 2);
	return append(a, text, name_len, len);
}

int arg_env(struct args *a, const struct arg_def *d, const char *value)
{
	int rc = add_variable(a, value, strlen(value), true);

	if (rc < 0)
		(void)ak_err_wrap(a->err, "%s", d->name);
	return rc;
}

/* A line without its newline: K=V, K, a comment or nothing. Quotes mean nothing. */
static int add_line(struct args *a, const char *line, size_t len)
{
	if (len > 0 && line[len - 1] == '\r')
		len--;
	while (len > 0 && (*line == ' ' || *line == '\t')) {
		line++;
		len--;
	}
	if (len == 0 || *line == '#')
		return 0;
	return add_variable(a, line, len, false);
}

int args_env_text(struct args *a, const char *text, size_t len, unsigned *ret_line)
{
	struct ak_lines lines;
	const char *line;
	size_t n;
	int rc = 0;

	ak_lines_init(&lines, text, len, ENV_STRING_MAX + 1); /* a CR may follow */
	while (rc == 0 && ak_lines_next(&lines, &line, &n))
		rc = add_line(a, line, n);
	if (lines.error == -EMSGSIZE)
		rc = ak_err_set(a->err, EINVAL, "the line is over %u bytes, which the kernel does not take",
				ENV_STRING_MAX);
	else if (lines.error)
		rc = ak_err_set(a->err, EINVAL, "the line holds a NUL byte");
	*ret_line = lines.line_no;
	return rc;
}

/* a descriptor of the caller's: `--env-file <(command)` */
static bool names_descriptor(const char *path)
{
	return strncmp(path, "/dev/fd/", 8) == 0 || strcmp(path, "/dev/stdin") == 0 || strncmp(path, "/proc/self/fd/", 14) == 0;
}

/*
 * Read the file without following a link: an earlier command may have left one, to have a secret of the host put into the
 * environment of the next.
 */
static int read_plain(const char *path, char **ret, size_t *ret_len)
{
	struct ak_open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, .resolve = AK_RESOLVE_NO_SYMLINKS};
	char own[32];
	struct stat st;

	if (names_descriptor(path))
		return ak_read_file(path, ENV_FILE_MAX, ret, ret_len);

	AK_AUTO_FD fd = sys_openat2_how(AT_FDCWD, path, &how);

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	(void)snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	return ak_read_file(own, ENV_FILE_MAX, ret, ret_len);
}

int arg_env_file(struct args *a, const struct arg_def *d, const char *value)
{
	char *text = NULL;
	size_t len = 0;
	int rc = read_plain(value, &text, &len);

	if (rc == -ELOOP)
		return ak_err_set(a->err, ELOOP,
				  "%s: %s leads through a symbolic link, which an earlier command may have left there: name the "
				  "real path",
				  d->name, value);

	if (rc == -EINVAL)
		return ak_err_set(a->err, EINVAL, "%s: %s is not a regular file", d->name, value);
	if (rc == -EFBIG)
		return ak_err_set(a->err, EFBIG, "%s: %s is over %u bytes", d->name, value, ENV_FILE_MAX);
	if (rc < 0 || !text)
		return ak_err_sys(a->err, rc < 0 ? -rc : ENOMEM, "%s: read %s", d->name, value);

	unsigned line_no;

	rc = args_env_text(a, text, len, &line_no);
	if (rc < 0)
		(void)ak_err_wrap(a->err, "%s: %.200s:%u", d->name, value, line_no);
	explicit_bzero(text, len);
	free(text);
	return rc;
}
