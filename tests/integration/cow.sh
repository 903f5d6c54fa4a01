# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# The workspace as a transaction: --write cow, diff, apply, discard, sessions, protected names in apply.
# COW_ROUNDS: rounds of random trees and operations (8); COW_RUNS: runs after which the host must be as it was (4); COW_BEGIN: runs of each
# of eight that begin at once (12).
. "$TESTS/lib.sh"

t "state-folder-works"
cow_state || exit 0
is "an empty run leaves nothing" "$(ls "$XDG_STATE_HOME/ak/sessions")" ""

# aks ARG... - ak itself, in the workspace
aks() {
	run env -C "$WS" "$AK" "$@"
}

# tree DIR - types, modes, sizes, times and links of everything below
tree() {
	find "$1" -printf '%P %y %m %s %T@ %l\n' | sort
}

id_of() {
	js 'd["changes"]["id"]'
}

t "96:changes-stay-outside-the-workspace"
echo old >"$WS/m"
mkdir -p "$WS/d/e" "$WS/o"
echo x >"$WS/d/e/f"
echo 1 >"$WS/o/1"
sleep 0.05
before=$(tree "$WS")
ak --write cow --json -c 'echo more >>m; rm -r d; echo n >n; chmod 700 m; rm -r o; mkdir o; touch o/2; ln -s n l; cat m'
is "exit code" "$RC" 0
is "the command sees its changes" "$(js 'd["stdout"]')" "old
more"
is "mode of the workspace" "$(js 'd["isolation"]["workspace"]')" cow
is "the workspace is as it was" "$(tree "$WS")" "$before"
is "changes" "$(js '" ".join(f["path"]+":"+f["op"] for f in d["changes"]["files"])')" \
	"d:deleted d/e:deleted d/e/f:deleted l:added m:modified n:added o/1:deleted o/2:added"
id=$(id_of)
like "id is told" "$(err)" "8 changes kept as $id"
aks sessions list --json
is "listed" "$(js '[(s["id"],s["state"],s["count"]) for s in d["sessions"]]')" "[('$id', 'kept', 8)]"
aks sessions show "$id"
like "shown" "$(out)" "deleted +d/e/f"
aks sessions rm "$id"
is "removed" "$RC$(ls "$XDG_STATE_HOME/ak/sessions")" 0

t "diff-and-apply-and-discard"
echo a >"$WS/a"
printf 'bin\0ary' >"$WS/b"
ak --write cow -c 'echo b >>a; printf "bin\0ary2" >b; chmod 755 a; mkdir new; touch new/f'
aks diff
is "diff" "$RC" 0
like "text" "$(out)" $'\n\\+b\n'
like "mode" "$(out)" "mode 0644 -> 0755: a"
like "folder" "$(out)" "new folder: new"
like "binary" "$(out)" "Binary files a/b and b/b differ"
is "patch works" "$(cd "$WS" && patch -s -p1 -o - a <"$O" 2>/dev/null | tail -n 1)" b
aks diff --stat a
like "stat" "$(out)" "modified a \| 2 -> 4"
aks diff --json
is "json" "$(js '[f["op"] for f in d["files"]]')" "['modified', 'modified', 'added', 'added']"
aks apply ../a
is "above the workspace" "$RC" 2
like "said" "$(err)" '^ak: "../a" is no path in the workspace'
aks apply a
is "one path" "$RC" 0
is "applied" "$(cat "$WS/a")" "a
b"
is "mode" "$(stat -c %a "$WS/a")" 755
no "not chosen" test -e "$WS/new"
aks apply
is "the rest" "$RC" 0
ok "applied" test -f "$WS/new/f"
aks sessions list
is "nothing is kept" "$(out)" ""
ak --write cow -c 'rm -r *'
aks discard
is "discard" "$RC" 0
ok "nothing happened" test -f "$WS/new/f"
is "state is empty" "$(ls "$XDG_STATE_HOME/ak/sessions")" ""

t "diff-names-what-has-no-text"
ln -s old "$WS/was"
touch "$WS/nothing"
sleep 0.05
ak --write cow -q -c 'ln -s /etc/passwd out; ln -sfn new was; rm nothing; touch empty; echo 1 >run; chmod 755 run; ln -s x "$(printf "l\ni")"'
aks diff
is "exit code" "$RC" 0
is "no complaint" "$(err)" ""
like "new link" "$(out)" "new symbolic link: out -> /etc/passwd"
like "changed link" "$(out)" $'old symbolic link: was -> old\nnew symbolic link: was -> new'
like "empty" "$(out)" "new file, empty: empty"
like "deleted" "$(out)" "deleted file, empty: nothing"
like "executable" "$(out)" "new executable file: run"
like "cannot forge lines" "$(out)" 'new symbolic link: "l\\x0ai" -> x'
aks discard

t "a-workspace-cannot-become-a-repository-unnamed"
ak --write cow --apply always -c 'printf "[core]\n\tfsmonitor = x\n\tworktree = .\n" >config; mkdir objects refs; echo "ref: refs/heads/x" >HEAD'
is "at once" "$RC" 125
is "nothing" "$(ls "$WS")" ""
aks discard
mkdir "$WS/n"
printf '[core]\n\tfsmonitor = x\n' >"$WS/n/config"
sleep 0.05
ak --write cow --apply always -c 'mkdir n/objects n/refs; echo "ref: refs/heads/x" >n/HEAD'
is "later" "$RC" 125
like "named" "$(err)" '1 protected name: "n/HEAD"'
aks discard

