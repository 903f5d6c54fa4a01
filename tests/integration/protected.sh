# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# What a direct run changed of the protected names is told: in the result, and in one line.
. "$TESTS/lib.sh"

# told - the paths of changes.protected
told() {
	js '" ".join(p["path"] for p in (d["changes"] or {"protected":[]})["protected"])'
}

t "98:nothing-changed"
mkdir "$WS/sub"
echo x >"$WS/sub/.envrc"
echo x >"$WS/.env"
sleep 0.05	# what is written in the clock's tick of the start counts as changed by the run
ak --json -- sh -c 'echo y >f; echo y >sub/f; mkdir -p n/m'
is "changes" "$(js 'd["changes"]')" None
is "stderr" "$(err)" ""

t "98:deeper-and-new-names"
mkdir -p "$WS/sub/.vscode" "$WS/a/b"
echo x >"$WS/sub/.vscode/tasks.json"
echo x >"$WS/a/b/AGENTS.md"
sleep 0.05
ak --json -- sh -c 'echo y >.envrc; echo y >sub/.vscode/tasks.json; echo y >a/b/AGENTS.md; mkdir -p x/y/.github/workflows; echo z >x/y/.github/workflows/ci.yml; mv a/b a/c'
is "code" "$RC" 0
is "told" "$(js '" ".join(sorted(p["path"]+":"+p["op"] for p in d["changes"]["protected"]))')" \
	".envrc:added a/c/AGENTS.md:added sub/.vscode/tasks.json:modified x/y/.github/workflows/ci.yml:added"
is "id" "$(js 'd["changes"]["id"]')" None
is "one line" "$(wc -l <"$E")" 1
like "line" "$(err)" "^ak: protected names changed: .*\.envrc .new."
sleep 0.05
ak -q -- sh -c 'echo z >.env'
is "quiet" "$(err)" ""
ak --allow-protected .env --report "$DIR/report" -- sh -c 'echo zz >.env'
is "allowed: no line" "$(err)" ""
is "but in the result" "$(js 'd["changes"]["protected"][0]["path"]' "$DIR/report")" .env

t "98:what-was-not-looked-at-is-said"
ak -- sh -c 'p=.; for i in $(seq 70); do p=$p/x; done; mkdir -p $p; echo x >$p/.envrc'
is "line" "$(err)" "ak: not all of the workspace was looked through for changed protected names"
ak -- sh -c 'echo x >.envrc'
is "line with names" "$(err)" "ak: protected names changed: .envrc (new); not all of the workspace was looked through for changed protected names"
ak -q -- sh -c 'mkdir y; echo x >y/.envrc'
is "quiet" "$(err)" ""

t "98:write-none-changes-nothing"
ak --write none --json -- true
is "changes" "$(js 'd["changes"]')" None

t "98:names-cannot-forge-lines"
ak -- sh -c 'mkdir -p "$(printf "a\nak: all is well\033[2J")"; cd a*; echo x >.envrc'
is "lines" "$(wc -l <"$E")" 1
unlike "escape" "$(err)" $'\033'

if ! need git; then
	done_suite
	exit 0
fi
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
G="git -c user.name=B -c user.email=b@example.org"
repo() {
	git init -q "$WS"
	echo a >"$WS/a"
	$G -C "$WS" add a
	$G -C "$WS" commit -qm i
	sleep 0.05
}

t "98:ordinary-git-work-is-not-told"
repo
ak --json -- sh -c "echo b >a; $G add a; $G commit -qm x; $G branch y; $G checkout -q y; $G stash -q; git gc -q; git tag t; true"
is "code" "$RC$(js 'd["error"]')" 0None
is "told" "$(told)" ""

t "98:keys-that-start-programs-are-named"
repo
git -C "$WS" config core.pager less
git -C "$WS" config user.name T
sleep 0.05
ak --json -- sh -c 'git config core.fsmonitor ./evil; git config alias.x "!sh"; git config remote.o.url https://h/; git config user.name U'
is "told" "$(told)" .git/config
is "keys" "$(js 'd["changes"]["protected"][0]["keys"]')" "['core.fsmonitor', 'alias.x']"
like "line" "$(err)" "^ak: protected names changed: .git/config .sets core.fsmonitor, alias.x.$"
ak --json -- git config branch.main.remote o
is "a harmless key" "$(js 'd["changes"]["protected"][0]["keys"]')" "[]"

