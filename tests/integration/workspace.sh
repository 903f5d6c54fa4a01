# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# The workspace in direct mode: which folders are refused, protected names, git work.
. "$TESTS/lib.sh"

for w in / "$HOME" "$(dirname "$HOME")"; do
	t "FS-09:refused-as-workspace-$w"
	cd "$w" || nok cd
	run "$AK" exec -- touch "$DIR/MARK" MARK
	cd "$DIR" || nok cd
	refused 125 "workspace|-C"
	no "made" test -e "$w/MARK"
done

t "FS-09:refused-with-state-below"
mkdir -p "$DIR/x/state/ak" "$DIR/x/config/ak"
cd "$DIR/x" || nok cd
run env XDG_STATE_HOME="$DIR/x/state" XDG_CONFIG_HOME="$DIR/x/config" "$AK" exec -- touch MARK
cd "$DIR" || nok cd
refused 125 "workspace|state|config"
run env XDG_STATE_HOME="$DIR/x/state" XDG_CONFIG_HOME="$DIR/x/config" "$AK" exec -C "$DIR/x" -- sh -c 'echo x >>state/ak/f; echo x >>config/ak/f; ls -A state/ak; echo ran'
is "named: it runs" "$(out | tail -n 1)" ran
no "but state is out of reach" test -e "$DIR/x/state/ak/f"
no "and config" test -e "$DIR/x/config/ak/f"

if ! need git; then
	_record SKIP git "no git on this machine"
	done_suite
	exit 0
fi
export GIT_CONFIG_GLOBAL=$DIR/gitconfig GIT_CONFIG_SYSTEM=/dev/null
git config --global user.name T
git config --global user.email t@example.org
git config --global init.defaultBranch main
git config --global advice.detachedHead false

# repo - the workspace becomes a repository with one commit
repo() {
	git init -q "$WS"
	echo a >"$WS/a"
	git -C "$WS" add a
	git -C "$WS" commit -qm i
}
G="git -c user.name=B -c user.email=b@example.org"

t "GIT-01:hooks-read-only"
repo
ak -- sh -c 'printf "#!/bin/sh\ntouch M\n" >.git/hooks/post-commit; chmod +x .git/hooks/post-commit; mkdir .git/hooks/x'
like text "$(err)" "Read-only|Permission"
git -C "$WS" commit -q --allow-empty -m x
no "a hook ran" test -e "$WS/M"

t "GIT-01:git-folder-cannot-be-moved"
repo
ak -- sh -c 'mv .git .git2; rm -rf .git; mv .git/hooks .git/h2; rmdir .git/hooks; echo end'
ok "still there" test -d "$WS/.git/hooks"
no "moved" test -e "$WS/.git2"
no "hooks moved" test -e "$WS/.git/h2"

t "GIT-03:worktree-file"
git init -q "$DIR/m"
git -C "$DIR/m" commit -q --allow-empty -m i
rm -rf "$WS"
git -C "$DIR/m" worktree add -q "$WS" -b w
before=$(cat "$WS/.git")
ak -- sh -c 'mkdir g; git init -q --bare g; echo "gitdir: $PWD/g" >.git; mv .git x; rm -f .git; ln -f g .git; echo end'
is ".git unchanged" "$(cat "$WS/.git")" "$before"

