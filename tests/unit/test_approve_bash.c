/* SPDX-License-Identifier: Apache-2.0 */
/* Rules over command lines: what an allow rule covers, what a deny rule catches. One named case per row. */
#include "agent/approve.h"

#include <stdio.h>

#include "approve_fixture.h"

struct row {
	const char *name;
	const char *command;
	char want; /* see desk_verdict() */
};

/* allow git status*, echo *, ls*; deny rm*; everything else is asked */
static const char mixed[] = "+bash(git status*)\n+bash(echo *)\n+bash(ls*)\n+bash(true)\n-bash(rm*)";

static const struct row apr_01[] = {
	{ "one_allowed_command", "git status", 'A' },
	{ "one_allowed_command_with_arguments", "git status -s --branch", 'A' },
	{ "two_allowed_commands", "git status && ls -l", 'A' },
	{ "allowed_commands_of_every_chain", "ls; echo a || true & ! ls | ls\nls", 'A' },
	{ "and_rm", "git status && rm -rf x", 'D' },
	{ "or_rm", "git status || rm -rf x", 'D' },
	{ "semicolon_rm", "git status; rm -rf x", 'D' },
	{ "pipe_rm", "git status | rm -rf x", 'D' },
	{ "pipe_both_rm", "git status |& rm -rf x", 'D' },
	{ "background_rm", "git status & rm -rf x", 'D' },
	{ "newline_rm", "git status\nrm -rf x", 'D' },
	{ "group_rm", "{ git status; rm -rf x; }", 'D' },
	{ "subshell_rm", "(git status; rm -rf x)", 'D' },
	{ "not_rm", "! rm -rf x", 'D' },
	{ "if_rm", "if git status; then rm -rf x; fi", 'D' },
	{ "else_rm", "if git status; then ls; else rm x; fi", 'D' },
	{ "while_rm", "while rm x; do ls; done", 'D' },
	{ "for_rm", "for i in 1 2; do rm $i; done", 'D' },
	{ "case_rm", "case x in y) ls;; *) rm x;; esac", 'D' },
	{ "function_body_rm", "f() { rm -rf x; }; f", 'D' },
	{ "function_named_like_an_allowed_one", "ls() { true; }; ls", '?' },
	{ "substitution_rm", "echo $(rm -rf x)", 'D' },
	{ "substitution_in_quotes_rm", "echo \"$(rm -rf x)\"", 'D' },
	{ "backtick_rm", "echo `rm -rf x`", 'D' },
	{ "process_substitution_rm", "ls <(rm -rf x)", 'D' },
	{ "here_document_rm", "ls <<E\n$(rm x)\nE", 'D' },
	{ "and_unknown", "git status && touch x", '?' },
	{ "semicolon_unknown", "git status; touch x", '?' },
	{ "semicolon_unknown_no_blank", "git status;touch x", '?' },
	{ "pipe_unknown", "git status | sh", '?' },
	{ "newline_unknown", "git status\ntouch x", '?' },
	{ "background_unknown", "git status & touch x", '?' },
	{ "group_unknown", "{ git status; touch x; }", '?' },
	{ "subshell_unknown", "( touch x )", '?' },
	{ "if_unknown", "if git status; then touch x; fi", '?' },
	{ "substitution_unknown", "echo $(touch x)", '?' },
	{ "substitution_allowed_inside", "echo $(git status)", '?' },
	{ "backtick_unknown", "echo `touch x`", '?' },
	{ "comment_hides_nothing", "git status # && ls\ntouch x", '?' },
	{ "comment_alone_is_no_command", "# git status", '?' },
	{ "nothing_at_all", "", '?' },
	{ "line_goes_on", "git \\\nstatus", 'A' },
	{ "line_goes_on_inside_of_an_operator", "git status &\\\n& touch x", '?' },
	{ "here_document_quoted", "ls <<'E'\n$(rm x)\nE", 'A' },
	{ "rule_is_not_a_prefix_of_another_program", "git statusx", '?' },
};

static const struct row apr_05[] = {
	{ "env_rm", "env rm -rf x", 'D' },
	{ "variable_in_front_rm", "FOO=1 rm -rf x", 'D' },
	{ "command_rm", "command rm x", 'D' },
	{ "backslash_rm", "\\rm x", 'D' },
	{ "quoted_rm", "'r'm x", 'D' },
	{ "double_quoted_rm", "\"rm\" x", 'D' },
	{ "path_rm", "/bin/rm x", 'D' },
	{ "relative_path_rm", "../../bin/rm x", 'D' },
	{ "root_of_process_rm", "/proc/self/root/bin/rm x", 'D' },
	{ "busybox_rm", "busybox rm x", 'D' },
	{ "xargs_rm", "ls | xargs rm", 'D' },
	{ "xargs_with_options_rm", "ls | xargs -n 1 rm -f", 'D' },
	{ "find_exec_rm", "find . -exec rm {} \\;", 'D' },
	{ "find_execdir_rm", "find . -execdir rm {} +", 'D' },
	{ "timeout_rm", "timeout 5 rm x", 'D' },
	{ "nice_rm", "nice -n 5 rm x", 'D' },
	{ "nohup_rm", "nohup rm x", 'D' },
	{ "sudo_rm", "sudo rm x", 'D' },
	{ "sudo_user_rm", "sudo -u bob rm x", '?' },
	{ "bash_c_rm", "bash -c 'rm -rf x'", 'D' },
	{ "sh_c_rm_behind_another", "sh -ec 'ls; rm -rf x'", 'D' },
	{ "eval_rm", "eval rm x", 'D' },
	{ "eval_text_rm", "eval 'ls; rm x'", 'D' },
	{ "env_sh_c_rm", "env A=1 sh -c 'rm x'", 'D' },
	{ "trap_rm", "trap 'rm x' EXIT", 'D' },
	{ "exec_rm", "exec rm x", 'D' },
	{ "builtin_in_builtin_rm", "builtin command rm x", 'D' },
	{ "sh_from_a_pipe", "echo rm x | sh", '?' },
	{ "python_code", "python3 -c 'import os'", '?' },
	{ "perl_code", "perl -e 'unlink 1'", '?' },
	{ "awk_system", "awk 'BEGIN{system(\"id\")}'", '?' },
	{ "sed_e", "sed '1e id' f", '?' },
	{ "hash_p", "hash -p /bin/rm ls", 'D' },
	{ "alias", "alias ls=rm", '?' },
};