t "apply-always-and-its-refusals"
echo a >"$WS/a"
sleep 0.05
ak --write cow --apply always -q -c 'echo b >a; mkfifo p; chmod 4755 a 2>/dev/null; exit 0'
is "exit code" "$RC" 0
is "applied" "$(cat "$WS/a")" b
is "without its set-user-id bit" "$(stat -c %a "$WS/a")" 644
no "special files are left out" test -e "$WS/p"
ak --write cow --apply always --json -c 'mkfifo fi fo; echo b2 >a'
is "special: exit code" "$RC" 0
is "special: the rest is applied" "$(cat "$WS/a") $(js 'd["changes"]["applied"]')" "b2 true"
is "special: told in the result" "$(js '[w for w in d["warnings"] if "special" in w]')" \
	"['2 special files were not taken over: \"fi\", \"fo\"']"
like "special: told at once" "$(err)" '^ak: warning: 2 special files were not taken over: "fi", "fo"$'
echo b >"$WS/a"
sleep 0.05
ak --write cow --apply always -c 'echo c >a; exit 3'
is "the command's own code" "$RC" 3
is "not applied when it failed" "$(cat "$WS/a")" b
aks discard
ak --write cow --apply always --json -c 'mkdir .vscode; echo {} >.vscode/tasks.json; echo d >a'
is "protected: 125" "$RC" 125
is "stage" "$(js 'd["error"]["stage"]')" apply
is "in the object too, beside what became of the command" "$(js '[d["status"],d["exit_code"],d["signal"]]')" "['exited', 125, None]"
like "named" "$(js 'd["error"]["message"]')" "protected name.*\.vscode/tasks\.json"
is "nothing was applied" "$(cat "$WS/a")" b
is "protected is listed" "$(js '[p["path"] for p in d["changes"]["protected"]]')" "['.vscode/tasks.json']"
aks discard
ak --write cow --apply always --allow-protected .vscode -c 'mkdir .vscode; echo {} >.vscode/tasks.json'
is "allowed by name" "$RC" 0
ok "applied" test -s "$WS/.vscode/tasks.json"

t "a-mode-stays-in-the-workspace"
echo a >"$DIR/outside"
ln "$DIR/outside" "$WS/f"
sleep 0.02
ak --write cow --apply always -q -c 'chmod 755 f'
is "exit code" "$RC" 0
is "in it" "$(stat -c %a "$WS/f")" 755
is "not outside" "$(stat -c %a "$DIR/outside")" 644

t "a-change-outside-is-a-conflict"
echo a >"$WS/a"
echo z >"$WS/z"
mkdir "$WS/d"
ak --write cow -q -c 'echo mine >a; echo mine >z; rm -r d'
echo theirs >"$WS/a"
touch "$WS/d/unseen"
aks apply
is "refused" "$RC" 1
like "named" "$(err)" "changed outside: a \(modified\)"
like "a folder that is not empty" "$(err)" "changed outside: d \(deleted\)"
is "nothing was applied" "$(cat "$WS/a" "$WS/z")" "theirs
z"
aks apply z
is "another one can be chosen" "$RC" 0
aks apply a --force
is "force" "$(cat "$WS/a")" mine
aks apply --force
is "what nobody has seen is not deleted" "$RC" 1
ok "there" test -e "$WS/d/unseen"
aks discard
echo a >"$WS/a"
rm -f "$DIR/go"
mkfifo "$DIR/go"
exec 8<>"$DIR/go"
"$AK" exec -C "$WS" --write cow -q -c 'echo inside >a; echo ready; read x' <&8 >"$DIR/ready" &
pid=$!
await "$DIR/ready"
echo outside >"$WS/a"
echo go >&8
wait "$pid"
is "the run itself" "$?" 0
exec 8>&-
aks apply
is "changed while the run went on" "$RC" 1
is "kept" "$(cat "$WS/a")" outside
aks discard

t "CKP-13:state-is-out-of-reach"
echo a >"$WS/a"
ak --write cow -q -c "ls -A '$XDG_STATE_HOME/ak' 2>/dev/null; find / -name 'c-[0-9a-f]*' -path '*sessions*' 2>/dev/null; grep -c overlay /proc/self/mountinfo; echo y >a"
is "nothing of it is seen" "$(out)" 1
aks discard

t "97+98:protected-names-at-any-depth"
git init -q "$WS/sub" 2>/dev/null || mkdir -p "$WS/sub/.git/hooks"
sleep 0.05
ak --write cow -q -c 'mkdir -p deep/er/.GitHub .husky g/objects g/refs g/hooks
	echo 1 >deep/er/.GitHub/x; echo 2 >.husky/pre-commit; echo 3 >sub/.git/hooks/post-commit; echo 4 >sub/.git/config
	echo 5 >AGENTS.md; echo ref >g/HEAD; echo 6 >g/hooks/post-update; echo "gitdir: $PWD/g" >deep/.git; ln -s /etc deep/.envrc
	echo 7 >src.c; echo 8 >conftest.py'
