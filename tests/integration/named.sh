# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Named sandboxes: ak create, exec --in, ls, rm, jobs, logs, kill.
. "$TESTS/lib.sh"
# shellcheck source=box.sh
. "$TESTS/box.sh"

# --- life ---

t "named:create-exec-rm"
mk
is "create says nothing" "$(cat "$O" "$E")" ""
pid=$(executor)
tree=$(children "$pid")
into -- sh -c 'echo hi; echo one >/tmp/f; echo two >f'
is output "$(out)" hi
is code "$RC" 0
into -- cat /tmp/f f
is "it stays" "$(out)" "one
two"
is "the workspace is the caller's" "$(cat "$WS/f")" two
run "$AK" ls
like listed "$(out)" "box +running .* $WS\$"
run "$AK" rm "$BOX"
is rm "$RC" 0
# shellcheck disable=SC2086
ok "nothing of it lives" all_gone $tree
no "its folder is gone" test -e "$RUN/box.d"
run "$AK" ls
is "no list" "$(out)" ""
run "$AK" ls --json
is "an empty list" "$(js 'd["sandboxes"]')" "[]"

t "named:nothing-of-the-caller-is-kept"
exec 7>"$DIR/seven"
got=$(cd "$WS" && "$AK" create "$BOX" 2>&1)
is "create gives back its pipe" "$got" ""
pid=$(executor)
exec 7>&-
like "cwd" "$(readlink "/proc/$pid/cwd")" '^/$'
is "own session" "$(ps -o sid= -p "$pid" | tr -d ' ')" "$pid"
is "no terminal" "$(ps -o tty= -p "$pid" | tr -d ' ')" "?"
for i in 0 1 2; do is "stream $i" "$(readlink "/proc/$pid/fd/$i")" /dev/null; done
unlike "descriptors" "$(ls -l "/proc/$pid/fd")" "$DIR/(seven|out|err|results)|ls\$"
drop

t "named:two-names-are-two"
mk
BOX=other
mk
into -- sh -c 'echo other >/tmp/f'
BOX=box
into -- sh -c 'cat /tmp/f 2>/dev/null || echo none'
is "own /tmp" "$(out)" none
"$AK" ls --json >"$O"
is "both listed, sorted" "$(js '[s["name"] for s in d["sandboxes"]]')" "['box', 'other']"
drop
BOX=other
into -- cat /tmp/f
is "the other lives" "$(out)" other
drop
BOX=box

t "named:name-taken"
mk
into -- sh -c 'echo mine >/tmp/f'
run "$AK" create "$BOX" -C "$WS"
is code "$RC" 1
like message "$(err)" '^ak: a sandbox is called box already - .*ak rm box'
into -- cat /tmp/f
is "the first is untouched" "$(out)" mine
drop

t "named:unknown-name"
into -- touch MARK
refused 125 'no sandbox is called box'
for c in "rm box" "jobs box" "logs box 1" "kill box 1"; do
	# shellcheck disable=SC2086
	run "$AK" $c
	is "$c" "$RC" 1
	like "$c" "$(err)" '^ak: no sandbox is called box'
done

t "named:names"
for n in a/b .a -- '' 'a b' "$(printf 'a%.0s' {1..65})" '../x'; do
	run "$AK" create -- "$n"
	is "create '$n'" "$RC" 2
	run "$AK" exec --in "$n" -- touch MARK
	refused 125 'no name of a sandbox'
	run "$AK" rm -- "$n"
	is "rm '$n'" "$RC" 2
done
BOX=$(printf 'a%.0s' {1..64})
mk
into -- true
is "64 letters" "$RC" 0
drop
BOX=box

t "named:usage"
for c in "rm" "rm a b" "ls x" "jobs" "logs box" "logs box x" "logs box 0" "kill box" "rm --frob box" "create" "create a b"; do
	# shellcheck disable=SC2086
	run "$AK" $c
	is "$c" "$RC" 2
	like "$c" "$(err)" '^ak: .'
	is "$c: lines" "$(wc -l <"$E")" 1
done
for c in create ls rm jobs logs kill; do
	run "$AK" "$c" --help
	is "$c --help" "$RC" 0
	like "$c --help" "$(out)" "usage: ak $c"
done

