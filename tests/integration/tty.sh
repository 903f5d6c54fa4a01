# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Terminals: a pty of the sandbox's own, and nothing typed into or drawn on the caller's that should not be.
. "$TESTS/lib.sh"

if [ -z "$PY" ]; then
	_record SKIP pty "no python3"
	done_suite
	exit 0
fi

# term STEPS ARG... - ak exec on a terminal of 33x101
term() {
	local steps=$1
	shift
	run "$PY" "$TESTS/onpty.py" --size 33x101 --limit 35 "$steps" "$AK" exec -C "$WS" "$@"
}

t "TTY-06:size-without-a-terminal"
ak --tty -- stty size
is size "$(out | tr -d '\r')" "24 80"

t "TTY-06:size-of-the-terminal"
term '[]' --tty -- stty size
is size "$(out | tr -d '\r\n')" "33 101"

t "TTY-06:size-change"
term '[["ready", {"size": [44, 132]}]]' --tty -- sh -c 'trap "stty size; exit 0" WINCH; echo ready; while :; do sleep 0.1; done'
like size "$(out | tr -d '\r')" "44 132"

t "TTY-05:interrupt-reaches-the-foreground"
term '[["ready", "\u0003"], ["bye", "echo after\n"], ["after\r\nafter", "exit 4\n"]]' --tty -- sh -c 'trap "echo bye" INT; echo ready; while read x; do eval "$x"; done; while read x; do eval "$x"; done'
like "it went on" "$(out)" bye
unlike code "$RC" '^(130|124)$'

t "TTY-05:python-repl"
# the loop says when it runs: an interrupt between two looks at the keyboard would be lost with the line it throws away
term '[[">>>", "import time\n"], [">>>", "while 1: print(\"lo\"+\"op\") or time.sleep(.1)\n\n"], ["loop", "\u0003"], ["KeyboardInterrupt", "1+1\n"], ["2\r\n", "exit(3)\n"]]' --tty -- /usr/bin/python3 -i
is code "$RC" 3
like text "$(out)" KeyboardInterrupt

t "TTY-05:job-control"
if need bash; then
	term '[["\\$ ", "set -m; sleep 99 & fg\n"], ["\nsleep 99\r\n", {"again": "\u001a"}], ["Stopped", "kill -KILL %1; wait -f %1; echo e''nd\n"], ["end\r\n", "exit 5\n"]]' --tty --env PS1='$ ' -- bash --norc -i
	is code "$RC" 5
	unlike "no complaint" "$(out)" "no job control"
fi

t "TTY:eof"
term '[["ready", "line\n"], ["got line", "\u0004"]]' --tty -- sh -c 'echo ready; while read x; do echo "got $x"; done; echo end'
like output "$(out)" end
is code "$RC" 0

t "TTY:exit-code"
term '[]' --tty -- sh -c 'exit 42'
is code "$RC" 42

t "TTY:terminal-is-restored"
run "$PY" "$TESTS/onpty.py" --limit 35 '[]' sh -c 'stty -g >'"$DIR/a"'; "$1" exec -C "$2" --tty -- stty raw -echo; stty -g >'"$DIR/b" x "$AK" "$WS"
is settings "$(cat "$DIR/b")" "$(cat "$DIR/a")"

t "TTY:terminal-is-restored-after-a-signal"
run "$PY" "$TESTS/onpty.py" --limit 35 '[]' sh -c 'stty -g >'"$DIR/a"'; "$1" exec -C "$2" --tty -- sh -c "sleep 20" & sleep 1; kill -TERM $!; wait; stty -g >'"$DIR/b" x "$AK" "$WS"
is settings "$(cat "$DIR/b")" "$(cat "$DIR/a")"

t "31:pty-of-its-own"
cp "$ESC/tty" "$WS/.tty"
term '[]' --tty -- ./.tty tty=1
is code "$RC" 0
no "open: $(grep -a OPEN "$O")" grep -qaE '^(OPEN|BROKEN)' "$O"