aks apply
is "held back" "$RC" 1
is "all of them, first" "$(err | sed -n 's/^ak: protected: \(.*\) (.*/\1/p' | sort | tr '\n' ' ')" \
	".husky/pre-commit AGENTS.md deep/.envrc deep/.git deep/er/.GitHub/x g/HEAD g/hooks/post-update sub/.git/config sub/.git/hooks/post-commit "
is "the rest is there" "$(cat "$WS/src.c" "$WS/conftest.py")" "7
8"
no "no hook" test -e "$WS/sub/.git/hooks/post-commit"
no "no .git file" test -e "$WS/deep/.git"
aks apply .husky
is "named" "$RC" 0
ok "taken" test -f "$WS/.husky/pre-commit"
aks apply deep
is "a folder above does not name them" "$RC" 1
no "not taken" test -e "$WS/deep/er/.GitHub/x"
aks apply --allow-protected .git --allow-protected .github --allow-protected .envrc --allow-protected AGENTS.md --allow-protected g/HEAD --allow-protected g/hooks/post-update
is "all named" "$RC" 0
is "taken" "$(cat "$WS/deep/er/.GitHub/x" "$WS/g/hooks/post-update")" "1
6"

t "hostile-names-and-shapes"
echo keep >"$WS/keep"
sleep 0.05
ak --write cow -q -c 'i=0; p=.; while [ $i -lt 60 ]; do p="$p/d$i"; i=$((i+1)); done; mkdir -p "$p"; echo deep >"$p/f"
	n=$(printf "nl\nx"); echo 1 >"$n"; echo 2 >"$(printf "bad\377")"; echo 3 >" lead"; echo 4 >-dash; echo 5 >"$(printf "\342\200\256rtl")"
	mkdir closed; echo 6 >closed/in; chmod 0 closed; echo 7 >hard; ln hard link; mkfifo fifo; ln -s /etc/passwd out; truncate -s 1g sparse
	echo 8 >unreadable; chmod 0 unreadable; i=0; while [ $i -lt 500 ]; do echo $i >many$i; i=$((i+1)); done'
is "run" "$RC" 0
aks diff --stat
like "shown as what it is" "$(out)" 'nl\\x0ax'
like "no bidi" "$(out)" '<U\+202E>rtl'
like "special" "$(out)" 'fifo.*never applied'
aks diff out unreadable closed
like "closed files are shown to their owner" "$(out)" $'\n\\+6\n'
aks apply
is "apply" "$RC" 0
is "content" "$(cat "$WS/$(printf 'nl\nx')" "$WS/hard" "$WS/link" "$WS/many499" "$(find "$WS/d0" -name f)")" "1
7
7
499
deep"
is "modes" "$(stat -c %a "$WS/closed" "$WS/unreadable" | tr '\n' ' ')" "0 0 "
ok "sparse" test "$(stat -c %b "$WS/sparse")" -lt 100
is "a link is a link" "$(readlink "$WS/out")" /etc/passwd
chmod 700 "$WS/closed"

