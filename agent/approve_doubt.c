/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command may start that its words do not show as a command: options that take a program, variables that name one, texts a
 * shell evaluates as arithmetic. For deny rules: each is a doubt. Pure. Process: agent. Privilege: none.
 *
 * Source: bash(1) of bash 5.2 (Arithmetic Evaluation, Shell Variables); git(1) 2.39; the manual pages of the programs named.
 */
#include "agent/approve_int.h"

#include <string.h>

/* Options behind which a program stands, by name of the program */
static const struct {
	const char *names;
	const char *letters; /* short options, also inside of a cluster */
	const char *longs;   /* or a beginning of one */
} starting[] = {
	{ "split csplit", "", "--filter" },
	{ "diff3 sdiff", "", "--diff-program" },
	{ "sort", "", "--compress-program" },
	{ "mapfile readarray", "C", "" },
	{ "prove", "e", "--exec --source --plugin" },
	{ "tar bsdtar gtar", "IF", "--to-command --checkpoint-action --use-compress-program --info-script --new-volume-script --rsh-command "
				   "--rmt-command" },
	{ "cpio", "", "--rsh-command" },
	{ "zip", "T", "--test --unzip-command" },
	{ "rsync", "e", "--rsh --rsync-path" },
	{ "scp sftp", "SoFD", "" },
	{ "ssh", "oF", "" },
	{ "nc ncat netcat", "ecI", "--exec --sh-exec --lua-exec" },
	{ "tcpdump dumpcap", "z", "" },
	{ "man apropos whatis", "PCH", "--pager --config-file --html" },
	{ "rg", "", "--pre --hostname-bin" },
	{ "fd fdfind", "xX", "--exec --exec-batch" },
	{ "bat batcat ag ack delta", "", "--pager" },
	{ "curl wget", "", "--engine --use-askpass" },
	{ "openssl", "", "-engine --engine -provider --provider -provider-path" },
	{ "nm ar ranlib strip objdump objcopy size addr2line readelf", "", "--plugin -plugin" },
	{ "install", "", "--strip-program" },
	{ "env", "S", "--split-string" },
	{ "logrotate", "", "--mail" },
	{ "gcc g++ cc c++ clang clang++ gfortran", "B", "-wrapper -fplugin -fuse-ld -specs --specs" },
	{ "gpg gpg2", "", "--photo-viewer --agent-program --dirmngr-program --pinentry-program --exec-path" },
	{ "cmake", "EPC", "" },
	{ "go", "", "-exec -toolexec -vettool" },
	{ "journalctl systemctl", "", "--pager" },
	{ "vim vi nvim view less more", "cSs", "--cmd" },
	{ "node nodejs deno bun ruby perl php", "", "--require --import" },
};

/* Programs whose work it is to run what their arguments or their input say in a way of their own */
static const char opaque[] = "gdb lldb ed ex expect socat at batch crontab tmux screen dc m4 gnuplot sqlite3 psql mysql mariadb msgexec msgfilter "
			     "run-parts systemd-run ssh-agent debugfs fc";

/* Commands of git that start nothing by their arguments; what else follows git may be an alias or runs what it is told */
static const char git_quiet[] =
	"status log diff show branch tag rev-parse rev-list ls-files ls-tree cat-file blame annotate shortlog describe name-rev merge-base show-ref "
	"for-each-ref count-objects diff-tree diff-files diff-index grep add rm mv restore checkout switch reset commit stash merge cherry-pick "
	"revert init reflog clean whatchanged range-diff check-ignore check-attr check-ref-format symbolic-ref version cherry show-branch fsck "
	"verify-commit verify-tag config fetch pull push clone ls-remote remote rebase bisect submodule archive worktree apply am format-patch "
	"notes gc prune repack update-index update-ref write-tree read-tree hash-object commit-tree mktree bundle sparse-checkout help";