t "named:options-that-shape-a-sandbox"
mk
into -m 1g --net host --write none -- touch MARK
refused 125 '--write, --net, --memory cannot be given with --in'
run "$AK" create other -C "$WS" --json --timeout 3 --tty
is code "$RC" 2
like message "$(err)" '^ak: --timeout, --tty, --json says? how one command runs'
drop

t "named:plan-errors-are-told-by-create"
run "$AK" create "$BOX" -C "$WS" --ro /nonexistent/x
is code "$RC" 1
like message "$(err)" '^ak: .*/nonexistent/x'
is "one line" "$(wc -l <"$E")" 1
no "no folder stays" test -e "$RUN/box.d"
run "$AK" create "$BOX" -C "$WS" --explain
is "explain" "$RC" 0
like "a plan" "$(out)" workspace
no "nothing was made" test -e "$RUN/box.d"

t "named:options-of-create-hold"
mkdir "$WS/sub"
mk --write none -m 64m --nofile 50 -e GREETING=hello -w sub --hide "$WS/sub/h" --tmpfs /scratch
into -- sh -c 'echo $GREETING; pwd; ulimit -n; touch /scratch/x && echo scratch; touch x 2>/dev/null || echo read-only'
is output "$(out)" "hello
$WS/sub
50
scratch
read-only"
into --json -- true
is "told in the result" "$(js '(d["limits"]["memory"]["value"],d["isolation"]["workspace"],d["limits"]["nofile"]["value"])')" "(67108864, 'none', 50)"
drop

# --- what a crash leaves ---

_no_folder() {
	[ ! -e "$RUN/box.d" ]
}

t "named:executor-killed"
mk
pid=$(executor)
"$AK" exec --in "$BOX" -- sleep 9871"$TAG" 2>"$DIR/client" &
client=$!
ok "the command runs" wait_for lives "sleep 9871$TAG"
tree=$(children "$pid")
kill -9 "$pid"
# shellcheck disable=SC2086
ok "nothing of it lives" all_gone $tree
wait "$client"
is "its client" "$?" 125
into -- true
is code "$RC" 125
like message "$(err)" '^ak: sandbox box is gone: .* - .*ak create box'
no "what was left is removed" test -e "$RUN/box.d"
into -- true
like "the second time it is unknown" "$(err)" 'no sandbox is called box'
mk
# kill(2) returns before it is dead
pid=$(executor)
kill -9 "$pid"
wait_for _exited "$pid"
mk
into -- echo again
is "made again" "$(out)" again
pid=$(executor)
kill -9 "$pid"
wait_for _exited "$pid"
run "$AK" rm "$BOX"
is "rm of what crashed" "$RC" 0
run "$AK" ls
is "no list" "$(out)" ""

t "named:executor-told-to-end"
for s in TERM INT HUP; do
	mk
	pid=$(executor)
	tree=$(children "$pid")
	kill "-$s" "$pid"
	# shellcheck disable=SC2086
	ok "$s: nothing of it lives" all_gone $tree
	run "$AK" ls
	is "$s: no list" "$(out)" ""
	no "$s: no folder" test -e "$RUN/box.d"
done

# root's executor may remove nothing itself, yet the folder goes with it
t "named:the-folder-goes-with-the-executor"
mk
kill -TERM "$(executor)"
ok "TERM: the folder goes by itself" wait_for _no_folder
mk
into -- echo again
is "made again" "$(out)" again
drop
mk --ttl 1s
ok "ttl: the folder goes by itself" wait_for _no_folder
mk
"$AK" rm --force "$BOX" 2>/dev/null
run "$AK" create "$BOX" -C "$WS"
is "the name is free at once" "$RC" 0
drop

t "named:executor-stopped"
mk
pid=$(executor)
kill -STOP "$pid"
# both wait for the answer, at the same time
"$AK" ls >"$DIR/listed" 2>&1 &
ls=$!
into -- touch MARK
refused 125 'does not answer'
wait "$ls"
like "listed" "$(cat "$DIR/listed")" 'box +no-answer'
run "$AK" rm --force "$BOX"
is "rm --force" "$RC" 0
ok "it is gone" all_gone "$pid"
no "its folder is gone" test -e "$RUN/box.d"

# asleep PID - has it begun, and does it wait for an answer on a socket? 7: poll, 47: recvmsg (x86-64); elsewhere a moment
asleep() {
	[[ $(cat "/proc/$1/syscall" 2>/dev/null) =~ ^(7|47|45|271)\  ]] || { [ "$(uname -m)" != x86_64 ] && sleep 0.5; }
}