if need git; then
	cd "$DIR" || exit 1
	export GIT_CONFIG_GLOBAL=$DIR/gitconfig GIT_CONFIG_SYSTEM=/dev/null
	git config --global user.name T
	git config --global user.email t@example.org
	git config --global init.defaultBranch main
	git config --global protocol.file.allow always
	G="git -c user.name=B -c user.email=b@example.org -c protocol.file.allow=always -c init.defaultBranch=main"

	t "GIT-01:hooks-never-arrive-unnamed"
	git init -q "$WS"
	git -C "$WS" commit -q --allow-empty -m i
	sleep 0.05
	ak --write cow -q --json -c "printf '#!/bin/sh\ntouch M\n' >.git/hooks/post-commit; chmod +x .git/hooks/post-commit; echo a >a; $G add a; $G commit -qm a; rm -f M"
	is "work inside" "$(js 'd["exit_code"]')" 0
	is "the hook is told" "$(js '[p["path"] for p in d["changes"]["protected"]]')" "['.git/hooks/post-commit']"
	aks apply
	is "held back" "$RC" 1
	is "the commit arrived" "$(git -C "$WS" log --format=%s | head -n 1)" a
	git -C "$WS" commit -q --allow-empty -m x
	no "a hook ran" test -e "$WS/M"
	ok "repository is whole" git -C "$WS" fsck --strict
	aks discard

	t "GIT-03:worktree-file-cannot-be-redirected"
	git init -q "$DIR/main3"
	git -C "$DIR/main3" commit -q --allow-empty -m i
	rmdir "$WS"
	git -C "$DIR/main3" worktree add -q "$WS"
	was=$(cat "$WS/.git")
	sleep 0.05
	ak --write cow -q -c "mkdir g; $G init -q --bare g; echo \"gitdir: \$PWD/g\" >.git; mv .git x; rm -f .git; echo y >.git"
	is "unchanged" "$(cat "$WS/.git")" "$was"
	aks apply
	is "held back" "$RC" 1
	is "still unchanged" "$(cat "$WS/.git")" "$was"
	aks discard

	t "GIT-03:a-repository-is-taken-whole-or-not"
	git init -q "$WS"
	git -C "$WS" commit -q --allow-empty -m i
	git -C "$WS" config core.hooksPath tools
	was=$(tree "$WS/.git")
	sleep 0.02
	ak --write cow -q --json -c "rm -rf .git; ln -s /nowhere .git; mkdir tools; echo x >tools/pre-commit; echo y >f"
	is "named once" "$(js '[(p["path"],p["op"]) for p in d["changes"]["protected"]]')" \
		"[('.git', 'type'), ('tools/pre-commit', 'added')]"
	aks apply
	is "held back" "$RC" 1
	like "named once" "$(err)" $'^ak: protected: .git \\(type, as a whole\\)\nak: protected: tools/pre-commit \\(added\\)\nak: [0-9]* changes? applied[^\n]*\nak: 2 protected names are kept'
	is "untouched" "$(tree "$WS/.git")" "$was"
	is "the rest arrived" "$(cat "$WS/f")" y
	aks apply .git
	is "named" "$RC" 0
	is "taken" "$(readlink "$WS/.git")" /nowhere
	aks discard
	like "what was discarded is said" "$(err)" "^ak: discarded c-[0-9a-z]*: 1 change in $WS by .*rm -rf .git"

	t "98:what-a-protected-link-leads-to"
	git init -q "$WS"
	mkdir -p "$WS/scripts" "$WS/tools" "$WS/info" "$WS/free" "$WS/a/hk" "$WS/sub/hk" "$WS/cfg"
	printf '#!/bin/sh\n' | tee "$WS/scripts/pc" "$WS/scripts/free" "$WS/tools/husky" "$WS/info/attributes" "$WS/a/hk/pre-push" "$WS/cfg/envrc" >"$WS/tools/abs"
	mkdir -p "$WS/.git/hooks"
	ln -s ../../scripts/pc "$WS/.git/hooks/pre-commit"
	ln -s "$WS/tools/abs" "$WS/.git/hooks/post-commit"
	rm -rf "$WS/.git/info"
	ln -s ../info "$WS/.git/info"
	ln -s tools "$WS/.husky"
	ln -s cfg/link "$WS/.envrc"
	ln -s envrc "$WS/cfg/link"
	git init -q "$WS/sub"
	rm -rf "$WS/sub/.git/hooks"
	ln -s ../hk "$WS/sub/.git/hooks"
	ln -s a "$WS/l"
	git -C "$WS" config core.hooksPath l/hk
	sleep 0.02
	ak --write cow -q --json -c 'for f in scripts/pc scripts/free tools/abs tools/husky info/attributes info/exclude a/hk/pre-push cfg/envrc sub/hk/pre-push free/f; do
		echo x >>$f; done; rm l; mkdir -p z/hk n; ln -s z l; echo x >z/hk/pre-commit; ln -s n/c CLAUDE.md; echo x >n/c; echo x >n/d'
	is "named" "$(js '" ".join(sorted(p["path"] for p in d["changes"]["protected"]))')" \
		"CLAUDE.md a/hk/pre-push cfg/envrc info/attributes l n/c scripts/pc sub/hk/pre-push tools/abs tools/husky z/hk/pre-commit"
	is "by which name" "$(js '{p["path"]: p.get("by") for p in d["changes"]["protected"]}["scripts/pc"]')" .git/hooks/pre-commit
	run env -C "$WS" "$AK" diff --stat
	like "marked" "$(out)" "modified scripts/pc [^[]*\[protected\] \(by \.git/hooks/pre-commit\)"
	run env -C "$WS" "$AK" diff
	like "in the diff" "$(out)" "\[protected\] modified: scripts/pc \(by \.git/hooks/pre-commit\)"
	run env -C "$WS" "$AK" diff --json
	is "and for programs" "$(js '{f["path"]: f.get("protected_by") for f in d["files"] if f["path"] in ("scripts/pc", "cfg/envrc", "a/hk/pre-push", "free/f")}')" \
		"{'a/hk/pre-push': None, 'cfg/envrc': '.envrc', 'free/f': None, 'scripts/pc': '.git/hooks/pre-commit'}"
	aks apply
	is "held back" "$RC" 1
	like "by which name" "$(err)" "ak: protected: scripts/pc \(modified\) \(by \.git/hooks/pre-commit\)"
	is "as they were" "$(cat "$WS/scripts/pc" "$WS/tools/abs" "$WS/tools/husky" "$WS/a/hk/pre-push" "$WS/cfg/envrc" | grep -c x)$(readlink "$WS/l")" 0a
	is "the rest arrived" "$(cat "$WS/scripts/free" "$WS/free/f" "$WS/n/d" | grep -c x)" 3
	aks apply scripts/pc
	is "named" "$RC" 0
	is "taken" "$(tail -n 1 "$WS/scripts/pc")" x
	aks discard
	ak --write cow --apply always -q -c 'echo y >>scripts/pc'
	is "not applied" "$RC" 125
	like "why" "$(err)" '1 protected name: "scripts/pc" \(by "\.git/hooks/pre-commit"\)'
	aks discard

	t "98:a-workspace-in-a-hooks-folder"
	git init -q "$WS"
	mkdir -p "$WS/.git/hooks"
	run "$AK" exec -C "$WS/.git/hooks" --write cow --apply always -- sh -c 'echo x >post-commit'
	is "held back" "$RC" 125
	no "no hook" test -e "$WS/.git/hooks/post-commit"
	run env -C "$WS/.git/hooks" "$AK" apply --allow-protected .git
	is "named" "$RC" 0
	ok "taken" test -e "$WS/.git/hooks/post-commit"

	t "GIT-09:a-lock-that-was-left-is-told"
	git -C "$WS" init -q 2>/dev/null
	ak --write cow --timeout 1 --json -- sh -c 'touch .git/index.lock; sleep 86419'
	like "in the result" "$(js 'd["warnings"]')" "index.lock was left behind"
	aks discard

	t "GIT-07:no-dubious-ownership"
	git init -q "$WS"
	git -C "$WS" commit -q --allow-empty -m i
	ak --write cow -- git status --porcelain
	is "inside" "$RC$(out)$(err)" 0
	is "outside" "$(git -C "$WS" status --porcelain 2>&1)" ""

	t "git-work-inside-arrives"
	git init -q "$WS"
	echo 1 >"$WS/f"
	git -C "$WS" add f
	git -C "$WS" commit -qm one
	git init -q --bare "$DIR/sub.git"
	sleep 0.05
	ak --write cow -q -c "set -e; $G init -q n; $G clone -q --no-hardlinks . c; $G checkout -q -b br; echo 2 >>f; $G commit -qam two; $G branch -q x
		$G remote add o /nowhere; $G branch -q --set-upstream-to=br x; echo 3 >>f; $G stash -q; $G stash pop -q; $G config core.abbrev 9
		$G worktree add -q wt; $G submodule --quiet add ./c s; $G commit -qam three; $G gc -q; $G status --porcelain"
	is "inside" "$RC" 0
	aks apply --allow-protected .git --allow-protected .gitmodules
	is "applied" "$RC" 0
	is "log" "$(git -C "$WS" log --format=%s | tr '\n' ' ')" "three two one "
	ok "whole" git -C "$WS" fsck --strict
	is "clean" "$(git -C "$WS" status --porcelain --ignore-submodules=all -uno)" ""
	is "worktree" "$(git -C "$WS/wt" rev-parse --abbrev-ref HEAD)" wt

	t "101:nothing-planted-runs-on-the-host"
	git init -q "$WS"
	echo 1 >"$WS/f"
	git -C "$WS" add f
	git -C "$WS" commit -qm one
	printf '#!/bin/sh\ntouch "%s/CANARY"\n' "$DIR" >"$WS/evil"
	chmod +x "$WS/evil"
	cp "$WS/evil" "$WS/diff"
	git -C "$WS" config core.fsmonitor "$WS/evil"
	git -C "$WS" config core.hooksPath "$WS"
	git -C "$WS" config core.pager "$WS/evil"
	git -C "$WS" config diff.external "$WS/evil"
	git -C "$WS" config filter.x.clean "$WS/evil"
	echo '* filter=x' >"$WS/.gitattributes"
	sleep 0.05
	ak --write cow -q -c 'echo 2 >>f; echo n >n'
	for c in "diff" "diff --stat" "diff --json" "sessions list" "apply n" "apply" "sessions list"; do
		# shellcheck disable=SC2086
		run env -C "$WS" PATH="$WS:$PATH" PAGER="$WS/evil" GIT_PAGER="$WS/evil" "$AK" $c
		[ "$RC" = 0 ] || nok "$c: $RC"
	done
	no "it ran" test -e "$DIR/CANARY"
	git -C "$WS" status >/dev/null 2>&1
	ok "control: git itself runs it" test -e "$DIR/CANARY"