/* allow rules with * over programs that run programs: only exact rules reach them */
static const char loose[] = "+bash(env *)\n+bash(xargs *)\n+bash(find *)\n+bash(sudo *)\n+bash(sh *)\n+bash(timeout *)\n+bash(nice *)\n"
			    "+bash(git *)\n+bash(awk *)\n+bash(sed *)\n+bash(tar *)\n+bash(make*)\n+bash(python*)\n+bash(printf *)\n"
			    "+bash(sort *)\n+bash(export *)\n+bash(cd *)\n+bash(eval *)\n+bash(test *)\n+bash([ *)\n+bash(uniq *)\n+bash(rg *)\n"
			    "+bash(ls*)\n+bash(make test)\n+bash(FOO=1 ls)\n+bash(env FOO=1 ls)\n+bash(cd sub)\n+bash(./run *)";

static const struct row wrappers[] = {
	{ "env_is_not_reached_by_a_prefix", "env ls", '?' },
	{ "env_exact", "env FOO=1 ls", 'A' },
	{ "env_exact_and_more", "env FOO=1 ls -l", '?' },
	{ "env_split", "env -S 'sh -c id'", '?' },
	{ "xargs_is_not_reached", "xargs ls", '?' },
	{ "find_is_not_reached", "find . -exec ls {} +", '?' },
	{ "find_delete_is_not_reached", "find . -delete", '?' },
	{ "sudo_is_not_reached", "sudo ls", '?' },
	{ "sh_c_is_not_reached", "sh -c ls", '?' },
	{ "sh_script_is_not_reached", "sh x.sh", '?' },
	{ "timeout_is_not_reached", "timeout 5 ls", '?' },
	{ "nice_is_not_reached", "nice ls", '?' },
	{ "git_c_is_not_reached", "git -c core.pager=id log", '?' },
	{ "git_config_env_is_not_reached", "git --config-env=core.pager=X log", '?' },
	{ "git_exec_path_is_not_reached", "git --exec-path=/tmp status", '?' },
	{ "git_other_folder_is_not_reached", "git -C /tmp status", '?' },
	{ "git_alias_is_not_reached", "git st", '?' },
	{ "git_config_is_not_reached", "git config alias.x '!id'", '?' },
	{ "git_output_is_not_reached", "git diff --output=x", '?' },
	{ "git_output_abbreviated_is_not_reached", "git diff --outp=x", '?' },
	{ "git_ext_diff_is_not_reached", "git log --ext-diff -p", '?' },
	{ "git_grep_pager_is_not_reached", "git grep -Oid x", '?' },
	{ "git_signature_format_is_not_reached", "git log --format=%GG", '?' },
	{ "git_merge_strategy_is_not_reached", "git merge -s x HEAD", '?' },
	{ "git_submodule_is_not_reached", "git submodule foreach id", '?' },
	{ "git_bisect_run_is_not_reached", "git bisect run id", '?' },
	{ "git_plain", "git diff HEAD~1", 'A' },
	{ "git_no_pager", "git --no-pager log -3", 'A' },
	{ "awk_is_not_reached", "awk '{print}' f", '?' },
	{ "sed_is_not_reached", "sed -n p f", '?' },
	{ "tar_to_command_is_not_reached", "tar xf a --to-command=id", '?' },
	{ "make_is_not_reached", "make x", '?' },
	{ "make_exact", "make test", 'A' },
	{ "make_exact_with_more", "make test SHELL=/tmp/x", '?' },
	{ "make_exact_twice", "make test && make test", 'A' },
	{ "make_exact_with_a_variable_in_front", "MAKEFLAGS=x make test", '?' },
	{ "python_versioned_is_not_reached", "python3.11 -c 'x'", '?' },
	{ "printf_into_a_variable", "printf -v PATH /tmp", '?' },
	{ "printf_plain", "printf %s a", 'A' },
	{ "test_v_runs_a_subscript", "test -v 'a[$(id)]'", '?' },
	{ "bracket_v_runs_a_subscript", "[ -v 'a[$(id)]' ]", '?' },
	{ "bracket_plain", "[ -f x ]", 'A' },
	{ "sort_output", "sort -o x y", '?' },
	{ "sort_output_in_a_cluster", "sort -uox y", '?' },
	{ "sort_output_long", "sort --out x y", '?' },
	{ "sort_compress_program", "sort --compress-prog=id y", '?' },
	{ "sort_plain", "sort -u y", 'A' },
	{ "uniq_second_operand", "uniq a b", '?' },
	{ "rg_pre", "rg --pre id x", '?' },
	{ "export_is_not_reached", "export PATH=/tmp", '?' },
	{ "cd_is_not_reached", "cd /tmp", '?' },
	{ "cd_exact", "cd sub && ls", 'A' },
	{ "relative_program", "./run a", 'A' },
	{ "relative_program_behind_cd", "cd sub && ./run a", '?' },
	{ "eval_is_not_reached", "eval ls", '?' },
	{ "ld_preload", "LD_PRELOAD=./x.so ls", '?' },
	{ "path_in_front", "PATH=/tmp ls", '?' },
	{ "git_variable_in_front", "GIT_PAGER=id git log", '?' },
	{ "variable_exact", "FOO=1 ls", 'A' },
	{ "variable_other_value", "FOO=2 ls", '?' },
	{ "variable_alone", "PATH=/tmp; ls", '?' },
	{ "array", "a=(1 2); ls", '?' },
};

