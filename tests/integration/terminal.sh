# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# `ak exec --in NAME --tty` under a terminal: a pty's master (onpty.py), and a real terminal program (tmux).
. "$TESTS/lib.sh"
# shellcheck source=box.sh
. "$TESTS/box.sh"

# term STEPS ARG... - exec --in on a terminal of 33x101
term() {
	local steps=$1
	shift
	run "$PY" "$TESTS/onpty.py" --size 33x101 --limit 35 "$steps" "$AK" exec --in "$BOX" "$@"
}

t "TTY:named-without-a-terminal"
mk
into --tty -- tty
like "it has one" "$(out)" '/dev/(pts/[0-9]|console)'
into --tty -- stty size
is size "$(out | tr -d '\r')" "24 80"
into --tty -- sh -c 'exit 42'
is code "$RC" 42
for i in 1 2 3 4 5 6 7 8 9 10; do
	into --tty -- sh -c 'head -c 200000 /dev/zero | tr "\0" a'
	is "TTY-09: every byte, run $i" "$(wc -c <"$O")" 200000
done
into --tty --timeout 0.5 --kill-after 100ms -- sleep 99
is timeout "$RC" 124
into --tty --json -- sh -c 'echo out; echo err >&2'
is "one stream" "$(js '(d["stdout"],d["stderr"])')" "('out\r\nerr\r\n', '')"
drop

if [ -n "$PY" ]; then
	t "TTY-06:named-size"
	mk
	term '[]' --tty -- stty size
	is size "$(out | tr -d '\r\n')" "33 101"
	term '[["ready", {"size": [44, 132]}]]' --tty -- sh -c 'trap "stty size; exit 0" WINCH; echo ready; while :; do sleep 0.1; done'
	like "and its change" "$(out | tr -d '\r')" "44 132"
	drop

	t "TTY-05:named-interrupt"
	mk
	term '[["ready", "\u0003"], ["bye", "echo after\n"], ["after\r\nafter", "exit 4\n"]]' --tty -- sh -c 'trap "echo bye" INT; echo ready; while read x; do eval "$x"; done; while read x; do eval "$x"; done'
	like "it went on" "$(out)" bye
	unlike code "$RC" '^(130|124)$'
	term '[[">>>", "import time\n"], [">>>", "while 1: print(\"lo\"+\"op\") or time.sleep(.1)\n\n"], ["loop", "\u0003"], ["KeyboardInterrupt", "1+1\n"], ["2\r\n", "exit(3)\n"]]' --tty -- /usr/bin/python3 -i
	is "python" "$RC" 3
	drop

	t "TTY-05:named-job-control"
	mk
	term '[["\\$ ", "set -m; sleep 99 & fg\n"], ["\nsleep 99\r\n", {"again": "\u001a"}], ["Stopped", "kill -KILL %1; wait -f %1; echo e''nd\n"], ["end\r\n", "exit 5\n"]]' --tty -e PS1='$ ' -- bash --norc -i
	is code "$RC" 5
	unlike "no complaint" "$(out)" "no job control"
	drop

	t "TTY:named-end-of-input"
	mk
	term '[["ready", "line\n"], ["got line", "\u0004"]]' --tty -- sh -c 'echo ready; while read x; do echo "got $x"; done; echo end'
	like output "$(out)" end
	is code "$RC" 0
	drop

	t "TTY:named-session-text"
	mk
	term '[]' --tty -c 'cd /usr; stty size; export T=1'
	is size "$(out | tr -d '\r\n')" "33 101"
	sh_ 'pwd; echo $T'
	is "it carries over" "$(out)" "/usr
1"
	drop

	t "TTY:named-terminal-is-restored"
	mk
	# shellcheck disable=SC2016
	run "$PY" "$TESTS/onpty.py" --limit 35 '[]' sh -c 'stty -g >'"$DIR/a"'; "$1" exec --in "$2" --tty -- stty raw -echo; stty -g >'"$DIR/b" x "$AK" "$BOX"
	is settings "$(cat "$DIR/b")" "$(cat "$DIR/a")"
	# shellcheck disable=SC2016
	run "$PY" "$TESTS/onpty.py" --limit 35 '[["ready", ""]]' sh -c 'stty -g >'"$DIR/a"'; "$1" exec --in "$2" --tty -- sh -c "stty raw; echo ready; kill -9 \$\$"; stty -g >'"$DIR/b" x "$AK" "$BOX"
	is "after a crash, too" "$(cat "$DIR/b")" "$(cat "$DIR/a")"
	drop

	t "TTY-07:named-sequences"
	mk
	term '[]' --tty -- printf 'a\033]52;c;QUJD\ab\033[31mred\033[0m\033Pq\033\\c'
	unlike "no clipboard, no strings" "$(od -An -c <"$O" | tr -d ' \n')" '033\]52|033P'
	like "text and colours" "$(out)" 'ab.*red'
	term '[]' -- printf 'a\033]52;c;QUJD\ab\033[2Jc'
	unlike "without --tty stricter" "$(od -An -c <"$O" | tr -d ' \n')" '033\[2J|033\]'
	run "$AK" exec --in "$BOX" --detach -- printf 'a\033]52;c;QUJD\ab\033[2Jc\n'
	job=$(out)
	ok "a job ends" wait_for sh -c '"$1" jobs box | grep -q "^$2 .*exited"' x "$AK" "$job"
	run "$PY" "$TESTS/onpty.py" --limit 20 '[]' "$AK" logs "$BOX" "$job"
	unlike "logs on a terminal" "$(od -An -c <"$O" | tr -d ' \n')" '033\[2J|033\]'
	drop
