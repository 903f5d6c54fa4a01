# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Texts given to `ak exec --in NAME -c TEXT`: separate scripts in one sandbox; folder, variables and functions carry over.
. "$TESTS/lib.sh"
# shellcheck source=box.sh
. "$TESTS/box.sh"

# --- exactness: any text that works as a script file works ---

t "SESS-01:heredocs"
mk
sh_ $'cat <<\'EOF\'\n$x\nEOF'
is "no newline at the end" "$(out)" '$x'
sh_ $'f() {\ncat <<A\nin f\nA\n}\nf'
is "in a function" "$(out)" "in f"
sh_ $'cat <<A; cat <<B\none\nA\ntwo\nB\n'
is "two on a line" "$(out)" "one
two"
if need python3; then
	sh_ $'python3 - <<PY\nprint(6*7)\nPY\nexit 3'
	is "for a program" "$(out)" 42
	is code "$RC" 3
fi
drop

t "SESS-03:last-lines"
mk
sh_ 'echo a # note'
is "a comment" "$(out)" a
sh_ 'echo a \'
is "a backslash" "$(out)" a
sh_ 'echo a &
wait'
is "background" "$(out)" a
sh_ 'echo a &'
is "background at the end" "$RC" 0
sh_ ''
is "nothing" "$RC$(out)$(err)" 0
sh_ '# only a comment'
is "only a comment" "$RC$(out)$(err)" 0
sh_ $'echo "unclosed\n'
ok "an unclosed quote is an error" test "$RC" -ne 0
sh_ 'echo next'
is "and the next works" "$(out)" next
drop

t "SESS-07:output-is-exact"
mk
sh_ 'printf foo'
is "no newline is added" "$(od -An -c <"$O" | tr -d ' ')" foo
sh_ 'printf "\n\n"'
is "none is lost" "$(od -An -c <"$O" | tr -d ' ')" '\n\n'
is "nothing else" "$(err)" ""
drop

t "SESS-13:several-lines"
mk
sh_ $'echo a\nfalse\necho b'
is output "$(out)" "a
b"
is code "$RC" 0
sh_ $'true\nfalse'
is "code of the last" "$RC" 1
drop

t "session:large-and-binary-texts"
mk
{
	echo 'A=1'
	for ((i = 0; i < 6000; i++)); do echo "# a line of a long script, number $i of six thousand"; done
	echo 'echo end'
} >"$DIR/long"
# one argument of a program may have 128 KiB
if [ "$(wc -c <"$DIR/long")" -lt 300000 ]; then nok "the script is too short"; fi
run bash -c '"$0" exec --in "$1" -- bash <"$2"' "$AK" "$BOX" "$DIR/long"
is "300 KB on stdin" "$(out)" end
sh_ "$(head -c 120000 "$DIR/long")"$'\n''echo end'
is "120 KB as text" "$(out)" end
sh_ $'printf "a\\0b" | od -An -c'
is "NUL in output" "$(tr -s ' ' <"$O")" ' a \0 b'
sh_ $'printf \'\xff\xfe\''
is "bytes that are no UTF-8" "$(od -An -tx1 <"$O" | tr -d ' ')" fffe
drop

# --- what carries over ---

