/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs whose arguments can start another program, hold code or name a file that is written: no rule with * matches them, since
 * what stands for the * decides what runs. Pure. Process: agent. Privilege: none.
 *
 * Source: POSIX.1-2017 XCU 4; the manual pages of bash 5.2, coreutils 9.1, findutils 4.9, git 2.39 and of the programs named.
 */
#include "agent/approve_int.h"

#include <string.h>

#define RUNS PROGRAM_RUNS
#define WRAPS (PROGRAM_RUNS | PROGRAM_WRAPS)
#define STATE PROGRAM_STATE
#define SHELL (PROGRAM_RUNS | PROGRAM_SHELL | PROGRAM_WRAPS)
#define CODE (PROGRAM_RUNS | PROGRAM_CODE)
#define PURE PROGRAM_PURE

static const struct {
	const char *names; /* separated by blanks */
	unsigned flags;
} programs[] = {
	{ "sh bash dash ash ksh mksh zsh fish csh tcsh rbash", SHELL },
	{ "busybox toybox", WRAPS },
	{ "env sudo doas nice nohup setsid timeout stdbuf ionice chrt taskset flock chroot unshare nsenter setpriv runuser su "
	  "strace ltrace gdb valgrind perf watch parallel script unbuffer expect xvfb-run fakeroot proot firejail bwrap prlimit "
	  "ssh setarch linux32 linux64 i386 x86_64 choom time command builtin exec start-stop-daemon systemd-run dbus-run-session "
	  "catchsegv nsjail ak entr ts chronic daemonize screen tmux socat numactl eatmydata faketime torsocks proxychains "
	  "ld.so ld-linux-x86-64.so ld-linux-aarch64.so cpulimit run-parts at batch newgrp sg pkexec machinectl ip rlwrap hyperfine dtach",
	  WRAPS },
	{ "find", WRAPS },
	{ "xargs", WRAPS },
	{ "eval trap", RUNS | STATE | PROGRAM_EVAL | PROGRAM_WRAPS },
	{ ". source", RUNS | STATE },
	{ "alias bind complete compgen", RUNS | STATE | PROGRAM_OPAQUE },
	{ "hash enable jobs fc history", RUNS | STATE | PROGRAM_WRAPS },
	{ "cd pushd popd", STATE | PROGRAM_CHDIR },
	{ "export declare typeset readonly local set shopt unalias unset read mapfile readarray getopts let umask ulimit dirs shift "
	  "return break continue exit wait disown suspend logout coproc",
	  STATE },
	{ "awk gawk mawk nawk original-awk", CODE | PROGRAM_OPAQUE },
	{ "sed gsed ed ex vi vim nvim nano emacs less more most man info view rvim pg", CODE },
	{ "python python2 python3 pypy pypy3 ipython perl ruby irb node nodejs deno bun php lua luajit tclsh wish Rscript R julia "
	  "ghc runghc guile racket sbcl clisp erl elixir osascript pwsh powershell groovy scala jshell java ocaml bc dc m4 gnuplot "
	  "octave sqlite3 psql mysql jrunscript xsltproc tshark nmap",
	  CODE },
	{ "make gmake bmake ninja cmake ctest meson scons bazel ant mvn gradle gradlew npm npx pnpm yarn corepack pip pip3 pipx uv uvx "
	  "poetry tox nox pytest py.test cargo rustup rustc go gofmt dotnet msbuild composer gem bundle bundler rake mix rebar3 cabal "
	  "stack sbt lein just task tsx ts-node jest vitest mocha eslint prettier pre-commit husky direnv mise asdf nix nix-shell "
	  "apt apt-get dpkg dpkg-deb rpm yum dnf brew snap docker podman nerdctl kubectl helm crictl ctr runc crun buildah skopeo "
	  "vagrant terraform ansible ansible-playbook systemctl service init crontab anacron",
	  RUNS },
	{ "tar bsdtar gtar star cpio pax zip unzip 7z rsync scp sftp ftp lftp rclone svn hg bzr cvs gh glab hub", RUNS },
	{ "gcc g++ cc c++ clang clang++ clang-tidy ld tcc cpp as javac ldd gpg mail mailx mutt logrotate", RUNS },
	{ "echo printf true false test [ : pwd cat head tail wc ls stat basename dirname realpath readlink grep egrep fgrep cut tr "
	  "sort uniq comm join nl rev seq date id whoami uname hostname env printenv du df file cmp diff md5sum sha1sum sha256sum "
	  "sha512sum cksum od hexdump strings type which fold fmt expand unexpand paste column tac yes sleep",
	  PURE },
};