t "named:rm-while-the-executor-dies"
# it has the question, and never answers: without --force
mk
pid=$(executor)
kill -STOP "$pid"
"$AK" rm "$BOX" >"$O" 2>"$E" &
rm=$!
wait_for asleep "$rm"
kill -9 "$pid"
wait "$rm"
is "rm" "$?" 0
is "stderr" "$(err)" ""
no "its folder is gone" test -e "$RUN/box.d"
# at any moment of its end
for i in 1 2 3 4; do
	mk
	pid=$(executor)
	kill "$pid"
	run "$AK" rm "$BOX"
	[ "$RC" = 0 ] || like "no sooner than it is gone" "$(err)" "no sandbox is called $BOX"
	no "nothing is left" test -e "$RUN/box.d"
done

t "named:init-killed"
mk
pid=$(executor)
init=$(children "$pid" | sed -n 2p)
kill -9 "$init"
into -- touch MARK
is code "$RC" 125
like message "$(err)" '^ak: .'
is lines "$(wc -l <"$E")" 1
run "$AK" rm --force "$BOX"
run "$AK" create "$BOX" -C "$WS"
is "made again" "$RC" 0
drop

t "named:other-version"
if [ -n "$PY" ]; then
	was=$BOX BOX=older	# a name that nobody had: who removes the folder of an executor that has ended may still be at it
	mkdir -p -m 700 "$RUN/$BOX.d"
	cat >"$DIR/other.py" <<'PY'
import fcntl, os, socket, sys
os.chdir(sys.argv[1])
f = open("alive", "w")
fcntl.flock(f, fcntl.LOCK_EX)
open("facts", "w").write("version 9.9\npid %d\ncreated 1\nttl_ms 1\npool 0\nuid 1\ngid 1\nworkspace /ws\n" % os.getpid())
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind("sock")
s.listen(8)
open(sys.argv[2], "w").write("ready")
while True:
    c = s.accept()[0]
    c.recv(65536)
    c.send(b"ak2p" + b"\0" * 60)
    c.close()
PY
	"$PY" "$DIR/other.py" "$RUN/$BOX.d" "$DIR/ready" &
	other=$!
	await "$DIR/ready"
	into -- touch MARK
	refused 125 'made by ak 9.9'
	run "$AK" ls
	like listed "$(out)" 'older +other-version'
	run "$AK" rm "$BOX"
	is "rm" "$RC" 1
	run "$AK" rm --force "$BOX"
	is "rm --force" "$RC" 0
	ok "it is gone" all_gone "$other"
	no "its folder is gone" test -e "$RUN/$BOX.d"
	rm -f "$DIR/ready"
	BOX=$was
else
	skip "no python3"
fi

t "named:folder-of-others"
mk
chmod 755 "$RUN"
into -- touch MARK
refused 125 'open to others'
run "$AK" ls
is ls "$RC" 1
run "$AK" create other -C "$WS"
is create "$RC" 1
chmod 700 "$RUN"
into -- true
is "and as before" "$RC" 0
mv "$RUN" "$RUN.x"
ln -s "$RUN.x" "$RUN"
into -- touch MARK
refused 125 'link'
rm "$RUN"
mv "$RUN.x" "$RUN"
drop
if [ "$WHO" = root ]; then
	mkdir -p -m 700 "$DIR/xdg/ak"
	chown 12345 "$DIR/xdg/ak"
	run env XDG_RUNTIME_DIR="$DIR/xdg" "$AK" ls
	is "somebody else's" "$RC" 1
	like message "$(err)" 'belongs to uid 12345'
fi

t "named:xdg-runtime-dir"
mkdir -p -m 700 "$DIR/xdg2"
run env XDG_RUNTIME_DIR="$DIR/xdg2" "$AK" create "$BOX" -C "$WS"
is create "$RC" 0
ok "there it is" test -S "$DIR/xdg2/ak/box.d/sock"
run env XDG_RUNTIME_DIR="$DIR/xdg2" "$AK" exec --in "$BOX" -- echo hi
is output "$(out)" hi
pid=$(sed -n 's/^pid //p' "$DIR/xdg2/ak/box.d/facts")
rm -rf "$DIR/xdg2"
ok "the end of the session's folder is its end" all_gone "$pid"

