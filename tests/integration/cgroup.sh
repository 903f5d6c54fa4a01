# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# A sandbox's cgroup: born inside, killed by it, gone afterwards, whatever the place; places that cannot be used are refused.
# Works in CG, a group that the runner has made for this pass and put us below (CG/shell). The limits themselves need
# controllers that a hybrid host does not give to cgroup v2: what is held by them is shown in the machine of tests/vm.
. "$TESTS/lib.sh"

if [ -z "${CG:-}" ] || [ -z "$PY" ]; then
	_record SKIP cgroup "no cgroup v2 that the runner may use (needs root), or no python3"
	done_suite
	exit 0
fi

# in_cg ARG... - one sandbox with its group in CG
in_cg() {
	run env AK_CGROUP="$CG" "$AK" exec -C "$WS" "$@"
}

# weak_cg NAMES ARG... - the same with protections taken away
weak_cg() {
	local names=$1
	shift
	run env AK_CGROUP="$CG" AK_WEAKEN="$names" "$AKW" exec -C "$WS" "$@"
}

# leaves - the groups of sandboxes there are now, one a line
leaves() {
	find "$CG" -mindepth 1 -maxdepth 1 -type d -name 'ak-[0-9]*'
}

no_leaf() {
	[ -z "$(leaves)" ]
}

one_leaf() {
	[ "$(leaves | wc -l)" = 1 ]
}

# clean TEXT - no group is left; checked at once: ak removes it before it ends
clean() {
	is "groups left $1" "$(leaves | wc -l)" 0
}

# fresh NAME - an empty group below CG that is not one of ak's
fresh() {
	mkdir "$CG/$1"
}

t "78:born-in-its-group"
env AK_CGROUP="$CG" "$AK" exec -C "$WS" -- sh -c 'echo up >up; exec sleep 30' &
pid=$!
await "$WS/up" || nok "did not start"
leaf=$(leaves)
is "groups" "$(leaves | wc -l)" 1
is "init and the command are in it" "$(wc -l <"$leaf/cgroup.procs")" 2
for p in $(cat "$leaf/cgroup.procs"); do
	no "$p is in our group" grep -qx "$p" "$CG/shell/cgroup.procs"
done
is "ak itself is not" "$(grep -cx "$pid" "$leaf/cgroup.procs")" 0
kill -TERM $pid
wait $pid 2>/dev/null
clean "after SIGTERM"

t "78:born-there-not-moved"
# the first thing the command does is to fork; none of them is ever seen in ak's own group
env AK_CGROUP="$CG" "$AK" exec -C "$WS" -- sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 2 & done; wait' &
pid=$!
seen=
for _ in $(seq 400); do
	for p in $(cat "$CG/shell/cgroup.procs"); do
		read -r c <"/proc/$p/comm" 2>/dev/null || continue
		[ "$c" = ak-init ] && seen="$seen $p"
	done
done 2>/dev/null
is "init in ak's own group" "$seen" ""
wait $pid

t "control:78-noticed-without-cgroup"
if [ -x "$AKW" ]; then
	env AK_CGROUP="$CG" AK_WEAKEN=cgroup "$AKW" exec -C "$WS" -- sh -c 'echo up >up; exec sleep 30' &
	pid=$!
	await "$WS/up"
	is "processes in the group" "$(wc -l <"$(leaves)/cgroup.procs")" 0
	kill -TERM $pid
	wait $pid 2>/dev/null
	clean "after the control"
else
	skip "no weak build"
fi

t "82:own-group-is-the-root-inside"
in_cg -- grep ^0:: /proc/self/cgroup
is "path inside" "$(out)" "0::/"
in_cg -- sh -c 'ls /sys/fs/cgroup; find / -xdev -name "cgroup.procs" 2>/dev/null | head -n 1'
is "no cgroup file system" "$(out)" ""
in_cg -- sh -c 'mount -t cgroup2 none /tmp'
[ "$RC" != 0 ] || nok "cgroup2 could be mounted"

