/* SPDX-License-Identifier: Apache-2.0 */
/* Where keys come from: variables and files. Process: agent. Privilege: none. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/keys_int.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define FILE_MAX (64u << 10)
#define NUMBERS 32u

/* The value of @name in @env, where it stands; NULL when it is not set */
static char *env_value(char *const env[], const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; env[i]; i++) {
		if (strncmp(env[i], name, n) == 0 && env[i][n] == '=')
			return env[i] + n + 1;
	}
	return NULL;
}

/* NAME for 0, NAME_1 and so on else */
static void numbered(const char *name, unsigned number, char ret[80])
{
	if (number == 0)
		(void)snprintf(ret, 80, "%s", name);
	else
		(void)snprintf(ret, 80, "%s_%u", name, number);
}

int keys_add_env(struct keys *k, const struct key_var *vars, char *const env[], struct ak_err *err)
{
	size_t before = k->count;

	for (const struct key_var *v = vars; v->name && k->count == before; v++) {
		for (unsigned i = 0; i <= NUMBERS; i++) {
			char name[80];
			const char *value;
			int rc;

			numbered(v->name, i, name);
			value = env_value(env, name);
			rc = value ? keys_add_list(k, value, strlen(value), v->scheme, name, err) : 0;
			if (rc < 0) {
				keys_cut(k, before);
				return rc;
			}
		}
	}
	return (int)(k->count - before);
}

void keys_wipe_env(const struct key_var *vars, char *env[])
{
	for (const struct key_var *v = vars; v->name; v++) {
		for (unsigned i = 0; i <= NUMBERS; i++) {
			char name[80];
			char *value;

			numbered(v->name, i, name);
			value = env_value(env, name);
			if (value)
				explicit_bzero(value, strlen(value));
		}
	}
}

void keys_wipe_all(char *env[])
{
	static const char tail[] = "_API_KEY";

	for (; *env; env++) {
		char *value = strchr(*env, '=');
		size_t n = value ? (size_t)(value - *env) : 0;
		size_t digits = 0;

		while (n > digits && (*env)[n - digits - 1] >= '0' && (*env)[n - digits - 1] <= '9')
			digits++;
		if (digits > 0 && n > digits && (*env)[n - digits - 1] == '_')
			n -= digits + 1;
		if (n > sizeof(tail) - 1 && memcmp(*env + n - (sizeof(tail) - 1), tail, sizeof(tail) - 1) == 0)
			explicit_bzero(value + 1, strlen(value + 1));
	}
}

static int check_file(int fd, const char *path, struct ak_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ak_err_sys(err, errno, "look at the key file %s", path);
	if (!S_ISREG(st.st_mode))
		return ak_err_set(err, EPERM, "the key file %s is not a regular file", path);
	if (st.st_uid != 0 && st.st_uid != geteuid()) {
		(void)ak_err_set(err, EPERM, "the key file %s belongs to uid %u, neither to you nor to root", path, (unsigned)st.st_uid);
		ak_err_hint(err, "make a copy of your own, with mode 600");
		return -EPERM;
	}
	if ((st.st_mode & 077) == 0)
		return 0;
	(void)ak_err_set(err, EPERM, "the key file %s can be read or written by others (mode %03o)", path, (unsigned)st.st_mode & 0777);
	ak_err_hint(err, "run: chmod 600 %s", path);
	return -EPERM;
}

/* Lines of @text without comments, each a list. */
static int add_lines(struct keys *k, const char *text, size_t len, enum key_scheme scheme, struct ak_err *err)
{
	while (len > 0) {
		const char *lf = memchr(text, '\n', len);
		size_t n = lf ? (size_t)(lf - text) : len;
		int rc = *text == '#' ? 0 : keys_add_list(k, text, n, scheme, "api_key_file", err);

		if (rc < 0)
			return rc;
		n += lf != NULL;
		text += n;
		len -= n;
	}
	return 0;
}

/* Return: bytes read, -EFBIG, or the errno of read */
static ssize_t read_all(int fd, char *buf, size_t size)
{
	size_t len = 0;

	for (;;) {
		ssize_t n = read(fd, buf + len, size - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return (ssize_t)len;
		len += (size_t)n;
		if (len == size)
			return -EFBIG;
	}
}

int keys_add_file(struct keys *k, const char *path, enum key_scheme scheme, struct ak_err *err)
{
	size_t before = k->count;
	char text[FILE_MAX + 1];
	ssize_t n;
	int rc;

	/* O_NONBLOCK: a FIFO must not make us wait */
	AK_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return ak_err_sys(err, errno, "open the key file %s", path);
	rc = check_file(fd, path, err);
	if (rc < 0)
		return rc;
	n = read_all(fd, text, sizeof(text));
	rc = n < 0 ? ak_err_sys(err, (int)-n, "read the key file %s", path)
		   : add_lines(k, text, (size_t)n, scheme, err);
	explicit_bzero(text, sizeof(text));
	if (rc < 0) {
		keys_cut(k, before);
		if (n >= 0)
			(void)ak_err_wrap(err, "%s", path);
		return rc;
	}
	if (k->count == before)
		return ak_err_set(err, ENODATA, "the key file %s holds no key", path);
	for (size_t i = before; i < k->count && k->count - before > 1; i++)
		(void)snprintf(k->key[i].name, sizeof(k->key[i].name), "api_key_file (%zu of %zu)", i - before + 1,
			       k->count - before);
	return (int)(k->count - before);
}
