# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Limits with a real cgroup v2 tree; the same for every caller (WHO): root, an ordinary user in a delegated subtree, an
# ordinary user in a systemd session. A folder OUTER, where the caller has one, is a group that it may limit and use.
# shellcheck source=tests/vm/guest/lib.sh
. /job/lib.sh

: "${BOMBS:=20}" "${PARALLEL:=12}"
# the whole number of each kind for root; the others show that it is the same for them
[ "$WHO" = root ] || BOMBS=$(((BOMBS + 3) / 4)) PARALLEL=$(((PARALLEL + 1) / 2))
as_is() { run "$AK" exec -C "$WS" --json "$@"; }
behind() { back "$AK" exec -C "$WS" --json "$@"; }

# --- memory ---
t "RES-03+79:out-of-memory"
(cd "$WS" && "$AK" exec --json -m 64m -- "$T" mem 8m 4 >"$DIR/sibling" 2>"$DIR/sibling.err") &
as_is -m 64m -- "$T" mem 1g
is "exit code" "$RC" 137
is "status" "$(js status)" oom_killed
is "exit_code" "$(js exit_code)" 137
is "memory.hit" "$(js limits memory hit)" true
is "memory.value" "$(js limits memory value)" 67108864
is "memory.enforced_by" "$(js limits memory enforced_by)" cgroup
is "pids.hit" "$(js limits pids hit)" false
between "peak" "$(js usage memory_peak_bytes)" 60000000 67108864
wait $!
is "sibling" "$("$T" js "$DIR/sibling" status)" exited
is "sibling's memory" "$("$T" js "$DIR/sibling" limits memory hit)" false
between "sibling's peak" "$("$T" js "$DIR/sibling" usage memory_peak_bytes)" 8000000 40000000

t "79:the-whole-tree-dies-of-one"
as_is -m 64m -- sh -c "$T mem 1g; touch survived; sleep 1"
is "status" "$(js status)" oom_killed
no "the shell went on" test -e "$WS/survived"

t "EXIT:137-without-a-limit"
as_is -m 64m -- sh -c 'exit 137'
is "exit code" "$RC" 137
is "status" "$(js status)" exited
is "memory.hit" "$(js limits memory hit)" false

t "EXIT:killed-by-itself"
as_is -m 64m -- sh -c 'kill -9 $$'
is "exit code" "$RC" 137
is "status" "$(js status)" signaled
is "memory.hit" "$(js limits memory hit)" false

# the group of the run and its limits are there; beside it: a scope of the user manager, and where ak moves to
limited() {
	leaf=$(groups | grep -v "scope\$\|aside\$" | head -n 1)
	[ -n "$leaf" ] && [ "$(cat "$leaf/cgroup.procs")" ]
}
t "RES-03:no-swap"
rm -f "$WS/looked"
behind -m 64m -- sh -c 'until [ -e looked ]; do sleep 0.1; done'
wait_for limited
is "memory.swap.max" "$(cat "$leaf/memory.swap.max")" 0
is "memory.max" "$(cat "$leaf/memory.max")" 67108864
is "memory.oom.group" "$(cat "$leaf/memory.oom.group")" 1
ok "memory.high is lower" test "$(cat "$leaf/memory.high")" -lt 67108864
is "pids.max" "$(cat "$leaf/pids.max")" 257
is "cpu.max" "$(cat "$leaf/cpu.max")" "100000 100000"
touch "$WS/looked"
front
is "exit code" "$RC" 0

for place in /tmp /dev/shm; do
	t "RES:files-in-$place-count"
	as_is -m 32m -- "$T" fill "$place/x" 200m
	if [ "$(js status)" = exited ]; then
		like "refused by the size of the file system" "$(js stdout)" "No space left"
		between "peak" "$(js usage memory_peak_bytes)" 4000000 33554432
	else
		is "status" "$(js status)" oom_killed
		is "memory.hit" "$(js limits memory hit)" true
	fi
done

t "RES:memory-that-nobody-has-mapped"
as_is -m 32m -- "$T" memfd 200m
is "status" "$(js status)" oom_killed
is "memory.hit" "$(js limits memory hit)" true

