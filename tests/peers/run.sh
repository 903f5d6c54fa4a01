#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The agent's side of the wire against independent peers: a scripted model server over all three wire formats, with limits,
# overload, cut streams and signatures, and its journal of what was really sent; and the official SDKs over every recorded stream.
# Needs node, curl, python3 and tests/peers/setup.sh FOLDER; no network but loopback. Last line: "N passed, N failed".
# usage: tests/peers/run.sh FOLDER [BUILD]
set -u
peers=${1:?usage: tests/peers/run.sh FOLDER [BUILD]}
cd "$(dirname "$0")/../.." || exit 2
build=${2:-build/release}
drive=$build/integration/llm_drive
[ -x "$drive" ] || {
	echo "peers: $drive is missing: run make itools first" >&2
	exit 2
}
work=$(mktemp -d /tmp/ak-peers.XXXXXX) || exit 2
server=
passed=0
failed=0
KEY=sk-test-0123456789abcdef
export OPENAI_API_KEY=$KEY ANTHROPIC_API_KEY=$KEY OPENROUTER_API_KEY=$KEY HOME=$work

cleanup() {
	[ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# check NAME CMD... - CMD must succeed
check() {
	local name=$1
	shift
	if "$@" >"$work/why" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $name: $(head -c 400 "$work/why" | tr '\n' ' ') $(tail -n 2 "$work/err" 2>/dev/null | tr '\n' ' ')"
	fi
}

port=$((20000 + $$ % 20000))
start() {
	for _ in 1 2 3 4 5; do
		(cd "$peers" && exec node node_modules/@copilotkit/aimock/dist/cli.js -p "$port" -h 127.0.0.1 -f "$work/fixtures.json" --strict \
			--log-level warn) >"$work/server.log" 2>&1 &
		server=$!
		for _ in $(seq 60); do
			curl -fs -m 1 "http://127.0.0.1:$port/v1/models" >/dev/null && return 0
			kill -0 "$server" 2>/dev/null || break
			sleep 0.1
		done
		kill "$server" 2>/dev/null
		port=$((port + 1))
	done
	echo "peers: the model server does not start: $(head -n 3 "$work/server.log")" >&2
	exit 2
}

stop() {
	kill "$server" 2>/dev/null
	wait "$server" 2>/dev/null
	server=
}

base() {
	if [ "$1" = anthropic ]; then echo "http://127.0.0.1:$port"; else echo "http://127.0.0.1:$port/v1"; fi
}

# talk WIRE ARG... - output in $work/out, one object a call; code in RC
talk() {
	local wire=$1
	shift
	RC=0
	timeout 60 "$drive" --api "$wire" --base-url "$(base "$wire")" --model claude-sonnet-5-5 --base-ms 20 --deltas "$@" >"$work/out" 2>"$work/err" || RC=$?
}

journal() {
	curl -fs "http://127.0.0.1:$port/__aimock/journal" >"$work/journal"
}

# holds EXPR - of the rows d printed by the driver and the requests j the server saw
holds() {
	python3 - "$work/out" "$work/journal" "$1" "$RC" "$KEY" <<-'EOF'
		import json, sys
		d = [json.loads(l) for l in open(sys.argv[1])]
		j = json.load(open(sys.argv[2]))
		rc, key = int(sys.argv[4]), sys.argv[5]
		heads = [{k.lower(): v for k, v in r["headers"].items()} for r in j]
		if not eval(sys.argv[3]):
		    print(sys.argv[3], "| rc", rc, "|", json.dumps(d)[:300], "|", json.dumps([r["body"] for r in j])[:600])
		    sys.exit(1)
	EOF
}

# says REGEX - the last line for the user
says() {
	grep '^ak: ' "$work/err" | tail -n 1 | grep -qE -- "$1"
}

cp tests/peers/fixtures.json "$work/fixtures.json"
for w in anthropic chat responses; do
	for s in '' --no-stream; do
		start
		talk "$w" $s --system 'You are careful.' "THINK: count lines"
		journal
		check "$w $s: a conversation with two calls" holds 'rc == 0 and [x["stop"] for x in d] == ["tool_use", "end_turn"]'
		check "$w $s: arguments" holds '[c["args"] for c in d[0]["calls"]] == [{"command": "wc -l README.md"}, {"path": "Ä"}]'
		check "$w $s: text" holds 'd[0]["text"] == "I will look." and d[1]["text"] == "README.md has 42 lines." and all(x["shown"] for x in d)'
		check "$w $s: thinking is seen" holds 'd[0]["reasoning"] == "let me think"'
		check "$w $s: usage" holds 'd[0]["usage"]["input_tokens"] == 321 and d[0]["usage"]["output_tokens"] == 45'
		check "$w $s: cost from the table" holds 'd[0]["usage"]["cost_usd"] == "0.001092" and d[0]["usage"]["cost_source"] == "table"'
		check "$w $s: two requests" holds 'len(j) == 2'
		check "$w $s: results in order, each once" holds '[m.get("tool_call_id") for m in j[1]["body"]["messages"] if m["role"] == "tool"] == ["call_ak_1", "call_ak_2"]'
		check "$w $s: results directly behind the calls" holds '[m["role"] for m in j[1]["body"]["messages"]][-3:] == ["assistant", "tool", "tool"]'
		check "$w $s: keys in their header only" holds 'key not in json.dumps([r["body"] for r in j]) and all(("x-api-key" in h) == ("'"$w"'" == "anthropic") and ("authorization" in h) == ("'"$w"'" != "anthropic") for h in heads)'
		check "$w $s: no key on the screen" bash -c "! grep -qF '${KEY#sk-}' '$work/out' '$work/err'"
		[ "$w" != anthropic ] || check "$w $s: version header" holds 'all(h["anthropic-version"] == "2023-06-01" for h in heads)'
		stop
	done
	start
	talk "$w" RATE
	journal
	check "$w: goes on after 429, no sooner than asked" holds 'rc == 0 and d[0]["text"] == "after the limit" and d[0]["attempts"] == 2 and d[0]["waited_ms"] >= 1000'
	talk "$w" OVERLOAD
	journal
	check "$w: goes on after 529 twice" holds 'rc == 0 and d[0]["text"] == "after the load" and d[0]["attempts"] == 3'
	talk "$w" --tries 3 ALWAYS
	check "$w: gives up on 529" says 'HTTP 529: Overloaded.*gave up after 3 attempts'
	check "$w: with exit 4" holds 'rc == 4 and d[0]["fault"] == "overloaded"'
	talk "$w" --tries 2 CUT
	check "$w: a cut stream is no answer" holds 'rc == 4 and d[0]["fault"] == "cut" and "text" not in d[0]'
	talk "$w" WRONG
	journal
	check "$w: a wrong key is not tried again" holds 'rc == 3 and d[0]["attempts"] == 1'
	check "$w: and named" says 'HTTP 401: invalid x-api-key'
	stop
done

# what the turns look like on the wire, raw: the server's journal has them in its own form, so a relay keeps the bytes
start
check "signatures and reasoning are sent back" python3 tests/peers/relay.py "$port" "$drive"
RC=0
OPENROUTER_BASE_URL=http://127.0.0.1:$port/api/v1 timeout 60 "$drive" --model openrouter/openai/gpt-5.5 COST >"$work/out" 2>"$work/err" || RC=$?
journal
check "openrouter: its own cost wins" holds 'rc == 0 and d[0]["usage"]["cost_usd"] == "0.0123" and d[0]["usage"]["cost_source"] == "provider" and d[0]["usage"]["cache_read_input_tokens"] == 900'
stop

check "the official SDKs make the same of every recorded stream" node tests/peers/sse_oracle.mjs --check "$peers" tests/replay/sse/anthropic \
	tests/replay/sse/chat tests/replay/sse/responses

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