t "CG-05:nothing-left"
n=20
[ "$WHO" = root ] || n=40
for ((i = 0; i < n; i++)); do in_cg -- true; done
clean "after $n runs"
in_cg -- sh -c 'exit 3'
is "code" "$RC" 3
clean "after exit 3"
in_cg -- nope
is "code" "$RC" 127
clean "after a command that is not found"
in_cg --timeout 0.3 -- sh -c '(setsid sleep 97531'"$TAG"' & setsid sh -c "sleep 97531'"$TAG"'" &) ; sleep 97531'"$TAG"
is "code" "$RC" 124
clean "after a timeout"
gone 97531"$TAG" || nok "a process is left"
in_cg --rw /nope:/x -- true
is "code" "$RC" 125
clean "after a refusal"
env AK_CGROUP="$CG" "$AK" exec -C "$WS" -- yes 2>/dev/null | head -n 1 >/dev/null
clean "after the reader went away"

t "CG-05:killed-ak"
for i in 1 2 3 4 5; do
	env AK_CGROUP="$CG" "$AK" exec -C "$WS" -- sh -c "echo up >up; exec sleep 97532$TAG" &
	pid=$!
	await "$WS/up"
	rm -f "$WS/up"
	kill -9 $pid
	wait $pid 2>/dev/null
done
gone 97532"$TAG" || nok "a process is left"
if [ "$WHO" = root ]; then
	# the keeper needs no later run
	wait_for no_leaf || nok "the keeper left $(leaves | wc -l) groups"
else
	is "groups of killed runs" "$(leaves | wc -l)" 1
	in_cg -- true
fi
clean "after a later run"
_no_keeper() {
	! pgrep -x ak-keeper -s 0
}
ok "keepers left" wait_for _no_keeper

t "CG-05:only-leftovers-are-swept"
mkdir "$CG/ak-tests" "$CG/ak-1-0123456789ab" "$CG/ak-2-0123456789ab"
flock "$CG/ak-1-0123456789ab" sleep 20 &
locker=$!
wait_for sh -c "! flock -n '$CG/ak-1-0123456789ab' true"
in_cg -- true
is code "$RC" 0
ok "a group of another name stays" test -d "$CG/ak-tests"
ok "a group in use stays" test -d "$CG/ak-1-0123456789ab"
no "a leftover goes" test -d "$CG/ak-2-0123456789ab"
kill $locker $(pgrep -P $locker) 2>/dev/null
wait $locker 2>/dev/null
wait_for flock -n "$CG/ak-1-0123456789ab" true
in_cg -- true
no "unlocked it goes too" test -d "$CG/ak-1-0123456789ab"
rmdir "$CG/ak-tests"

t "CG-07:many-at-once"
for i in $(seq 50); do
	(
		rc=0
		mkdir "$WS/$i"
		env AK_CGROUP="$CG" "$AK" exec -C "$WS/$i" --report "$WS/$i.json" -- sh -c "[ $i != 7 ] || kill -9 \$\$; exit $i" 2>>"$E" || rc=$?
		echo "$i $rc" >"$WS/$i.rc"
	) &
done
wait $(jobs -p)
for i in $(seq 50); do
	want=$i
	[ "$i" != 7 ] || want=137
	is "run $i" "$(cat "$WS/$i.rc" 2>/dev/null)" "$i $want"
done
clean "after 50 at once"

t "CG-08:without-cgroup.kill"
if [ -x "$AKW" ]; then
	weak_cg cgkill --pids 200 --timeout 1 -- /usr/bin/python3 -c 'import os
while True:
    try:
        if os.fork() == 0: os.execv("/usr/bin/sleep", ["sleep", "97533'"$TAG"'"])
    except OSError: pass'
	is code "$RC" 124
	gone 97533"$TAG" || nok "a process is left"
	clean "after the loop"
else
	skip "no weak build"
fi