/* rules with * over programs that start or write something by a word of their arguments */
static const char *const exact_wanted[] = {
	"curl --engine x h", "curl --eng x h", "curl -engine x h", "curl --expand-output x h", "openssl version -engine ./x", "openssl dgst --out x f",
	"openssl rand -writerand x", "nm --plugin x f", "nm --plugin=x f", "nm -plugin x f", "ar --plugin x", "ranlib --plugin x", "strip --plug x f",
	"objdump --plugin=./x.so f", "x86_64-linux-gnu-nm --plugin x f", "llvm-nm-14 --plugin x f", "nm @f", "diff3 --diff-program=id a b c",
	"sdiff --diff-prog id a b", "ssh-agent id", "ccache id", "prove -e id", "msgexec id", "msgfilter id", "iconv -o x y", "iconv --output=x y",
	"git commit -S -m x", "git commit -m x -S", "git tag -s x", "git tag -v x", "git tag -u k x", "git add -e", "git add -p", "git add -i",
	"git add --edit", "git add --patch", "git add --inter", "git commit", "git commit -a", "git commit --amend", "git commit -- -m",
	"git commit --author -m x", "git tag -a x", "git tag --annotate x", "git revert HEAD", "git verify-commit HEAD", "git reset -p",
	"pager f", "editor f", "sensible-pager f", "sensible-editor f", "sensible-browser f", "x-terminal-emulator", "x86_64-linux-gnu-gcc f",
	"x86_64-linux-gnu-gcc-12 f", "c99 f", "c89 f", "cc f", "c++ f", "clang-14 f", "clang++-14 f", "gcc-12 f", "/usr/bin/gcc-12 f", "gcc-ar-12 --plugin x",
	"env -S id", "find . -ok id", "rg --pre id x", "zip -TT id a", "tcpdump -z id", "man -P id x", "less f", "vim -c x", "ed f", "dc f", "bc f",
	"m4 f", "gnuplot f", "sqlite3 f .shell", "psql -c x", "mysql f", "gpg f", "rsync -e id a b", "scp -S id a b", "ssh -o ProxyCommand=id h",
	"socat a b", "nc -e id h", "watch id", "script f", "flock f id", "setsid id", "nohup id", "time id", "strace id", "ltrace id", "gdb id",
	"valgrind id", "parallel id", "start-stop-daemon id", "runuser id", "systemd-run id", "docker run x", "podman run x", "npm test", "npx x",
	"pip install x", "cargo run", "go run x", "java x", "ruby x", "perl x", "perl5.36-x86_64-linux-gnu x", "php x", "lua5.4 x", "tclsh x", "expect x",
	"busybox ls",
};
static const char *const star_is_enough[] = {
	"curl -s h", "nm f", "objdump -d f", "diff3 a b c", "iconv -f latin1 f", "git commit -m x", "git commit -am x", "git commit -a -m x",
	"git commit --amend --no-edit", "git tag x", "git tag -a -m x v1", "git add x", "git add -A", "git log -p", "git diff -p", "git revert --no-edit HEAD",
};