t "25:no-terminal-of-the-caller"
term '[]' -- sh -c 'for i in 0 1 2; do readlink /proc/self/fd/$i; done; ls /dev/pts'
unlike "no pts inside" "$(out)" '/dev/pts/'

t "TTY:stdin-not-read-from-a-terminal"
term '[]' -- sh -c 'cat; echo end'
like output "$(out)" end
is code "$RC" 0

t "TTY:stdin-with-i"
term '[["ready", "hello\n\u0004"]]' -i -- sh -c 'echo ready; cat; echo end'
like output "$(out)" end

t "TTY-01:no-injection"
run "$PY" "$TESTS/onpty.py" --limit 35 '[]' sh -c '"$1" exec -C "$2" -- /usr/bin/python3 -c "
import fcntl,termios
for f in (0,1,2):
    try: fcntl.ioctl(f,termios.TIOCSTI,b\"x\"); print(\"INJECTED\")
    except OSError as e: print(\"no\", e.errno)
"; read -t 1 x; echo "read:$x."' x "$AK" "$WS"
unlike "ioctl" "$(out)" INJECTED
like "nothing typed" "$(out)" 'read:\.'

# what a terminal must not get: the filter is on for a terminal without --tty, and with --tty for dangerous strings
ESCS='printf "a\033]52;c;QUJD\007b\033[2Jc\033]0;title\007d\033P+q544e\033\\\\e\033_apc\033\\\\f\033[6ng\033[ch\033^pm\033\\\\i\033Xsos\033\\\\j\033[?1049hk\033[31mred\033[0m\n"'
t "TTY-07+32:strict-filter-on-a-terminal"
term '[]' -c "$ESCS"
unlike "clipboard" "$(out)" $'\033\\]'
unlike "clear" "$(out)" $'\033\\[2J'
unlike "query" "$(out)" $'\033\\[(6n|c)'
unlike "strings" "$(out)" $'\033[P_^X]'
unlike "alternate screen" "$(out)" '1049h'
like "text stays" "$(out | tr -d '\033' | sed 's/\[[0-9]*m//g')" 'abcdefghijkred'
like "colours stay" "$(out)" $'\033\\[31mred'

t "32:pty-filter"
term '[]' --tty -c "$ESCS"
unlike "clipboard" "$(out)" $'\033\\]52'
unlike "query" "$(out)" $'\033\\[(6n|c)'
unlike "strings" "$(out)" $'\033[P_^X]'
like "cursor sequences pass" "$(out)" $'\033\\[2J'

t "32:nothing-typed-back"
run "$PY" "$TESTS/onpty.py" --limit 35 '[]' sh -c '"$1" exec -C "$2" --tty -- printf "\033[6n\033[c\033]52;c;?\007\033[>c"; read -t 1 x; echo "read:$x."' x "$AK" "$WS"
like "nothing typed" "$(out)" 'read:\.'

t "TTY:raw"
term '[]' --raw -c "$ESCS"
like "as it is" "$(out)" $'\033\\]52;c;QUJD\007'

t "TTY:no-filter-to-a-file"
ak -c "$ESCS"
like "as it is" "$(out)" $'\033\\]52;c;QUJD\007b\033\\[2J'

t "TTY-09:nothing-lost"
for i in $(seq 30); do
	timeout 30 "$AK" exec -C "$WS" --tty -- sh -c 'head -c 200000 /dev/zero | tr "\0" a' </dev/null 2>>"$E" | tr -cd a | wc -c
done | sort -u >"$O"
is bytes "$(out | tr '\n' ' ')" "200000 "

t "TTY:timeout"
term '[]' --tty --timeout 1 -- sh -c 'sleep 99'
is code "$RC" 124

t "TTY:terminal-gone"
m=98.6$RANDOM$$
run "$PY" -c 'import os,pty,sys,time
pid,fd=pty.fork()
if pid==0: os.execvp(sys.argv[1],sys.argv[1:])
time.sleep(0.7); os.close(fd)
print(os.waitpid(pid,0)[1])' "$AK" exec -C "$WS" --tty -- sleep "$m"
ok "left: $(alive "sleep $m")" gone "sleep $m"
done_suite
