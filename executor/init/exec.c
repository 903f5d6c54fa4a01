/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds and starts the command, or tells exactly why it cannot be started; the last step of the command's
 * child, fully confined. Exit codes as shells have them: 127 not found, 126 found but not executable.
 */
#include "executor/init/init.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/init/interp.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/* The attempt that is reported when none worked */
struct attempt {
	char file[PATH_MAX]; /* "": no file of that name */
	int err;
};

static const char *path_of(const char *const *envp)
{
	for (; *envp; envp++) {
		if (strncmp(*envp, "PATH=", 5) == 0)
			return *envp + 5;
	}
	return DEFAULT_PATH;
}

/* DIR/NAME, or ./NAME for an empty folder as execvp(3) has it; false if it is longer than a path can be */
static bool join(char *ret, size_t cap, const char *dir, size_t dir_len, const char *name)
{
	size_t name_len = strlen(name);

	if (dir_len == 0) {
		dir = ".";
		dir_len = 1;
	}
	if (dir_len + 1 + name_len + 1 > cap)
		return false;
	memcpy(ret, dir, dir_len);
	ret[dir_len] = '/';
	memcpy(ret + dir_len + 1, name, name_len + 1);
	return true;
}

static void remember(struct attempt *a, const char *file, int err)
{
	memcpy(a->file, file, strlen(file) + 1);
	a->err = err;
}

/* One folder of PATH. Return: false when the search ends here */
static bool try_one(const struct init *in, const char *file, struct attempt *a)
{
	struct stat st;

	(void)execve(file, (char *const *)in->cfg->argv, (char *const *)in->cfg->envp);
	switch (errno) {
	case ENOENT: /* not there, or its interpreter is not: worth telling if nothing better comes */
		if (!a->file[0] && stat(file, &st) == 0)
			remember(a, file, ENOENT);
		return true;
	case ENOTDIR:
	case ENAMETOOLONG:
		return true;
	case EACCES: /* a later one may work; else the first file is reported */
		if (!a->file[0] && stat(file, &st) == 0 && !S_ISDIR(st.st_mode))
			remember(a, file, EACCES);
		return true;
	default:
		remember(a, file, errno);
		return false;
	}
}

static void search(const struct init *in, const char *name, struct attempt *a)
{
	const char *dir = path_of(in->cfg->envp);
	char file[PATH_MAX];

	for (;;) {
		size_t len = strcspn(dir, ":");

		if (join(file, sizeof(file), dir, len, name) && !try_one(in, file, a))
			return;
		if (!dir[len])
			return;
		dir += len + 1;
	}
}

/* ---- what went wrong ---- */

static void say(struct failure *f, int exit_code, const char *what)
{
	f->exit_code = exit_code;
	text_raw(&f->text, what);
}

static void say_interpreter(struct failure *f, int exit_code, const char *interp, const char *what)
{
	f->exit_code = exit_code;
	text_raw(&f->text, "interpreter \"");
	text_name(&f->text, interp);
	text_raw(&f->text, "\" ");
	text_raw(&f->text, what);
	if (interp[strlen(interp) - 1] == '\r')
		f->hint = "the script has DOS line ends";
}

static void explain_missing(struct failure *f, const char *file)
{
	char interp[INTERP_MAX];
	struct stat st;

	if (stat(file, &st) < 0) {
		say(f, 127, "no such file");
		f->hint = "only what the sandbox shows exists; relative paths start at its working directory";
		if (lstat(file, &st) == 0)
			f->hint = "it is a symbolic link to something that does not exist in the sandbox";
		return;
	}
	if (interp_of(file, interp) && interp[0])
		say_interpreter(f, 127, interp, "not found");
	else
		say(f, 127, "its interpreter was not found");
}

static void explain_access(struct failure *f, const char *file)
{
	char interp[INTERP_MAX];
	struct stat st;

	if (stat(file, &st) < 0) {
		say(f, 126, "permission denied");
	} else if (S_ISDIR(st.st_mode)) {
		say(f, 126, "is a directory");
	} else if (!S_ISREG(st.st_mode)) {
		say(f, 126, "not a regular file");
	} else if (!(st.st_mode & 0111)) {
		say(f, 126, "not executable");
		f->hint = "make it executable: chmod +x";
	} else if (interp_of(file, interp) && interp[0] && access(interp, X_OK) < 0) {
		say_interpreter(f, 126, interp, "cannot be executed");
	} else {
		say(f, 126, "permission denied");
		f->hint = "its mode, a noexec mount or the sandbox's rules forbid to execute it";
	}
}

static void explain_noexec(struct failure *f, const char *file)
{
	say(f, 126, "cannot be executed (no #! line, or built for another machine)");
	if (!interp_is_elf(file))
		f->hint = "if it is a shell script, start it with sh";
}

static void explain(struct failure *f, const char *file)
{
	switch (f->err) {
	case ENOENT:
	case ENOTDIR:
		explain_missing(f, file);
		break;
	case EACCES:
		explain_access(f, file);
		break;
	case ENOEXEC:
		explain_noexec(f, file);
		break;
	case E2BIG:
		say(f, 126, "arguments and environment are too long");
		break;
	default:
		say(f, 126, strerror(f->err));
	}
}

static _Noreturn void not_found(const struct init *in, const char *name)
{
	struct failure f = { .stage = INIT_STAGE_EXEC, .err = ENOENT };
	char here[PATH_MAX];

	text_name(&f.text, name);
	say(&f, 127, ": command not found");
	if (name[0] && join(here, sizeof(here), "", 0, name) && access(here, F_OK) == 0)
		f.hint = "give the path from the working directory, with ./ in front";
	fail(in, &f);
}

_Noreturn void exec_command(const struct init *in)
{
	struct failure f = { .stage = INIT_STAGE_EXEC };
	const char *name = in->cfg->argv[0];
	struct attempt a = { .err = 0 };
	const char *file = a.file;

	if (strchr(name, '/')) {
		(void)execve(name, (char *const *)in->cfg->argv, (char *const *)in->cfg->envp);
		a.err = errno;
		file = name;
	} else if (name[0]) {
		search(in, name, &a);
	}
	if (!file[0])
		not_found(in, name);
	f.err = a.err;
	text_name(&f.text, name);
	text_raw(&f.text, ": ");
	explain(&f, file);
	fail(in, &f);
}
