/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs below share. Each tries to break one claim from inside a sandbox, unprivileged, and
 *prints one line a claim, whose name starts with the number of its requirement in docs/hardening.md: BLOCKED
 *name detail	the attempt failed in exactly the wanted way OPEN name detail	it worked, or failed in
 *another way ALLOWED name		something that ordinary programs need works BROKEN name detail	it
 *does not SKIP name reason They exit 0 only without OPEN and BROKEN. Facts about the host come in as
 *name=value arguments.
 */
#ifndef AK_TESTS_ESCAPE_ESC_H
#define AK_TESTS_ESCAPE_ESC_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct esc {
	int bad;
	int argc;
	char **argv;
};

static inline struct esc esc_init(int argc, char **argv)
{
	struct esc e = {.argc = argc, .argv = argv};

	setvbuf(stdout, NULL, _IOLBF, 0);
	return e;
}

/* value of a name=value argument, or NULL */
static inline const char *esc_arg(const struct esc *e, const char *name)
{
	size_t n = strlen(name);

	for (int i = 1; i < e->argc; i++)
		if (!strncmp(e->argv[i], name, n) && e->argv[i][n] == '=')
			return e->argv[i] + n + 1;
	return NULL;
}

/* a decimal number at the start of text, else 0 */
static inline int esc_num(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

static inline const char *esc_errname(int err)
{
	const char *s = strerrorname_np(err);

	return s ? s : "E?";
}

/* rc and errno as a call left them; the wanted errno, and a second one that means the same (0: none) */
static inline void esc_err2(struct esc *e, const char *name, long rc, int want, int want2)
{
	int got = errno;

	if (rc >= 0) {
		printf("OPEN %s returned %ld\n", name, rc);
		e->bad++;
	} else if (got != want && (!want2 || got != want2)) {
		printf("OPEN %s %s (want %s)\n", name, esc_errname(got), esc_errname(want));
		e->bad++;
	} else {
		printf("BLOCKED %s %s\n", name, esc_errname(got));
	}
}

static inline void esc_err(struct esc *e, const char *name, long rc, int want)
{
	esc_err2(e, name, rc, want, 0);
}

/* a state that must hold */
__attribute__((format(printf, 4, 5))) static inline void esc_is(struct esc *e, const char *name, bool ok,
								const char *fmt, ...)
{
	va_list ap;

	printf("%s %s ", ok ? "BLOCKED" : "OPEN", name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	e->bad += !ok;
}

/* something that must work; errno is shown when it does not */
static inline void esc_need(struct esc *e, const char *name, bool ok)
{
	if (ok)
		printf("ALLOWED %s\n", name);
	else
		printf("BROKEN %s %s\n", name, esc_errname(errno));
	e->bad += !ok;
}

static inline void esc_skip(const char *name, const char *why)
{
	printf("SKIP %s %s\n", name, why);
}

static inline int esc_end(const struct esc *e)
{
	return e->bad ? 1 : 0;
}

/* Run a call in a child of its own. Return: its result (0 for every success) with errno set, or -1 and ECHILD
 * plus *ret_sig. */
static inline long esc_forked(long (*fn)(const void *), const void *arg, int *ret_sig)
{
	int st;
	pid_t pid = fork();

	*ret_sig = 0;
	if (pid < 0)
		return -1;
	if (!pid) {
		errno = 0;
		_exit(fn(arg) >= 0 ? 0 : errno & 0xff);
	}
	if (waitpid(pid, &st, 0) != pid)
		return -1;
	if (WIFSIGNALED(st)) {
		*ret_sig = WTERMSIG(st);
		errno = ECHILD;
		return -1;
	}
	errno = WEXITSTATUS(st);
	return errno ? -1 : 0;
}

/* first line of a file that starts with key, without the key; "" when there is none */
static inline void esc_line(const char *path, const char *key, char *out, size_t cap)
{
	char line[1024];
	FILE *f = fopen(path, "re");

	out[0] = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, strlen(key)))
			continue;
		snprintf(out, cap, "%s", line + strlen(key) + strspn(line + strlen(key), " \t"));
		out[strcspn(out, "\n")] = 0;
		break;
	}
	if (f)
		fclose(f);
}

#endif