t "RES-13:system-v-segments"
as_is -m 32m -- "$T" sysv 200m
is "status" "$(js status)" oom_killed
is "memory.hit" "$(js limits memory hit)" true

t "RES-11:big-files"
as_is -m 32m -- "$T" fill big 160m
is "status" "$(js status)" exited
is "exit code" "$RC" 0
is "memory.hit" "$(js limits memory hit)" false

t "79:memory-max-lifts-it"
as_is -m max -- "$T" mem 100m
is "exit code" "$RC" 0
is "memory.value" "$(js limits memory value)" null

t "RES:the-smallest-memory-works"
as_is -m 16m -- "$T" mem 4m
is "exit code" "$RC" 0

# --- a limit of somebody else ---
t "79:a-limit-further-up-is-told-apart"
if [ -n "${OUTER:-}" ]; then
	mkdir -p "$OUTER/tight" && echo 40000000 >"$OUTER/tight/memory.max" && echo 0 >"$OUTER/tight/memory.swap.max"
	run env AK_CGROUP="$OUTER/tight" "$AK" exec -C "$WS" --json -m 512m -- "$T" mem 200m
	rmdir "$OUTER/tight"
elif [ "$WHO" = session ]; then
	run systemd-run -q --user --scope -p Delegate=yes -p MemoryMax=40000000 -p MemorySwapMax=0 \
		"$AK" exec -C "$WS" --json -m 512m -- "$T" mem 200m
fi
is "exit code" "$RC" 137
is "memory.hit" "$(js limits memory hit)" false
is "status" "$(js status)" oom_killed
like "whose limit" "$(err)" "outer group.*${OUTER:+tight}"

# --- processes ---
t "RES-01+80:fork-bomb"
behind --pids 50 -- "$T" bomb 3
sleep 1.5
is "others can fork" "$("$T" forkrate 50)" "50 of 50"
front
is "status" "$(js status)" exited
is "pids.hit" "$(js limits pids hit)" true
is "pids.enforced_by" "$(js limits pids enforced_by)" cgroup
is "pids.value" "$(js limits pids value)" 50
between "peak" "$(js usage pids_peak)" 49 51
nothing_left

t "80:exactly-so-many-processes"
as_is --pids 50 -- "$T" forks 80
# the tool itself is one of them
like "forks" "$(js stdout)" "forked 49: Resource temporarily unavailable"
is "hit" "$(js limits pids hit)" true
as_is --pids 50 -- "$T" forks 20
like "forks" "$(js stdout)" "forked 20: all"
is "hit" "$(js limits pids hit)" false

t "RES-01:bombs-in-a-row"
for ((i = 0; i < BOMBS; i++)); do
	"$AK" exec -q -C "$WS" --pids 40 -- "$T" bomb 0.3 >"$O" 2>"$E" || nok "bomb $i: exit $?"
	no_procs || nok "bomb $i left $(procs) processes"
done
nothing_left

# --- processor time ---
t "RES-09+81:half-a-processor"
# a machine that has not that much to give (a busy host) shows only that it is not more
low=45
for ((i = 0; i < 4; i++)); do
	[ "$("$T" spin 4 1 | tr -dc 0-9)" -lt 120 ] || break
done
[ $i -lt 4 ] || low=1
as_is --cpus 0.5 -- "$T" spin 4 5
between "percent of a processor, seen by the program" "$(js stdout | tr -dc 0-9)" $low 55
used=$(($(js usage cpu_user_ms | cut -d. -f1) + $(js usage cpu_system_ms | cut -d. -f1)))
ms=$(js duration_ms | cut -d. -f1)
# the time before the command is bound, too, but mostly spent in waiting
between "percent of a processor, as reported" $((used * 100 / ms)) $low 1000
between "percent of a processor, with the start" $((used * 100 / (ms + $(js setup_ms | cut -d. -f1)))) 1 55
[ $low = 45 ] || echo "note: $WHO: the machine is too busy for the lower bound of half a processor"
is "cpus.hit" "$(js limits cpus hit)" true
is "cpus.enforced_by" "$(js limits cpus enforced_by)" cgroup