t "GIT-05:worktree-commit"
rm -rf "$WS" "$DIR/m"
git init -q "$DIR/m"
git -C "$DIR/m" commit -q --allow-empty -m i
git -C "$DIR/m" worktree add -q "$WS" -b w2
ak --rw "$DIR/m/.git" -- sh -c "set -e; echo a >a; git add a; $G commit -qm a; git branch b; echo b >>a; $G stash -q; $G stash pop -q; git fetch -q . b
git checkout -q a; git log --oneline | wc -l"
is code "$RC" 0
is commits "$(out)" 2
like "a branch" "$(git -C "$DIR/m" branch)" b
ak --rw "$DIR/m/.git" -- sh -c "cd '$DIR/m/.git'; echo x >hooks/post-commit; mv hooks h2; echo x >>config; mv config c2; cd ..; mv .git g2; echo end"
is "it ran" "$(out)" end
no "no hook" test -e "$DIR/m/.git/hooks/post-commit"
is "its configuration is whole" "$(git -C "$DIR/m" config core.bare)" false
# the same with a path from here to there, over a bare repository
rm -rf "$WS"
git clone -q --bare "$DIR/m" "$DIR/bare.git"
git -C "$DIR/bare.git" worktree add -q "$WS" -b w3
echo "gitdir: ../bare.git/worktrees/ws" >"$WS/.git"
ak --rw "$DIR/bare.git" -- sh -c "set -e; echo c >c; git add c; $G commit -qm c; git log --oneline | wc -l; echo x >'$DIR/bare.git/hooks/post-commit' || echo refused"
is "bare, relative" "$(out | tr '\n' ' ')" "2 refused "
rm -rf "$DIR/bare.git"

t "GIT-07:status-and-owner"
repo
ak -- git status --porcelain
is code "$RC" 0
unlike text "$(err)" "dubious"
is "on the host" "$(git -C "$WS" status --porcelain)" ""

t "GIT:real-work"
repo
ak -- sh -c "set -e; git checkout -q -b f; echo b >b; git add b; $G commit -qm b; git checkout -q main; $G merge -q --no-ff -m m f; git branch -d f
git tag v1; git stash list; echo c >>a; git add a; $G commit -qm c; git gc -q; git log --oneline | wc -l; git remote add o /tmp/x; git clone -q . /tmp/c; ls /tmp/c | tr '\n' ' '"
is code "$RC" 0
like output "$(out | tr '\n' ' ')" '4 a b '
is "host reads it" "$(git -C "$WS" log --oneline | wc -l)" 4
is owner "$(find "$WS" ! -uid "$(stat -c %u "$WS")" | wc -l)" 0