t "17:frozen-tree-ends"
env AK_CGROUP="$CG" "$AK" exec -C "$WS" --timeout 6 --kill-after 0.2 -- sh -c "echo up >up; exec sleep 97534$TAG" &
pid=$!
await "$WS/up"
echo 1 >"$(leaves)/cgroup.freeze" || nok "cannot freeze"
RC=0
wait $pid || RC=$?
is code "$RC" 124
gone 97534"$TAG" || nok "a process is left"
clean "after a frozen tree"

t "22:processor-time-of-the-group"
# children that nobody waits for: the kernel gives their time to no process, but to the group
burn='import os,signal,time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for i in range(2):
    if os.fork() == 0:
        e = time.process_time() + 0.6
        while time.process_time() < e: pass
        os._exit(0)
try:
    while True: os.wait()
except OSError: pass'
in_cg --json -- /usr/bin/python3 -c "$burn"
[ "$(js 'int(d["usage"]["cpu_user_ms"] + d["usage"]["cpu_system_ms"] >= 1150)')" = 1 ] || nok "usage: $(js 'd["usage"]')"
in_cg --json --cpu-time 0.5 -- /usr/bin/python3 -c "$burn"
is status "$(js 'd["status"]')" cpu_time_exceeded
is hit "$(js 'd["limits"]["cpu_time"]["hit"]')" true
is "nothing is said about sampling" "$(js '[w for w in d["warnings"] if "summed by sampling" in w]')" "[]"
# without a group it is known from samples only, and the result says so
run env AK_CGROUP=none "$AK" exec -C "$WS" --json --cpu-time 9 -- /usr/bin/python3 -c "$burn"
is "sampling is said" "$(js 'len([w for w in d["warnings"] if "summed by sampling" in w])')" 1

t "CG:limits-of-its-controllers"
in_cg --json -m 64m --pids 20 -- true
have=$(cat "$CG/cgroup.controllers")
for pair in memory:memory pids:pids cpu:cpus; do
	by=$(js 'd["limits"]["'"${pair#*:}"'"]["enforced_by"]')
	if [[ " $have " == *" ${pair%:*} "* ]]; then
		is "${pair#*:}" "$by" cgroup
	else
		unlike "${pair#*:} without a controller" "$by" cgroup
	fi
done
[[ " $have " == *" cpu "* ]] || {
	in_cg --cpus 0.5 -- touch MARK
	refused 125 "--cpus 0.500: .*cpu controller.*$CG"
	clean "after a refused limit"
}

t "CG-01:places-that-cannot-be-used"
fresh busy
sleep 60 &
sleeper=$!
echo $sleeper >"$CG/busy/cgroup.procs"
fresh frozen
echo 1 >"$CG/frozen/cgroup.freeze"
fresh threads
fresh threads/in
echo threaded >"$CG/threads/in/cgroup.type"
fresh closed
touch "$WS/file"
try_place() { # PATH MESSAGE
	run env AK_CGROUP="$1" "$AK" exec -C "$WS" -- touch MARK
	refused 125 "AK_CGROUP[:=].*$2"
}
try_place "$CG/busy" "busy.*not empty"
try_place "$CG/frozen" "frozen.*frozen"
try_place "$CG/threads" "threads.*cgroup.type is .domain threaded"
try_place "$CG/threads/in" "in cannot.*cgroup.type is .threaded"
try_place "$CG/nope" "nope.*No such file"
try_place "$WS" "not in a cgroup v2"
try_place "$WS/file" "Not a directory"
try_place ak "ak is not the absolute path"
v1=$(find /sys/fs/cgroup -maxdepth 1 -type d -name 'pids')
[ -z "$v1" ] || try_place "$v1" "cgroup v1"
if [ "$WHO" = user ]; then
	chmod 555 "$CG/closed"
	try_place "$CG/closed" "no permission"
	top=${CG%/ak-it-*}
	try_place "$top" "no permission"
fi
kill $sleeper
wait $sleeper 2>/dev/null
for g in busy frozen threads/in threads closed; do rmdir "$CG/$g" || nok "$g stays"; done