/* Options with which a program that is harmless else starts another one or writes a file */
static const struct {
	const char *names;
	const char *letters; /* short options, also inside of a cluster */
	const char *longs;   /* long options and, for find, primaries; a beginning of one counts too */
} acting[] = {
	{ "sort", "oT", "--output --compress-program --files0-from --temporary-directory" },
	{ "rg", "z", "--pre --pre-glob --hostname-bin --search-zip" },
	{ "fd fdfind", "xX", "--exec --exec-batch" },
	{ "diff", "l", "--paginate" },
	{ "printf test [", "vR", "" },
	{ "file", "CmzZS", "--compile --magic-file --uncompress --no-sandbox" },
	{ "tree", "oR", "" },
	{ "date", "s", "--set" },
	{ "hostname", "FbB", "--file --boot" },
	{ "yq", "is", "--inplace --in-place --split-exp" },
	{ "jq", "", "--in-place" },
	{ "curl", "oOKDcJTwEx", "--output --remote-name --remote-name-all --config --dump-header --cookie-jar --trace --trace-ascii --libcurl "
			      "--stderr --etag-save --hsts --alt-svc --output-dir --upload-file --write-out --netrc-file" },
	{ "xxd", "r", "--revert" },
	{ "shuf", "o", "--output" },
	{ "base64 base32", "o", "--output" },
	{ "openssl", "", "-out -engine -provider -keyout" },
	{ "wget", "eOoaP", "--use-askpass --execute --config --output-document --output-file --append-output --directory-prefix" },
	{ "split", "", "--filter" },
	{ "install", "", "--strip-program" },
	{ "bat batcat ag ack delta", "", "--pager --paging" },
};

/* Global options of git that change nothing of what runs, and its own commands that take no program by arguments */
static const char git_globals[] = "--no-pager --no-optional-locks --literal-pathspecs --no-replace-objects -P --version";
static const char git_commands[] = "status log diff show branch tag rev-parse rev-list ls-files ls-tree cat-file blame annotate shortlog "
				   "describe name-rev merge-base show-ref for-each-ref count-objects diff-tree diff-files diff-index grep add rm mv "
				   "restore checkout switch reset commit stash merge cherry-pick revert init reflog clean whatchanged range-diff "
				   "check-ignore check-attr check-ref-format symbolic-ref version cherry show-branch verify-commit fsck";
static const char git_acting[] = "--ext-diff --textconv --output --open-files-in-pager --exec --exec-path --upload-pack --receive-pack "
				 "--output-directory --show-signature --gpg-sign --verify-signatures --paginate --template --separate-git-dir "
				 "--edit-description --ext-grep --sign --verify --strategy --filters --fsmonitor";

static bool listed(const char *names, const char *name, size_t len)
{
	for (const char *at = names; *at;) {
		size_t n = strcspn(at, " ");

		if (n == len && memcmp(at, name, len) == 0)
			return true;
		at += n + strspn(at + n, " ");
	}
	return false;
}

const char *last_part(const char *path, size_t len, size_t *ret_len)
{
	const char *from = path;

	for (size_t i = 0; i < len; i++) {
		if (path[i] == '/')
			from = path + i + 1;
	}
	*ret_len = (size_t)(path + len - from);
	return from;
}

static unsigned flags_of(const char *name, size_t len)
{
	unsigned flags = 0;

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (listed(programs[i].names, name, len))
			flags |= programs[i].flags;
	}
	return flags;
}