t "98:nested-repositories-and-their-hooks"
repo
git init -q "$WS/n"
git init -q --bare "$WS/bare"
sleep 0.05
ak --json -- sh -c 'echo x >n/.git/hooks/post-commit; git -C n config core.hooksPath x; echo x >bare/hooks/update; echo ref >n/.git/HEAD'
is "told" "$(js '" ".join(sorted(p["path"] for p in d["changes"]["protected"]))')" "bare/hooks/update n/.git/config n/.git/hooks/post-commit"

t "98:hooks-by-another-name"
repo
mkdir -p "$WS/tools/hooks"
echo x >"$WS/tools/hooks/pre-commit"
git -C "$WS" config core.hooksPath tools/hooks
sleep 0.05
ak --json -- sh -c 'echo y >tools/hooks/pre-commit; mv tools t; mkdir -p tools/hooks && echo y >tools/hooks/pre-push; true'
is "as it was" "$(cat "$WS/tools/hooks"/*)" x
is "nothing to tell" "$(told)" ""
rm -r "$WS/tools/hooks"
sleep 0.05
ak --json -- sh -c 'mkdir tools/hooks; echo y >tools/hooks/pre-commit; echo z >tools/z'
is "told when it appears" "$(told)" tools/hooks/pre-commit

t "98:hooks-of-submodules-and-nested-repositories"
repo
mkdir -p "$WS/.git/modules/src/logs/hooks" "$WS/one/hk"
git init -q "$WS/one"
git -C "$WS/one" config core.hooksPath hk
sleep 0.05
ak --json -- sh -c 'm=.git/modules/src/logs; echo x >$m/hooks/post-checkout; git config -f $m/config core.fsmonitor x; echo x >one/hk/pre-push'
is "told" "$(js '" ".join(sorted(p["path"] for p in d["changes"]["protected"]))')" \
	".git/modules/src/logs/config .git/modules/src/logs/hooks/post-checkout one/hk/pre-push"
is "keys" "$(js '[p["keys"] for p in d["changes"]["protected"] if p["path"].endswith("config")]')" "[['core.fsmonitor']]"

t "98:hooks-by-a-home-or-a-link"
repo
mkdir "$WS/hk" "$WS/tools"
ln -s "$WS" "$DIR/other"
echo x | tee "$WS/hk/pre-commit" >"$WS/tools/pre-commit"
git -C "$WS" config core.hooksPath "~/${WS##*/}/hk"
git -C "$WS" config --add core.hooksPath "$DIR/other/tools"
run env HOME="${WS%/*}" "$AK" exec -C "$WS" -- sh -c 'echo y >hk/pre-commit; echo y >tools/pre-commit; true'
is "as they were" "$(cat "$WS/hk/pre-commit" "$WS/tools/pre-commit")" "x
x"
git -C "$WS" config --add core.hooksPath "~nobody/x"
ak -- true
like "said" "$(err)" "^ak: .*git's hooks of .* cannot be judged .core.hooksPath"
rm "$DIR/other"

t "98:files-in-a-linked-folder"
repo
mkdir -p "$WS/hk" "$WS/cfg/husky" "$WS/sub/hk" "$WS/info" "$WS/deep/x" "$WS/old" "$WS/l2"
echo x | tee "$WS/hk/pre-commit" "$WS/hk/a.sample" "$WS/cfg/husky/pre-push" "$WS/cfg/f" "$WS/sub/hk/pre-commit" "$WS/info/attributes" \
	"$WS/old/envrc" >"$WS/deep/x/tasks.json"
