# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Time, signals to ak itself, and limits: what ends a run, and that nothing outlives it.
. "$TESTS/lib.sh"

now() { date +%s%N; }

t "17+22:timeout"
m=99.1$RANDOM$$
a=$(now)
ak --timeout 1 -- sleep "$m"
b=$(now)
is code "$RC" 124
ok "not when the command would have ended: $(((b - a) / 1000000)) ms" test $((b - a)) -lt 30000000000
ok "left: $(alive "sleep $m")" gone "sleep $m"

t "17:timeout-whole-tree"
m=99.2$RANDOM$$
ak --timeout 1 -- sh -c "setsid sh -c 'trap \"\" TERM HUP INT; sleep $m' & (sleep $m &) ; sleep $m"
is code "$RC" 124
ok "left: $(alive "sleep $m")" gone "sleep $m"

t "TMO-01:child-holds-stdout"
ak --timeout 2 --json -- sh -c 'mkfifo /tmp/p; (while :; do echo t; sleep 1; done) >/tmp/p & cat /tmp/p'
is code "$RC" 124
is status "$(js 'd["status"], d["limits"]["timeout"]["hit"]')" "('timed_out', True)"
like "output so far" "$(js 'd["stdout"]')" '^t'

t "TMO-06:partial-output"
ak --timeout 2 --json -- sh -c 'printf "Password: "; sleep 60'
is output "$(js 'd["stdout"]')" "Password: "
is code "$(js 'd["exit_code"]')" 124

t "SIG-09:stopped-command"
ak --timeout 1 -- sh -c 'kill -STOP $$'
is code "$RC" 124

t "TMO:term-first"
ak --timeout 2 -- sh -c 'trap "echo bye; exit 5" TERM; while :; do sleep 0.1; done'
is code "$RC" 124
is output "$(out)" bye

t "TMO:kill-after"
# counted by the command, so that a busy machine cannot count too many: 2 s, the default, would be some 19
ak --timeout 2 --kill-after 300ms -- sh -c 'trap "t=1" TERM; n=0; while :; do sleep 0.1; [ -z "$t" ] || { n=$((n+1)); echo $n >n; }; done'
is code "$RC" 124
ok "after $(cat "$WS/n" 2>&1) tenths" test "$(cat "$WS/n" 2>/dev/null || echo 0)" -le 10

for v in 0.5 500ms; do
	t "CLI-11:timeout-$v"
	a=$(now)
	ak --timeout $v -- sleep 99
	b=$(now)
	is code "$RC" 124
	ok "not at once" test $((b - a)) -gt 450000000
done

t "TMO:not-reached"
ak --timeout 30 -- sh -c 'exit 6'
is code "$RC" 6

# signal NAME CODE - ak gets the signal while its command runs
signal() {
	local m=98.$RANDOM$$ pid
	"$AK" exec -C "$WS" -- sh -c "trap 'echo bye' TERM INT HUP; echo up >up; sleep $m & wait; wait" >"$O" 2>"$E" </dev/null &
	pid=$!
	await "$WS/up"
	kill -"$1" "$pid"
	RC=0
	wait "$pid" || RC=$?
	is code "$RC" "$2"
	like "command could clean up" "$(out)" bye
	ok "left: $(alive "sleep $m")" gone "sleep $m"
}

for s in TERM:143 HUP:129; do
	t "SIG-05:${s%:*}-to-ak"
	signal "${s%:*}" "${s#*:}"
done

t "SIG-05:INT-to-ak"
# a shell starts background commands with SIGINT ignored; python does not
if [ -z "$PY" ]; then skip "no python3"; else
	run "$PY" -c 'import os,signal,subprocess,sys,time
signal.signal(signal.SIGINT, signal.default_int_handler)
p=subprocess.Popen([sys.argv[1],"exec","-C",sys.argv[2],"--","sh","-c","echo up >up; sleep 88"])
for i in range(1500):
    if os.path.exists(sys.argv[2]+"/up"): break
    time.sleep(0.02)
