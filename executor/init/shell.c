/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shell texts: what runs them, and the state that a session carries from one call to the next. In init and in the command; no
 * privilege. Every call is a shell of its own. The text is an argument, never a part of our script, so there is nothing that it
 * could close or swallow; the shell is told to join arguments because one may hold 128 KiB at most (MAX_ARG_STRLEN, execve(2)).
 *
 * State: a shell script in a memory file that the shell itself writes when it ends (exported variables, the names that are not set
 * any more, functions where the shell can print them, the working directory), complete only if its last line is there. It is
 * sealed then. A call that replaces its shell leaves the old one, and so does one whose shell was killed, whatever is in the file.
 *
 * Any process of a call can write into the file: what the shell holds open for itself, others of its uid can open through
 * /proc/PID/fd, or trace the shell. So a state is worth what the sandbox is worth: it is only ever read by shells inside it, never
 * by us but for its size, its last line and that it is text. A shell that ends by itself writes it anew over what others have
 * written. Who changes it after that shapes the next call of the session, as the call's own text may; INIT_EXEC_RESET forgets it.
 */
#include "executor/init/box.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/ns/kabi.h"

#define CHUNK 100000u		/* bytes of one argument */
#define STATE_END "\n#ak\n"	/* last line of a whole state */
#define FIXED_ARGS 16
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/* Texts beyond one argument: join them. IFS is empty only while "$*" is put together */
static const char joiner[] = "IFS=;eval \"unset IFS;shift $#;$*\"";

/*
 * $1 old state ("": none)  $2 new state  $3 the folder we are in  $4 not "": asked for, so the session's is not taken
 * $5 names of the sandbox's own variables  $6 number of entries K=V (set) or K (unset) that follow, then the text in pieces.
 * One line, so that line numbers in messages are the text's own. "builtin" as a state may hold functions of such names.
 */
static const char bash_session[] =
	"__ak_o=$2 __ak_n=$5 __ak_u= __ak_cwd=; "
	"if [ -n \"$1\" ]; then . \"/proc/self/fd/$1\" 2>/dev/null; builtin eval \"exec $1<&-\"; fi; "
	"builtin cd -- \"$3\" >/dev/null 2>&1; "
	"if [ -z \"$4\" ] && [ -n \"$__ak_cwd\" ] && ! builtin cd -- \"$__ak_cwd\" >/dev/null 2>&1; then "
	"builtin echo \"ak: the working directory $__ak_cwd is gone; now in $3\" >&2; fi; "
	"if [ -n \"$__ak_old\" ]; then OLDPWD=$__ak_old; else builtin unset -v OLDPWD; fi; "
	"for __ak_v in \"${@:7:$6}\"; do __ak_k=${__ak_v%%=*}; __ak_u+=\"unset -v $__ak_k;\"; "
	"[[ -v $__ak_k ]] && __ak_u+=\"$(builtin declare -p \"$__ak_k\");\"; "
	"case $__ak_v in *=*) builtin export \"$__ak_v\";; *) builtin unset -v \"$__ak_v\";; esac; done; "
	"__ak_save() { [ -n \"$__ak_o\" ] || return 0; set +eux; { builtin trap '' XFSZ; builtin trap - DEBUG ERR RETURN; "
	"local IFS=' '; builtin eval \"$__ak_u\"; builtin export __ak_cwd=\"$PWD\" __ak_old=\"$OLDPWD\"; "
	"for __ak_v in $__ak_n; do [ -n \"${!__ak_v+x}\" ] || builtin echo \"unset -v $__ak_v\"; done; "
	"builtin export -p; builtin declare -f; builtin declare -Fx; "
	"[ -z \"${!_OLD_VIRTUAL_@}\" ] || builtin declare -p ${!_OLD_VIRTUAL_@}; "
	"builtin echo 'export -n __ak_cwd __ak_old; unset -f __ak_save'; builtin printf '\\n#ak\\n'; } "
	">\"/proc/self/fd/$__ak_o\" 2>/dev/null; __ak_o=; }; "
	"builtin trap __ak_save EXIT; "
	"builtin shift $((6+$6)); IFS=; __ak_t=$*; builtin unset -v IFS __ak_v __ak_k __ak_cwd __ak_old; builtin shift $#; "
	"builtin eval \" $__ak_t\"; "
	"{ __ak_r=$?; builtin trap - DEBUG ERR RETURN; __ak_save; } >/dev/null 2>&1; builtin exit $__ak_r";

