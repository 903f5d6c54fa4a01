# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Checkpoints: what they keep, what a restore gives back and leaves alone, who must not be at work, bad input, full disks.
# AK_CHECKPOINT_ROUNDS: random rounds with kills (12; 2,000 by hand). AK_CHECKPOINT_FILES: files of the large tree (3,000; 50,000).
# In the memory file system that the runner puts there: what reaches the disk is waited for
DIR=/var/tmp/ak-ckpt-$WHO-$$
mkdir -p "$DIR"
trap 'chmod -R u+rwX "$DIR"; rm -rf "$DIR"' EXIT
. "$TESTS/lib.sh"

STATE=$DIR/state
export XDG_STATE_HOME=$STATE

# cp_ ARG... - ak checkpoint on the test's workspace
cp_() {
	local sub=$1
	shift
	run "$AK" checkpoint "$sub" -C "$WS" "$@"
}

# save - keep the workspace; ID
save() {
	cp_ save "$@"
	is "save" "$RC" 0
	ID=$(out)
}

# tree - everything a restore must give back, of WS
tree() {
	(
		cd "$WS" || exit
		find . -printf '%P|%y|%m|%l|%T@|%U|%n|' \( -type d -printf '\n' -o -printf '%s\n' \) | LC_ALL=C sort
		find . -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum
	)
}

t "CKP-01:new-files-go"
echo a >"$WS/a"
save
tree >"$DIR/before"
mkdir "$WS/d"
touch "$WS/new" "$WS/d/x"
cp_ diff --stat "$ID"
is "difference" "$(out | tr '\n' ' ')" "added     d/ added     d/x added     new "
cp_ restore "$ID"
is "restore" "$RC" 0
is "tree" "$(tree)" "$(cat "$DIR/before")"
like "said" "$(out)" "^restored $ID: 0 written, 3 removed"
cp_ list --json
is "what was there is kept" "$(js 'd["checkpoints"][1]["before_restore_of"]')" "$ID"
cp_ restore "$(js 'd["checkpoints"][1]["id"]')"
ok "and comes back" test -e "$WS/d/x"

t "CKP-03:large-files"
head -c 20000000 /dev/urandom >"$WS/big"
sha256sum <"$WS/big" >"$DIR/before"
save
echo more >>"$WS/big"
cp_ restore "$ID"
is "restored" "$(sha256sum <"$WS/big")" "$(cat "$DIR/before")"

t "CKP-05:tree-fidelity"
(
	cd "$WS" || exit
	mkdir -p empty deep/a/b setgid "odd name" .hidden
	chmod 2775 setgid
	echo 1 >run
	chmod 0755 run
	echo 2 >secret
	chmod 0600 secret
	echo 3 >ro
	chmod 0444 ro
	ln -s nowhere dangling
	ln -s /etc/passwd out
	ln run deep/hard
	mkfifo fifo
	echo x >"odd name/$(printf 'new\nline\xff')"
	echo h >.hidden/-f
	truncate -s 50M deep/a/sparse
	echo end >>deep/a/sparse
	touch -d 2001-02-03 ro deep
)
"$PY" -c 'import os,socket,sys
os.chdir(sys.argv[1])
socket.socket(socket.AF_UNIX).bind("sock")
try: os.setxattr("run", "user.k", b"v\0w")
except OSError: pass' "$WS"
tree >"$DIR/before"
save
is "keeping changes nothing" "$(tree)" "$(cat "$DIR/before")"
find "$WS" -mindepth 1 -delete
cp_ restore "$ID"
is "restore" "$RC" 0
is "stderr" "$(err)" ""
is "tree" "$(tree)" "$(cat "$DIR/before")"
is "holes" "$(($(stat -c %b "$WS/deep/a/sparse") < 1000))" 1
is "attribute" "$("$PY" -c 'import os,sys
try: print(os.getxattr(sys.argv[1], "user.k"))
except OSError: print(b"v\0w")' "$WS/run")" "b'v\\x00w'"
# marks of overlayfs: taken away by a restore, and never written
mark() {
	"$PY" -c 'import os,sys
try: os.setxattr(sys.argv[1], sys.argv[2], b"y")
except OSError: print("none")' "$WS/run" user.overlay.metacopy
}
overlay_names() {
	"$PY" -c 'import os,sys
print([n for n in os.listxattr(sys.argv[1]) if "overlay" in n])' "$WS/run"
}
if [ "$(mark)" = "" ]; then
	cp_ restore "$ID"
	is "a mark is taken away" "$(overlay_names)" "[]"
	mark
	whole=$ID
	save
	cp_ restore "$ID"
	is "and stays where it was" "$(overlay_names)$(err)" "['user.overlay.metacopy']"
	rm "$WS/run"
	cp_ restore "$ID"
	is "but is not written" "$(overlay_names)" "[]"
	like "which is said" "$(err)" "1 attribute user.overlay.. left out"
	ID=$whole