t "SESS-05:folder-variables-functions"
mkdir "$WS/d"
mk
sh_ $'cd d; export A=1; f(){ echo f$A; }; B=2'
sh_ $'pwd; echo $A; f; echo "[$B]"'
is state "$(out)" "$WS/d
1
f1
[]"
sh_ $'export A="two\nlines and \'quotes\' \\"double\\" \\$x"'
sh_ $'printf "%s" "$A"'
is "any value" "$(out)" $'two\nlines and \'quotes\' "double" $x'
sh_ 'unset A; unset -f f'
sh_ 'echo "[$A]"; type f 2>/dev/null || echo none'
is "unset" "$(out)" "[]
none"
into -- sh -c 'pwd; echo "[$A]"'
is "a command of its own is untouched" "$(out)" "$WS
[]"
sh_ 'pwd' -w /tmp
is "-w" "$(out)" /tmp
sh_ 'echo $C' -e C=given
is "-e" "$(out)" given
BOX=other
mk
sh_ 'pwd; echo "[$A]"'
is "another sandbox has its own" "$(out)" "$WS
[]"
drop
BOX=box
sh_ 'cd /tmp && mkdir gone && cd gone && rmdir ../gone'
sh_ 'pwd'
is "a folder that is gone" "$(out)" "$WS"
like "told once" "$(err)" '.'
is "in one line" "$(wc -l <"$E")" 1
sh_ 'pwd'
is "then as usual" "$(out)$(err)" "$WS"
drop

t "session:virtual-environment"
mk
mkdir -p "$WS/venv/bin"
printf 'export VENV=%s\nOLD=$PATH\nPATH=%s:$PATH\nexport PATH\ndeactivate() { PATH=$OLD; unset VENV; }\n' "$WS/venv" "$WS/venv/bin" >"$WS/venv/bin/activate"
printf '#!/bin/sh\necho tool\n' >"$WS/venv/bin/tool"
chmod +x "$WS/venv/bin/tool"
sh_ '. venv/bin/activate'
sh_ 'tool; echo $VENV'
is "activated" "$(out)" "tool
$WS/venv"
drop