t "22:processor-time-of-the-tree"
as_is --cpus max --cpu-time 2s -- "$T" spinproc 4 30
is "status" "$(js status)" cpu_time_exceeded
used=$(($(js usage cpu_user_ms | cut -d. -f1) + $(js usage cpu_system_ms | cut -d. -f1)))
between "milliseconds in all" "$used" 1950 2600
nothing_left

# --- ends ---
t "CG-05:killed-at-any-moment"
for ((i = 0; i < PARALLEL; i++)); do
	"$AK" exec -q -C "$WS" --pids 40 -- "$T" forks 3 20 >"$O" 2>"$E" &
	sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
	kill -9 $! && wait $!
done 2>/dev/null
wait_for no_procs || nok "$(procs) processes are left"
# what a killed run could not remove goes with the next one
as_is --pids 40 -- true
is "next run" "$RC" 0
nothing_left

t "17:stopped-processes-and-other-sessions-die"
as_is --timeout 2 --kill-after 1s -- sh -c "setsid $T forks 5 40 & $T forks 5 40 & sleep 0.5; kill -STOP -1; sleep 60"
is "exit code" "$RC" 124
is "status" "$(js status)" timed_out
nothing_left

t "CG-07:side-by-side"
for ((i = 0; i < PARALLEL; i++)); do
	use=$((i == 3 ? 300 : 4))m
	(cd "$WS" && exec "$AK" exec --json -m 64m -- "$T" mem $use 1 >"$DIR/p$i" 2>"$DIR/e$i") &
done
wait
for ((i = 0; i < PARALLEL; i++)); do
	want=exited
	[ $i != 3 ] || want=oom_killed
	is "run $i" "$("$T" js "$DIR/p$i" status)" $want
	[ $i = 3 ] || between "peak of run $i" "$("$T" js "$DIR/p$i" usage memory_peak_bytes)" 4000000 40000000
done
nothing_left

t "CG-08:without-cgroup.kill"
run env AK_WEAKEN=cgkill "$AKW" exec -C "$WS" --json --pids 60 --timeout 1 --kill-after 1s -- "$T" bomb 60
is "exit code" "$RC" 124
nothing_left

t "control:a-sandbox-outside-its-group"
run env AK_WEAKEN=cgroup "$AKW" exec -C "$WS" --json -m 32m -- "$T" memfd 100m
unlike "status" "$(js status)" oom_killed
nothing_left

# --- what is seen inside ---
t "82:no-control-files-inside"
as_is -- sh -c 'cat /proc/self/cgroup; ls -A /sys/fs/cgroup 2>&1 | head -n 3; echo 1 >/sys/fs/cgroup/pids.max'
like "own group" "$(js stdout)" '^0::/\\n'
unlike "files" "$(js stdout)" 'cgroup\.procs|pids\.max'
no_groups || nok "left: $(groups | head -n 3)"

t "78:born-in-its-group"
"$AK" exec -q -C "$WS" --pids 40 -- "$T" forks 1 3 >"$O" 2>"$E" &
wait_for test -s "$O"
for p in /proc/[0-9]*; do
	read -r c <"$p/comm" && [ "$c" = vmtool ] && like "group of a process inside" "$(cat "$p/cgroup")" '/ak-[0-9a-z-]+'
done 2>/dev/null
wait $!

t "CG:no-message-with-limits-in-force"
run "$AK" exec -C "$WS" -m 64m --pids 20 --cpus 0.5 -- true
is "exit code" "$RC" 0
is "stderr" "$(err)" ""

t "CG:bad-values"
for bad in "-m 0" "-m -1" "-m 1" "-m 99999999999g" "--pids 0" "--pids -3" "--cpus 0" "--cpus -1" "--cpus 1000000000" "--cpu-time 0"; do
	# shellcheck disable=SC2086
	run "$AK" exec -C "$WS" $bad -- touch MARK
	is "$bad" "$RC" 125
	like "$bad" "$(err)" "^ak: .*${bad%% *}|^ak: .*--memory"
	no "$bad ran" test -e "$WS/MARK"
done

t "CG:nothing-is-left-of-all-this"
nothing_left
end_suite