t "named:ttl"
mk --ttl 3s
pid=$(sed -n 's/^pid //p' "$RUN/box.d/facts")
into -- sleep 4
is "a command that runs keeps it" "$RC" 0
ended=$(date +%s%N)
ok "it ends" all_gone "$pid"
# ak ended a little later than the command
ok "not before its time" test $((($(date +%s%N) - ended) / 1000000)) -ge 2000
into -- true
is "gone" "$RC" 125
no "its folder is gone" test -e "$RUN/box.d"

t "named:sixteen-create-at-once"
for i in $(seq 16); do
	"$AK" create "$BOX" -C "$WS" >"$DIR/c$i" 2>&1 && echo won >>"$DIR/won" &
done
wait
is "one wins" "$(wc -l <"$DIR/won")" 1
is "fifteen are told" "$(cat "$DIR"/c* | grep -c 'is called box already')" 15
rm -f "$DIR"/c[0-9]* "$DIR/won"
into -- true
is "and works" "$RC" 0
drop

# rest - a random moment within the first 40 ms of what was just started
rest() {
	sleep "0.0$((RANDOM % 4))$((RANDOM % 10))"
}

# the sandbox is gone, or works
_settled() {
	[ ! -e "$RUN/box.d" ] || "$AK" exec --in "$BOX" -- true
}

# what KILLS asks for, else a few: each kind of process is killed at a random moment while a command runs or starts
for who in executor init client create; do
	t "named:$who-killed-at-random"
	for ((i = 0; i < ${KILLS:-6}; i++)); do
		[ "$who" = create ] || "$AK" ls --json | grep -q '"name":"box"' || mk
		case $who in
		executor | init)
			pid=$(executor)
			tree=$(children "$pid")
			[ "$who" = executor ] || pid=$(sed -n 2p <<<"$tree")
			"$AK" exec --in "$BOX" -- sh -c "sleep 9893$TAG & sleep 9893$TAG" 2>/dev/null &
			client=$!
			rest
			kill -9 "$pid"
			wait "$client"
			c=$?
			is "round $i: its client" "$c" 125
			"$AK" rm --force "$BOX" 2>/dev/null
			# shellcheck disable=SC2086
			ok "round $i: nothing of it lives" all_gone $tree
			;;
		client)
			"$AK" exec --in "$BOX" -- sh -c "sleep 9893$TAG & sleep 9893$TAG" &
			client=$!
			rest
			{ kill -9 "$client" && wait "$client"; } 2>/dev/null
			gone "sleep 9893$TAG" || nok "round $i: the command is left"
			into -- echo next
			is "round $i: the next" "$(out)" next
			;;
		create)
			"$AK" create "$BOX" -C "$WS" 2>/dev/null &
			client=$!
			rest
			{ kill -9 "$client" && wait "$client"; } 2>/dev/null
			# it was ready just before, or it ends by itself
			wait_for _settled || nok "round $i: neither there nor gone"
			"$AK" rm --force "$BOX" 2>/dev/null
			;;
		esac
		[ "$TEST_BAD" = 0 ] || break
	done
	gone "sleep 9893$TAG" || nok "a command is left"
	"$AK" rm --force "$BOX" 2>/dev/null
	no "no folder is left" test -e "$RUN/box.d"
done

# --- commands ---

t "named:exit-codes"
mk
for c in 0 1 2 42 124 125 255; do
	into -- sh -c "exit $c"
	is "$c" "$RC" "$c"
done
into -- nosuch
is "not found" "$RC" 127
like "not found" "$(err)" '^ak: .*nosuch'
into -- /etc/passwd
is "not executable" "$RC" 126
into -- sh -c 'kill -9 $$'
is "killed" "$RC" 137
into -- sh -c 'kill -TERM $$'
is "terminated" "$RC" 143
into -w /nonexistent -- touch MARK
is "no such folder" "$RC" 125
drop