t "GIT-11:identity"
repo
HOMEGIT=$HOME/.gitconfig
identity() { # COMMAND - in the sandbox, with the caller's own configuration only
	run env -u GIT_CONFIG_GLOBAL -u XDG_CONFIG_HOME "$AK" exec -C "$WS" -- sh -c "$1"
}
printf '[user]\n\tname = N\n\temail = n@example.org\n[url "https://TOKEN77@h/"]\n\tinsteadOf = https://h/\n[credential]\n\thelper = store\n' >"$HOMEGIT"
identity 'git commit -q --allow-empty -m x; echo rc $?; git log -1 --format="%an <%ae> %cn <%ce>"; git config -l; cat ~/.gitconfig'
like "it can commit" "$(out)" 'rc 0'
like "as whom" "$(out)" 'N <n@example.org> N <n@example.org>'
unlike "token" "$(out)" TOKEN77
unlike "helper" "$(out)" 'credential.helper'
identity 'git config --global user.name X && git config user.name'
is "may be changed for the sandbox" "$(out)" X
git -C "$WS" config user.email work@example.org
identity 'git commit -q --allow-empty -m x; git log -1 --format="%an <%ae>"'
is "a repository's own counts more" "$(out)" 'N <work@example.org>'
git -C "$WS" config --unset user.email
printf '[user]\n  name = "A \\"B\\" \\\\ C" # not this\n[user "x"]\n  name = Y\n[USER]\n  Email=a;b\n' >"$HOMEGIT"
identity 'git config user.name; git config user.email'
is "quotes and comments" "$(out)" 'A "B" \ C
a'
printf '[user]\n\tname = %s\n\temail = m\n' "$(printf 'x%.0s' {1..300})" >"$HOMEGIT"
identity 'git config user.name; git config user.email'
is "too long a name is none" "$(out)" m
mkdir -p "$HOME/.config/git"
printf '[user]\nname = from xdg\nemail = x@example.org' >"$HOME/.config/git/config"
printf 'name = nobody\n[user]\nemail = n@example.org\n' >"$HOMEGIT"
identity 'git config user.name; git config user.email'
is "both files" "$(out)" 'from xdg
n@example.org'
rm -rf "$HOMEGIT" "$HOME/.config/git"
printf '[user]\nname = G\nemail = g@example.org\n' >"$DIR/other-gitconfig"
run env GIT_CONFIG_GLOBAL="$DIR/other-gitconfig" "$AK" exec -C "$WS" -- git config user.name
is "the file that a variable names" "$(out)" G
mkdir "$DIR/dots"
# what a file includes, as the host's git has it: from the file's folder, from the home, by whole path, one in another, in order
mkdir -p "$DIR/dots/sub" "$HOME/inc"
printf '[user]\n\tname = root\n\temail = r@example.org\n[include]\n\tpath = ~/inc/one\n\tpath = inc/missing\n\tpath = "%s"\n' "$DIR/dots/sub/two" >"$HOMEGIT"
printf '[user]\nname = one\nemail = one@example.org\n' >"$HOME/inc/one"
printf '[include]\npath = ../three\n[user]\nemail = two@example.org\n' >"$DIR/dots/sub/two"
printf '[user]\nname = three\nemail = three@example.org\n[url "https://TOKEN77@h/"]\n\tinsteadOf = https://h/\n' >"$DIR/dots/three"
identity 'git config user.name; git config user.email; git config -l'
like "files that are included" "$(out)" $'^three\ntwo@example.org\n'
unlike "and nothing else of them" "$(out)" TOKEN77
is "the host's git says the same" "$(env -u GIT_CONFIG_GLOBAL -u XDG_CONFIG_HOME git config user.name)" three
printf '[user]\nname = changed\n' >"$DIR/dots/three"
identity 'git config user.name'
is "a change in one of them is seen" "$(out)" changed
printf '[user]\nname = found\n' >"$HOME/inc/missing"
sed -i '/dots/d' "$HOMEGIT"
identity 'git config user.name'
is "one that was not there" "$(out)" found
printf '[includeIf "gitdir:/"]\npath = ~/inc/one\n[include]\npath = .gitconfig\npath = ~/inc/fifo\npath = ~/inc\n[user]\nname = self\n' >"$HOMEGIT"
mkfifo "$HOME/inc/fifo"
identity 'git config user.name'
is "itself, no file, a condition" "$(out)" self
if [ "$WHO" = root ]; then
	printf '[include]\npath = %s\n' "$DIR/dots/three" >"$HOMEGIT"
	identity 'git config user.name'
	is "control: root's" "$(out)" changed
	chown 12345 "$DIR/dots/three"
	identity 'git config user.name'
	is "another's file" "$RC:$(out)" 1:
	chown root "$DIR/dots/three"
	chown 12345 "$DIR/dots"
	identity 'git config user.name'
	is "in another's folder" "$RC:$(out)" 1:
	chown root "$DIR/dots"
	ln -s "$DIR/dots/three" "$HOME/inc/link"
	chown -h 12345 "$HOME/inc/link"
	printf '[include]\npath = inc/link\n' >"$HOMEGIT"
	identity 'git config user.name'
	is "another's link" "$RC:$(out)" 1:
