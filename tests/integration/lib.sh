# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the integration suites share: tests, checks, runs with a limit, claims of the escape programs. Sourced by each suite.
# From the runner: AK and AKW (release and weak binary), ESC (escape programs), DIR (this suite's own folder), WHO (user or
# root), PY (python3), RES (results), SUITE (its name), TESTS (this folder).

set -u
umask 022
TEST=""
TEST_BAD=0
TEST_SKIP=""
OPTS=()
O=$DIR/out
E=$DIR/err
RC=0
WS=$DIR/ws
mkdir -p "$WS"
# of a fixed width, so that it is part of no other one: what a test looks for among the processes of the host is its own only, not
# that of the pass of the other identity
TAG=$(printf '%07d' $$)

_record() { # KIND NAME DETAIL
	printf '%s\t%s\t%s\n' "$1" "$SUITE/$2" "$3" >>"$RES"
	[ "$1" = PASS ] || printf '%s %s %s/%s %s\n' "$1" "$WHO" "$SUITE" "$2" "$3"
	[ $((SECONDS - ${_LAST:-0})) -lt "${SLOW:-9999}" ] || echo "slow $WHO $SUITE/$2: $((SECONDS - ${_LAST:-0})) s"
	_LAST=$SECONDS
}

_close() {
	[ -n "$TEST" ] || return 0
	if [ -n "$TEST_SKIP" ]; then
		_record SKIP "$TEST" "$TEST_SKIP"
	elif [ "$TEST_BAD" = 0 ]; then
		_record PASS "$TEST" ""
	else
		_record FAIL "$TEST" "$TEST_WHY"
	fi
	TEST=""
}

# t NAME - start a test; its name starts with the numbers of requirements it proves (12+18:name) or the id of a case
t() {
	_close
	TEST=$1
	TEST_BAD=0
	TEST_SKIP=""
	TEST_WHY=""
	rm -rf "$WS"
	WS=$DIR/ws
	mkdir -p "$WS"
	: >"$O"
	: >"$E"
}

# nok TEXT - the test has failed
nok() {
	TEST_BAD=1
	TEST_WHY="${TEST_WHY}[$1] "
}

skip() {
	TEST_SKIP=$1
}

# ok TEXT CMD... - CMD must succeed
ok() {
	local text=$1
	shift
	"$@" >/dev/null 2>&1 || nok "$text"
}

# no TEXT CMD... - CMD must fail
no() {
	local text=$1
	shift
	! "$@" >/dev/null 2>&1 || nok "$text"
}

# is TEXT GOT WANT
is() {
	[ "$2" = "$3" ] || nok "$1: got '$(_short "$2")', want '$(_short "$3")'; stderr: $(_short "$(cat "$E" 2>/dev/null)")"
}

# like TEXT GOT REGEX
like() {
	[[ $2 =~ $3 ]] || nok "$1: '$(_short "$2")' does not match '$3'"
}

unlike() {
	[[ ! $2 =~ $3 ]] || nok "$1: '$(_short "$2")' matches '$3'"
}

# its beginning and its end
_short() {
	local text
	text=$(printf '%s' "$1" | tr '\n\t' '| ' | tr -cd '[:print:]')
	[ "${#text}" -le 500 ] && printf '%s' "$text" || printf '%s ... %s' "${text:0:200}" "${text: -300}"
}

# run CMD... - with a limit of LIMIT seconds (never seen by what works); output in $O and $E, code in RC; stdin is /dev/null
# or the file IN. At the limit the code is what SIGTERM gives, never 124, which is ak's own
run() {
	RC=0
	timeout --preserve-status -k 5 "${LIMIT:-40}" "$@" <"${IN:-/dev/null}" >"$O" 2>"$E" || RC=$?
}

# ak ARG... - one sandbox over the test's workspace
ak() {
	run "$AK" exec -C "$WS" "$@"
}

# cow_state - a state folder that can hold an overlay's layer: below the suite's, else one on the disk. Else the suite is skipped: false
cow_state() {
	export XDG_STATE_HOME=$DIR/state
	mkdir -p "$XDG_STATE_HOME"
	ak --write cow -- true
	if [ "$RC" != 0 ] && err | grep -q 'cannot hold the changes\|without user attributes'; then
		XDG_STATE_HOME=/var/tmp/$SUITE-state-$WHO
		mkdir -p "$XDG_STATE_HOME"
		ak --write cow -- true
	fi
	[ "$RC" = 0 ] && return
	skip "no file system for an overlay's layer here: $(_short "$(err)")"
	done_suite
	return 1
}

# weak NAMES ARG... - the same with protections taken away
weak() {
	local names=$1
	shift
	run env AK_WEAKEN="$names" "$AKW" exec -C "$WS" "$@"
}

out() {
	cat "$O"
}

err() {
	cat "$E"
}

# js EXPR [FILE] - a Python expression over the JSON document d in FILE (stdout of the last run)
js() {
	"$PY" -c 'import json,sys
d=json.load(open(sys.argv[1]))
r=eval(sys.argv[2])
print(r if not isinstance(r,bool) else str(r).lower())' "${2:-$O}" "$1" 2>&1
}

