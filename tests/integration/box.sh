# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the suites of named sandboxes share. Sourced behind lib.sh.

RUN=$HOME/.local/state/ak/run
BOX=box

# mk ARG... - make the sandbox of this test over its workspace
mk() {
	run "$AK" create "$BOX" -C "$WS" "$@"
	[ "$RC" = 0 ] || nok "create: $RC $(_short "$(err)")"
}

# into ARG... - one command in it
into() {
	run "$AK" exec --in "$BOX" "$@"
}

# sh_ TEXT [ARG...] - one session text in it
sh_() {
	local text=$1
	shift
	run "$AK" exec --in "$BOX" "$@" -c "$text"
}

# executor [NAME] - process id of the executor
executor() {
	"$AK" ls --json >"$DIR/ls"
	js "[s['pid'] for s in d['sandboxes'] if s['name']=='${1:-$BOX}'][0]" "$DIR/ls"
}

# field EXPR - of this sandbox in ak ls --json
field() {
	"$AK" ls --json >"$DIR/ls"
	js "[s for s in d['sandboxes'] if s['name']=='$BOX'][0]['$1']" "$DIR/ls"
}

# drop - end it; nothing may be left of it but what is not its own
drop() {
	"$AK" rm --force "$BOX" >"$DIR/rm" 2>&1 || nok "rm: $(_short "$(cat "$DIR/rm")")"
	no "its folder is gone" test -e "$RUN/$BOX.d"
}

_exited() {
	! kill -0 "$1"
}

# children PID - processes below PID, itself included
children() {
	local p
	echo "$1"
	for p in $(cat "/proc/$1/task/"*/children 2>/dev/null); do children "$p"; done
}

# all_gone PID... - wait until none of them lives
all_gone() {
	local p
	for p; do wait_for _exited "$p" || return 1; done
}
