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
#define PARTS_MAX 256u /* bytes of a name in which a - is looked for */

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
	  "ld.so ld-linux-x86-64.so ld-linux-aarch64.so cpulimit run-parts at batch newgrp sg pkexec machinectl ip rlwrap hyperfine dtach "
	  "ssh-agent ccache distcc sccache icecc schedtool cgexec capsh lxc-attach lxc-execute systemd-nspawn systemd-inhibit "
	  "systemd-cat systemd-notify inotifywait incron dumb-init tini catatonit s6-setuidgid setlock softlimit chpst envdir runsv "
	  "msgexec msgfilter run-mailcap see compose print x-terminal-emulator xterm uxterm konsole gnome-terminal xfce4-terminal "
	  "lxterminal rxvt urxvt kitty alacritty foot sudoedit uftrace bpftrace rr lldb heaptrack trickle tsocks proxychains4 "
	  "gosu su-exec fakechroot schroot pbuilder cowbuilder debuild dh_auto_build logsave scriptlive scriptreplay pee "
	  "ifne mispipe zrun sem niceload aa-exec runcon pasta slirp4netns rootlesskit "
	  "dpkg-buildpackage xdg-open open gio",
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
	{ "sed gsed ed ex vi vim nvim nano emacs less more most man info view rvim pg vimdiff gvim rview red pico micro joe jed mg "
	  "emacsclient gedit kate code pager editor sensible-pager sensible-editor sensible-browser sensible-terminal www-browser "
	  "x-www-browser w3m lynx links elinks zless xzless lesspipe lessfile apropos whatis zmore select-editor select-pager",
	  CODE },
	{ "python python2 python3 pypy pypy3 ipython perl ruby irb node nodejs deno bun php lua luajit tclsh wish Rscript R julia "
	  "ghc runghc guile racket sbcl clisp erl elixir osascript pwsh powershell groovy scala jshell java ocaml bc dc m4 gnuplot "
	  "octave sqlite3 psql mysql jrunscript xsltproc tshark nmap perldoc pdb cpan mariadb sqlite mongo mongosh redis-cli "
	  "ncat nc netcat nc.openbsd nc.traditional telnet tftp prove gdb-multiarch gdbserver luac maxima",
	  CODE },
	{ "make gmake bmake ninja cmake ctest meson scons bazel ant mvn gradle gradlew npm npx pnpm yarn corepack pip pip3 pipx uv uvx "
	  "poetry tox nox pytest py.test cargo rustup rustc go gofmt dotnet msbuild composer gem bundle bundler rake mix rebar3 cabal "
	  "stack sbt lein just task tsx ts-node jest vitest mocha eslint prettier pre-commit husky direnv mise asdf nix nix-shell "
	  "apt apt-get dpkg dpkg-deb rpm yum dnf brew snap docker podman nerdctl kubectl helm crictl ctr runc crun buildah skopeo "
	  "vagrant terraform ansible ansible-playbook systemctl service init crontab anacron",
	  RUNS },
	{ "npm npx pnpm yarn corepack pipx uv uvx poetry bundle direnv mise asdf nix nix-shell docker podman nerdctl kubectl crictl ctr runc "
	  "buildah bun bunx deno conda mamba micromamba pdm hatch rye lxc incus vagrant flatpak toolbox distrobox",
	  RUNS | PROGRAM_MAY_WRAP },
	{ "tar bsdtar gtar star cpio pax zip unzip 7z rsync scp sftp ftp lftp rclone svn hg bzr cvs gh glab hub", RUNS },
	{ "gcc g++ cc c++ clang clang++ clang-tidy ld tcc cpp as javac ldd gpg mail mailx mutt logrotate c89 c99 c17 clang-cl "
	  "clang-check clang-query clangd scan-build ld.bfd ld.gold ld.lld gold lld mold collect2 gfortran gnat gdc gccgo ifort icc icx "
	  "nvcc mpicc mpicxx musl-gcc libtool libtoolize pkg-config autoconf automake autoreconf aclocal autoheader bear intercept-build "
	  "gpg2 gpgv gpgsm gpgconf gpg-agent gpg-connect-agent sendmail msmtp procmail neomutt alpine openssl tcpdump dumpcap ettercap "
	  "bison flex yacc lex swig doxygen sphinx-build tex latex pdftex pdflatex xetex xelatex lualatex luatex bibtex dvips "
	  "gs ghostscript convert magick mogrify ffmpeg groff troff nroff eqn pic "
	  "ssh-add ssh-keygen ssh-copy-id ssh-keyscan git-shell git-upload-pack git-receive-pack git-upload-archive "
	  "update-alternatives dpkg-divert debconf adduser useradd usermod visudo vipw vigr "
	  "mount umount losetup modprobe insmod kmod sysctl swapon dmsetup lvm mdadm "
	  "dpkg-reconfigure apt-key aptitude apt-file unattended-upgrade "
	  "dialog whiptail fzf peco mc ranger vifm nnn lf ncdu htop top irssi weechat "
	  "winedbg wine wine64 qemu-system-x86_64 qemu-x86_64 qemu-x86_64-static qemu-aarch64 qemu-aarch64-static "
	  "systemd-analyze journalctl loginctl coredumpctl busctl bootctl hostnamectl timedatectl",
	  RUNS },
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
	{ "diff3 sdiff", "o", "--diff-program --output" },
	{ "iconv", "o", "--output" },
	{ "msgfmt msgcat msgmerge msguniq msgconv msgattrib msgcomm msginit msgen msggrep xgettext", "oUdD",
	  "--output --output-file --output-dir --update" },
	{ "nm ar ranlib strip objdump objcopy size addr2line readelf c++filt strings gprof elfedit", "", "--plugin -plugin --plugin-opt" },
	{ "gzip gunzip zcat xz bzip2 zstd lz4", "o", "--files --files0" },
	{ "lsof", "D", "" },
	{ "dig host nslookup", "f", "" },
	{ "printf test [", "vR", "" },
	{ "file", "CmzZS", "--compile --magic-file --uncompress --no-sandbox" },
	{ "tree", "oR", "" },
	{ "date", "s", "--set" },
	{ "hostname", "FbB", "--file --boot" },
	{ "yq", "is", "--inplace --in-place --split-exp" },
	{ "jq", "", "--in-place" },
	{ "curl", "oOKDcJTwEx", "--output --remote-name --remote-name-all --config --dump-header --cookie-jar --trace --trace-ascii --libcurl "
			      "--stderr --etag-save --hsts --alt-svc --output-dir --upload-file --write-out --netrc-file --engine "
			      "-engine --unix-socket --abstract-unix-socket --expand-output --expand-config --expand-dump-header "
			      "--expand-cookie-jar --expand-trace --expand-trace-ascii --expand-libcurl --expand-stderr "
			      "--expand-etag-save --expand-hsts --expand-alt-svc --expand-output-dir --expand-engine "
			      "--expand-write-out --expand-upload-file --trace-config --trace-time --remote-header-name "
			      "--telnet-option --quote --expand-quote" },
	{ "xxd", "r", "--revert" },
	{ "shuf", "o", "--output" },
	{ "base64 base32", "o", "--output" },
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
				   "check-ignore check-attr check-ref-format symbolic-ref version cherry show-branch fsck";