t "named:environment"
mk -e FROM=create
printf 'F1=one\n# no\nF2=two\n' >"$DIR/env"
PASSED=yes run "$AK" exec --in "$BOX" -e A=1 -e PASSED --env-file "$DIR/env" -e FROM=exec -- sh -c 'echo $A $PASSED $F1 $F2 $FROM'
is output "$(out)" "1 yes one two exec"
into -- sh -c 'echo $A$PASSED$F1 $FROM'
is "of one command only" "$(out)" "create"
SECRET=x run "$AK" exec --in "$BOX" -- env
unlike "nothing of the caller's" "$(out)" SECRET
into -e OPENAI_API_KEY=x -- touch MARK
refused 125 'never passed'
drop

t "named:working-directory"
mkdir -p "$WS/a/b"
mk
into -- pwd
is "the workspace" "$(out)" "$WS"
into -w a/b -- pwd
is "from the workspace" "$(out)" "$WS/a/b"
into -w /usr -- pwd
is absolute "$(out)" /usr
drop

t "named:streams"
mk
head -c 3000000 /dev/urandom >"$DIR/big"
IN=$DIR/big into -- cat
is "file to file" "$(cksum <"$O")" "$(cksum <"$DIR/big")"
# shellcheck disable=SC2002
cat "$DIR/big" | "$AK" exec --in "$BOX" -- cat | cksum >"$O"
is "pipe to pipe" "$(out)" "$(cksum <"$DIR/big")"
echo start >"$O"
"$AK" exec --in "$BOX" -- echo more >>"$O"
is append "$(out)" "start
more"
"$AK" exec --in "$BOX" -- sh -c 'for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done' >"$O" 2>&1
is "merged in order" "$(tr -d '\n' <"$O")" o1e1o2e2o3e3o4e4o5e5
run sh -c '"$1" exec --in "$2" -- echo x >&-' x "$AK" "$BOX"
is "closed stdout" "$RC" 0
run sh -c 'printf "1\n2\n" >"$3"; ("$1" exec --in "$2" -- sh -c "read x" >/dev/null; cat) <"$3"' x "$AK" "$BOX" "$DIR/two"
is "unread input stays" "$(out)" 2
into -- sh -c 'cat /dev/stdin; echo x >/dev/stdout; echo y >/proc/self/fd/1'
is "streams by name" "$(out)$(err)" "x
y"
echo in | "$AK" exec --in "$BOX" -- sh -c 'cat /dev/stdin; echo x >/dev/stdout' 2>&1 | cat >"$O"
is "pipes by name" "$(out)" "in
x"
drop

t "named:passed-descriptors"
mk
run bash -c 'exec 5< <(echo five); "$0" exec --in "$1" --fd 5 -- sh -c "cat <&5"' "$AK" "$BOX"
is "a pipe" "$(out)" five
run bash -c 'exec 5</etc/passwd; "$0" exec --in "$1" --fd 5 -- sh -c "cat <&5"' "$AK" "$BOX"
is "no file" "$RC" 125
drop

t "named:result-object"
mk
ak --json -- sh -c 'echo out; echo err >&2; exit 3'
cp "$O" "$DIR/plain"
into --json -- sh -c 'echo out; echo err >&2; exit 3'
is code "$RC" 3
js 'list(d)' >"$DIR/a"
js 'list(d)' "$DIR/plain" >"$DIR/b"
is "the same fields" "$(cat "$DIR/a")" "$(cat "$DIR/b")"
for f in usage isolation; do is "fields of $f" "$(js "list(d['$f'])")" "$(js "list(d['$f'])" "$DIR/plain")"; done
is "the same isolation" "$(js "d['isolation']")" "$(js "d['isolation']" "$DIR/plain")"
is "the same limits" "$(js "[(k,v['value']) for k,v in d['limits'].items()]")" "$(js "[(k,v['value']) for k,v in d['limits'].items()]" "$DIR/plain")"
is values "$(js '(d["schema"],d["status"],d["exit_code"],d["stdout"],d["stderr"],d["error"])')" "('ak-exec/1', 'exited', 3, 'out\n', 'err\n', None)"
ok "a duration" test "$(js 'd["duration_ms"]>0 and d["setup_ms"]>0')" = true
into --report "$DIR/report" -- sh -c 'echo out; kill -9 $$'
is output "$(out)" out
is report "$(js '(d["status"],d["signal"],d["exit_code"])' "$DIR/report")" "('signaled', 'SIGKILL', 137)"
into --json -- nosuch
is "not found" "$(js '(d["exit_code"],d["error"]["stage"])')" "(127, 'exec')"
run "$AK" exec --in nobody --json -- true
is "unknown" "$(js '(d["status"],d["exit_code"],d["error"]["errno"])')" "('failed', 125, 'ENOENT')"
drop

