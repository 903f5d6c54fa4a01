# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# The demo: as README.md has it, with a script; and the same task given by an independent model server, aimock from npm, in each of the
# three formats. Where npm could not get it, those tests are left out. AK_AIMOCK=FOLDER, for the runner: where it is installed.
. "$TESTS/lib.sh"

export HOME=$DIR/home XDG_STATE_HOME=$DIR/state
unset XDG_CONFIG_HOME AK_PRICES_FILE
mkdir -p "$HOME"

t README:demo
if need git make cc; then
	# the clone that the README has in ~/ak
	mkdir -p "$HOME/ak/build" "$HOME/ak/tests"
	ln -sfn "$IT/bin" "$HOME/ak/build/release"
	ln -sfn "$IT/replay" "$HOME/ak/tests/replay"
	sed -n '/^## An agent/,/^With a model/{s|/tmp/leap|'"$WS/leap"'|g;/^    /p}' "$TESTS/README.md" >"$DIR/block"
	sed -n 's/^    \$ //p' "$DIR/block" >"$DIR/commands"
	ok "commands are there" test "$(wc -l <"$DIR/commands")" -ge 5
	run bash -c '. "$1" 2>&1' x "$DIR/commands"
	# each line of the README that is no command comes, in this order
	"$PY" - "$DIR/block" "$O" >"$DIR/missing" <<-'EOF'
		import sys
		got = [l.rstrip("\n") for l in open(sys.argv[2])]
		at = 0
		for l in open(sys.argv[1]):
		    l = l.rstrip("\n")[4:]
		    if l.startswith("$ ") or l == "...":
		        continue
		    while at < len(got) and got[at] != l:
		        at += 1
		    if at == len(got):
		        print(l)
		        break
	EOF
	is "a line of the README that did not come" "$(cat "$DIR/missing")" ""
	is "exit code of the last one" "$RC" 0
fi

# ---- aimock

SERVER=
AIMOCK=$IT/aimock

# server - a server of its own for a test: PORT
server() {
	: >"$DIR/server.log"
	(cd "$AIMOCK" && exec node node_modules/@copilotkit/aimock/dist/cli.js -p 0 -h 127.0.0.1 -f "$TESTS/peers/demo.json" --strict --log-level info) \
		>"$DIR/server.log" 2>&1 &
	SERVER=$!
	wait_for grep -q 'listening on' "$DIR/server.log"
	PORT=$(sed -n 's/.*listening on http:.*:\([0-9]*\)$/\1/p' "$DIR/server.log")
}

end_server() {
	[ -z "$SERVER" ] || { kill "$SERVER" && wait "$SERVER"; } 2>/dev/null
	SERVER=
}
trap end_server EXIT

for w in anthropic chat responses; do
	t "aimock:$w"
	need node git make cc curl || continue
	wait_for test -e "$AIMOCK/state"
	[ -e "$AIMOCK/node_modules/@copilotkit/aimock/dist/cli.js" ] || {
		skip "npm could not get @copilotkit/aimock: $(_short "$(cat "$AIMOCK/state" 2>/dev/null)")"
		continue
	}
	cp -r "$IT/replay/demo/repo/." "$WS/"
	(cd "$WS" && git init -q && git add -A)
	no "the test fails before" make -C "$WS" -s test
	server
	case $w in
	anthropic) base='' path=/v1/messages ;;
	chat) base=/v1 path=/v1/chat/completions ;;
	*) base=/v1 path=/v1/responses ;;
	esac
	run env ANTHROPIC_API_KEY=sk-demo-0123456789 OPENAI_API_KEY=sk-demo-0123456789 "$AK" run -C "$WS" -o json -m demo-model --api "$w" \
		--base-url "http://127.0.0.1:$PORT$base" "make the tests pass"
	curl -fsm 10 "http://127.0.0.1:$PORT/__aimock/journal" >"$DIR/journal"
	end_server
	is "exit code" "$RC" 0
	is result "$(js 'd["result"]')" "The tests pass. \`is_leap\` ignored the rule for centuries; leap.c has it now."
	is "turns and calls" "$(js '(d["num_turns"], d["num_tool_calls"])')" "(4, 4)"
	is usage "$(js '(d["usage"]["input_tokens"], d["usage"]["output_tokens"])')" "(4950, 230)"
	is "requests" "$(js 'len(d)' "$DIR/journal")" 4
	is "every call answered, once and in order" "$(js '[m["tool_call_id"] for m in d[-1]["body"]["messages"] if m["role"] == "tool"]' "$DIR/journal")" \
		"['call_demo_1', 'call_demo_2', 'call_demo_3', 'call_demo_4']"
	is "each in its format" "$(js 'set(r["path"] for r in d)' "$DIR/journal")" "{'$path'}"
	is applied "$(js 'd["changes"]["outcome"]')" applied
	ok "the test passes" make -C "$WS" -s test
	is "only that file has changed" "$(git -C "$WS" diff --name-only)" leap.c
	no "no key in the state" grep -rqF sk-demo "$XDG_STATE_HOME"
done

done_suite