git init -q "$WS/sub"
rm -rf "$WS/.git/hooks" "$WS/sub/.git/hooks" "$WS/.git/info"
ln -s ../hk "$WS/.git/hooks"
ln -s ../info "$WS/.git/info"
ln -s cfg/husky "$WS/.husky"
ln -s ../hk "$WS/sub/.git/hooks"
ln -s x "$WS/deep/.vscode"
ln -s way/envrc "$WS/.envrc"
ln -s old "$WS/way"
echo y >"$WS/l2/envrc"
sleep 0.05
ak --json -- sh -c 'echo y >cfg/f; echo y >f; echo y >info/exclude; echo y >hk/a.sample'
is "nothing to tell" "$(told)" ""
ak --json -- sh -c 'for f in hk/pre-commit cfg/husky/pre-push sub/hk/pre-commit info/attributes deep/x/tasks.json; do echo y >>$f; done'
is "told" "$(js '" ".join(sorted(p["path"] for p in d["changes"]["protected"]))')" \
	"cfg/husky/pre-push deep/x/tasks.json hk/pre-commit info/attributes sub/hk/pre-commit"
sleep 0.05
ak --json -- sh -c 'ln -sfn l2 way'
is "a link on the way" "$(told)" .envrc

t "98:hooks-through-a-linked-folder"
repo
mkdir -p "$WS/b/hk"
ln -s b "$WS/l"
ln -s b "$WS/other"
git -C "$WS" config core.hooksPath l/hk
sleep 0.05
ak --json -- sh -c 'rm other; mkdir -p z/hk y; ln -s z other; echo x >y/pre-commit; echo x >b/new; echo x >z/new'
is "nothing to tell" "$(told)" ""
ak --json -- sh -c 'rm l; ln -s z l; echo x >z/hk/pre-commit; echo y >z/new'
is "told" "$(js '" ".join(sorted(p["path"] for p in d["changes"]["protected"]))')" "l z/hk/pre-commit"

t "98:a-workspace-in-a-protected-folder"
mkdir -p "$WS/.vscode/x" "$WS/.git/hooks"
run "$AK" exec -C "$WS/.vscode/x" -- touch MARK
refused 125 "lies in a protected folder.*--allow-protected .vscode"
run "$AK" exec -C "$WS/.git/hooks" -- touch post-commit
refused 125 "lies in a protected folder.*--allow-protected .git"
run "$AK" exec -C "$WS/.vscode/x" --allow-protected .vscode -- touch f
is "allowed" "$RC" 0
ok "made" test -e "$WS/.vscode/x/f"

t "98:a-folder-that-becomes-a-repository"
repo
ak -- sh -c 'mkdir n; printf "[core]\n\tfsmonitor = x\n" >n/config'
is "no repository yet" "$(err)" ""
ak -- sh -c 'mkdir n/objects n/refs; echo "ref: refs/heads/x" >n/HEAD; echo x >n/.envrc'
is "line" "$(err)" "ak: protected names changed: n/.envrc (new), n/HEAD (new)"

t "98:in-a-named-sandbox"
repo
run "$AK" create -C "$WS" "prot$$"
is "create" "$RC" 0
run "$AK" exec --in "prot$$" --json -- sh -c 'mkdir -p k; echo x >k/.envrc'
is "told" "$(told)" k/.envrc
run "$AK" rm --force "prot$$"

t "GIT-01:looking-runs-nothing"
repo
printf '#!/bin/sh\ntouch %s\n' "$DIR/canary" >"$WS/evil"
chmod +x "$WS/evil"
for k in core.fsmonitor core.pager core.editor core.sshCommand diff.external filter.x.clean core.askPass; do git -C "$WS" config "$k" "$WS/evil"; done
git -C "$WS" config core.hooksPath "$WS"
ak -- sh -c 'echo >>.git/config; echo x >.envrc'
ak --json -- true
no "a planted program ran" test -e "$DIR/canary"

t "MNT-03:nothing-is-left-in-the-workspace"
repo
# listing - everything in the workspace and in /tmp but what the suites themselves write there
listing() {
	find "$WS"
	find /tmp -path "$IT" -prune -o -print 2>/dev/null
}
listing | LC_ALL=C sort >"$DIR/before"
for ((i = 0; i < ${KILLS:-12}; i++)); do
	run "$AK" exec -C "$WS" -- true
	"$AK" exec -C "$WS" -- sleep 71.8"$TAG" >/dev/null 2>&1 &
	pid=$!
	sleep "0.0$((RANDOM % 9))"
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
done
gone "sleep 71.8$TAG"
listing | LC_ALL=C sort >"$DIR/after"
ok "listing" cmp "$DIR/before" "$DIR/after"

done_suite