static const char git_starting[] = "--upload-pack --receive-pack --exec --remote --extcmd --ext-diff --open-files-in-pager --config --strategy "
				   "--template --tool --reference-transport";

/* Variables that name a program, a file of commands, or a library, or that change which program a word means */
static const char variables[] = "BASH_CMDS BASH_ALIASES BASH_LOADABLES_PATH BASH_COMPAT EXECIGNORE POSIXLY_CORRECT TEXTDOMAIN TEXTDOMAINDIR "
				"HISTFILE MAILPATH auto_resume PS2 "
				"EDITOR VISUAL PAGER PS0 PS1 PS4 PROMPT_COMMAND BASH_ENV ENV LESSOPEN LESSCLOSE MANPAGER MANOPT BROWSER SHELL MAKEFLAGS "
				"MFLAGS MAKEFILES GNUMAKEFLAGS SUDO_EDITOR SUDO_ASKPASS SSH_ASKPASS SYSTEMD_EDITOR SYSTEMD_PAGER FCEDIT RSYNC_RSH "
				"CVS_RSH CVSEDITOR SVN_SSH SVN_EDITOR HGEDITOR TAR_OPTIONS PERL5OPT PERL5DB PERL5LIB PYTHONSTARTUP PYTHONPATH "
				"PYTHONINSPECT RUBYOPT RUBYLIB NODE_OPTIONS JAVA_TOOL_OPTIONS BASHOPTS SHELLOPTS RIPGREP_CONFIG_PATH FZF_DEFAULT_COMMAND "
				"MAN_KEEP_FORMATTING CCACHE_PREFIX CC CXX LD HOSTCC AWKPATH GAWK_LIBPATH OPENSSL_CONF GCC_EXEC_PREFIX COMPILER_PATH "
				"BAT_PAGER DELTA_PAGER RUSTC_WRAPPER RUSTC RUSTDOC GOFLAGS VIMINIT GVIMINIT EXINIT LUA_INIT ZDOTDIR _JAVA_OPTIONS JDK_JAVA_OPTIONS PKG_CONFIG "
				"histchars COMP_WORDBREAKS IFS INPUTRC command_not_found_handle";

/* Is it the input: -, /dev/stdin, /dev/fd/0, /proc/self/fd/0? */
bool is_input(const char *value)
{
	return strcmp(value, "-") == 0 || strncmp(value, "/dev/", 5) == 0 || strncmp(value, "/proc/", 6) == 0;
}

/* A variable that names a program: NAME, NAME=VALUE, NAME+=VALUE; what stands for NAME may be a hole */
bool doubt_variable(const struct shell_word *w)
{
	size_t n = 0;

	while (n < w->len && w->text[n] != '=' && w->text[n] != '+' && w->text[n] != '[')
		n++;
	if (memchr(w->text, SHELL_HOLE, n) && n < w->len)
		return true;
	return name_listed(variables, w->text, n) || (n > 4 && (strncmp(w->text, "GIT_", 4) == 0 || strncmp(w->text, "npm_", 4) == 0)) ||
	       (n > 3 && strncmp(w->text, "LD_", 3) == 0) || (n > 9 && strncmp(w->text, "BASH_FUNC", 9) == 0);
}

/* A subscript with a command in it: arithmetic, test -v, printf -v, read, declare and unset evaluate it, at once or later as $((x)) */
bool doubt_subscript(const struct shell_word *w, bool evaluated)
{
	bool bracket = evaluated;

	for (size_t i = 0; i < w->len; i++) {
		bracket = bracket || w->text[i] == '[';
		if (bracket && (w->text[i] == '`' || (i + 1 < w->len && strchr("$<>", w->text[i]) && w->text[i] && w->text[i + 1] == '(')))
			return true;
	}
	return false;
}

static bool has(const struct shell_word *words, size_t n, const char *letters, const char *longs)
{
	for (size_t i = 1; i < n; i++) {
		if (option_short(&words[i], letters) || option_long(&words[i], longs))
			return true;
	}
	return false;
}