fi

t "law4:a-killed-run-keeps-its-changes"
echo a >"$WS/a"
sleep 0.05
"$AK" exec -C "$WS" --write cow -c 'echo b >>a; echo new >new; touch /tmp/x; echo ready >&2; sleep 60' 2>"$DIR/ready" &
pid=$!
await "$DIR/ready"
wait_for test -e "$XDG_STATE_HOME/ak/sessions"
wait_for grep -q ready "$DIR/ready"
sid=$(ls "$XDG_STATE_HOME/ak/sessions")
aks discard "$sid"
like "in use" "$(err)" "changeset $sid is in use \\(process [0-9]+\\): .* goes on - wait for it to end, or end it"
{
	kill -9 "$pid"
	wait "$pid"
} 2>/dev/null
wait_for sh -c "'$AK' sessions list | grep -q unread"
is "workspace" "$(cat "$WS/a")" a
aks apply
is "applied" "$RC" 0
is "changes" "$(cat "$WS/a" "$WS/new")" "a
b
new"

t "half-written-changesets"
echo a >"$WS/a"
sleep 0.05
ak --write cow -q -c 'echo b >a'
sid=$(ls "$XDG_STATE_HOME/ak/sessions")
cs=$XDG_STATE_HOME/ak/sessions/$sid
truncate -s 100 "$cs/journal"
aks diff --stat
is "journal: made anew" "$RC" 0
like "said" "$(err)" "half-written"
like "the same" "$(out)" "modified a"
truncate -s 20 "$cs/meta"
aks apply "$sid"
refused 1 "$sid is incomplete.*ak discard"
aks sessions list
like "listed" "$(out)" "$sid +incomplete"
aks discard "$sid"
is "discarded" "$RC$(ls "$XDG_STATE_HOME/ak/sessions")" 0