t "named:limits-of-one-command"
mk --nofile 100
into --nofile 20 -- sh -c 'ulimit -n; ulimit -Hn'
is nofile "$(out)" "20
20"
into -- sh -c 'ulimit -n'
is "of that command only" "$(out)" 100
into --nofile 200 -- touch MARK
is "never more" "$RC" 125
no "not run" test -e "$WS/MARK"
into --fsize 10k -- sh -c 'head -c 20000 /dev/zero >big'
ok "fsize" test "$(stat -c %s "$WS/big")" -le 10240
into --cpu-time 300ms --json -- sh -c 'while :; do :; done'
is "cpu time" "$(js '(d["status"],d["exit_code"],d["limits"]["cpu_time"]["hit"])')" "('cpu_time_exceeded', 137, True)"
into -- true
is "it lives" "$RC" 0
drop

t "named:output-maximum"
mk
into --max-output 1000 -- sh -c 'head -c 5000 /dev/zero | tr "\0" a'
is bytes "$(wc -c <"$O")" 1000
like told "$(err)" '4000 of 5000 bytes of stdout were dropped'
into --max-output 100 --json -- sh -c 'seq 1 1000; echo FINAL'
is dropped "$(js 'd["stdout_dropped"]>3000 and d["stdout"].startswith("1\n2\n") and d["stdout"].endswith("FINAL\n")')" true
drop

t "named:signals-to-the-client"
mk
"$AK" exec --in "$BOX" -- sleep 9872"$TAG" &
other=$!
for s in TERM INT HUP; do
	case $s in TERM) n=15 ;; INT) n=2 ;; HUP) n=1 ;; esac
	# a shell's background commands ignore SIGINT, and ak would leave it so
	: >"$O" # what the last round left is not this one being ready
	env --default-signal=INT "$AK" exec --in "$BOX" -- sh -c "trap 'echo bye; exit 5' $s; echo ready; while :; do sleep 0.1; done" >"$O" 2>"$E" &
	p=$!
	ok "$s: it runs" wait_for grep -q ready "$O"
	kill "-$s" "$p"
	wait "$p"
	c=$?
	is "$s: code" "$c" "$((128 + n))"
	like "$s: the command was told" "$(out)" bye
done
ok "another command is untouched" kill -0 "$other"
kill "$other"
wait "$other"
is "its code" "$?" 143
gone "sleep 9872$TAG" || nok "sleep is left"
into -- true
is "the sandbox lives" "$RC" 0
drop

t "named:client-killed"
mk
"$AK" exec --in "$BOX" -- sh -c 'trap "" TERM HUP; sleep 9873'"$TAG"' & sleep 9873'"$TAG"'; wait' &
p=$!
ok "it runs" wait_for lives "sleep 9873$TAG"
{ kill -9 "$p" && wait "$p"; } 2>/dev/null
gone "sleep 9873$TAG" || nok "the command is left: $(alive "sleep 9873$TAG")"
into -- true
is "the sandbox lives" "$RC" 0
drop

t "named:reader-gone"
mk
run bash -c '"$0" exec --in "$1" -- yes | head -n 1; echo "${PIPESTATUS[0]}"' "$AK" "$BOX"
is "a pipe" "$(out)" "y
141"
run bash -c '"$0" exec --in "$1" -- sh -c "trap \"\" PIPE; echo x; sleep 9874'"$TAG"'; sleep 9874'"$TAG"'" | head -n 1; echo "${PIPESTATUS[0]}"' "$AK" "$BOX"
is "one that does not listen" "$(out)" "x
141"
gone "sleep 9874$TAG" || nok "the command is left"
drop