/* lines that may run rm without a command that says so: asked for under auto as soon as there is a deny rule for bash */
static const char *const doubtful[] = {
	"ccache -x rm t", "prove -e rm t", "prove --exec=rm t", "git config alias.z '!rm t'", "git config core.pager 'rm t'", "git z t",
	"split --filter='rm t' f", "split --filt 'rm t' f", "diff3 --diff-program=/bin/rm a b c", "sdiff --diff-program /bin/rm a b",
	"mapfile -C 'rm t' -c 1 x", "readarray -c1 -C 'rm t' x", "gdb -ex 'shell rm t'", "gdb -batch -x f", "git archive --exec='rm t' HEAD",
	"git archive --remote=x --exec x HEAD", "git rebase -x 'rm t' HEAD~1", "git rebase --exec 'rm t' HEAD~1", "git bisect run rm t",
	"git submodule foreach rm t", "git submodule --quiet foreach 'rm t'", "git difftool -x 'rm t'", "git difftool --extcmd=x", "git mergetool",
	"git fetch --upload-pack 'rm t;' .", "git clone -u 'rm t;' . x", "git clone --upload-p=x . x", "git ls-remote --upload-pack='rm t;' .",
	"git fetch 'ext::rm t'", "git filter-branch --tree-filter 'rm t'", "/usr/bin/git -c alias.z='!rm t' z", "git -C . z",
	"tar xf a --to-command='rm t'", "tar cf a f --checkpoint=1 --checkpoint-action=exec='rm t'", "tar -I 'rm t' -xf a",
	"GIT_EDITOR='rm t' git commit", "EDITOR=x", "VISUAL=x true", "PAGER='rm t' man ls", "GIT_SSH_COMMAND=x git fetch", "export GIT_PAGER=x",
	"declare -x EDITOR=x", "env PAGER='cat t' git log", "PS4=x", "PROMPT_COMMAND=x", "BASH_ENV=x true", "ENV=x sh f", "LESSOPEN=x less f",
	"MANPAGER=x man ls", "read -r EDITOR", "printf -v PAGER x", "export \"$n=x\"", "test -v 'a[$(rm t)]'", "[ -v 'a[`rm t`]' ]",
	"printf -v 'a[$(rm t)]' x", "read 'a[$(rm t)]'", "let 'a[$(rm t)]'", "declare 'a[$(rm t)]=1'", "typeset 'a[`rm t`]'", "export 'a[$(rm t)]=1'",
	"unset 'a[$(rm t)]'", "f() { local 'a[$(rm t)]=1'; }", "[[ 'a[$(rm t)]' -eq 0 ]]", "[[ -v 'a[$(rm t)]' ]]", "x='a[$(rm t)]'; echo $((x))",
	"x='a[`rm t`]'; (( x ))", "read x <<<'a[$(rm t)]'; echo $((x))", "set -- 'a[$(rm t)]'; echo $(($1))", "read x <<'E'\na[$(rm t)]\nE\necho $((x))", "make -f -", "make -f- all", "make -sf - all",
	"make --file=-", "make --makefile - all", "make -f /dev/stdin", "make --eval='x:;rm t'", "make SHELL=/bin/x", "echo 'rm t' | parallel",
	"rg --pre x y", "fd -x x", "zip -TT 'rm t' a b", "tcpdump -w f -z x", "man -P 'rm t' ls", "rsync -e 'rm t' a b", "scp -S x a b", "ssh -o ProxyCommand='rm t' h",
	"nc -e /bin/x h 1", "socat - 'EXEC:rm t'", "ed f", "python3 - x", "perl /dev/stdin", "crontab -", "at now", "env -S 'x t'", "gcc -wrapper x f.c",
	"for PAGER in rm; do git log; done", "for EDITOR in 'rm t' x\ndo\ngit commit\ndone", "select PAGER in rm; do git log; done", ": ${EDITOR:=rm}", ": ${EDITOR=rm}", ": ${PAGER[0]:=rm}", ": ${PAGER[0]=rm}", "echo ${v[:-w}", "echo ${v[1}", "echo ${v[1]w}", "echo ${v",
	"echo \"${PAGER:=rm t}\"", "git log ${GIT_PAGER:=rm}", "cat <<E\n${PAGER:=rm}\nE", "x=PAGER; : ${!x:=rm}", ": ${PA\\\nGER:=rm}", ": `: ${PAGER:=rm}`",
	"export -n PAGER=rm; export PAGER", "export PAGER", "declare PAGER=rm", "declare -gx PAGER=rm", "typeset PAGER=rm", "readonly PAGER=rm",
	"f() { local PAGER=rm; git log; }; f", "declare -n x=PAGER; x=rm", "typeset -n x=PAGER", "f() { local -n x=$1; x=rm; }; f PAGER", "PAGER+=rm", "PAGER=(rm)",
	"PAGER[0]=rm", "read PAGER <<<rm", "read -r x PAGER <f", "read -aPAGER <f", "read -ra PAGER <f", "echo rm | while read PAGER; do git log; done",
	"read $x <f", "read -r \"$x\" <f", "printf -vPAGER rm", "printf -v \"$x\" rm", "mapfile PAGER <f", "mapfile -t PAGER <f", "readarray -t PAGER <f",
	"mapfile -t $x <f", "getopts rm: PAGER -r", "getopts a: $x -a", "wait -p PAGER 1", "wait -n -pPAGER 1", "coproc PAGER { ls; }", "coproc rm t",
	"exec {PAGER}>f", "export $x", "export \"$(cat f)\"", "declare -x $x", "readonly $x", "command export PAGER=rm", "builtin declare PAGER=rm",
	"command read PAGER <f", "env PAGER=rm git log", "exec env PAGER=rm git log", "set -k; git log PAGER=rm", "set -ek", "set -o keyword",
	"eval 'for PAGER in rm; do git log; done'", "sh -c ': ${PAGER:=rm}'", "x='$(rm t)'; echo ${x@P}", "enable -f ./x.so x", "source /dev/stdin <<<'rm t'",
	". /dev/stdin <f", "source <(echo rm t)", ". /proc/self/fd/0 <f", "source -- /dev/stdin", ". \"$x\"", "bash /dev/stdin <f", "sh /proc/self/fd/0 <f", "bash - <f", "echo $(for PAGER in rm; do git log; done)", "compgen -C 'rm t'", "compgen -W '$(rm t)'",
	"VIMINIT=':!rm t' view f", "(PAGER=rm; git log)", "if PAGER=rm; then git log; fi", "! PAGER=rm", "PAGER=rm git log &", "true && PAGER=rm",
	"BASH_CMDS+=([foo]=/bin/rm); foo t", "BASH_CMDS=([foo]=/bin/rm); foo t", "BASH_CMDS[foo]=/bin/rm; foo t", "read -r 'BASH_CMDS[foo]' <<</bin/rm; foo t",
	"printf -v 'BASH_CMDS[foo]' %s /bin/rm; foo t", ": ${BASH_CMDS[foo]:=/bin/rm}; foo t", "for i in 1; do BASH_CMDS[foo]=/bin/rm; done; foo t",
	"{ BASH_CMDS+=([foo]=/bin/rm); foo t; }", "declare 'BASH_CMDS[foo]=/bin/rm'; foo t", "mapfile -t BASH_CMDS <f", "declare -n x=BASH_CMDS; x[foo]=/bin/rm; foo t",
	"for BASH_CMDS[foo] in /bin/rm; do foo t; done", "((BASH_CMDS[foo]=1))", "exec {BASH_CMDS[foo]}>f", "x=BASH_CMDS[foo]; : ${!x:=/bin/rm}; foo t",
	"hash -p /bin/rm foo; foo t", "shopt -s expand_aliases; BASH_ALIASES[foo]=rm\nfoo t", "alias foo=rm\nfoo t", "BASH_LOADABLES_PATH=. enable x",
	"POSIXLY_CORRECT=1 f", "EXECIGNORE='/usr/bin/x*'; x t", "TEXTDOMAINDIR=. TEXTDOMAIN=x; $\"foo\" t", "history -s 'rm t'; fc -s", "HISTFILE=f; history -r; fc -s",
	"set -o history\necho xm t\nfc -s 'echo x=r'", "set -o history -H\necho xm t\n!!:s/echo x/r/", "set -H", "set -o histexpand -o history", "shopt -so histexpand", "set -e -k; git log PAGER=rm",
	"bash -H -c 'set -o history; echo xm t\n!!:s/echo x/r/'", "bash -o histexpand -c 'echo xm t'", "bash -kc 'git log PAGER=rm'", "bash -k f", "fc -e cat", "BASH_COMPAT=31; ls", "PS2='$(rm t)' bash -i",
	"tar cIf 'rm t' x d", "tar xFf 'rm t' x", "tar $x f", "x=-H; y=history; set -o $y; set $x", "set \"$@\"", "shopt -s $x", "hash $x", "enable $x", "echo rm | xargs nice", "echo t | xargs timeout 5",
	"xargs env <f", "xargs -a f -n 1 time", "find . -exec {} t \\;", "find . -exec nice {} \\;",
	"sed '1e/bin/rm t' f", "sed 1erm f", "sed -n '1e/bin/rm t' f", "sed -e '1e/bin/rm t' f", "sed -ne '1e/bin/rm t' f", "sed --expression='1e/bin/rm t' f", "sed --expr '1e/bin/rm t' f",
	"sed f -e '/x/e/bin/rm t'", "sed '/a\\/b/,$!e/bin/rm t' f", "sed 's,a,rm t,ge' f", "sed -n -e p -e 'x;e/bin/rm t' f", "sed '1{s/a/b/;e/bin/rm t\n}' f", "sed '\\,e,I e/bin/rm t' f",
	"sed -e 's/a\\' -e 'b/rm t/e' f", "sed ':a;e/bin/rm t' f", "sed ':a e/bin/rm t' f", "sed -f - f", "sed -nf /dev/stdin f", "sed --file=- f", "sed 'a x\ne/bin/rm t' f", "sed \"$x\" f", "sed -e\"$x\" f",
	"sed '0~4e/bin/rm t' f", "sed -l 5 '1e/bin/rm t' f", "sed -i.bak '1e/bin/rm t' f", "sed -E -- '1e/bin/rm t' f",
	"start-stop-daemon --start --exec=/bin/rm -- t", "docker run -v /:/h i rm t", "npm exec -- rm t", "npx rm t",
};
/* what a deny rule for rm does not slow down */
static const char *const undoubted[] = {
	"git status", "git diff HEAD~1", "git commit -m x", "git log -p --stat", "git fetch origin", "git clone https://h/r d", "git config user.name x",
	"git config --get core.pager", "git pull", "git push origin main", "git rebase main", "git add -A && git commit -m 'a (b)'", "git submodule update --init",
	"make", "make -j4 test", "make -f Makefile.x all", "make CC=gcc", "tar xzf a.tgz", "tar -czf a.tgz d", "X=1 ls", "export X=1", "FOO='a b' make test", "npm test",
	"python3 x.py", "sort -u f", "grep -n 'a[0-9]' f", "echo '$(x)'", "test -f x", "[[ -f x ]]", "split -l 5 f", "rsync -a a b", "gcc -O2 -o x x.c", "curl -s h",
	"echo ${a[1]} ${a[@]} ${#a[@]} ${a[${i}]} ${a[1]:-x} ${a[i]%x}", "for i in a b; do echo $i; done", "echo ${x:-y} ${y:=z} ${#x} ${!x} ${x@Q}", "export X=$Y", "export PATH=\"$PATH:/x\"", "local x=$1", "read -r a b <f",
	"printf -v x %s \"$y\"", "getopts ab: o \"$@\"", "declare -A m", "set -eu", "set -o pipefail", "mapfile -t a <f", "echo $((x = 1))", "for i in *; do ls $i; done",
	"find . -name '*.c'", "find . -type f", "find . -name x -exec grep -n y {} +", "sed -n 1,5p f", "sed -i 's/the end/else/g' e.txt 1e.txt", "sed -e 's/a/e/' -e '/x e/d' f", "sed '/e/{s/e/ e/;p}' f",
	"sed 's|e|\\| e |w e' f", "sed '$!N;P;D' f", "sed -n '/a/,/e/p' f", "sed 'y/abe/eab/;1i e' f", "sed ':e;N;$!be;s/\\n/ /g' f", "sed -i.e -E 's/(e) e;e/\\1/' f", "sed -f x.sed f", "sed 5q f", "sed -n '$=' f", "sed '/^$/d;s/ *$//' f",
	"source venv/bin/activate", "source ~/venv/bin/activate", ". ./env.sh && make", "bash x.sh a", "read x", "cargo build", "go test ./...", "pytest -q",
};