fi
rm -rf "$HOMEGIT" "$HOME/inc"
printf '[user]\nname = L\n' >"$DIR/dots/git"
ln -s "$DIR/dots" "$HOME/dots"
ln -s dots/git "$HOMEGIT"
identity 'git config user.name'
is "links of one's own" "$(out)" L
rm -f "$HOMEGIT" "$HOME/dots"
mkfifo "$HOMEGIT"
identity 'git config user.name'
is "no file at all" "$RC" 1
rm -f "$HOMEGIT"
STATE=$DIR/ident-state
mkdir -p "$STATE/ak/git"
chmod 700 "$STATE/ak" "$STATE/ak/git"
echo TOKEN77 >"$STATE/ak/git/2a"
printf '[user]\nname = K\n[url "https://TOKEN77@h/"]\n\tinsteadOf = https://h/\n' >"$HOMEGIT"
run env -u GIT_CONFIG_GLOBAL -u XDG_CONFIG_HOME XDG_STATE_HOME="$STATE" "$AK" exec -C "$WS" -- git config user.name
is "the caller's" "$(out)" K
is "one answer is kept" "$(find "$STATE/ak/git-ident" -type f | wc -l)" 1
no "and nothing else of the text, nor what was kept once" grep -rq TOKEN77 "$STATE"
no "the old folder" test -e "$STATE/ak/git"
rm -f "$HOMEGIT"
if [ "$WHO" = root ]; then
	mkdir -p "$DIR/other" "$DIR/other-state" "$DIR/secret/git"
	printf '[user]\nname = SECRET77\n' | tee "$DIR/secret/f" >"$DIR/secret/git/config"
	other() { # what somebody else's home has, as root with that HOME
		run env -u GIT_CONFIG_GLOBAL -u XDG_CONFIG_HOME HOME="$DIR/other" XDG_STATE_HOME="$DIR/other-state" "$AK" exec -C "$WS" -- git config user.name
		is "$1" "$RC:$(out)" 1:
	}
	ln -s "$DIR/secret/f" "$DIR/other/.gitconfig"
	chown -R -h 12345 "$DIR/other"
	other "another's link to a file of root"
	rm "$DIR/other/.gitconfig"
	ln -s "$DIR/secret" "$DIR/other/.config"
	chown -h 12345 "$DIR/other/.config"
	other "another's link to a folder of root"
	rm "$DIR/other/.config"
	cp "$DIR/secret/f" "$DIR/other/.gitconfig"
	other "a file of root that another may have moved"
	chown 12345 "$DIR/other/.gitconfig"
	other "another's file"
	no "nothing of them is kept" grep -rq SECRET77 "$DIR/other-state"
fi
if need strace; then
	run env -u GIT_CONFIG_GLOBAL -u XDG_CONFIG_HOME strace -f -qq -e trace=%file,execve -o "$DIR/trace" "$AK" exec -C "$WS" -- true
	is "what it costs without any" "$(grep -cE '/\.gitconfig"|/\.config/git/config"' "$DIR/trace")" 2
	printf '[user]\nname = G\nemail = g@example.org\n' >"$HOMEGIT"
	identity true
	run env -u GIT_CONFIG_GLOBAL -u XDG_CONFIG_HOME strace -f -qq -e trace=execve -o "$DIR/trace" "$AK" exec -C "$WS" -- true
	no "the answer is kept: ak-policy is not started again" grep -q 'ak-policy' "$DIR/trace"
	printf '[user]\nname = G\n[include]\npath = included\n' >"$HOMEGIT"
	printf '[user]\nemail = i@example.org\n' >"$HOME/included"
	identity 'git config user.email'
	is "control: included" "$(out)" i@example.org
	run env -u GIT_CONFIG_GLOBAL -u XDG_CONFIG_HOME strace -f -qq -e trace=execve -o "$DIR/trace" "$AK" exec -C "$WS" -- true
	no "nor where a file includes another" grep -q 'ak-policy' "$DIR/trace"
	rm -f "$HOMEGIT" "$HOME/included"
fi

t "GIT-09:a-lock-that-was-left-is-told"
repo
ak --timeout 1 --json -- sh -c 'touch .git/index.lock; sleep 86418'
is status "$(js 'd["status"]')" timed_out
like "in the result" "$(js 'd["warnings"]')" "index.lock was left behind.*rm .git/index.lock"
like "and on stderr" "$(err)" "ak: warning: git's lock .git/index.lock was left behind"
ak -- git add a
like "git names it" "$(err)" "index.lock.*File exists"
unlike "what was there before is nobody's news" "$(err)" "left behind"
rm "$WS/.git/index.lock"
ak -- git add a
is "and works again" "$RC" 0
is "nothing is said of a lock that is gone" "$(err)" ""

t "GIT-10:no-credential-prompt"
if need python3; then
	repo
	cat >"$WS/serve.py" <<'E'
