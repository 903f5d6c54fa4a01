# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# A serving executor, driven through the client library: every operation, refusals, thousands of commands, SIGKILLs, a hostile client.
# AK_SERVE_COMMANDS (1000), AK_SERVE_KILLS (20) and AK_SERVE_HOSTILE (20 s) make the long parts longer.
. "$TESTS/lib.sh"

CLIENT=$IT/bin/client

# drive NAME PROGRAM ARG... - a program of tests/client; its PASS and FAIL lines are tests of this suite
drive() {
	local name=$1 kind test why
	shift
	_close
	TEST=""
	rm -rf "$DIR/$name"
	mkdir -p "$DIR/$name/ws"
	RC=0
	timeout -k 5 "${LIMIT:-240}" "$@" >"$O" 2>"$E" || RC=$?
	while IFS=$'\t' read -r kind test why; do
		case $kind in
		PASS | FAIL) _record "$kind" "$test" "$why" ;;
		NOTE) printf '%s %s: %s\n' "$WHO" "$name" "$test" ;;
		esac
	done <"$O"
	test=$(grep -c '^PASS' "$O")
	why=$(err)
	t "$name:ran-to-its-end"
	[ "$test" -gt 0 ] || nok "no test of it was run"
	[ "$RC" -le 1 ] || nok "ended with $RC: $(_short "$why")"
	unlike "stderr" "$why" "(AddressSanitizer|runtime error|Segmentation)"
}

drive ops "$CLIENT/ops" "$AK" "$DIR/ops/ws"
drive many "$CLIENT/many" "$AK" "$DIR/many/ws" "${AK_SERVE_COMMANDS:-1000}" 64
drive killing "$CLIENT/killing" "$AK" "$DIR/killing/ws" "${AK_SERVE_KILLS:-20}"
LIMIT=$((${AK_SERVE_HOSTILE:-20} + 120)) drive hostile "$CLIENT/hostile_peer" "$AK" "$DIR/hostile/ws" "${AK_SERVE_HOSTILE:-20}"

t "serve:stdin-that-is-no-socket"
run "$AK" serve -C "$WS"
is "exit code" "$RC" 1
like "message" "$(err)" "^ak: serve: .*socket"

t "serve:options-of-one-command-are-refused"
run "$AK" serve -C "$WS" --json
is "exit code" "$RC" 2
like "message" "$(err)" "^ak: .*--json"

t "serve:help"
run "$AK" serve --help
is "exit code" "$RC" 0
like "text" "$(out)" "usage: ak serve"

done_suite