fi
rm -r "$WS/deep" "$WS/run"
ln -s /etc "$WS/deep"
mkdir "$WS/run"
cp_ restore "$ID"
is "kinds changed" "$(tree)" "$(cat "$DIR/before")"

t "CKP-05:closed-to-their-owner"
if [ "$WHO" = root ]; then
	skip "nothing is closed to root"
else
	mkdir -p "$WS/c/d"
	echo x >"$WS/c/d/f"
	chmod 0 "$WS/c/d/f"
	chmod 0 "$WS/c/d"
	chmod 0500 "$WS/c"
	save
	is "stderr" "$(err)" ""
	is "modes stay" "$(stat -c %a "$WS/c")" 500
	chmod 700 "$WS/c" "$WS/c/d"
	is "and below" "$(stat -c %a "$WS/c/d/f")" 0
	rm -rf "$WS/c"
	cp_ restore "$ID"
	is "restore" "$RC" 0
	is "mode" "$(stat -c %a "$WS/c")" 500
	chmod 700 "$WS/c"
	is "mode below" "$(stat -c %a "$WS/c/d")" 0
	chmod 700 "$WS/c/d"
	chmod 600 "$WS/c/d/f"
	is "bytes" "$(cat "$WS/c/d/f")" x
fi

t "one-after-the-other"
mkdir -p "$WS/many"
for ((i = 0; i < 300; i++)); do echo "$i" >"$WS/many/$i"; done
before=$(cp_ list; wc -l <"$O")
for ((i = 0; i < 6; i++)); do
	"$AK" checkpoint save -C "$WS" >"$DIR/one-$i" 2>&1 &
	pids[i]=$!
done
wait "${pids[@]}"
is "all are made" "$(cat "$DIR"/one-? | grep -vc '^k-[0-9a-f]\{6\}$')" 0
is "each its own" "$(sort -u "$DIR"/one-? | wc -l)" 6
is "and listed" "$(($(cp_ list; wc -l <"$O") - before))" 6
rm -r "$WS/many"

t "CKP-07:git-sees-nothing"
if need git; then
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
	g() { git -C "$WS" -c user.name=T -c user.email=t@example.org "$@"; }
	g init -q
	echo a >"$WS/a"
	g add a
	g commit -qm i
	echo b >"$WS/a"
	g add a
	echo c >"$WS/a"
	echo u >"$WS/untracked"
	echo ign >"$WS/.gitignore"
	echo keep >"$WS/ign"
	state() { g status --porcelain=v2 --branch; g stash list; sha256sum "$WS/.git/index" "$WS/.git/HEAD"; }
	state >"$DIR/before"
	save
	is "git" "$(state)" "$(cat "$DIR/before")"
	g stash -q -u
	rm "$WS/ign"
	cp_ restore "$ID"
	is "git afterwards" "$(state)" "$(cat "$DIR/before")"
	is "ignored files" "$(cat "$WS/ign")" keep
fi

t "CKP-09:somebody-is-at-work"
save
"$AK" exec -C "$WS" -- sh -c "touch up; exec sleep 71.9$TAG" >/dev/null 2>&1 &
pid=$!
wait_for test -e "$WS/up"
for sub in save "restore $ID"; do
	# shellcheck disable=SC2086
	cp_ $sub
	is "$sub" "$RC" 1
	like "$sub: the process" "$(err)" "process $pid"
	is "$sub: lines" "$(wc -l <"$E")" 1
done
ok "not touched" test -e "$WS/up"
cp_ save --live
is "asked for" "$RC" 0
cp_ diff "$ID"
is "diff needs nobody away" "$RC" 0
kill "$pid"
wait "$pid" 2>/dev/null
cp_ restore "$ID"
is "then it goes" "$RC" 0

t "CKP-09:a-named-sandbox"
run "$AK" create -C "$WS" "ckp$$"
if [ "$RC" != 0 ]; then
	nok "create: $(err)"
else
	cp_ save
	is "refused" "$RC" 1
	like "named" "$(err)" "sandbox ckp$$ .process [0-9]+.*ak rm ckp$$"
	run "$AK" rm --force "ckp$$"
	cp_ save
	is "then it goes" "$RC" 0