/* a rule of more than one word, and one without *: what carries the words around the command apart */
static const char *const apart[] = {
	"hash -p /usr/bin/git foo; foo push", "echo push | xargs git", "xargs git <f", "xargs -n 1 git -C . <f", "parallel git ::: push", "trap reboot EXIT", "trap -- reboot EXIT",
	"find . -exec reboot \\;", "find . -exec reboot ';' -print", "find x -execdir reboot \\;", "find x -ok nice reboot \\;", "find push -exec git {} \\;", "find x -exec git {} +", "find . -exec git push {} +",
	"(trap reboot DEBUG; true)", "builtin trap reboot 0", "trap reboot EXIT INT",
};
static const char *const not_apart[] = {
	"xargs ls <f", "xargs -n 1 grep x <f", "trap 'ls x' EXIT", "trap - EXIT", "trap", "trap -p", "find . -exec ls {} \\;", "find . -exec grep -n x {} +", "find . -exec sh -c 'wc -l \"$1\"' _ {} \\;", "xargs -n 1 sh -c 'wc -l \"$1\"' _ <f", "xargs timeout 5 grep x <f", "set -- $x", "set -e", "hash -r", "hash git",
	"xargs sort -u <f", "tar cf a $x", "shopt -s nullglob",
};

static void run(const struct row *row, enum approve_policy policy, const char *rules);

START_TEST(a_star_does_not_reach_what_starts_or_writes_something_else)
{
	run(&(struct row){ "exact_wanted", exact_wanted[_i], '?' }, APPROVE_ALWAYS_ASK, "+bash(*)\n+bash(* *)");
}
END_TEST

START_TEST(a_rule_of_several_words_or_exact_is_not_passed_by_words_put_apart)
{
	struct desk d;
	struct approve_answer r;

	desk_open(&d, APPROVE_AUTO_ALLOW, "-bash(git push*)\n-bash(reboot)");
	desk_bash(&d, apart[_i], &r);
	ck_assert_msg(desk_verdict(&d, &r) != 'A', "`%s` ran", apart[_i]);
	desk_close(&d);
}
END_TEST

START_TEST(a_rule_of_several_words_or_exact_does_not_slow_down_others)
{
	run(&(struct row){ "not_apart", not_apart[_i], 'A' }, APPROVE_AUTO_ALLOW, "-bash(git push*)\n-bash(reboot)");
}
END_TEST

/* with somebody to ask: asked, or denied when rm was to be seen after all; never run */
START_TEST(what_may_start_a_denied_program_never_runs_under_auto)
{
	struct desk d;
	struct approve_answer r;

	desk_open(&d, APPROVE_AUTO_ALLOW, "-bash(rm*)");
	desk_bash(&d, doubtful[_i], &r);
	ck_assert_msg(desk_verdict(&d, &r) != 'A', "`%s` ran", doubtful[_i]);
	approver_free(d.a);
	d.o.person.ask = NULL;
	ck_assert_int_eq(approver_new(&d.o, &d.a, NULL), 0);
	desk_rules(&d, "-bash(rm*)");
	desk_bash(&d, doubtful[_i], &r);
	ck_assert_msg(r.verdict == APPROVE_DENY, "`%s` ran with nobody to ask", doubtful[_i]);
	desk_close(&d);
}
END_TEST