t "CG-01:edge-of-the-delegated-tree"
if [ "$WHO" = user ]; then
	# ours to write, but the group above it and ours is not: nobody may be born across that edge
	ok "made by the runner" test -w "$CG/../user-apart"
	run env AK_CGROUP="$CG/../user-apart" "$AK" exec -C "$WS" -- touch MARK
	refused 125 "user-apart.*Permission denied.*run ak inside the delegated subtree"
	is "groups left there" "$(find "$CG/../user-apart" -mindepth 1 -type d | wc -l)" 0
else
	skip "root may cross every edge"
fi

t "CG:none"
run env AK_CGROUP=none "$AK" exec -C "$WS" --json -- true
is code "$RC" 0
like "the warnings say why" "$(js 'd["warnings"]')" "AK_CGROUP=none"
run env AK_CGROUP= "$AK" exec -C "$WS" -- true
is "an empty value is none given" "$RC" 0

t "CG:explain-changes-nothing"
before=$(stat -c %h "$CG")
run env AK_CGROUP="$CG" strace -f -e trace=mkdir,mkdirat -o "$DIR/trace" "$AK" exec -C "$WS" --explain -- true
if command -v strace >/dev/null; then
	is "folders made" "$(grep -c 'mkdir.*ak-' "$DIR/trace")" 0
fi
is "groups" "$(stat -c %h "$CG")" "$before"

t "CG:keeper"
if [ "$WHO" = root ]; then
	env AK_CGROUP="$CG" "$AK" exec -C "$WS" -- sh -c 'echo up >up; exec sleep 30' &
	pid=$!
	await "$WS/up"
	keeper=$(pgrep -x ak-keeper -P $pid)
	like "a keeper" "$keeper" '^[0-9]+$'
	is "its filter" "$(awk '/^Seccomp:/ {print $2}' "/proc/$keeper/status")" 2
	is "its no_new_privs" "$(awk '/^NoNewPrivs:/ {print $2}' "/proc/$keeper/status")" 1
	is "its descriptors" "$(find "/proc/$keeper/fd" -type l | wc -l)" 3
	is "SIGHUP, SIGINT, SIGQUIT and SIGTERM are blocked" "$((0x$(awk '/^SigBlk:/ {print $2}' "/proc/$keeper/status") & 0x4007))" $((0x4007))
	is "ak is not root" "$(awk '/^Uid:/ {print ($2 > 1000000)}' "/proc/$pid/status")" 1
	kill -TERM $pid
	wait $pid 2>/dev/null
	ok "the keeper has ended" wait_for test ! -d "/proc/$keeper"
	clean "after the keeper"
	for o in "--identity root" ""; do
		# shellcheck disable=SC2086
		in_cg $o -- sh -c 'grep ^0:: /proc/self/cgroup'
		is "inside, with '$o'" "$(out)" "0::/"
		clean "with '$o'"
	done
else
	env AK_CGROUP="$CG" "$AK" exec -C "$WS" -- sleep 2 &
	pid=$!
	wait_for one_leaf
	is "rootless there is none" "$(pgrep -x ak-keeper -P $pid)" ""
	wait $pid
fi

t "CG:doctor"
run env AK_CGROUP="$CG" "$AK" doctor --json
like "the place was tried" "$(js '[c["detail"] for c in d["checks"] if c["name"]=="cgroup-given"][0]')" "$CG: a group was made, entered and removed"
clean "after the doctor"
run env -u AK_CGROUP "$AK" doctor --json
is "a row for the whole" "$(js 'len([c for c in d["checks"] if c["name"]=="cgroup"])')" 1
if [ ! -e /sys/fs/cgroup/cgroup.controllers ] && [ -e /sys/fs/cgroup/unified ]; then
	like "hybrid hosts are called so" "$(js '[c["detail"] for c in d["checks"] if c["name"]=="cgroup"][0]')" "hybrid host"
fi
run env AK_CGROUP="$WS" "$AK" doctor --json
like "what was given and is none" "$(js '[c["detail"] for c in d["checks"] if c["name"]=="cgroup-given"][0]')" "not in a cgroup v2"

done_suite
