# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# ak-init in serve mode, driven by the programs of tests/serve as the executor drives it: commands, what they leave, shell sessions,
# file operations. MANY: commands in turn (default 2000).
. "$TESTS/lib.sh"

if [ ! -x "$SERVE/exec" ]; then
	_record SKIP serve-init "not built (make serve)"
	done_suite
	exit 0
fi

# the workspace as the programs want it: protected names, one of them a program of ours
workspace() {
	mkdir -p "$WS/.git/hooks" "$DIR/outside"
	: >"$WS/.bashrc"
	echo kept >"$DIR/outside/f"
	printf '[core]\n\trepositoryformatversion = 0\n' >"$WS/.git/config"
	cp "$1/attack" "$WS/attack"
}

# serve PROGRAM [ARG...] - every line is a result
serve() {
	local prog=$1
	shift
	t "serve-$prog"
	TEST=""
	workspace "$SERVE"
	run env MANY="${MANY:-2000}" "$SERVE/$prog" "$@" -C "$WS" ${OPTS[@]+"${OPTS[@]}"}
	claims "serve-$prog"
	is "exit code" "$RC" 0
	_close
	OPTS=()
}

# serve_control WEAKEN "CLAIM..." PROGRAM [ARG...] - without the protections each claim is seen open
serve_control() {
	local names=$1 want=$2 prog=$3 c
	shift 3
	t "control:serve-$prog-without-$names"
	if [ ! -x "$SERVEW/$prog" ]; then
		skip "no weak build (make weak)"
	else
		workspace "$SERVEW"
		run env AK_WEAKEN="$names" MANY=1 FEW=1 "$SERVEW/$prog" "$@" -C "$WS" ${OPTS[@]+"${OPTS[@]}"}
		for c in $want; do
			grep -qE "^(OPEN|BROKEN) $c( |\$)" "$O" || nok "$c: $(grep -F " $c " "$O" || echo "no such claim; exit $RC; $(_short "$(err)")")"
		done
	fi
	_close
	OPTS=()
}

LIMIT=300
serve exec
# filters that the command loads itself, as for a profile of the user; and those of strict, under which the keepers live, too
t serve-exec-late
TEST=""
run env LATE=1 FEW=1 "$SERVE/exec" -C "$WS"
claims serve-exec-late
t serve-exec-strict
TEST=""
run env FEW=1 "$SERVE/exec" -C "$WS" --seccomp strict
claims serve-exec-strict
serve attack
serve session
OPTS=(--tmpfs /small:1m)
serve files "$WS" "$DIR/outside"
t "outside-is-as-it-was"
is "names" "$(ls -A "$DIR/outside")" f
is "content" "$(cat "$DIR/outside/f")" kept

# a sandbox with a POSIX shell only
t "serve-session-posix"
if need busybox; then
	TEST=""
	R=$DIR/root
	mkdir -p "$R/bin" "$R/tmp"
	cp "$(command -v busybox)" "$R/bin/busybox"
	for c in sh cat ls mkdir rmdir sed seq sleep kill true false pwd basename wc setsid awk chmod; do ln -sf busybox "$R/bin/$c"; done
	run "$SERVE/session" -p -C "$WS" --rootfs "$R"
	claims serve-session-posix
fi

serve_control floor,canary confined exec
serve_control profile,canary confined exec
serve_control session own-session-and-group exec
serve_control rlimits limit-of-processes-holds exec
serve_control keeper "daemon-is-ended daemon-none-seen" attack
serve_control dumpable,landlock "init-and-keeper-maps" attack
OPTS=(--tmpfs /small:1m)
serve_control beneath "ways-out way-out-says-why read-a-device-by-link" files "$WS" "$DIR/outside"
OPTS=(--tmpfs /small:1m)
serve_control protect "protected-write protected-hook" files "$WS" "$DIR/outside"

done_suite