fi

t "CKP-13:store-is-out-of-reach"
save
is "modes" "$(find "$STATE/ak" -type d ! -perm 700 | wc -l)" 0
ak -- sh -c "find / -path '*checkpoints*' -writable 2>/dev/null; ls $STATE/ak/checkpoints 2>/dev/null; true"
is "nothing of it inside" "$(out)" ""
run env XDG_STATE_HOME="$WS/.ak" "$AK" checkpoint save -C "$WS"
is "in the workspace" "$RC" 1
like "named" "$(err)" "contains ak's own folder.*XDG_STATE_HOME"
no "not made" test -e "$WS/.ak"

t "CKP-14:cost-grows-with-changes"
"$PY" - "$WS" "${AK_CHECKPOINT_FILES:-3000}" <<'PY'
import os, sys
n = int(sys.argv[2])
for d in range(n // 20):
    p = "%s/d%d/e%d" % (sys.argv[1], d % 50, d)
    os.makedirs(p)
    for f in range(20):
        with open("%s/f%d" % (p, f), "w") as o:
            o.write("%d %d\n" % (d, f) * 20)
PY
sleep 0.1
cp_ save --json
is "all are read" "$(js 'd["files_read"]')" "${AK_CHECKPOINT_FILES:-3000}"
sleep 0.1
echo changed >"$WS/d1/e1/f1"
cp_ save --json
is "one is read" "$(js 'd["files_read"]')" 1
is "and kept" "$(js 'd["bytes_new"]')" 8

t "GIT:nothing-planted-runs"
if need git; then
	git init -q "$WS"
	printf '#!/bin/sh\ntouch %s\n' "$DIR/canary" >"$WS/evil"
	chmod +x "$WS/evil"
	for k in core.fsmonitor core.pager core.editor core.sshCommand diff.external filter.x.clean filter.x.smudge; do
		git -C "$WS" config "$k" "$WS/evil"
	done
	git -C "$WS" config core.hooksPath "$WS"
	echo '* filter=x' >"$WS/.gitattributes"
	mkdir "$WS/bin"
	for c in git sh diff cp docker newuidmap; do cp "$WS/evil" "$WS/bin/$c"; done
	(
		cd "$WS" || exit
		export PATH=$WS/bin:$PATH BASH_ENV=$WS/evil ENV=$WS/evil
		id=$("$AK" checkpoint save) && touch x && "$AK" checkpoint diff "$id" && "$AK" checkpoint restore "$id" && "$AK" checkpoint list &&
			"$AK" checkpoint rm "$id"
	) >"$O" 2>"$E" || nok "commands: $(err)"
	no "a planted program ran" test -e "$DIR/canary"
fi

t "text-of-a-diff"
printf 'one\ntwo\n' >"$WS/f"
printf 'x' >"$WS/gone"
ln -s a "$WS/l"
mkdir "$WS/sub"
printf 'a\0b' >"$WS/bin"
save
first=$ID
printf 'one\nTWO\n' >"$WS/f"
rm "$WS/gone"
ln -sfn b "$WS/l"
printf 'a\0c' >"$WS/bin"
echo e >"$WS/sub/.envrc"
chmod 700 "$WS/sub"
cp_ diff
is "diff" "$RC" 0
is "no complaint" "$(err)" ""
like "text" "$(out)" $'\n-two\n\\+TWO\n'
like "deleted" "$(out)" $'--- a/gone\t[^\n]*\n'
like "links" "$(out)" $'old symbolic link: l -> a\nnew symbolic link: l -> b'
like "mode" "$(out)" "mode 0755 -> 0700: sub"
like "protected" "$(out)" "\[protected\] added: sub/.envrc"
like "binary" "$(out)" "Binary files a/bin and b/bin differ"
save
echo 3 >"$WS/f"
cp_ diff "$first" "$ID"
like "of two" "$(out)" $'\n-two\n\\+TWO\n'
cp_ diff "$ID" "$ID"
is "no difference" "$RC$(out)" 0
cp_ diff --json --stat
is "one of them" "$RC" 2
is "nothing of it is left" "$(find "$XDG_STATE_HOME/ak/checkpoints" -name diff)" ""

t "restore-of-one-path"
mkdir -p "$WS/a/b"
echo 1 >"$WS/a/b/f"
echo 1 >"$WS/g"
save
echo 2 >"$WS/a/b/f"
echo 2 >"$WS/g"
touch "$WS/a/new"
cp_ restore "$ID" a/b/f
is "that one" "$(cat "$WS/a/b/f")" 1
is "no other" "$(cat "$WS/g")" 2
ok "nor beside it" test -e "$WS/a/new"
rm -r "$WS/a"
cp_ restore "$ID" "$WS/a/b"
is "with its folders" "$(cat "$WS/a/b/f")" 1
cp_ restore "$ID" no/such
is "a slip" "$RC" 1
like "named" "$(err)" 'no/such.*neither'
cp_ restore "$ID" ../x
like "outside" "$(err)" "no path in the workspace"

t "links-are-not-followed"
mkdir "$WS/d" "$DIR/elsewhere"
echo 1 >"$WS/d/f"
save
rm -r "$WS/d"
ln -s "$DIR/elsewhere" "$WS/d"
echo outside >"$DIR/elsewhere/f"
cp_ restore "$ID"
is "restore" "$RC" 0
ok "a folder again" test ! -L "$WS/d"
is "outside" "$(cat "$DIR/elsewhere/f")" outside
is "and alone" "$(find "$DIR/elsewhere" -mindepth 1 | wc -l)" 1
rm -r "$DIR/elsewhere"

t "workspaces-that-are-refused-or-work"
for w in / /usr /proc/self; do
	run "$AK" checkpoint save -C "$w"
	is "$w" "$RC" 1
	like "$w" "$(err)" "^ak: "
done
for h in "$HOME" "$(dirname "$STATE")"; do
	run "$AK" checkpoint save -C "$h"
	is "$h: holds a folder of ak's own" "$RC" 1
	like "$h: named, and the way out" "$(err)" "contains ak's own folder .*XDG_(STATE|CONFIG)_HOME"
done
ln -s "$WS" "$DIR/link"
run "$AK" checkpoint save -C "$DIR/link"
is "a link in a folder that a sandbox may have written" "$RC" 1
like "the way out" "$(err)" "symbolic link.*$WS"
rm "$DIR/link"
run "$AK" checkpoint save -C "$DIR/none"
is "missing" "$RC" 1
mkdir "$DIR/other"
run "$AK" checkpoint list -C "$DIR/other"
is "none yet" "$RC$(out)" 0
run "$AK" checkpoint diff -C "$DIR/other"
like "none yet" "$(err)" "no checkpoint of"

t "bad-command-lines"
for a in "" "frobnicate" "save x" "save --frob" "save -m" "list x" "restore" "rm" "diff a b c" "list -m x" "save -C"; do
	# shellcheck disable=SC2086
	run "$AK" checkpoint $a
	is "$a" "$RC" 2
	is "$a: lines" "$(wc -l <"$E")" 1
	like "$a" "$(err)" "^ak: checkpoint: "
done
save
for id in k-000000 ../x k-1 "$ID/x"; do
	cp_ restore "$id"
	is "$id" "$RC" 1
	like "$id" "$(err)" "$id.*ak checkpoint list"
done

t "damaged-checkpoint"
save
f=$(echo "$STATE"/ak/checkpoints/*/"$ID")
truncate -s 100 "$f"
cp_ restore "$ID"
is "refused" "$RC" 1
like "named" "$(err)" "$ID is damaged"
cp_ list
like "shown" "$(out)" "$ID +damaged"
cp_ rm "$ID"
is "removed" "$RC" 0

t "killed-restore-goes-on"
for i in {1..60}; do echo "$i" >"$WS/f$i"; done
save
killed=0
for ((i = 0; i < 6 || (killed == 0 && i < 60); i++)); do
	# something to do each time
	rm -rf "${WS:?}"/*
	mkdir "$WS"/d{1..40}
	for d in "$WS"/d*; do echo x >"$d/x"; done
	"$AK" checkpoint restore -C "$WS" "$ID" >/dev/null 2>&1 &
	pid=$!
	sleep "0.0$((RANDOM % 2))$((RANDOM % 10))"
	kill -9 "$pid" 2>/dev/null && killed=$((killed + 1))
	wait "$pid" 2>/dev/null
done
[ "$killed" -gt 0 ] || nok "nothing was killed"
cp_ restore "$ID"
is "again" "$RC" 0
is "files" "$(find "$WS" -mindepth 1 | wc -l)" 60
is "bytes" "$(cat "$WS/f7")" 7
is "no journal" "$(find "$STATE" -name journal | wc -l)" 0

t "full-disk"
mkdir -p "$DIR/small"
if [ "$WHO" != root ] || ! mount -t tmpfs -o size=1m none "$DIR/small"; then
	skip "only root makes a small disk"
else
	echo kept >"$WS/a"
	run env XDG_STATE_HOME="$DIR/small" "$AK" checkpoint save -C "$WS"
	ID=$(out)
	head -c 3000000 /dev/urandom >"$WS/big"
	run env XDG_STATE_HOME="$DIR/small" "$AK" checkpoint save -C "$WS"
	is "refused" "$RC" 1
	like "named" "$(err)" 'keep "big": No space left.*ENOSPC.*XDG_STATE_HOME'
	is "nothing is left" "$(find "$DIR/small" -name 'tmp-*' | wc -l)" 0
	run env XDG_STATE_HOME="$DIR/small" "$AK" checkpoint restore -C "$WS" "$ID"
	is "no restore without the state before" "$RC" 1
	ok "nothing is lost" test -e "$WS/big"
	rm "$WS/big"
	echo other >"$WS/a"
	run env XDG_STATE_HOME="$DIR/small" "$AK" checkpoint restore -C "$WS" "$ID"
	is "the old one still works" "$(cat "$WS/a")" kept
	umount "$DIR/small"
fi

t "workspace-on-a-full-disk"
if [ "$WHO" != root ] || ! mount -t tmpfs -o size=2m none "$DIR/small"; then
	skip "only root makes a small disk"
else
	mkdir "$DIR/small/ws"
	head -c 900000 /dev/urandom >"$DIR/small/ws/a"
	sha256sum <"$DIR/small/ws/a" >"$DIR/before"
	run "$AK" checkpoint save -C "$DIR/small/ws"
	ID=$(out)
	echo changed >"$DIR/small/ws/a"
	head -c 1900000 /dev/urandom >"$DIR/small/fill"
	run "$AK" checkpoint restore -C "$DIR/small/ws" "$ID"
	is "refused" "$RC" 1
	like "named" "$(err)" 'make "a": No space left.*same command again'
	is "the old bytes stay" "$(cat "$DIR/small/ws/a")" changed
	is "alone" "$(find "$DIR/small/ws" -mindepth 1 | wc -l)" 1
	rm "$DIR/small/fill"
	run "$AK" checkpoint restore -C "$DIR/small/ws" "$ID"
	is "again" "$(sha256sum <"$DIR/small/ws/a")" "$(cat "$DIR/before")"
	umount "$DIR/small"
fi

t "workspace-on-overlay"
if [ "$WHO" != root ] || ! mount -t tmpfs none "$DIR/small"; then
	skip "only root mounts an overlay"
else
	mkdir "$DIR/small"/{l,u,w,m}
	echo low >"$DIR/small/l/f"
	mkdir "$DIR/small/l/d"
	if mount -t overlay -o "lowerdir=$DIR/small/l,upperdir=$DIR/small/u,workdir=$DIR/small/w" none "$DIR/small/m" 2>/dev/null; then
		run "$AK" checkpoint save -C "$DIR/small/m"
		ID=$(out)
		rm "$DIR/small/m/f"
		mv "$DIR/small/m/d" "$DIR/small/m/e" 2>/dev/null || rmdir "$DIR/small/m/d"
		run "$AK" checkpoint restore -C "$DIR/small/m" "$ID"
		is "restore" "$RC" 0
		is "file" "$(cat "$DIR/small/m/f")" low
		is "folders" "$(find "$DIR/small/m" -mindepth 1 -type d | wc -l)" 1
		umount "$DIR/small/m"
	else
		skip "no overlay here"
	fi
	umount "$DIR/small"
fi

t "what-is-mounted-inside-stays"
if [ "$WHO" != root ] || ! mkdir "$WS/m" || ! mount -t tmpfs none "$WS/m"; then
	skip "only root mounts"
else
	echo x >"$WS/m/f"
	save
	like "told" "$(err)" "not kept whole: m: another file system"
	touch "$WS/y"
	cp_ restore "$ID"
	is "restore" "$RC" 0
	is "stays" "$(cat "$WS/m/f")" x
	no "the rest is restored" test -e "$WS/y"
	umount "$WS/m"
fi

t "random-rounds-with-kills"
mkdir -p "$DIR/rounds"
LIMIT=3000 run "$PY" "$TESTS/checkpoint_rounds.py" "$AK" "$DIR/rounds" "${AK_CHECKPOINT_ROUNDS:-12}" "${AK_CHECKPOINT_SEED:-$RANDOM}"
like "rounds" "$(out)" "^OK "

done_suite