static const char git_acting[] = "--ext-diff --textconv --output --open-files-in-pager --exec --exec-path --upload-pack --receive-pack "
				 "--output-directory --show-signature --gpg-sign --verify-signatures --paginate --template --separate-git-dir "
				 "--edit-description --ext-grep --sign --verify --strategy --filters --fsmonitor --edit --interactive";

/* Short and long options of one command of git that start an editor, gpg or a filter */
static const struct {
	const char *commands;
	const char *letters;
	const char *longs;
} git_options[] = {
	{ "add", "epi", "--patch" },
	{ "commit", "Secpt", "--patch --reedit-message --template --fixup --squash" },
	{ "merge", "Sse", "" },
	{ "cherry-pick revert", "Se", "" },
	{ "tag", "suve", "--local-user" },
	{ "checkout restore reset stash", "p", "--patch" },
	{ "grep", "O", "" },
	{ "clean", "i", "" },
};
static const char git_text[] = "-m -am -F -aF -qm -sm -asm -C --message --file --reuse-message --no-edit --dry-run";
static const char git_flags[] = "-a --all -q --quiet --amend --no-verify -n --allow-empty --allow-empty-message -s --signoff -v --annotate "
				"-f --force --no-gpg-sign --no-sign";

bool name_listed(const char *names, const char *name, size_t len)
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
		if (name_listed(programs[i].names, name, len))
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

/* x86_64-linux-gnu-gcc-12, llvm-nm-14: what stands behind a - counts as well, with and without the version; never as PURE */
unsigned program_flags(const struct shell_word *command)
{
	size_t len;
	const char *name = last_part(command->text, command->len, &len);
	unsigned flags = flags_of(name, len);
	size_t from = 0;

	if (flags)
		return flags;
	flags = flags_of(name, strcspn(name, "0123456789"));
	for (; from < len && from < PARTS_MAX; from += strcspn(name + from, "-") + 1) {
		flags |= flags_of(name + from, len - from);
		flags |= flags_of(name + from, without_version(name + from, len - from));
	}
	return flags & ~(unsigned)PROGRAM_PURE;
}