static bool is(const struct shell_word *word, const char *names)
{
	return !word->why && name_listed(names, word->text, word->len);
}


/* make -f -, --eval, SHELL=: commands that no file holds */
static bool make_starts(const struct shell_word *words, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const char *text = words[i].text;
		const char *value = strchr(text, '=');
		const char *f = text[0] == '-' && text[1] != '-' ? strchr(text, 'f') : NULL;

		if (option_long(&words[i], "--eval") || option_short(&words[i], "E") || strncmp(text, "SHELL", 5) == 0)
			return true;
		if (text[0] != '-' && value && words[i].len && strchr(value, ' '))
			return true;
		if ((f && f[1] && is_input(f + 1)) || (i > 1 && is_input(text)) || (text[0] == '-' && text[1] == '-' && value && is_input(value + 1)))
			return true;
	}
	return false;
}

static bool git_config_starts(const struct shell_word *words, size_t n)
{
	size_t operands = 0;

	for (size_t i = 1; i < n; i++) {
		if (is(&words[i], "--get --get-all --get-regexp --list -l --unset --unset-all --show-origin"))
			return false;
		if (words[i].text[0] != '-' || words[i].len == 1)
			operands++;
		if (operands == 1 && strncmp(words[i].text, "user.", 5) == 0)
			return false;
		if (is(&words[i], "-e --edit --add --replace-all") || strchr(words[i].text, '!'))
			return true;
	}
	return operands > 1;
}

static bool git_starts(const struct shell_word *words, size_t n)
{
	size_t i = 1;

	while (i < n && !words[i].why && words[i].text[0] == '-') {
		if (!is(&words[i], "--no-pager --no-optional-locks --literal-pathspecs --no-replace-objects -P --version --help"))
			return true;
		i++;
	}
	if (i == n)
		return false;
	if (!is(&words[i], git_quiet))
		return true;

	const struct shell_word *w = words + i;
	size_t left = n - i;

	for (size_t k = 1; k < left; k++) {
		if (option_long(&w[k], git_starting) || strncmp(w[k].text, "ext::", 5) == 0)
			return true;
		if (is(&w[0], "bisect submodule") && is(&w[k], "run foreach"))
			return true;
	}
	return (is(w, "config") && git_config_starts(w, left)) || (is(w, "rebase") && has(w, left, "xis", "")) ||
	       (is(w, "clone ls-remote") && has(w, left, "uc", "")) || (is(w, "grep") && has(w, left, "O", "")) ||
	       (is(w, "merge pull revert cherry-pick") && has(w, left, "s", ""));
}

/* read -aNAME, printf -vNAME: a name may stand behind any letter */
static bool attached_variable(const struct shell_word *w)
{
	if (w->text[0] != '-')
		return false;
	for (size_t i = 2; i < w->len; i++) {
		struct shell_word rest = { .text = w->text + i, .len = w->len - i, .why = w->why };

		if (doubt_variable(&rest))
			return true;
	}
	return false;
}

/* Which variable gets a value is not to be seen: the name comes from a variable, or it stands for another name */
static bool name_unknown(const struct shell_word *words, size_t n)
{
	if (is(&words[0], "declare typeset local") && has(words, n, "n", ""))
		return true;
	if (is(&words[0], "printf wait getopts") && n > 3)
		n = 3; /* the name is one of the first two; what follows are values */
	for (size_t i = 1; i < n; i++) {
		size_t name = strcspn(words[i].text, "=");

		/* a hole is where text ends; = behind it was looked for by doubt_variable() */
		if (words[i].why && name < words[i].len && words[i].text[name] == SHELL_HOLE)
			return true;
	}
	return false;
}

/*
 * Builtins that give variables a value, and test -v, printf -v: the variable may name a program, and a name may hold a subscript that
 * runs a command. Numbers, as let and $((x=1)) give them, name no program.
 */