t "87:disk-is-bounded"
ak --write cow --disk 24m --json -c 'i=0; while :; do head -c 1m /dev/zero >f$i || exit 1; i=$((i+1)); done'
is "ended" "$(js '(d["exit_code"], d["limits"]["disk"]["hit"], d["limits"]["disk"]["enforced_by"])')" "(137, True, 'ak')"
like "said" "$(err)" "24 MiB \(--disk\)"
aks discard
ak --write cow --disk 24m -q -c 'head -c 100m /dev/zero >f 2>/dev/null; stat -c %s f'
ok "one file cannot pass it" test "$(out)" -le 25165824
aks discard
ak --write cow --disk 24m --json -c 'head -c 1m /dev/zero >f'
is "below it" "$(js '(d["exit_code"], d["limits"]["disk"]["hit"])')" "(0, False)"
aks discard

if [ "$WHO" = root ]; then
	t "TOOL-12:full-disks-lose-nothing"
	mkdir -p "$DIR/small" "$DIR/smallws"
	mount -t tmpfs -o size=2m none "$DIR/small"
	mount -t tmpfs -o size=2m none "$DIR/smallws"
	echo old >"$DIR/smallws/f"
	sleep 0.05
	run env XDG_STATE_HOME="$DIR/small" "$AK" exec -C "$WS" --write cow -c 'head -c 4m /dev/zero >f; echo rc=$?; echo small >s 2>/dev/null; exit 0'
	is "the command sees it" "$(out)" "rc=1"
	is "and is told of" "$RC" 0
	like "and what to do" "$(err)" "write the journal of changeset c-[0-9a-f]+: No space left on device .* - free space on the disk of the state folder .* nothing is lost, the changes are kept there as c-"
	run env -C "$WS" XDG_STATE_HOME="$DIR/small" "$AK" apply
	is "still full" "$RC" 1
	like "the same of apply" "$(err)" "write the journal .* - free space on the disk of the state folder"
	mount -o remount,size=16m "$DIR/small"
	run env -C "$WS" XDG_STATE_HOME="$DIR/small" "$AK" diff --stat
	like "nothing is lost" "$(out)" "f \\| .* -> [1-9][0-9]{5,}"
	run env -C "$WS" XDG_STATE_HOME="$DIR/small" "$AK" discard
	is "discarded" "$RC" 0
	umount "$DIR/small"
	mount -t tmpfs -o nr_inodes=2 none "$DIR/small"
	touch "$DIR/small/a"
	run env XDG_STATE_HOME="$DIR/small" "$AK" exec -C "$WS" --write cow true
	is "no folder can be made" "$RC" 125
	like "named" "$(err)" "make the state folder .*/small/ak: No space left on device .* - free space .* set XDG_STATE_HOME to a folder on another disk"
	umount "$DIR/small"
	mount -t tmpfs -o size=2m none "$DIR/small"
	run "$AK" exec -C "$DIR/smallws" --write cow -q -c 'echo new >f; head -c 3m /dev/zero >z; echo x >zz'
	run env -C "$DIR/smallws" "$AK" apply
	is "apply: refused" "$RC" 1
	like "exact" "$(err)" "write \"z\": No space left on device.*nothing is lost"
	is "no temporary file" "$(find "$DIR/smallws" -name '*ak-apply*')" ""
	is "what is whole is whole" "$(cat "$DIR/smallws/f")" new
	mount -o remount,size=8m "$DIR/smallws"
	run env -C "$DIR/smallws" "$AK" apply
	is "goes on" "$RC$(stat -c %s "$DIR/smallws/z")$(cat "$DIR/smallws/zz")" 03145728x
	umount "$DIR/small" "$DIR/smallws"

	t "state-on-an-overlay-is-refused-by-name"
	mkdir -p "$DIR/ovl"
	mount -t tmpfs none "$DIR/ovl"
	mkdir "$DIR/ovl/l" "$DIR/ovl/u" "$DIR/ovl/w" "$DIR/ovl/m"
	if mount -t overlay -o "lowerdir=$DIR/ovl/l,upperdir=$DIR/ovl/u,workdir=$DIR/ovl/w" none "$DIR/ovl/m" 2>/dev/null; then
		run env XDG_STATE_HOME="$DIR/ovl/m" "$AK" exec -C "$WS" --write cow -- touch MARK
		refused 125 "on overlayfs, which cannot hold.*XDG_STATE_HOME"
		mkdir "$DIR/ovl/m/ws"
		echo 1 >"$DIR/ovl/m/ws/f"
		run "$AK" exec -C "$DIR/ovl/m/ws" --write cow --identity root -c 'echo 2 >f; cat f'
		is "a workspace on an overlay works" "$RC$(out)" 02
		run env -C "$DIR/ovl/m/ws" "$AK" apply
		is "apply" "$RC$(cat "$DIR/ovl/m/ws/f")" 02
		umount "$DIR/ovl/m"
	else
		skip "no overlay on a memory file system here"
	fi
	umount "$DIR/ovl"
fi

