# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# A repository in which everything is planted that makes git start programs, in every file of its that git reads settings from, and
# programs of well-known names first in the PATH: none of it runs on the host, whatever command of ak is used there.
# shellcheck disable=SC2016,SC2030,SC2031 # dollars are for what is planted; the PATH is that of one command
. "$TESTS/lib.sh"

export HOME=$DIR/home XDG_STATE_HOME=$DIR/state
unset XDG_CONFIG_HOME
mkdir -p "$HOME"
cd "$DIR" || exit 1
t "GIT:a-place-for-layers"
if ! need git; then
	done_suite
	exit 0
fi
cow_state || exit 0
CANARY=$DIR/canary

# evil FILE WORD - settings for a git config file, all of which start the planted program; WORD tells which file it was
evil() {
	local k section
	for k in core.fsmonitor core.pager core.editor core.sshCommand core.askPass core.gitProxy core.alternateRefsCommand diff.external \
		diff.x.command diff.x.textconv filter.x.clean filter.x.smudge filter.x.process merge.x.driver gpg.program gpg.ssh.program \
		credential.helper sequence.editor interactive.diffFilter pager.diff pager.log pager.status uploadpack.packObjectsHook \
		remote.o.uploadpack remote.o.receivepack trailer.x.command browser.x.cmd mergetool.x.cmd difftool.x.cmd; do
		section=${k%.*}
		case $section in
		*.*) printf '[%s "%s"]\n' "${section%%.*}" "${section#*.}" ;;
		*) printf '[%s]\n' "$section" ;;
		esac
		printf '\t%s = %s\n' "${k##*.}" "$WS/evil $2:$k"
	done >>"$1"
	printf '[core]\n\thooksPath = %s\n[alias]\n\tx = "!%s alias"\n[remote "o"]\n\turl = "ext::%s url"\n' \
		"$WS/hooks" "$WS/evil" "$WS/evil" >>"$1"
	# in .gitmodules git itself does not take it
	[ "$2" = gitmodules ] || printf '[submodule "sub"]\n\tupdate = "!%s update"\n' "$WS/evil" >>"$1"
}