fi

# --- a real terminal ---

# tm ARG... - tmux with a server of this suite's own
tm() {
	TMUX_TMPDIR=$DIR tmux -f /dev/null "$@"
}

# screen REGEX - wait until the screen shows it
screen() {
	wait_for _shows "$1" || {
		nok "never shown: $1; the screen: $(_short "$(tm capture-pane -p)")"
		return 1
	}
}

_shows() {
	tm capture-pane -p | grep -qE "$1"
}

# _foreground TEXT - a process with TEXT has the terminal and is not stopped: proc(5), the group is field 5 and the terminal's field 8
_foreground() {
	local p
	for p in $(alive "$1"); do
		awk '{ sub(/^.*\) /, ""); exit !($1 != "T" && $3 == $6) }' "/proc/$p/stat" && return 0
	done
	return 1
}

if need tmux; then
	t "TTY:tmux-shell"
	mk
	tm new-session -d -x 80 -y 24 "env PS1='outer> ' bash --norc -i"
	screen 'outer>'
	tm send-keys "$AK exec --in $BOX --tty -e PS1='inner> ' -- bash --norc -i" Enter
	screen 'inner>'
	tm send-keys 'stty size; echo $TERM' Enter
	screen '^24 80'
	screen '^(tmux|screen)'
	tm send-keys "sleep 9890$TAG" Enter
	ok "a command runs" wait_for _foreground "sleep 9890$TAG"
	tm send-keys C-c
	tm send-keys 'echo after=$?' Enter
	screen '^after=130'
	gone "sleep 9890$TAG" || nok "Ctrl-C did not end it"
	tm send-keys "sleep 9891$TAG" Enter
	ok "another runs" wait_for _foreground "sleep 9891$TAG"
	tm send-keys C-z
	screen 'Stopped'
	tm send-keys 'fg' Enter
	ok "it runs again" wait_for _foreground "sleep 9891$TAG"
	tm send-keys C-c
	tm send-keys 'echo back=$?' Enter
	screen '^back=130'
	tm resize-window -x 100 -y 30
	tm send-keys 'clear; stty size' Enter
	screen '^30 100'
	tm send-keys 'exit 7' Enter
	screen 'outer>'
	tm send-keys 'echo code=$?' Enter
	screen '^code=7'
	tm send-keys 'stty -a | grep -o "[-]*icanon"' Enter
	screen '^icanon'
	tm kill-server
	drop

	t "TTY:tmux-full-screen-program"
	if need python3; then
		cat >"$WS/full.py" <<'PY'
import curses


def main(s):
    s.keypad(True)
    keys = ""
    while True:
        s.erase()
        h, w = s.getmaxyx()
        s.border()
        s.addstr(1, 2, "size %dx%d" % (h, w))
        s.addstr(2, 2, "keys " + keys)
        s.addstr(h - 2, 2, "bottom")
        s.refresh()
        k = s.getch()
        if k == ord("q"):
            return
        if k != curses.KEY_RESIZE:
            keys += "U" if k == curses.KEY_UP else chr(k) if k < 128 else "?"


curses.wrapper(main)
PY
		mk
		tm new-session -d -x 80 -y 24 "env PS1='outer> ' bash --norc -i"
		screen 'outer>'
		tm send-keys "echo before; $AK exec --in $BOX --tty -- python3 full.py" Enter
		screen 'size 24x80'
		screen '^.* bottom'
		tm send-keys a Up b
		screen 'keys aUb'
		tm resize-window -x 90 -y 28
		screen 'size 28x90'
		is "the bottom is at the bottom" "$(tm capture-pane -p | grep -n bottom | cut -d: -f1)" 27
		tm send-keys q
		screen '^before'
		unlike "the screen is as before" "$(tm capture-pane -p)" 'bottom'
		tm send-keys 'echo code=$?' Enter
		screen '^code=0'
		tm kill-server
		drop
	fi

	t "TTY:tmux-editor"
	if need vi; then
		mk
		tm new-session -d -x 80 -y 24 "env PS1='outer> ' bash --norc -i"
		screen 'outer>'
		tm send-keys "$AK exec --in $BOX --tty -- vi text" Enter
		screen '^~'
		tm send-keys i 'hello from vi'
		screen '^hello from vi'
		tm send-keys Escape
		tm send-keys ':wq' Enter
		screen 'outer> *$'
		is "the file" "$(cat "$WS/text")" "hello from vi"
		tm kill-server
		drop
	fi

	t "TTY:tmux-terminal-goes-away"
	mk
	tm new-session -d -x 80 -y 24 "env PS1='outer> ' bash --norc -i"
	screen 'outer>'
	tm send-keys "$AK exec --in $BOX --tty -- sleep 9892$TAG" Enter
	ok "it runs" wait_for lives "sleep 9892$TAG"
	tm kill-server
	gone "sleep 9892$TAG" || nok "the command is left"
	into -- true
	is "the sandbox lives" "$RC" 0
	drop
else
	for n in shell full-screen-program editor terminal-goes-away; do
		t "TTY:tmux-$n"
		skip "no tmux on this machine"
	done
fi

done_suite