if [ "$WHO" = root ]; then
	t "a-workspace-on-fuse"
	if need bindfs setpriv; then
		mkdir -p "$DIR/fuse/real/d" "$DIR/fuse/m" "$DIR/fuse/home"
		echo 1 >"$DIR/fuse/real/f"
		chown -R 45678:45678 "$DIR/fuse"
		if ! bindfs -o allow_other "$DIR/fuse/real" "$DIR/fuse/m" 2>"$E"; then
			skip "FUSE cannot be mounted here: $(_short "$(err)")"
		else
			# fuse ARG... - ak of an ordinary user, in that workspace
			fuse() {
				run env -C "$DIR/fuse/m" setpriv --reuid 45678 --regid 45678 --clear-groups env HOME="$DIR/fuse/home" \
					XDG_STATE_HOME="$FUSESTATE" "$AK" "$@"
			}
			FUSESTATE=$XDG_STATE_HOME/fuse
			mkdir -p "$FUSESTATE"
			chmod a+x "$XDG_STATE_HOME"
			chown 45678:45678 "$FUSESTATE"
			fuse exec -- sh -c 'echo 2 >>f; rmdir d; ls'
			is "direct" "$RC$(out)" 0f
			fuse exec --write cow -q -- sh -c 'echo 3 >>f; echo n >n'
			is "cow" "$RC$(cat "$DIR/fuse/real/f" | tr '\n' ' ')" "01 2 "
			fuse apply
			is "apply" "$RC$(tail -n 1 "$DIR/fuse/real/f")$(cat "$DIR/fuse/real/n")" 03n
			fuse checkpoint save
			is "save" "$RC" 0
			k=$(out)
			rm "$DIR/fuse/real/n"
			fuse checkpoint restore "$k"
			is "restore" "$RC$(cat "$DIR/fuse/real/n")" 0n
			run "$AK" exec -C "$DIR/fuse/m" -- touch MARK
			refused 125 "cannot map ids.*--identity root"
			run env XDG_STATE_HOME="$DIR/fuse/m" "$AK" exec -C "$WS" --write cow -- touch MARK
			refused 125 "is on FUSE, which cannot hold.*XDG_STATE_HOME"
			umount "$DIR/fuse/m"
		fi
	fi
fi

t "ERR:a-state-folder-of-somebody-else"
if [ "$WHO" != root ]; then
	skip "only root can give a folder away"
else
	mkdir -p "$DIR/others-state/ak/sessions"
	chmod 700 "$DIR/others-state/ak" "$DIR/others-state/ak/sessions"
	for n in ak/sessions ak; do
		chown 12345 "$DIR/others-state/$n"
		run env XDG_STATE_HOME="$DIR/others-state" "$AK" sessions list
		is "$n: exit code" "$RC" 1
		like "$n" "$(err)" "/$n belongs to uid 12345, not to you .*set XDG_STATE_HOME"
	done
fi

t "workspaces-that-are-special"
ln -s "$WS" "$DIR/link"
run "$AK" exec -C "$DIR/link" --write cow -- touch MARK
refused 125 "is a symbolic link.*name the real path"
echo a >"$WS/a"
sleep 0.05
run env -C "$DIR/link" "$AK" exec --write cow --apply always -q -c 'echo b >a'
is "from within" "$RC$(cat "$WS/a")" 0b
run env XDG_STATE_HOME="$WS/st" "$AK" exec -C "$WS" --write cow -- touch MARK
refused 125 "contains ak's state folder.*XDG_STATE_HOME"
run "$AK" exec -C / --write cow -- touch MARK
refused 125 "workspace.*-C"
(cd "$HOME" && exec "$AK" exec --write cow -- touch "$WS/MARK") >"$O" 2>"$E"
RC=$?
refused 125 "workspace.*-C"
for c in diff apply discard "sessions show" "sessions rm"; do
	# shellcheck disable=SC2086
	aks $c c-123456
	refused 1 "there is no changeset \"c-123456\" - .ak sessions list"
	# shellcheck disable=SC2086
	run env -C "$WS" XDG_STATE_HOME="$DIR/empty" "$AK" $c c-123456
	refused 1 "there is no changeset \"c-123456\" - there is none at all"
done
ak --apply always -- touch MARK
refused 125 "nothing to apply without --write cow"
mkdir "$DIR/gone"
run "$AK" exec -C "$DIR/gone" --write cow -q -- touch x
mv "$DIR/gone" "$DIR/gone2"
mkdir "$DIR/gone"
sid=$(ls "$XDG_STATE_HOME/ak/sessions")
aks apply "$sid"
refused 1 "is not the folder any more"
aks discard "$sid"

t "old-kernels:layers-by-name"
if [ -x "$AKW" ]; then
	echo a >"$WS/a"
	mkdir "$WS/d"
	sleep 0.05
	run env AK_WEAKEN=cgkill "$AKW" exec -C "$WS" --write cow --json -c 'echo b >a; rm -r d; mkdir d; touch d/x; grep -E " /\.ak-(lower|layer) " /proc/self/mountinfo; ls -A / | grep ak-'
	is "no layer shows" "$(js 'd["stdout"]')" ""
	is "changes" "$(js '[f["path"] for f in d["changes"]["files"]]')" "['a', 'd/x']"
	aks discard
else
	skip "no weak build (make weak)"
fi