t "TMO-01:named-timeout"
mk
# shellcheck disable=SC2016
into --timeout 2 --kill-after 300ms --json -- sh -c 'rm -f /tmp/p; mkfifo /tmp/p; (while :; do echo t; sleep 0.3; done) >/tmp/p & cat /tmp/p'
is result "$(js '(d["status"],d["exit_code"],d["limits"]["timeout"]["hit"],d["limits"]["timeout"]["value"],d["stdout"].startswith("t\n"))')" "('timed_out', 124, True, 2.0, True)"
ok "in time" test "$(js 'int(d["duration_ms"])')" -lt 15000
into -- sh -c 'ps ax | grep -c "[w]hile"'
is "nothing of it is left" "$(out)" 0
into --timeout 1 --kill-after 300ms -- sh -c 'trap "" TERM; kill -STOP $$; echo no'
is "a stopped one" "$RC" 124
into --timeout 0.5 -- sleep 9875"$TAG"
like told "$(err)" '^ak: timed out after 0.5 s'
into -- true
is "the sandbox lives" "$RC" 0
drop

t "OUT-09:named-no-deadlock"
mk
into --json -- sh -c 'head -c 10000000 /dev/zero | tr "\0" e >&2; head -c 10000000 /dev/zero | tr "\0" o'
is sizes "$(js '(len(d["stdout"]),len(d["stderr"]))')" "(10000000, 10000000)"
drop

t "named:grandchild-holds-stdout"
mk
start=$(date +%s%N)
got=$("$AK" exec --in "$BOX" -- sh -c "setsid sleep 9876$TAG & echo done")
is output "$got" "done"
ok "at once" test $((($(date +%s%N) - start) / 1000000)) -lt 15000
gone "sleep 9876$TAG" || nok "it is left"
drop

t "named:parallel-results-are-never-mixed"
mk
for i in $(seq 64); do
	"$AK" exec --in "$BOX" -- sh -c "echo a$i; sleep 0.1; echo b$i; exit $i" >"$DIR/p$i" 2>&1 &
	pids[i]=$!
done
bad=0
for i in $(seq 64); do
	wait "${pids[i]}"
	[ "$?" = "$i" ] && [ "$(tr '\n' ' ' <"$DIR/p$i")" = "a$i b$i " ] || bad=$((bad + 1))
done
is "mixed or lost" "$bad" 0
rm -f "$DIR"/p[0-9]*
drop

# --- fresh ones ---

for pool in 0 2; do
	t "named:fresh-with-pool-$pool"
	mk --pool $pool -e FROM=create
	into -- sh -c 'echo old >/tmp/f'
	into --fresh -- sh -c 'cat /tmp/f 2>/dev/null || echo none; echo new >/tmp/f; echo $FROM; ls /proc | grep -c "^[0-9]"' </dev/null
	like "own /tmp, own processes" "$(tr '\n' ' ' <"$O")" '^none create [1-9] $'
	into --fresh -- sh -c 'cat /tmp/f 2>/dev/null || echo none'
	is "each is new" "$(out)" none
	into -- cat /tmp/f
	is "the named one is untouched" "$(out)" old
	into --fresh --json -- sh -c 'exit 7'
	is code "$RC" 7
	is "isolation is told" "$(js 'd["isolation"]["network"]')" none
	pid=$(executor)
	into --fresh -- sh -c "setsid sleep 9877$TAG & echo x"
	gone "sleep 9877$TAG" || nok "a process is left"
	into --fresh --timeout 0.3 -- sleep 9877"$TAG"
	is timeout "$RC" 124
	drop
done

# --- jobs ---

t "named:jobs"
mk
into --detach -- sh -c 'echo start; echo warn >&2; read x; echo "got $x"; sleep 9878'"$TAG"
job=$(out)
like "an id" "$job" '^[0-9]+$'
ok "it runs" wait_for sh -c '"$1" logs box "$2" | grep -q ^got' x "$AK" "$job"
run "$AK" jobs "$BOX"
like listed "$(out)" "(^|
)$job +running "
run "$AK" logs "$BOX" "$job"
is "log, with both streams in order and no input" "$(out)" "start
warn
got "
into --detach -- sh -c 'exit 3'
second=$(out)
ok "the second ends" wait_for sh -c '"$1" jobs box | grep -q "^$2 .*exited *3"' x "$AK" "$second"
run "$AK" jobs "$BOX" --json
is "both" "$(js '[(j["status"],j["exit_code"]) for j in d["jobs"]]')" "[('running', None), ('exited', 3)]"
run "$AK" rm "$BOX"
is "rm while a job runs" "$RC" 1
like message "$(err)" '^ak: .*--force'
into -- true
is "it lives" "$RC" 0
run "$AK" kill "$BOX" "$job"
is kill "$RC" 0
gone "sleep 9878$TAG" || nok "the job is left"
run "$AK" kill "$BOX" "$job"
is "kill of an ended one" "$RC" 1
for c in "logs box 999" "kill box 999"; do
	# shellcheck disable=SC2086
	run "$AK" $c
	is "$c" "$RC" 1
	like "$c" "$(err)" '^ak: .'