/* python3.11, gcc-12, ld-linux-x86-64.so.2: the name without its version */
static size_t without_version(const char *name, size_t len)
{
	while (len > 1 && strchr("0123456789.-", name[len - 1]))
		len--;
	return len;
}

unsigned program_flags(const struct shell_word *command)
{
	size_t len;
	const char *name = last_part(command->text, command->len, &len);
	unsigned flags = flags_of(name, len);

	return flags ? flags : flags_of(name, without_version(name, len));
}

/* Is @word an option of the list @longs, whole or abbreviated, with or without =VALUE? */
static bool long_option(const struct shell_word *word, const char *longs)
{
	size_t len = strcspn(word->text, "=");

	if (word->len < 3 || word->text[0] != '-' || word->text[1] != '-')
		return listed(longs, word->text, len);
	for (const char *at = longs; *at;) {
		size_t n = strcspn(at, " ");

		if (len <= n && memcmp(at, word->text, len) == 0)
			return true;
		at += n + strspn(at + n, " ");
	}
	return false;
}

static bool short_option(const struct shell_word *word, const char *letters)
{
	return word->len > 1 && word->text[0] == '-' && word->text[1] != '-' && strpbrk(word->text + 1, letters) != NULL;
}

static bool git_acts(const struct shell_word *words, size_t n)
{
	size_t i = 1;

	while (i < n && words[i].text[0] == '-') {
		if (!listed(git_globals, words[i].text, words[i].len))
			return true;
		i++;
	}
	if (i == n)
		return false;
	if (!listed(git_commands, words[i].text, words[i].len))
		return true;

	bool grep = strcmp(words[i].text, "grep") == 0;
	bool merge = strcmp(words[i].text, "merge") == 0;

	for (i++; i < n; i++) {
		if (long_option(&words[i], git_acting) || strstr(words[i].text, "%G") || (grep && short_option(&words[i], "O")) ||
		    (merge && short_option(&words[i], "s")))
			return true;
	}
	return false;
}

static size_t operands(const struct shell_word *words, size_t n)
{
	size_t count = 0;

	for (size_t i = 1; i < n; i++)
		count += words[i].text[0] != '-' || words[i].len == 1;
	return count;
}

/* Does an argument make an otherwise harmless program start another one or write? The words are all known. */
bool program_option_acts(const struct shell_word *words, size_t n)
{
	size_t len;
	const char *name = last_part(words[0].text, words[0].len, &len);

	if (listed("git", name, len))
		return git_acts(words, n);
	if (listed("uniq xxd", name, len) && operands(words, n) > 1)
		return true;
	for (size_t i = 0; i < sizeof(acting) / sizeof(acting[0]); i++) {
		if (!listed(acting[i].names, name, len))
			continue;
		for (size_t k = 1; k < n; k++) {
			if (short_option(&words[k], acting[i].letters) || long_option(&words[k], acting[i].longs))
				return true;
		}
	}
	return false;
}

/* An `e` of sed that stands where a command or a flag may stand */
static bool sed_runs(const char *script)
{
	for (const char *e = strchr(script, 'e'); e; e = strchr(e + 1, 'e')) {
		char before = e == script ? ';' : e[-1];
		bool letter = (before >= 'a' && before <= 'z') || (before >= 'A' && before <= 'Z');

		if ((e[1] == '\0' || strchr(" ;}\n", e[1])) && (!letter || strchr("gpiImM", before)))
			return true;
	}
	return false;
}

/* Does a program of PROGRAM_CODE get code by an argument that may start programs? Words that are not known count as such. */
bool program_takes_code(const struct shell_word *words, size_t n)
{
	size_t len;
	const char *name = last_part(words[0].text, words[0].len, &len);
	bool sed = listed("sed gsed", name, len);

	for (size_t i = 1; i < n; i++) {
		if (words[i].why && !sed)
			return true;
		if (sed && words[i].text[0] != '-' && (words[i].why || sed_runs(words[i].text)))
			return true;
		if (!sed && (short_option(&words[i], "ceErpB") || long_option(&words[i], "--eval --exec --print --command --run")))
			return true;
	}
	return !sed && n == 1;
}