# law 4: nothing is left, whatever happens
t "MNT-03:the-host-is-as-it-was"
mkdir "$WS/d"
echo 1 >"$WS/d/f"
before=$(tree "$WS"; find /tmp -xdev -path "$IT" -prune -o -print 2>/dev/null | sort)
for ((i = 0; i < ${COW_RUNS:-4}; i++)); do
	"$AK" exec -C "$WS" --write cow -q -c 'rm -r d; echo x >/tmp/y; echo new >n; exit 0' >/dev/null 2>&1
	"$AK" exec -C "$WS" --write cow -q -c 'rm -r d; echo x >/tmp/y; sleep 60' >/dev/null 2>&1 &
	pid=$!
	sleep 0.0$((RANDOM % 90 + 10))
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
done 2>/dev/null
is "listing" "$(tree "$WS"; find /tmp -xdev -path "$IT" -prune -o -print 2>/dev/null | sort)" "$before"
# what holds changes is kept until it is discarded; what holds none, the next command removes
for sid in $(ls "$XDG_STATE_HOME/ak/sessions"); do
	wait_for sh -c "'$AK' discard $sid || ! test -e '$XDG_STATE_HOME/ak/sessions/$sid'" || nok "discard $sid"
done
is "and nothing stays in the state folder" "$(ls "$XDG_STATE_HOME/ak/sessions")" ""

t "diff-shows-attributes"
echo x >"$WS/a"
if [ -n "$PY" ] && "$PY" -c 'import os,sys
for n in "went", "other", "same": os.setxattr(sys.argv[1], "user." + n, b"1")' "$WS/a" 2>/dev/null; then
	run env -C "$WS" "$AK" exec -q --write cow -- "$PY" -c 'import os
os.removexattr("a", "user.went")
os.setxattr("a", "user.other", b"2")
os.setxattr("a", "user.new\n", b"1")
open("b", "w").write("b")
os.setxattr("b", "user.b", b"1")'
	aks diff
	is "a line a name" "$(out | grep attribute | sort)" 'attribute added, "user.new\x0a": a
attribute added, user.b: b
attribute changed, user.other: a
attribute removed, user.went: a'
	aks diff --json
	is "in the object" "$(js '[(f["path"],sorted((x["op"],x["name"]) for x in f["attributes"])) for f in d["files"]]')" \
		"[('a', [('added', 'user.new\\n'), ('changed', 'user.other'), ('removed', 'user.went')]), ('b', [('added', 'user.b')])]"
	aks apply
	is "and is what is applied" "$("$PY" -c 'import os,sys; print(sorted(os.listxattr(sys.argv[1])))' "$WS/a")" \
		"['user.new\\n', 'user.other', 'user.same']"
else
	skip "no attributes here"
fi
rm -f "$WS/a" "$WS/b"

# attributes by which overlayfs marks files spoil them for later cow runs, wherever they come from
t "marks-of-the-overlay-are-not-taken-over"
# marks MODE - set them in a run with MODE
marks() {
	echo x >"$WS/a"
	run env -C "$WS" "$AK" exec $1 -- "$PY" -c 'import os
open("new", "w").close()
open("a", "a").write("y")
try:
	os.setxattr("new", "user.kept", b"1")
	os.setxattr("a", "user.overlay.metacopy", b"y")
	os.setxattr("new", "user.overlay.whiteout", b"y")
except OSError: print("none")'
}
names() {
	"$PY" -c 'import os,sys
for n in "a", "new": print(n, sorted(os.listxattr(os.path.join(sys.argv[1], n))))' "$WS"
}
marks "--write cow"
if [ -z "$PY" ] || [ -n "$(out)" ]; then
	skip "no such attributes in a cow run here"
else
	aks apply
	is "applied" "$RC" 0
	like "and said" "$(err)" "2 attributes user.overlay.. left out"
	is "what is no mark is taken over" "$(names)" "a []
new ['user.kept']"
	ak --write cow -q -c 'cat a >/dev/null && test -e new && echo both'
	is "a later run sees both" "$(out)" both
	marks "--write cow --apply always"
	like "said by the run itself" "$(err)" "1 attribute user.overlay.. left out"
	is "nor does that take them over" "$(names)" "a []
new ['user.kept']"
fi
rm -f "$WS/a" "$WS/new"

# what one run is just making is not what another one sweeps
t "runs-that-begin-at-once-leave-each-other-alone"
begin_many() {
	for ((i = 0; i < ${COW_BEGIN:-12}; i++)); do
		"$AK" exec -C "$DIR/at-once/$1" --write cow -q -c "$2" >/dev/null 2>>"$DIR/at-once/err-$1" || echo failed >>"$DIR/at-once/err-$1"
	done
}
mkdir "$DIR/at-once"
for ((n = 0; n < 8; n++)); do
	mkdir "$DIR/at-once/$n"
	begin_many "$n" true &
	pids[n]=$!
done
wait "${pids[@]}"
is "no run fails" "$(cat "$DIR"/at-once/err-*)" ""
is "and nothing stays" "$(ls -A "$XDG_STATE_HOME/ak/sessions")" ""
mkdir -p "$XDG_STATE_HOME/ak/sessions/.new-00000a/layer" "$XDG_STATE_HOME/ak/sessions/.new-00000b"
ak --write cow -q -- true
is "what may be just made is not swept" "$(ls -A "$XDG_STATE_HOME/ak/sessions")" ".new-00000a
.new-00000b"
rm -r "$XDG_STATE_HOME/ak/sessions/".new-*

t "apply-equals-running-direct"
if [ -n "$PY" ]; then
	mkdir "$DIR/rounds"
	LIMIT=600 run "$PY" "$TESTS/cow_rounds.py" "$AK" "$DIR/rounds" "${COW_ROUNDS:-8}" "$RANDOM"
	is "rounds" "$RC$(out | grep -v ' 0 bad,')" 0
else
	skip "no python3"
fi
done_suite