static const char *builtin_doubt(const struct shell_word *words, size_t n)
{
	bool sets = is(&words[0], "read declare typeset export local readonly mapfile readarray getopts") ||
		    (is(&words[0], "printf") && has(words, n, "v", "")) || (is(&words[0], "wait") && has(words, n, "p", ""));
	bool names = sets || is(&words[0], "let unset") || (is(&words[0], "test [") && has(words, n, "vR", ""));

	for (size_t i = 1; i < n && names; i++) {
		if (doubt_subscript(&words[i], true))
			return "a name or number that holds a command";
	}
	for (size_t i = 1; i < n && (names || is(&words[0], "env sudo exec command builtin eval")); i++) {
		if ((names || strchr(words[i].text, '=')) && (doubt_variable(&words[i]) || attached_variable(&words[i])))
			return "a variable that names a program";
	}
	if (sets && name_unknown(words, n))
		return "a variable whose name is not to be seen";
	return NULL;
}

/* an option of the shell by its letter or its name: set -o NAME, shopt -so NAME */
static bool sets_option(const struct shell_word *words, size_t n, const char *letter, const char *name)
{
	bool set = is(&words[0], "set");

	for (size_t i = 1; i < n; i++) {
		if ((set && option_short(&words[i], letter)) || is(&words[i], name))
			return true;
	}
	return false;
}

/* which options it is given is not to be seen; behind -- there are none */
static bool options_unknown(const struct shell_word *words, size_t n)
{
	for (size_t i = 1; i < n && !shell_word_is(&words[i], "--"); i++) {
		if (words[i].why)
			return true;
	}
	return false;
}

/* Builtins after which other words mean something else */
static const char *state_doubt(const struct shell_word *words, size_t n)
{
	if (n < 2)
		return NULL;
	if (is(&words[0], "set shopt") && sets_option(words, n, "k", "keyword"))
		return "arguments that become variables";
	if (is(&words[0], "set shopt") && sets_option(words, n, "H", "histexpand"))
		return "words that are made of lines before";
	if (is(&words[0], "set shopt hash enable") && options_unknown(words, n))
		return "options of the shell that are not to be seen";
	if (is(&words[0], "hash") && has(words, n, "p", ""))
		return "a name that means another program";
	if (is(&words[0], ". source") && ((words[1].why & ~(unsigned)SHELL_W_TILDE) || is_input(words[1].text) || words[1].text[0] == '-'))
		return "commands that no file holds";
	if (is(&words[0], "enable") && has(words, n, "f", ""))
		return "a builtin from a file";
	return NULL;
}

/* tar cIf PROGRAM FILE: letters without - in front, as the first argument only */
static bool tar_starts(const struct shell_word *words, size_t n)
{
	return n > 1 && (words[1].why || (words[1].text[0] != '-' && strpbrk(words[1].text, "IF")));
}

const char *doubt_command(const struct shell_word *words, size_t n)
{
	size_t len;
	const char *name = last_part(words[0].text, words[0].len, &len);
	const char *why = builtin_doubt(words, n);

	if (!why)
		why = state_doubt(words, n);
	if (why)
		return why;
	if (program_named(opaque, name, len))
		return "a program that runs what it is told in a way of its own";
	if (name_listed("git", name, len))
		return git_starts(words, n) ? "git with something that may start a program" : NULL;
	if (program_named("make gmake bmake", name, len) && make_starts(words, n))
		return "make with commands that no file holds";
	if (program_named("tar bsdtar gtar", name, len) && tar_starts(words, n))
		return "an option that starts a program";
	if (program_named("parallel sem", name, len) && n == 1)
		return "commands that come through the input";
	for (size_t i = 0; i < sizeof(starting) / sizeof(starting[0]); i++) {
		if (program_named(starting[i].names, name, len) && has(words, n, starting[i].letters, starting[i].longs))
			return "an option that starts a program";
	}
	return NULL;
}