/* The same for a shell that may know POSIX only: it cannot print functions, and variables that were unset come back */
static const char sh_session[] =
	"__ak_o=$2 __ak_cwd= __ak_old= __ak_k=; if [ -n \"$1\" ]; then . \"/proc/self/fd/$1\" 2>/dev/null; fi; "
	"__ak_c=$__ak_cwd __ak_p=$__ak_old; unset __ak_cwd __ak_old; "
	"cd -- \"$3\" >/dev/null 2>&1; "
	"if [ -z \"$4\" ] && [ -n \"$__ak_c\" ] && ! cd -- \"$__ak_c\" >/dev/null 2>&1; then "
	"echo \"ak: the working directory $__ak_c is gone; now in $3\" >&2; fi; "
	"if [ -n \"$__ak_p\" ]; then OLDPWD=$__ak_p; else unset OLDPWD; fi; "
	"__ak_n=$6; shift 6; "
	"while [ \"$__ak_n\" -gt 0 ]; do case $1 in *=*) export \"$1\";; *) unset \"$1\";; esac; "
	"__ak_k=\"$__ak_k ${1%%=*}\"; shift; __ak_n=$((__ak_n-1)); done; "
	"__ak_save() { [ -n \"$__ak_o\" ] || return 0; set +eux; { trap '' XFSZ; IFS=' '; unset $__ak_k; "
	"__ak_cwd=$PWD __ak_old=$OLDPWD; export __ak_cwd __ak_old; export -p; printf '\\n#ak\\n'; } "
	">\"/proc/self/fd/$__ak_o\" 2>/dev/null; __ak_o=; }; "
	"trap __ak_save EXIT; "
	"IFS=; __ak_t=$*; unset IFS __ak_n __ak_c __ak_p; shift $#; "
	"eval \" $__ak_t\"; "
	"{ __ak_r=$?; __ak_save; } >/dev/null 2>&1; exit $__ak_r";

/* ---- in the command ---- */

static const char *value_of(const char *const *envp, const char *name)
{
	size_t n = strlen(name);

	for (; *envp; envp++) {
		if (strncmp(*envp, name, n) == 0 && (*envp)[n] == '=')
			return *envp + n + 1;
	}
	return NULL;
}

static bool executable(const char *dir, size_t len, const char *name)
{
	char path[4096];
	struct stat st;

	if (len == 0 || len + strlen(name) + 2 > sizeof(path))
		return false;
	memcpy(path, dir, len);
	path[len] = '/';
	memcpy(path + len + 1, name, strlen(name) + 1);
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool has_bash(const struct launch *l)
{
	const char *dir = value_of(l->cfg->envp, "PATH");

	if (!dir)
		dir = DEFAULT_PATH;
	for (;;) {
		size_t len = strcspn(dir, ":");

		if (executable(dir, len, "bash"))
			return true;
		if (!dir[len])
			return false;
		dir += len + 1;
	}
}

/* Copies the text into arguments of CHUNK bytes; Return: how many */
static uint32_t split(const struct launch *l, const char *text, size_t len, const char **to)
{
	uint32_t n = 0;
	char *copy;

	if (len <= CHUNK) {
		to[0] = text;
		return 1;
	}
	copy = launch_memory(l, len + len / CHUNK + 2);
	for (size_t at = 0; at < len; at += CHUNK) {
		size_t part = len - at < CHUNK ? len - at : CHUNK;

		memcpy(copy, text + at, part);
		to[n++] = copy;
		copy += part + 1;	/* the memory was zero */
	}
	return n;
}

char *box_decimal(char *end, unsigned n)
{
	*--end = 0;
	do
		*--end = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	return end;
}

static bool is_identifier(const char *s, size_t n)
{
	if (n == 0 || (s[0] >= '0' && s[0] <= '9'))
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = s[i];

		if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')))
			return false;
	}
	return true;
}

/* "A B C": the names of the environment that a shell can handle */
static const char *names(const struct launch *l)
{
	size_t room = 1;
	char *buf, *p;

	for (uint32_t i = 0; i < l->cfg->envc; i++)
		room += strcspn(l->cfg->envp[i], "=") + 1;
	if (room > CHUNK)
		return "";
	p = buf = launch_memory(l, room);
	for (uint32_t i = 0; i < l->cfg->envc; i++) {
		size_t n = strcspn(l->cfg->envp[i], "=");

		if (!is_identifier(l->cfg->envp[i], n))
			continue;
		memcpy(p, l->cfg->envp[i], n);
		p[n] = ' ';
		p += n + 1;
	}
	return buf;
}

/* The same file under the highest free number the limit allows, where no script is likely to look. Return: that number */
static int put_high(const struct launch *l, int fd, int below)
{
	struct rlimit r = { .rlim_cur = 64 };
	int to;

	(void)getrlimit(RLIMIT_NOFILE, &r);
	to = r.rlim_cur < (rlim_t)below ? (int)r.rlim_cur : below;
	while (--to > 2 && (to == fd || fcntl(to, F_GETFD) >= 0))
		;
	if (to <= 2 || dup2(fd, to) < 0)
		fail_simple(l->in, INIT_STAGE_SETUP, to <= 2 ? EMFILE : errno, "pass the session's state");
	return to;
}