t "session:nothing-breaks-the-next"
mk
sh_ 'export KEEP=1; cd /usr'
for text in 'exit 3' 'exec true' 'set -e; false; echo no' 'kill -9 $$' 'kill -STOP $$' 'echo "unclosed' 'cat <<EOF
never closed' '((' 'exec >&- 2>&-' 'ulimit -v 1000; ls' 'set -u; echo $nothing' 'trap "echo T; exit 9" EXIT' \
	'exec 3>&1 4>&1 5>&1' 'return 5' 'kill -TERM 0' 'shopt -s extdebug; set -o noexec' 'unset PATH' 'readonly PATH=/x' 'cd() { exit 7; }; pwd() { exit 7; }; declare() { exit 7; }; builtin() { exit 7; }; export -f cd pwd declare builtin' \
	'BASH_ENV=/nonexistent; export BASH_ENV' 'export SHELLOPTS' 'PROMPT_COMMAND="exit 4"; export PROMPT_COMMAND' ': > /dev/full' 'exec 2>/dev/full; echo x >&2'; do
	sh_ "$text" --timeout 5 --kill-after 200ms
	into --timeout 20 -- true
	is "commands after '$text'" "$RC" 0
	sh_ 'unset -f cd pwd declare builtin; printf x; exit 6' --timeout 20
	is "code after '$text'" "$RC" 6
	is "output after '$text'" "$(out)" x
done
sh_ 'echo $KEEP'
is "state is kept by all that failed" "$(out)" 1
drop

t "SESS-09:settings-do-not-carry-over"
mk
sh_ $'trap "echo T" DEBUG EXIT; alias echo=false; set -u; PROMPT_COMMAND=exit; exec 2>/dev/null'
sh_ $'printf x; echo y; echo "[$unset]"; echo e >&2'
is output "$(out)" "xy
[]"
is stderr "$(err)" e
is code "$RC" 0
drop

t "session:arguments-and-input"
mk
sh_ 'read x; echo "[$x]"'
is "stdin is empty" "$(out)" "[]"
echo given >"$DIR/in"
IN=$DIR/in sh_ 'read x; echo "[$x]"'
is "unless given" "$(out)" "[given]"
sh_ 'echo ${0##*/}; ps ax | grep -c "[s]leep 98"'
like "no trace of the wrapper in output" "$(out)" '0$'
drop

t "session:two-at-once"
mk
sh_ 'export N=0'
for i in 1 2 3 4; do
	"$AK" exec --in "$BOX" -c "echo $i; sleep 0.2; echo $i; export N=$i" >"$DIR/p$i" 2>&1 &
done
wait
for i in 1 2 3 4; do is "output of $i" "$(tr '\n' ' ' <"$DIR/p$i")" "$i $i "; done
sh_ 'echo $N'
like "one of them set it" "$(out)" '^[1-4]$'
drop

t "session:state-from-a-hostile-call"
mk
# the state is text that a shell wrote; what a call leaves there may break that session, and nothing else
sh_ 'f() { echo "$(touch /tmp/pwned)"; }; export A="\$(touch /tmp/pwned2)"; export B="; touch /tmp/pwned3"'
sh_ 'true'
into -- sh -c 'ls /tmp/pwned* 2>/dev/null | wc -l'
is "values are not run" "$(out)" 0
sh_ 'for i in 3 4 5 6 7 8 9 10 11 12 200 201 250 251 252 253 254 255 1020 1021 1022 1023; do (echo "touch /tmp/pwned4" >&$i) 2>/dev/null; done; true'
sh_ 'echo fine'
is "high descriptors" "$(out)" fine
into -- sh -c 'ls /tmp/pwned* 2>/dev/null | wc -l'
is "nothing was written into the state" "$(out)" 0
drop

# --- time and jobs ---

t "TMO-03:input-by-name"
mk
for text in 'seq 2 | cat /dev/stdin' 'cat /dev/stdin' 'cat /proc/self/fd/0' 'cat < /dev/fd/0'; do
	sh_ "$text" --timeout 10
	is "$text" "$RC" 0
done
drop

t "TMO-07:timeout-keeps-the-state"
mk
sh_ 'cd /tmp; export A=1'
sh_ 'sleep 99' --timeout 1 --kill-after 200ms
is "timed out" "$RC" 124
sh_ 'pwd; echo $A'
is state "$(out)" "/tmp
1"
drop

t "TMO-06:output-before-a-timeout"
mk
sh_ 'printf "Password: "; sleep 60' --timeout 2 --kill-after 100ms --json
is result "$(js '(d["status"],d["stdout"])')" "('timed_out', 'Password: ')"
drop

t "TMO-05:background-input"
mk
run "$AK" exec --in "$BOX" --detach -c 'cat; echo end'
job=$(out)
ok "it ends at once" wait_for sh -c '"$1" jobs box | grep -q "^$2 .*exited"' x "$AK" "$job"
run "$AK" logs "$BOX" "$job"
is log "$(out)" end
drop

t "TMO-09:server-as-a-job"
if need python3 curl; then
	mk
	sh_ 'mkdir -p /tmp/www; echo served >/tmp/www/index.html; cd /tmp/www; export PORT=8123'
	run "$AK" exec --in "$BOX" --detach -c 'exec python3 -m http.server $PORT'
	like "a job starts from the session's folder and variables" "$(out)" '^[0-9]+$'
	sh_ 'for i in $(seq 100); do curl -s 127.0.0.1:8123 && exit; sleep 0.1; done; exit 1'
	is "reachable" "$(out)" served
	drop
fi

t "session:background-ends-with-its-call"
mk
sh_ "sleep 9882$TAG & setsid sleep 9882$TAG & echo started"
is output "$(out)" started
gone "sleep 9882$TAG" || nok "it is left"
drop

t "SESS-11:jobs"
mk
for i in 1 2 3; do
	run "$AK" exec --in "$BOX" --detach -c "echo job$i; sleep 988$((2 + i))$TAG"
	jobs[i]=$(out)
done
ok "they run" wait_for lives "sleep 9885$TAG"
wait_for sh -c '"$1" logs box "$2" | grep -q .' x "$AK" "${jobs[2]}"
run "$AK" logs "$BOX" "${jobs[2]}"
is "log of one" "$(out)" job2
run "$AK" kill "$BOX" "${jobs[1]}"
gone "sleep 9883$TAG" || nok "the first is left"
run "$AK" jobs "$BOX"
is "two run" "$(grep -c running "$O")" 2
drop
gone "sleep 9884$TAG" || nok "the second is left"
gone "sleep 9885$TAG" || nok "the third is left"

t "OUT-01:endless-output"
mk
sh_ 'yes' --timeout 2 --kill-after 100ms --max-output 1M --json
is status "$(js 'd["status"]')" timed_out
ok "bounded" test "$(js 'len(d["stdout"])<=1048576 and d["stdout_dropped"]>0 and d["stdout_bytes"]>1048576')" = true
drop

t "OUT-07:head-and-tail"
mk
sh_ 'seq 1 200000; echo FINAL-ERROR' --max-output 4096 --json
is "both" "$(js 'd["stdout"].startswith("1\n") and d["stdout"].endswith("FINAL-ERROR\n")')" true
drop

t "OUT-05:bytes"
mk
head -c 65536 /dev/urandom >"$WS/f"
sh_ 'cat f'
is exact "$(cksum <"$O")" "$(cksum <"$WS/f")"
sh_ 'cat f' --json
is marked "$(js 'd["stdout_encoding"]')" base64
drop

t "SIG-07:orphans-are-reaped"
mk
sh_ 'for i in $(seq 100); do (sh -c "true &"); done; sleep 0.5; ps ax | grep -c "[d]efunct"'
is defunct "$(out)" 0
# shellcheck disable=SC2016
sh_ 'kill -TERM $BASHPID'
is "a signal ends it" "$RC" 143
drop

t "SIG-08:signals-are-as-usual"
mk
run bash -c "trap '' PIPE INT; '$AK' exec --in '$BOX' -- grep -E 'Sig(Ign|Blk)' /proc/self/status"
is "ignored and blocked" "$(awk '{ print $2 }' "$O" | sort -u)" 0000000000000000
drop

t "SESS-12:long-use"
mk
for ((i = 0; i < 10; i++)); do "$AK" exec --in "$BOX" -c true || nok "call $i"; done
pid=$(executor)
init=$(children "$pid" | sed -n 2p)
fds=$(ls "/proc/$pid/fd" | wc -l)
rss=$(awk '/VmRSS/ { print $2 }' "/proc/$pid/status")
irss=$(awk '/VmRSS/ { print $2 }' "/proc/$init/status" 2>/dev/null || echo 0)
for ((i = 0; i < 800; i++)); do "$AK" exec --in "$BOX" -c true || nok "call $i"; done
_same_fds() {
	[ "$(ls "/proc/$pid/fd" | wc -l)" -le "$fds" ]
}
ok "descriptors" wait_for _same_fds
ok "memory: $rss to $(awk '/VmRSS/ { print $2 }' "/proc/$pid/status")" test "$(awk '/VmRSS/ { print $2 }' "/proc/$pid/status")" -le $((rss + 400))
ok "memory of init" test "$(awk '/VmRSS/ { print $2 }' "/proc/$init/status" 2>/dev/null || echo 0)" -le $((irss + 400))
# the executor, init, three prepared with their keepers, three keepers that wait
_few() {
	[ "$(children "$pid" | wc -l)" -le 11 ]
}
ok "processes" wait_for _few
# against one that is new, call by call, so that what else the machine does is the same for both; the median of each
BOX=young
mk
for ((i = 0; i < 61; i++)); do
	for BOX in box young; do
		begun=${EPOCHREALTIME/./}
		"$AK" exec --in "$BOX" -c true
		echo $((${EPOCHREALTIME/./} - begun)) >>"$DIR/us-$BOX"
	done
done
BOX=young
drop
BOX=box
old=$(sort -n "$DIR/us-box" | sed -n 31p) new=$(sort -n "$DIR/us-young" | sed -n 31p)
ok "latency: $new us, after long use $old us" test "$old" -le $((3 * new / 2 + 1000))
drop

done_suite