p.send_signal(signal.SIGINT); print(p.wait(30))' "$AK" "$WS"
	is code "$(out)" 130
fi

t "SIG-05:json-on-TERM"
"$AK" exec -C "$WS" --json -- sh -c 'echo up >up; sleep 30' >"$O" 2>"$E" </dev/null &
pid=$!
await "$WS/up"
kill -TERM $pid
wait $pid
is code $? 143
is "one object" "$(js 'd["exit_code"]')" 143

t "16:killed-executor"
m=98.3$RANDOM$$
"$AK" exec -C "$WS" -- sh -c "echo up >up; setsid sleep $m & sleep $m" >"$O" 2>"$E" </dev/null &
pid=$!
await "$WS/up"
{
	kill -KILL $pid
	wait $pid
} 2>/dev/null
ok "left: $(alive "sleep $m")" gone "sleep $m"

t "16:killed-200-times"
m=98.4$RANDOM$$
mounts=$(cat /proc/self/mountinfo)
left() { find /tmp /var/tmp /dev/shm "$WS" "$HOME" -mindepth 1 -maxdepth 1 -user "$(id -u)" 2>/dev/null | sort; }
files=$(left)
for ((i = 0; i < 200; i++)); do
	"$AK" exec -C "$WS" --hide /tmp/none --tmpfs /mnt/t -- sleep "$m" >/dev/null 2>&1 </dev/null &
	pid=$!
	sleep "0.0$((RANDOM % 3))$((RANDOM % 10))"
	{
		kill -KILL $pid
		wait $pid
	} 2>/dev/null
done
ok "left: $(alive "sleep $m")" gone "sleep $m"
ok "left: ak" gone "$AK exec -C $WS"
is mounts "$(cat /proc/self/mountinfo)" "$mounts"
is files "$(left)" "$files"
is workspace "$(ls -A "$WS")" ""

t "SIG-08:signal-state"
run "$ESC/hostside" signals "$AK" exec -C "$WS" -- grep -E 'Sig(Blk|Ign)' /proc/self/status
is code "$RC" 0
unlike "all zero" "$(out | cut -f2)" '[1-9a-f]'

t "22:cpu-time"
ak --cpu-time 1 --json -- sh -c 'while :; do :; done'
is status "$(js 'd["status"]')" cpu_time_exceeded
is code "$RC" "$(js 'd["exit_code"]')"
no "a code of success" test "$RC" = 0

t "22:cpu-time-of-the-tree"
ak --cpu-time 2 --json -- sh -c 'for i in 1 2 3 4; do (while :; do :; done) & done; wait'
is status "$(js 'd["status"]')" cpu_time_exceeded
ok "the time of those who were killed is told" test "$(js 'd["usage"]["cpu_user_ms"]+d["usage"]["cpu_system_ms"]')" -ge 1900

t "84:nofile"
ak --nofile 16 -- sh -c 'ulimit -n; ulimit -Hn; exec 20>/dev/null'
like values "$(out | tr '\n' ' ')" '^16 16 '
no "over it" test "$RC" = 0

t "87:disk"
ak --write none --disk 20m --json -- sh -c 'for d in /tmp /var/tmp /dev/shm "$HOME" /run; do head -c 30M /dev/zero >"$d/x" 2>/dev/null; done; cat /tmp/x /var/tmp/x /dev/shm/x "$HOME/x" /run/x 2>/dev/null | wc -c'
n=$(js 'd["stdout"].strip()')
[ "$n" -gt 15000000 ] && [ "$n" -le 20971520 ] || nok "written: $n"
is "in the result" "$(js 'd["limits"]["disk"]')" "{'value': 20971520, 'enforced_by': 'ak', 'hit': None}"
ak --disk 20m -- touch MARK
refused 125 "--disk: the workspace .*host's disk"