import http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(401)
        self.send_header("WWW-Authenticate", "Basic realm=\"x\"")
        self.send_header("Content-Length", "0")
        self.end_headers()
s = http.server.HTTPServer(("127.0.0.1", 0), H)
open("port", "w").write(str(s.server_port))
s.serve_forever()
E
	# with a terminal, too: nobody may be asked for a name by what runs in there
	for tty in "" --tty; do
		# shellcheck disable=SC2086 # no word or one
		ak $tty -- sh -c 'rm -f port; python3 serve.py 2>/dev/null & while [ ! -s port ]; do sleep 0.05; done
git clone http://127.0.0.1:$(cat port)/x.git y; echo "rc $?"'
		like "refused $tty" "$(out; err)" "could not read Username.*terminal prompts disabled"
		like "and ended $tty" "$(out)" "rc 128"
	done
fi

t "MNT-04:git-discovery"
mkdir -p "$WS/r/sub" "$WS/n"
git init -q "$WS/r"
for d in "$WS/r" "$WS/r/sub" "$WS" "$WS/n"; do
	want=$(git -C "$d" rev-parse --show-toplevel 2>&1 | head -n 1 | sed 's/ (or any.*//')
	run "$AK" exec -C "$d" -- sh -c 'git rev-parse --show-toplevel 2>&1'
	got=$(out | head -n 1 | sed 's/ (or any.*//')
	# a repository above the workspace is not shown
	[ "$d" = "$WS/r/sub" ] && [[ $got == *"not a git repository"* ]] || is "in $d" "$got" "$want"
	is "no stub in $d" "$(find "$d" -maxdepth 1 -name .git | wc -l)" "$([ "$d" = "$WS/r" ] && echo 1 || echo 0)"
done

t "99:protected-names-read-only"
for n in .envrc .mcp.json AGENTS.md CLAUDE.md .gitmodules .npmrc .pre-commit-config.yaml; do echo orig >"$WS/$n"; done
mkdir -p "$WS/.vscode" "$WS/.github/workflows" "$WS/.claude"
echo orig >"$WS/.vscode/tasks.json"
echo orig >"$WS/.claude/settings.json"
ak -- sh -c 'for n in .envrc .mcp.json AGENTS.md CLAUDE.md .vscode/tasks.json .claude/settings.json; do echo evil >$n; echo evil >n && mv n $n; rm -f $n; done 2>/dev/null; mv .vscode v2; echo end'
for n in .envrc .mcp.json AGENTS.md CLAUDE.md .vscode/tasks.json .claude/settings.json; do
	is "$n" "$(cat "$WS/$n" 2>&1)" orig
done

t "99:allow-protected"
echo orig >"$WS/.envrc"
ak --allow-protected .envrc -- sh -c 'echo new >.envrc'
is code "$RC" 0
is content "$(cat "$WS/.envrc")" new

t "SEC-13:hard-links-inside"
ak -- sh -c 'echo a >a; ln a b; stat -c %h a'
is links "$(out)" 2

t "FS:many-file-kinds"
ak -- sh -c 'umask 027; echo x >f; mkdir d; ln -s f l; mkfifo p; chmod 4711 f 2>/dev/null; chmod 1755 d; touch -d 2001-01-01 f; truncate -s 1g sparse; mv f g; cp g h; rm h'
is "modes" "$(stat -c %a "$WS/g" "$WS/d" | tr '\n' ' ')" "640 1755 "
is "time" "$(stat -c %Y "$WS/g" | xargs -I{} date -d @{} +%Y)" 2001

t "FS:a-workspace-that-cannot-be-entered-has-a-name"
if [ "$WHO" = root ]; then
	skip "root enters every folder"
else
	(cd "$WS" && chmod 000 . && run "$AK" exec -- true && printf '%s' "$RC" >"$DIR/rc")
	chmod 755 "$WS"
	is code "$(cat "$DIR/rc")" 125
	like "told" "$(err)" '^ak: workspace "\.": Permission denied \(EACCES\) - it cannot be entered'
fi
done_suite