/* Entries of the request whose names a shell knows; what it does not know goes into its environment. Return: how many */
static uint32_t put_overrides(struct launch *l, const char **to)
{
	const struct init_exec *e = &l->exec;
	const char **env = launch_memory(l, ((size_t)l->cfg->envc + e->envc + 1) * sizeof(*env));
	uint32_t n = 0, nenv = l->cfg->envc;

	memcpy(env, l->cfg->envp, nenv * sizeof(*env));
	for (uint32_t i = 0; i < e->unsetc; i++) {
		if (is_identifier(e->unset[i], strlen(e->unset[i])))
			to[n++] = e->unset[i];
	}
	for (uint32_t i = 0; i < e->envc; i++) {
		if (is_identifier(e->envp[i], strcspn(e->envp[i], "=")))
			to[n++] = e->envp[i];
		else
			env[nenv++] = e->envp[i];
	}
	l->cfg->envp = env;
	l->cfg->envc = nenv;
	return n;
}

static void session_argv(struct launch *l, bool bash, const char **v, char numbers[3][12])
{
	const char *text = l->exec.argv[0];
	uint32_t n = 0, count;
	int out = put_high(l, l->state_out, 1024);

	v[n++] = bash ? "bash" : "sh";
	v[n++] = "-c";
	v[n++] = bash ? bash_session : sh_session;
	v[n++] = bash ? "bash" : "sh";
	v[n++] = l->state_in < 0 ? "" : box_decimal(numbers[0] + 12, (unsigned)put_high(l, l->state_in, out));
	v[n++] = box_decimal(numbers[1] + 12, (unsigned)out);
	v[n++] = l->cfg->cwd;
	v[n++] = l->exec.cwd[0] ? "1" : "";
	v[n++] = names(l);
	count = put_overrides(l, v + n + 1);
	v[n++] = box_decimal(numbers[2] + 12, count);
	n += count;
	n += split(l, text, strlen(text), v + n);
	v[n] = NULL;
	l->cfg->argv = v;
	l->cfg->argc = n;
}

void shell_argv(struct launch *l)
{
	const char *text = l->exec.argv[0];
	const size_t len = strlen(text);
	const bool bash = has_bash(l);
	const char **v = launch_memory(l, (FIXED_ARGS + l->exec.envc + l->exec.unsetc + len / CHUNK + 2) * sizeof(*v));
	uint32_t n = 0;

	if (l->m->req.flags & INIT_EXEC_SESSION) {
		session_argv(l, bash, v, launch_memory(l, sizeof(char[3][12])));
		return;
	}
	v[n++] = bash ? "bash" : "sh";
	v[n++] = "-c";
	v[n++] = "--";	/* the text may begin with a dash; in a session a blank before it does the same */
	if (len > CHUNK) {
		v[n++] = joiner;
		v[n++] = bash ? "bash" : "sh";
	}
	n += split(l, text, len, v + n);
	v[n] = NULL;
	l->cfg->argv = v;
	l->cfg->argc = n;
}

/* ---- in init ---- */

static int memory_file(void)
{
	int fd = memfd_create("ak-session", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	/* Linux before 6.3 does not know the last flag */
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("ak-session", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd < 0 ? -errno : fd;
}

int session_begin(struct box *b, uint32_t session, bool reset, int *ret_in, int *ret_out)
{
	int *state = &b->sessions[session];
	int in = -1, out;

	if (reset && *state >= 0) {
		(void)close(*state);
		*state = -1;
	}
	if (*state >= 0) {
		in = fcntl(*state, F_DUPFD_CLOEXEC, 3);
		if (in < 0)
			return -errno;
	}
	out = memory_file();
	if (out < 0) {
		if (in >= 0)
			(void)close(in);
		return out;
	}
	*ret_in = in;
	*ret_out = out;
	return 0;
}

/* As a shell writes it: text that ends with the last line. One with a NUL would be read differently from how it looks */
static bool whole(int fd)
{
	const size_t tail = sizeof(STATE_END) - 1;
	struct stat st;
	const char *p;
	size_t n;
	bool ok;

	if (fstat(fd, &st) < 0 || st.st_size < (off_t)tail || st.st_size > (off_t)AK_INIT_STATE_MAX)
		return false;
	n = (size_t)st.st_size;
	p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return false;
	ok = memcmp(p + n - tail, STATE_END, tail) == 0 && !memchr(p, 0, n);
	(void)munmap((void *)(uintptr_t)p, n);
	return ok;
}

bool session_end(struct box *b, uint32_t session, int state_out, bool by_itself)
{
	if (state_out < 0)
		return false;
	/* sealed first: what is looked at cannot change any more. Refused while somebody has it mapped for writing */
	if (fcntl(state_out, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0 || !by_itself ||
	    !whole(state_out)) {
		(void)close(state_out);
		return false;
	}
	if (b->sessions[session] >= 0)
		(void)close(b->sessions[session]);
	b->sessions[session] = state_out;
	return true;
}