START_TEST(what_starts_nothing_runs_under_auto)
{
	run(&(struct row){ "undoubted", undoubted[_i], 'A' }, APPROVE_AUTO_ALLOW, "-bash(rm*)");
}
END_TEST

START_TEST(a_star_reaches_the_rest)
{
	run(&(struct row){ "star_is_enough", star_is_enough[_i], 'A' }, APPROVE_ALWAYS_ASK, "+bash(* *)");
}
END_TEST

static const char echo_only[] = "+bash(echo *)\n+bash(cat *)\n+bash(ls *)\n+write_file(out/*)\n+bash(ln *)\n-write_file(out/no*)";

static const struct row apr_07[] = {
	{ "escaped_quotes", "echo \"a\\\"; touch M; echo \\\"b\"", 'A' }, /* it is one echo: a"; touch M; echo "b */
	{ "quotes_that_end", "echo \"a\"; touch M; echo \"b\"", '?' },
	{ "quote_then_substitution", "echo 'x'\"$(touch M)\"", '?' },
	{ "unbalanced_single", "echo 'a", '?' },
	{ "unbalanced_double", "echo \"a", '?' },
	{ "unbalanced_backtick", "echo `a", '?' },
	{ "unbalanced_substitution", "echo $(a", '?' },
	{ "unbalanced_parenthesis", "echo a)", '?' },
	{ "backslash_at_the_end", "echo a\\", '?' },
	{ "ansi_quotes", "echo $'a\\x3btouch M'", '?' },
	{ "ansi_quotes_that_seem_to_end", "echo $'\\'; touch M; echo '", '?' },
	{ "locale_quotes", "echo $\"a\"", '?' },
	{ "quote_inside_word", "echo a'b c'd", 'A' },
	{ "word_with_blank_is_one_word", "echo 'a b'", 'A' },
	{ "half_of_the_command_word", "ec'h'o a", 'A' },
	{ "subscript", "a[$(touch M)]=1", '?' },
	{ "arithmetic_with_subscript", "echo $((a[$(touch M)]))", '?' },
	{ "parameter_with_command", "echo ${x:-$(touch M)}", '?' },
};

static const struct row apr_11[] = {
	{ "write_outside", "echo x >/etc/h", '?' },
	{ "append_home", "echo x >>~/.bashrc", '?' },
	{ "clobber", "echo x >|/etc/h", '?' },
	{ "both", "echo x &>/etc/h", '?' },
	{ "both_other_spelling", "echo x >&/etc/h", '?' },
	{ "read_and_write", "echo x <>/etc/h", '?' },
	{ "number_in_front", "echo x 2>/etc/h", '?' },
	{ "no_blank", "echo x>/etc/h", '?' },
	{ "in_front_of_the_command", ">/etc/h echo x", '?' },
	{ "only_a_redirection", ">/etc/h", '?' },
	{ "behind_a_group", "{ echo x; } >/etc/h", '?' },
	{ "tee", "echo x | tee /etc/h", '?' },
	{ "copy", "cp a /etc/h", '?' },
	{ "dd", "dd of=/etc/h", '?' },
	{ "null_device", "echo x >/dev/null 2>&1", 'A' },
	{ "other_device", "echo x >/dev/sda", '?' },
	{ "connection", "echo x >/dev/tcp/h/1", '?' },
	{ "connection_for_reading", "cat - </dev/tcp/h/1", '?' },
	{ "allowed_file", "echo x >out/a", 'A' },
	{ "allowed_file_absolute", "echo x >/ws/out/a", 'A' },
	{ "allowed_file_and_another", "echo x >out/a 2>b", '?' },
	{ "denied_file", "echo x >out/no1", 'D' },
	{ "denied_file_by_a_detour", "echo x >out/./no1", 'D' },
	{ "dotdot", "echo x >out/../b", '?' },
	{ "dotdot_inside", "echo x >out/a/../b", '?' },
	{ "name_not_known", "echo x >$F", '?' },
	{ "name_with_glob", "echo x >out/*", '?' },
	{ "next_to_a_link", "ln -s /etc out/l; echo x >out/l/h", '?' },
	{ "reading", "cat - <in", 'A' },
	{ "duplicate", "echo x 1>&2", 'A' },
	{ "number_is_no_file", "echo x 2>&1 >/dev/null", 'A' },
};

static const struct row apr_12[] = {
	{ "variable_as_program", "C=rm; $C x", '?' },
	{ "brace_as_program", "{rm,-rf,x}", '?' },
	{ "parameter_inside_of_name", "r${Z}m x", '?' },
	{ "ansi_in_name", "$'\\x72m' x", '?' },
	{ "own_shell", "$0 -c id", '?' },
	{ "glob_as_program", "/b?n/r? x", '?' },
	{ "star_as_program", "/bin/[r]m x", '?' },
	{ "argument_variable", "echo $HOME", '?' },
	{ "argument_quoted_variable", "echo \"$HOME\"", '?' },
	{ "argument_glob", "ls *.c", '?' },
	{ "argument_tilde", "ls ~", '?' },
	{ "argument_tilde_behind_equals", "ls --x=~/y", '?' },
	{ "argument_brace", "echo {a,b}", '?' },
	{ "argument_range", "echo {1..3}", '?' },
	{ "argument_history", "echo !x", '?' },
	{ "argument_process", "cat <(ls)", '?' },
	{ "argument_dollar_alone", "echo a$ $", 'A' },
	{ "argument_braces_that_stand_for_themselves", "echo {} {a}", 'A' },
	{ "argument_quoted_glob", "ls '*.c'", 'A' },
	{ "argument_escaped_glob", "ls \\*", 'A' },
};