/* The same for a list of names */
bool program_named(const char *names, const char *name, size_t len)
{
	for (size_t from = 0; from < len && from < PARTS_MAX; from += strcspn(name + from, "-") + 1) {
		if (name_listed(names, name + from, len - from) || name_listed(names, name + from, without_version(name + from, len - from)))
			return true;
	}
	return false;
}

/* Is @word an option of the list @longs, whole or abbreviated, with or without =VALUE? */
bool option_long(const struct shell_word *word, const char *longs)
{
	size_t len = strcspn(word->text, "=");

	if (word->len < 3 || word->text[0] != '-' || word->text[1] != '-')
		return name_listed(longs, word->text, len);
	for (const char *at = longs; *at;) {
		size_t n = strcspn(at, " ");

		if (len <= n && memcmp(at, word->text, len) == 0)
			return true;
		at += n + strspn(at + n, " ");
	}
	return false;
}

bool option_short(const struct shell_word *word, const char *letters)
{
	return word->len > 1 && word->text[0] == '-' && word->text[1] != '-' && strpbrk(word->text + 1, letters) != NULL;
}

static bool git_option(const char *command, const struct shell_word *word)
{
	for (size_t i = 0; i < sizeof(git_options) / sizeof(git_options[0]); i++) {
		if (name_listed(git_options[i].commands, command, strlen(command)) &&
		    (option_short(word, git_options[i].letters) || option_long(word, git_options[i].longs)))
			return true;
	}
	return false;
}

/* commit, revert and tag -a ask an editor for the text, unless an option that is certainly read as one gives it */
static bool git_starts_editor(const struct shell_word *words, size_t n)
{
	bool asks = name_listed("commit revert", words[0].text, words[0].len);

	for (size_t i = 1; i < n && strcmp(words[i].text, "--") != 0; i++) {
		bool value = i > 1 && words[i - 1].text[0] == '-' && !name_listed(git_flags, words[i - 1].text, words[i - 1].len);

		if (!value && name_listed(git_text, words[i].text, strcspn(words[i].text, "=")))
			return false;
		asks = asks || (strcmp(words[0].text, "tag") == 0 && (option_short(&words[i], "a") || option_long(&words[i], "--annotate")));
	}
	return asks;
}

static bool git_acts(const struct shell_word *words, size_t n)
{
	size_t i = 1;

	while (i < n && words[i].text[0] == '-') {
		if (!name_listed(git_globals, words[i].text, words[i].len))
			return true;
		i++;
	}
	if (i == n)
		return false;
	if (!name_listed(git_commands, words[i].text, words[i].len))
		return true;

	size_t command = i;

	if (git_starts_editor(words + command, n - command))
		return true;
	for (i++; i < n; i++) {
		if (option_long(&words[i], git_acting) || strstr(words[i].text, "%G") || strstr(words[i].text, "%(signature") ||
		    git_option(words[command].text, &words[i]))
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

/* @FILE: binutils read options out of it */
static bool has_list_file(const struct shell_word *words, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (words[i].text[0] == '@')
			return true;
	}
	return false;
}

/* Does an argument make an otherwise harmless program start another one or write? The words are all known. */
bool program_option_acts(const struct shell_word *words, size_t n)
{
	size_t len;
	const char *name = last_part(words[0].text, words[0].len, &len);

	if (name_listed("git", name, len))
		return git_acts(words, n);
	if (name_listed("uniq xxd", name, len) && operands(words, n) > 1)
		return true;
	if (program_named("nm ar ranlib strip objdump objcopy size addr2line readelf c++filt gprof elfedit", name, len) && has_list_file(words, n))
		return true;
	for (size_t i = 0; i < sizeof(acting) / sizeof(acting[0]); i++) {
		if (!program_named(acting[i].names, name, len))
			continue;
		for (size_t k = 1; k < n; k++) {
			if (option_short(&words[k], acting[i].letters) || option_long(&words[k], acting[i].longs))
				return true;
		}
	}
	return false;
}

/* Does a program of PROGRAM_CODE get code by an argument that may start programs? Words that are not known count as such. */
bool program_takes_code(const struct shell_word *words, size_t n)
{
	size_t len;
	const char *name = last_part(words[0].text, words[0].len, &len);

	if (name_listed("sed gsed", name, len))
		return sed_runs(words, n);
	for (size_t i = 1; i < n; i++) {
		if (words[i].why)
			return true;
		if (is_input(words[i].text))
			return true;
		if (option_short(&words[i], "ceErpB") || option_long(&words[i], "--eval --exec --print --command --run"))
			return true;
	}
	return n == 1;
}