done
run "$AK" rm "$BOX"
is "rm" "$RC" 0

t "named:job-follow"
mk
into --detach -- sh -c 'for i in 1 2 3; do echo $i; sleep 0.3; done'
run "$AK" logs "$BOX" "$(out)" -f
is "to its end" "$(tr '\n' ' ' <"$O")" "1 2 3 "
into --detach -- sh -c 'while :; do echo x; sleep 0.1; done'
job=$(out)
run bash -c '"$0" logs "$1" "$2" -f | head -n 2' "$AK" "$BOX" "$job"
is "until nobody reads" "$(tr '\n' ' ' <"$O")" "x x "
drop

t "named:job-ends-with-the-sandbox"
mk
into --detach -- sh -c 'trap "" TERM HUP; sleep 9879'"$TAG"'; sleep 9879'"$TAG"
ok "it runs" wait_for lives "sleep 9879$TAG"
drop
gone "sleep 9879$TAG" || nok "the job is left"

t "named:job-log-has-a-maximum"
mk
into --detach -- sh -c 'echo first; head -c 20000000 /dev/zero | tr "\0" a; echo; echo last'
job=$(out)
ok "it ends" wait_for sh -c '"$1" jobs box | grep -q "^$2 .*exited"' x "$AK" "$job"
run "$AK" logs "$BOX" "$job"
ok "bounded" test "$(wc -c <"$O")" -le 4300000
is "head" "$(head -n 1 "$O")" first
is "tail" "$(tail -n 1 "$O")" last
like "the gap is told" "$(err)" '^ak: [0-9]+ bytes of the log were dropped'
drop

t "named:job-with-limits"
mk
into --detach --timeout 2 -e A=5 -w /tmp -- sh -c 'echo $A; pwd; sleep 9880'"$TAG"
job=$(out)
ok "it times out" wait_for sh -c '"$1" jobs box | grep -q "^$2 .*timed_out *124"' x "$AK" "$job"
run "$AK" logs "$BOX" "$job"
is log "$(out)" "5
/tmp"
into --detach --json -- touch MARK
is "with --json" "$RC" 125
like message "$(err)" '^ak: --json cannot be given with --detach'
no "not run" test -e "$WS/MARK"
drop

t "named:too-many-jobs"
mk --pids 1000
for i in $(seq 64); do into --detach -- sleep 9881"$TAG" || break; done
is "64 run" "$(field jobs)" 64
into --detach -- touch MARK
refused 125 .
run "$AK" kill "$BOX" "$("$AK" jobs "$BOX" --json | js 'd["jobs"][0]["job"]' /dev/stdin)"
is "one less" "$RC" 0
into -- echo still
is "and a command runs" "$(out)" still
drop
gone "sleep 9881$TAG" || nok "jobs are left"

t "named:many-commands-leave-nothing"
mk
pid=$(executor)
init=$(children "$pid" | sed -n 2p)
for i in 1 2 3 4 5; do into -- true; done
fds=$(ls "/proc/$pid/fd" | wc -l)
rss=$(awk '/VmRSS/ { print $2 }' "/proc/$pid/status")
irss=$(awk '/VmRSS/ { print $2 }' "/proc/$init/status" 2>/dev/null || echo 0)
for i in $(seq 300); do "$AK" exec --in "$BOX" -- true || nok "run $i"; done
_same_fds() {
	[ "$(ls "/proc/$pid/fd" | wc -l)" -le "$fds" ]
}
ok "descriptors" wait_for _same_fds
ok "memory of the executor" test "$(awk '/VmRSS/ { print $2 }' "/proc/$pid/status")" -le $((rss + 400))
ok "memory of init" test "$(awk '/VmRSS/ { print $2 }' "/proc/$init/status" 2>/dev/null || echo 0)" -le $((irss + 400))
# the executor, init, three prepared with their keepers, three keepers that wait
_few() {
	[ "$(children "$pid" | wc -l)" -le 11 ]
}
ok "processes" wait_for _few
drop

done_suite