static const struct row hidden[] = {
	{ "carriage_return", "echo ok\r", '?' },
	{ "escape", "echo ok\x1b[2K", '?' },
	{ "right_to_left", "echo \xe2\x80\xae", '?' },
	{ "zero_width", "echo a\xe2\x80\x8b", '?' },
	{ "tag_characters", "echo \xf3\xa0\x81\x81", '?' },
	{ "no_break_space", "echo\xc2\xa0x", '?' },
	{ "bytes_that_are_no_text", "echo \x80", '?' },
	{ "letters_of_the_world", "echo gr\xc3\xbc\xc3\x9f", 'A' },
	{ "tab", "echo\ta", 'A' },
};

static void run(const struct row *row, enum approve_policy policy, const char *rules)
{
	struct desk d;
	struct approve_answer r;

	desk_open(&d, policy, rules);
	desk_bash(&d, row->command, &r);
	ck_assert_msg(desk_verdict(&d, &r) == row->want, "%s: `%s` got %c (%s), wanted %c", row->name, row->command, desk_verdict(&d, &r),
		      r.reason[0] ? r.reason : d.why, row->want);
	ck_assert_msg(row->want == 'A' ? r.text == NULL : strcmp(r.text, APPROVE_DENIED) == 0, "%s", row->name);
	desk_close(&d);
}