# hooks FOLDER WORD
hooks() {
	local h
	mkdir -p "$1"
	for h in applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit pre-rebase \
		post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update reference-transaction push-to-checkout \
		pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman post-index-change; do
		printf '#!/bin/sh\necho %s:%s >>%s\n' "$2" "$h" "$CANARY" >"$1/$h"
	done
	chmod +x "$1"/*
}

# plant - the workspace of this test; made once, then copied
plant() {
	rm -rf "$XDG_STATE_HOME/ak/sessions"	# changesets of a folder that is no more
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
	[ -d "$DIR/planted" ] || {
		make_planted
		cp -a "$WS" "$DIR/planted"
	}
	rm -rf "$WS"
	cp -a "$DIR/planted" "$WS"
}

make_planted() {
	local g="git -c user.name=T -c user.email=t@example.org -c protocol.file.allow=always" d
	git init -q "$DIR/origin"
	$g -C "$DIR/origin" commit -q --allow-empty -m i
	git init -q "$WS"
	printf '#!/bin/sh\necho "$0 $*" >>%s\nexit 0\n' "$CANARY" >"$WS/evil"
	chmod +x "$WS/evil"
	echo 1 >"$WS/f"
	echo 1 >"$WS/g"
	$g -C "$WS" add f g
	$g -C "$WS" submodule -q add "$DIR/origin" sub
	$g -C "$WS" commit -qm i
	$g -C "$WS" worktree add -q "$WS/wt"
	git init -q "$WS/nested"
	git init -q --bare "$WS/bare"
	$g -C "$WS" config extensions.worktreeConfig true
	for d in .git .git/modules/sub nested/.git bare; do
		evil "$WS/$d/config" "$d"
		hooks "$WS/$d/hooks" "$d"
		mkdir -p "$WS/$d/info"
		echo '* filter=x diff=x merge=x' >"$WS/$d/info/attributes"
	done
	hooks "$WS/hooks" hooksPath
	evil "$WS/.git/config.worktree" config.worktree
	evil "$WS/.git/worktrees/wt/config.worktree" wt
	evil "$WS/included" included
	evil "$WS/.gitmodules" gitmodules
	printf '[include]\n\tpath = ../included\n[includeIf "gitdir:/"]\n\tpath = %s\n' "$WS/included" >>"$WS/.git/config"
	for d in . sub wt nested; do echo '* filter=x diff=x merge=x' >"$WS/$d/.gitattributes"; done
	mkdir "$WS/bin"
	for d in git diff sh bash less more pager cp cat docker podman newuidmap newgidmap systemd-run busctl systemctl dbus-send ip mount umount \
		fusermount3 ssh ssh-add gpg nsenter unshare perl python3 rg grep find patch stty tput tar xdg-open; do printf '%s\n' "$(<"$WS/evil")" >"$WS/bin/$d"; done
	chmod +x "$WS/bin"/*
	for d in .envrc .bashrc .profile .bash_profile .zshenv .inputrc .pythonrc sitecustomize.py .gdbinit .npmrc Makefile; do
		printf 'echo %s >>%s\n' "$d" "$CANARY" >"$WS/$d"
	done
}

# host ARG... - ak on the host, in the workspace, with the planted programs first in the path; nothing of them may have run
host() {
	RC=0
	# by its whole path: timeout and env are not what is looked for
	(
		cd "$WS" || exit
		BIN=$(command -v timeout)
		export PATH="$WS/bin:$PATH" PAGER="$WS/evil pager" GIT_PAGER="$WS/evil gitpager" EDITOR="$WS/evil editor" VISUAL="$WS/evil visual" \
			BASH_ENV="$WS/.bashrc" ENV="$WS/.profile" GIT_EXTERNAL_DIFF="$WS/evil external" GIT_SSH_COMMAND="$WS/evil ssh"
		exec "$BIN" --preserve-status -k 5 "${LIMIT:-60}" "$AK" "$@"
	) </dev/null >"$O" 2>"$E" || RC=$?
	[ ! -e "$CANARY" ] || {
		nok "ak $*: ran $(_short "$(cat "$CANARY")")"
		rm -f "$CANARY"
	}
}

# works ARG... - the same, and it succeeds: a command that was refused early would prove nothing
works() {
	host "$@"
	[ "$RC" = 0 ] || nok "ak $*: $RC $(_short "$(err)")"
}

# the caller's PATH is the command's, too: inside, what is planted may run
inside='PATH=/usr/bin:/bin; git status; git diff; git log -p; git add f; git commit -m x; git x; git -C wt status; git -C sub status; git -C nested status; git -C bare gc
echo 2 >>f; rm g; echo n >new; mkfifo pipe; true'

t "GIT:nothing-planted-runs"
plant
sleep 0.05
works exec -- /bin/sh -c "$inside"
rm -f "$WS/pipe"
works exec --json -- true
is "it is JSON" "$(js 'd["status"]')" exited
works exec --report "$DIR/report" -- true
works exec --write none -- true
works exec --explain -- true
[ "$WHO" = root ] || works exec --isolation landlock -- true
host exec --backend local --write direct -- "$WS/f"
works seccomp learn -- true
echo 1 >"$WS/f"
sleep 0.05
works exec --write cow -q -- /bin/sh -c "$inside"
for c in "diff" "diff --stat" "diff --json" "diff f" "sessions list" "sessions list --json" "apply f" "apply --force" "sessions list"; do
	# shellcheck disable=SC2086
	host $c
	[ "$RC" = 0 ] || [ "$c" = "apply --force" ] || nok "$c: $RC $(_short "$(err)")"
done
sleep 0.05
works exec --write cow -q -- /bin/sh -c 'echo 3 >>f'
id=$(basename "$XDG_STATE_HOME/ak/sessions/"c-*)
works sessions show "$id"
works discard "$id"
sleep 0.05
works exec --write cow --apply always -q -- /bin/sh -c 'echo 4 >>f'
is "taken over" "$(tail -n 1 "$WS/f")" 4

t "GIT:nothing-planted-runs-around-checkpoints"
plant
works checkpoint save -m note
k=$(out)
echo 5 >>"$WS/f"
mv "$WS/g" "$WS/h"
for c in "list" "list --json" "diff" "diff --stat" "diff --json" "diff $k" "restore $k f" "restore $k" "save" "diff $k"; do
	# shellcheck disable=SC2086
	works checkpoint $c
done
is "restored" "$(cat "$WS/f" "$WS/g")" "1
1"
works checkpoint rm "$k"

t "GIT:nothing-planted-runs-around-sandboxes-that-stay"
plant
for w in direct cow; do
	works create "pl$$" --write "$w"
	works exec --in "pl$$" -- /bin/sh -c "$inside"
	works exec --in "pl$$" --detach -- /bin/sh -c 'sleep 0.1'
	job=$(out)
	works ls
	works ls --json
	works jobs "pl$$"
	works logs "pl$$" "$job" -f
	host kill "pl$$" "$job"
	works rm --force "pl$$"
	rm -f "$WS/pipe"
done
works diff --stat

t "GIT:nothing-planted-runs-around-an-agent"
plant
cat >"$DIR/script" <<'STEPS'
{"schema":"ak-replay/1"}
{"reply":{"text":"W.","calls":[{"id":"c1","name":"write_file","args":{"path":"made","content":"x"}}]}}
{"reply":{"text":"W.","calls":[{"id":"c2","name":"rollback","args":{}}]}}
{"reply":{"text":"W.","calls":[{"id":"c3","name":"bash","args":{"command":"PATH=/usr/bin:/bin; git status; echo 7 >>f; echo n >new"}}]}}
{"reply":{"text":"W.","calls":[{"id":"c6","name":"write_file","args":{"path":"kept","content":"x"}},{"id":"c4","name":"search_text","args":{"pattern":"1"}},{"id":"c5","name":"list_dir","args":{"path":"."}}]}}
{"reply":{"text":"Done."}}
STEPS
# shellcheck disable=SC2046 # two words or none
for w in direct cow; do
	rm -f "$WS/kept"
	works run --api replay --replay "$DIR/script" -y --write "$w" $([ $w = direct ] || echo --apply never) -q -o json "go"
	is "$w: it came to its end" "$(js 'd["result"]')" "Done."
done
host resume --continue --api replay --replay "$DIR/script" -y -q -o json --apply never "on"
works diff
works report
works config show
works doctor
works doctor --json
works prices list
works --version
works --help
host sessions rm "$(basename "$XDG_STATE_HOME/ak/sessions/"c-*)"

t "control:what-is-planted-runs-where-git-is-started"
plant
(
	cd "$WS" || exit
	git update-ref refs/heads/other HEAD
	echo 2 >>f
	git status
	git -C sub status
	git -C wt status
	PATH=$WS/bin:$PATH git status
) >"$O" 2>&1
for w in core.fsmonitor filter.x hooksPath:reference-transaction bin/git; do ok "$w" grep -qF -- "$w" "$CANARY"; done
rm -f "$CANARY"

done_suite