# refused CODE REGEX - ak said no: its code, one line for the user, nothing run (the command was: touch MARK)
refused() {
	is "exit code" "$RC" "$1"
	is "lines on stderr" "$(wc -l <"$E")" 1
	like "message" "$(err)" "^ak: "
	like "message" "$(err)" "$2"
	is "stdout" "$(wc -c <"$O")" 0
	no "the command was run" test -e "$WS/MARK"
}

# alive TEXT - process ids of the host that have the last word of TEXT on their command line
alive() {
	# the pattern comes from a file, so that grep does not find itself
	printf '%s\n' "${1##* }" >"$DIR/pattern"
	grep -lF -f "$DIR/pattern" /proc/[0-9]*/cmdline 2>/dev/null | sed 's|/proc/||; s|/cmdline||' | tr '\n' ' '
}

# wait_for CMD... - wait until CMD succeeds, half a minute at most: as long as a busy machine may need
wait_for() {
	local i
	for ((i = 0; i < 600; i++)); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.05
	done
	return 1
}

# lives TEXT - is there a process with TEXT?
lives() {
	[ -n "$(alive "$1")" ]
}

_none() {
	[ -z "$(alive "$1")" ]
}

# gone TEXT - wait until no process with TEXT is left; what would end by itself must live longer than this waits
gone() {
	wait_for _none "$1"
}

# await FILE... - wait until the files are there and not empty
await() {
	local f
	for f; do wait_for test -s "$f"; done
}

# need CMD... - skip the test unless all are installed
need() {
	local c
	for c in "$@"; do
		command -v "$c" >/dev/null 2>&1 || {
			skip "no $c on this machine"
			return 1
		}
	done
}

# claims NAME - record what an escape program printed in $O, one result a claim
claims() {
	local kind name detail n=0
	while read -r kind name detail; do
		case $kind in
		BLOCKED | ALLOWED) _record PASS "$name" "$detail" ;;
		OPEN | BROKEN) _record FAIL "$name" "$kind $detail" ;;
		SKIP) _record SKIP "$name" "$detail" ;;
		*) continue ;;
		esac
		n=$((n + 1))
	done <"$O"
	t "$1-ran"
	[ "$n" -gt 0 ] || nok "no claims; exit $RC; stderr: $(_short "$(err)")"
}

# esc PROGRAM [ARG...] - run an escape program in a sandbox with OPTS; every line is a result
esc() {
	local prog=$1
	shift
	t "$prog"
	TEST=""
	_esc_run "$AK" "" "$prog" "$@"
	claims "$prog"
	local lost=$RC
	[ "$lost" -le 1 ] || nok "exit $lost; stderr: $(_short "$(err)")"
	_close
	OPTS=()
}

_esc_run() { # BINARY WEAKEN PROGRAM ARG...
	local bin=$1 names=$2 prog=$3
	shift 3
	cp "$ESC/$prog" "$WS/.$prog"
	run ${names:+env AK_WEAKEN="$names"} "$bin" exec -C "$WS" ${OPTS[@]+"${OPTS[@]}"} -- "./.$prog" "$@"
}

# control WEAKEN "CLAIM CLAIM..." PROGRAM [ARG...] - without the protections WEAKEN the program must see each CLAIM open
control() {
	local names=$1 want=$2 prog=$3 c
	shift 3
	t "control:$prog-without-$names"
	if [ ! -x "$AKW" ]; then
		skip "no weak build (make weak)"
	else
		_esc_run "$AKW" "$names" "$prog" "$@"
		# without the floor the limits program may break init itself before all of its claims are out: noticed as well
		if [ "$prog" = limits ] && [ "$RC" = 125 ] && err | grep -q 'ended without a result'; then
			want=
		fi
		for c in $want; do
			grep -qE "^(OPEN|BROKEN) $c( |\$)" "$O" ||
				nok "$c: $(grep -F " $c " "$O" || echo "no such claim; exit $RC; $(_short "$(err)")")"
		done
	fi
	_close
	OPTS=()
}

# listen_start - listeners of the host that a sandbox must not reach: TCP, UDP, ABS, SOCK
listen_start() {
	SOCK=$DIR/sock
	rm -f "$SOCK"
	coproc HOST { exec "$ESC/hostside" listen "$SOCK"; }
	exec {LISTEN_IN}<&"${HOST[0]}" {LISTEN_OUT}>&"${HOST[1]}"
	eval "exec ${HOST[0]}<&- ${HOST[1]}>&-"
	local line
	read -r -t 5 line <&"$LISTEN_IN" || return 1
	TCP=$(sed -n 's/.*tcp=\([0-9]*\).*/\1/p' <<<"$line")
	UDP=$(sed -n 's/.*udp=\([0-9]*\).*/\1/p' <<<"$line")
	ABS=$(sed -n 's/.*abs=\([^ ]*\).*/\1/p' <<<"$line")
}

# listen_stop - sets DATAGRAMS to the number that the UDP listener got
listen_stop() {
	local line=
	exec {LISTEN_OUT}>&-
	read -r -t 5 line <&"$LISTEN_IN"
	exec {LISTEN_IN}<&-
	wait "$HOST_PID" 2>/dev/null
	DATAGRAMS=${line#datagrams=}
}

# done_suite - last line of each suite
done_suite() {
	_close
}