#define SUITE_OF(table, policy, rules)                                                                                                  \
	START_TEST(table##_rows)                                                                                                        \
	{                                                                                                                               \
		run(&table[_i], policy, rules);                                                                                         \
	}                                                                                                                               \
	END_TEST

SUITE_OF(apr_01, APPROVE_ALWAYS_ASK, mixed)
SUITE_OF(apr_05, APPROVE_AUTO_ALLOW, "-bash(rm*)")
SUITE_OF(wrappers, APPROVE_ALWAYS_ASK, loose)
SUITE_OF(apr_07, APPROVE_ALWAYS_ASK, echo_only)
SUITE_OF(apr_11, APPROVE_ALWAYS_ASK, echo_only)
SUITE_OF(apr_12, APPROVE_ALWAYS_ASK, echo_only)
SUITE_OF(hidden, APPROVE_ALWAYS_ASK, echo_only)

/* The wrappers of APR-05 with allow rules that are as wide as can be: none of them runs by itself */
START_TEST(apr_05_none_is_allowed_by_a_rule_for_something_else)
{
	run(&(struct row){ apr_05[_i].name, apr_05[_i].command, apr_05[_i].want == 'D' ? 'D' : '?' }, APPROVE_ALWAYS_ASK,
	    "+bash(ls*)\n+bash(echo *)\n-bash(rm*)");
}
END_TEST

/* Lines of APR-12 under auto with a deny rule: what may be rm is asked for */
START_TEST(apr_12_under_auto_what_may_be_denied_is_asked)
{
	if (_i < 7)
		run(&apr_12[_i], APPROVE_AUTO_ALLOW, "-bash(rm*)");
}
END_TEST

START_TEST(an_exact_rule_is_told_from_other_words)
{
	static const struct row rows[] = {
		{ "exact", "touch a b", 'A' },	    { "one_word", "touch 'a b'", '?' },	 { "more", "touch a b c", '?' },
		{ "less", "touch a", '?' },	    { "empty_word", "touch a b ''", '?' }, { "blanks", "  touch   a\tb ", 'A' },
		{ "quotes", "\"touch\" 'a' b", 'A' }, { "case", "Touch a b", '?' },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		run(&rows[i], APPROVE_ALWAYS_ASK, "+bash(touch a b)");
}
END_TEST

START_TEST(without_star_nothing_matches_by_its_beginning)
{
	run(&(struct row){ "prefix", "git status -s", '?' }, APPROVE_ALWAYS_ASK, "+bash(git status)");
	run(&(struct row){ "whole", "git status", 'A' }, APPROVE_ALWAYS_ASK, "+bash(git status)");
	run(&(struct row){ "deny prefix", "rm x", 'A' }, APPROVE_AUTO_ALLOW, "-bash(rm)");
	run(&(struct row){ "deny whole", "rm", 'D' }, APPROVE_AUTO_ALLOW, "-bash(rm)");
}
END_TEST

START_TEST(a_rule_for_the_whole_tool_covers_every_line)
{
	run(&(struct row){ "anything", "x=$(y) >z", 'A' }, APPROVE_ALWAYS_ASK, "+bash");
	run(&(struct row){ "anything denied", "ls", 'D' }, APPROVE_AUTO_ALLOW, "-bash");
	run(&(struct row){ "deny wins", "ls", 'D' }, APPROVE_ALWAYS_ASK, "+bash\n-bash(ls*)");
	run(&(struct row){ "deny wins in any order", "ls", 'D' }, APPROVE_ALWAYS_ASK, "-bash(l*)\n+bash(ls)\n+bash");
}
END_TEST

START_TEST(auto_without_deny_rules_needs_no_parse)
{
	run(&(struct row){ "unbalanced", "echo 'a", 'A' }, APPROVE_AUTO_ALLOW, "");
	run(&(struct row){ "anything", "x=$(curl h | sh)", 'A' }, APPROVE_AUTO_ALLOW, "-write_file(x)");
}
END_TEST

START_TEST(a_line_that_is_not_understood_is_denied_for_what_is_seen_of_it)
{
	run(&(struct row){ "before", "rm x; echo 'a", 'D' }, APPROVE_AUTO_ALLOW, "-bash(rm*)");
	run(&(struct row){ "inside", "ls; rm x 'a", 'D' }, APPROVE_AUTO_ALLOW, "-bash(rm*)");
	run(&(struct row){ "nothing seen", "ls 'a", '?' }, APPROVE_AUTO_ALLOW, "-bash(rm*)");
}
END_TEST

START_TEST(links_are_followed_before_a_redirection_is_allowed)
{
	struct desk d;
	struct approve_answer r;

	desk_open(&d, APPROVE_ALWAYS_ASK, echo_only);
	d.link_from = "/ws/out/l";
	d.link_to = "/etc";
	desk_bash(&d, "echo x >out/l/h", &r);
	ck_assert_uint_eq(d.asked, 1);
	d.link_to = "/ws/out/no1";
	desk_bash(&d, "echo x >out/l", &r);
	ck_assert_uint_eq(d.asked, 1);
	ck_assert_int_eq(r.by, APPROVE_BY_RULE);
	ck_assert_int_eq(r.verdict, APPROVE_DENY);
	d.link_to = "/ws/out/sub";
	desk_bash(&d, "echo x >out/l/h", &r);
	ck_assert_int_eq(r.verdict, APPROVE_ALLOW);
	d.link_to = NULL; /* not to be had */
	desk_bash(&d, "echo x >out/l/h", &r);
	ck_assert_uint_eq(d.asked, 2);
	desk_close(&d);
}
END_TEST

START_TEST(the_folder_decides_what_a_relative_redirection_is)
{
	struct desk d;
	struct approve_answer r;

	desk_open(&d, APPROVE_ALWAYS_ASK, "+bash(echo *)\n+write_file(out/*)");
	ck_assert_int_eq(approver_folder(d.a, "/ws/out"), 0);
	desk_bash(&d, "echo x >a", &r);
	ck_assert_int_eq(r.verdict, APPROVE_ALLOW);
	desk_bash(&d, "echo x >out/a", &r); /* /ws/out/out/a */
	ck_assert_int_eq(r.verdict, APPROVE_ALLOW);
	ck_assert_int_eq(approver_folder(d.a, "/tmp"), 0);
	desk_bash(&d, "echo x >out/a", &r);
	ck_assert_uint_eq(d.asked, 1);
	ck_assert_int_eq(approver_folder(d.a, NULL), 0);
	desk_bash(&d, "echo x >out/a", &r);
	ck_assert_uint_eq(d.asked, 2);
	desk_bash(&d, "echo x >/ws/out/a", &r);
	ck_assert_uint_eq(d.asked, 2);
	desk_close(&d);
}
END_TEST

START_TEST(apr_03_a_rule_says_nothing_about_arguments_it_does_not_know)
{
	struct desk d;
	struct approve_answer r;

	desk_open(&d, APPROVE_ALWAYS_ASK, "+bash(ls*)");
	desk_call(&d, "bash", "{\"command\":\"ls\",\"timeout\":5,\"background\":true}", &r);
	ck_assert_int_eq(r.verdict, APPROVE_ALLOW);
	desk_call(&d, "bash", "{\"command\":\"ls\",\"dangerously_disable_sandbox\":true}", &r);
	ck_assert_uint_eq(d.asked, 1);
	desk_call(&d, "bash", "{\"command\":7}", &r);
	ck_assert_uint_eq(d.asked, 2);
	desk_call(&d, "bash", "{}", &r);
	ck_assert_uint_eq(d.asked, 3);
	desk_close(&d);
}
END_TEST

START_TEST(long_lines_are_judged_in_linear_time)
{
	struct desk d;
	struct approve_answer r;
	char *line = malloc(120001);

	/* env env env ... : programs that run programs, as many as fit */
	for (size_t i = 0; i < 30000; i++)
		memcpy(line + 4 * i, "env ", 4);
	line[120000] = '\0';
	desk_open(&d, APPROVE_AUTO_ALLOW, "-bash(rm*)\n-bash(*a*b*c*d)");
	desk_bash(&d, line, &r);
	ck_assert_uint_eq(d.asked, 1);
	line[60000] = '\0';
	desk_bash(&d, line, &r);
	ck_assert_uint_eq(d.asked, 2);
	desk_close(&d);
	free(line);
}
END_TEST

#define ADD(table) tcase_add_loop_test(tc, table##_rows, 0, (int)(sizeof(table) / sizeof(table[0])))

int main(void)
{
	Suite *s = suite_create("approve_bash");
	TCase *tc = tcase_create("all");
	SRunner *sr;
	int failed;

	ADD(apr_01);
	ADD(apr_05);
	ADD(wrappers);
	ADD(apr_07);
	ADD(apr_11);
	ADD(apr_12);
	ADD(hidden);
	tcase_add_loop_test(tc, apr_05_none_is_allowed_by_a_rule_for_something_else, 0, (int)(sizeof(apr_05) / sizeof(apr_05[0])));
	tcase_add_loop_test(tc, apr_12_under_auto_what_may_be_denied_is_asked, 0, 7);
	tcase_add_loop_test(tc, a_star_does_not_reach_what_starts_or_writes_something_else, 0, (int)(sizeof(exact_wanted) / sizeof(exact_wanted[0])));
	tcase_add_loop_test(tc, what_may_start_a_denied_program_never_runs_under_auto, 0, (int)(sizeof(doubtful) / sizeof(doubtful[0])));
	tcase_add_loop_test(tc, what_starts_nothing_runs_under_auto, 0, (int)(sizeof(undoubted) / sizeof(undoubted[0])));
	tcase_add_loop_test(tc, a_rule_of_several_words_or_exact_is_not_passed_by_words_put_apart, 0, (int)(sizeof(apart) / sizeof(apart[0])));
	tcase_add_loop_test(tc, a_rule_of_several_words_or_exact_does_not_slow_down_others, 0, (int)(sizeof(not_apart) / sizeof(not_apart[0])));
	tcase_add_loop_test(tc, a_star_reaches_the_rest, 0, (int)(sizeof(star_is_enough) / sizeof(star_is_enough[0])));
	tcase_add_test(tc, an_exact_rule_is_told_from_other_words);
	tcase_add_test(tc, without_star_nothing_matches_by_its_beginning);
	tcase_add_test(tc, a_rule_for_the_whole_tool_covers_every_line);
	tcase_add_test(tc, auto_without_deny_rules_needs_no_parse);
	tcase_add_test(tc, a_line_that_is_not_understood_is_denied_for_what_is_seen_of_it);
	tcase_add_test(tc, links_are_followed_before_a_redirection_is_allowed);
	tcase_add_test(tc, the_folder_decides_what_a_relative_redirection_is);
	tcase_add_test(tc, apr_03_a_rule_says_nothing_about_arguments_it_does_not_know);
	tcase_add_test(tc, long_lines_are_judged_in_linear_time);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