t "84:fsize"
ak --fsize 4k -- sh -c 'trap "" XFSZ; head -c 10000 /dev/zero >f; echo rc $?'
ok "size $(stat -c %s "$WS/f")" test "$(stat -c %s "$WS/f")" -le 4096

t "RES-07:nofile-exhausted"
ak --nofile 64 -- sh -c 'i=3; while [ $i -lt 200 ]; do eval "exec $i</dev/null" 2>/dev/null || break; i=$((i+1)); done; echo ok'
ak -- true
is "next run" "$RC" 0

t "RES-01:pids"
ak --pids 32 --timeout 5 --json -- sh -c 'n=0; while [ $n -lt 100 ]; do sleep 20 & n=$((n+1)); done; echo unlimited'
if [ "$RC" = 125 ]; then like "refusal names it" "$(js 'd["error"]["message"]')" pids; else
	unlike output "$(js 'd["stdout"]')" unlimited
	like "enforced by" "$(js 'd["limits"]["pids"]["enforced_by"]')" '^(cgroup|rlimit|ak)$'
fi

t "RES-01:fork-bomb"
ak --timeout 2 --kill-after 500ms --json -- sh -c 'f(){ f|f& }; f; sleep 9'
like code "$RC" '^(124|1|2|254|137)$'
is "host can fork" "$(sh -c 'echo yes')" yes

t "79:memory"
if [ -z "$PY" ]; then skip "no python3"; else
	ak --memory 64m --json -- /usr/bin/python3 -c 'x=b"a"*(256<<20)
import time
time.sleep(20)
print("unlimited")'
	if [ "$RC" = 125 ]; then like "refusal names it" "$(js 'd["error"]["message"]')" memory; else
		is status "$(js 'd["status"], d["exit_code"], d["limits"]["memory"]["hit"]')" "('oom_killed', 137, True)"
	fi
fi

t "83:defaults-say-the-truth"
ak --json -- true
is code "$RC" 0
like "memory" "$(js 'd["limits"]["memory"]["enforced_by"]')" '^(cgroup|ak|rlimit|none)$'
like "pids" "$(js 'd["limits"]["pids"]["enforced_by"]')" '^(cgroup|ak|rlimit|none)$'
is "values" "$(js 'd["limits"]["memory"]["value"], d["limits"]["pids"]["value"], d["limits"]["cpus"]["value"]')" "(536870912, 256, 1.0)"
[ "$(js 'd["limits"]["cpus"]["enforced_by"]')" = cgroup ] || like "a warning says what is not held" "$(js 'd["warnings"]')" '[cC][pP][uU]'

t "83:given-limit-is-not-dropped"
ak --json --cpus 0.5 -- touch MARK
if [ "$RC" = 125 ]; then
	no "not run" test -e "$WS/MARK"
	like message "$(js 'd["error"]["message"]')" cpus
else
	is "enforced" "$(js 'd["limits"]["cpus"]["enforced_by"]')" cgroup
fi

t "46+87:tmpfs-full"
ak --tmpfs /mnt/t:1m -- sh -c 'head -c 2000000 /dev/zero >/mnt/t/f; stat -c %s /mnt/t/f'
like "No space" "$(err)" "No space left"
ok "size $(out)" test "$(out)" -le 1048576

t "46:tmpfs-inodes"
ak --tmpfs /mnt/t:1m -- sh -c 'stat -f -c %c /mnt/t; n=$(stat -f -c %d /mnt/t); seq -f "/mnt/t/%.0f" $((n + 5)) | xargs touch; stat -f -c %d /mnt/t'
like "bounded number, and it can be used up" "$(out | tr '\n' ' ')" '^[1-9][0-9]{1,6} 0 $'
like text "$(err)" "No space left"

t "46:tmp-is-bounded"
ak -- sh -c 'head -c 3000000000 /dev/zero >/tmp/f 2>/dev/null; s=$(stat -c %s /tmp/f); rm /tmp/f; echo $s'
[ "$RC" = 137 ] || ok "size $(out)" test "$(out)" -lt 3000000000
done_suite
