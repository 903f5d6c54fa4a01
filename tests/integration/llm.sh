# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Conversations with a model server on loopback that misbehaves, over the three wire formats: what is sent, what is tried again, which
# one line is said in the end, with which exit code; keys are nowhere but in their header.
. "$TESTS/lib.sh"

DRIVE=$IT/bin/llm_drive
KEY=sk-secret-0123456789abcdef
KEY2=sk-other-fedcba9876543210
export ANTHROPIC_API_KEY=$KEY OPENAI_API_KEY=$KEY
unset ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL OPENAI_BASE_URL AK_PRICES_FILE
export HOME=$DIR XDG_CONFIG_HOME=$DIR/config
J=$DIR/journal
WIRES="anthropic chat responses"

# base WIRE MODE - the base URL that makes the server behave so
base() {
	if [ "$1" = anthropic ]; then echo "http://127.0.0.1:$PLAIN/$2"; else echo "http://127.0.0.1:$PLAIN/$2/v1"; fi
}

# talk WIRE MODE ARG... - one conversation; waits between attempts are short
talk() {
	local wire=$1 mode=$2
	shift 2
	LIMIT=60 run "$DRIVE" --api "$wire" --base-url "$(base "$wire" "$mode")" --model m --base-ms 5 "$@"
}

sample_of() {
	if [ "$1" = responses ]; then echo reasoning_and_calls; else echo full; fi
}

# ended CODE REGEX - one line for the user; the key is in no output
ended() {
	is "exit code" "$RC" "$1"
	is "lines for the user" "$(grep -c '^ak: ' "$E")" 1
	like message "$(grep '^ak: ' "$E")" "$2"
	no "the key is in the output" grep -qF "${KEY#sk-}" "$O" "$E"
}

# turn N EXPR - of the Nth object printed, as d
turn() {
	sed -n "$1p" "$O" >"$DIR/turn"
	js "$2" "$DIR/turn"
}

# sent N EXPR - of the Nth request of this test, as r; its body as b
sent() {
	"$PY" -c 'import json,sys
rows=[json.loads(l) for l in open(sys.argv[1])]
r=rows[int(sys.argv[2])-1]
b=json.loads(r["body"]) if r["body"] else None
print(eval(sys.argv[3]))' "$J" "$1" "$2" 2>&1
}

requests() {
	wc -l <"$J"
}

begin() {
	t "$1"
	: >"$J"
}

server_start() {
	rm -f "$DIR/ports"
	: >"$J"
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$DIR/key.pem" -out "$DIR/cert.pem" -days 2 -subj /CN=ak-test \
		-addext 'subjectAltName=IP:127.0.0.1' >"$DIR/openssl.log" 2>&1
	coproc SRV { exec "$PY" "$TESTS/llm_server.py" "$DIR/ports" "$J" "$IT/replay/sse" "$DIR/cert.pem" "$DIR/key.pem" 2>"$DIR/server.log"; }
	SERVER=$SRV_PID
	exec {SERVER_IN}>&"${SRV[1]}"
	wait_for test -s "$DIR/ports" || return 1
	read -r PLAIN TLSPORT DEAD <"$DIR/ports"
}

t server
if ! need "$PY" openssl || ! server_start; then
	nok "$(cat "$DIR/server.log" 2>/dev/null)"
	done_suite
	exit 0
fi

# --- what is sent

for w in $WIRES; do
	begin "$w:headers-and-key"
	talk "$w" "sse:text_keepalive" hi
	[ "$w" = anthropic ] || talk "$w" "sse:$([ "$w" = chat ] && echo text_usage_after_finish || echo text)" hi
	is "exit code" "$RC" 0
	h='{k.lower(): v for k, v in r["headers"].items()}'
	n=$(requests)
	if [ "$w" = anthropic ]; then
		is path "$(sent "$n" 'r["path"]')" "/sse:text_keepalive/v1/messages"
		is "the key's header" "$(sent "$n" "$h.get('x-api-key')")" "$KEY"
		is "no other header" "$(sent "$n" "$h.get('authorization')")" None
		is version "$(sent "$n" "$h.get('anthropic-version')")" 2023-06-01
	else
		is "the key's header" "$(sent "$n" "$h.get('authorization')")" "Bearer $KEY"
		is "no other header" "$(sent "$n" "$h.get('x-api-key')")" None
	fi
	is "the key is sent once" "$(tail -n 1 "$J" | grep -oF "$KEY" | wc -l)" 1
	is "no key in the body" "$(sent "$n" "'$KEY' in r['body']")" False
	is stream "$(sent "$n" 'b["stream"]')" True
	is "nothing that models refuse" "$(sent "$n" '[k for k in ("temperature","top_p","top_k","thinking","tool_choice") if k in b]')" "[]"

	begin "$w:prefix-is-the-same-over-a-session"
	s=$(sample_of "$w")
	end=$([ "$w" = anthropic ] && echo text_keepalive || { [ "$w" = chat ] && echo text_usage_after_finish || echo text; })
	talk "$w" "script:sse:$s,sse:$s,sse:$s,sse:$end" --system 'You are careful. "Ä"' 'first' 'second'
	is "exit code" "$RC" 0
	is requests "$(requests)" 5
	"$PY" - "$J" "$w" >"$DIR/prefix" 2>&1 <<-'EOF'
		import json, sys
		rows = [json.loads(l) for l in open(sys.argv[1])]
		key = {"anthropic": '"messages":[', "chat": '"messages":[{"role":"system","content":', "responses": '"input":['}[sys.argv[2]]
		heads = []
		for r in rows:
		    at = r["body"].index(key)
		    end = at
		    if sys.argv[2] == "chat":  # the system message is part of the prefix
		        end = r["body"].index('},{"role":"user"', at)
		    heads.append(r["body"][:end])
		assert len(set(heads)) == 1, heads
		b = json.loads(rows[0]["body"])
		names = [t.get("name") or t["function"]["name"] for t in b["tools"]]
		assert names == sorted(names) and len(names) == 3, names
		assert "You are careful" in heads[0] or sys.argv[2] == "chat" and "You are careful" in rows[0]["body"][:end], heads[0]
		print("same", len(heads[0]) > 300)
	EOF
	is prefix "$(cat "$DIR/prefix")" "same True"

	begin "$w:turns-are-sent-back-unchanged-and-results-follow-in-order"
	talk "$w" "script:sse:$s,sse:$end" first
	is "exit code" "$RC" 0
	"$PY" - "$J" "$w" "$IT/replay/sse/$w/$s.sdk.json" >"$DIR/echo" 2>&1 <<-'EOF'
		import json, sys
		body = json.loads([json.loads(l) for l in open(sys.argv[1])][-1]["body"])
		turn = json.load(open(sys.argv[3]))["turn"]
		def strip(v):
		    if isinstance(v, dict):
		        return {k: strip(x) for k, x in v.items() if x is not None}
		    return [strip(x) for x in v] if isinstance(v, list) else v
		if sys.argv[2] == "anthropic":
		    m = body["messages"]
		    assert strip(m[1]["content"]) == strip(turn), m[1]
		    ids = [b["id"] for b in turn if b["type"] == "tool_use"]
		    assert [b["tool_use_id"] for b in m[2]["content"]] == ids and len(m) == 3
		    assert any(b.get("signature") == "EqQBCgIYAg==" for b in m[1]["content"])
		elif sys.argv[2] == "chat":
		    m = body["messages"]
		    assert strip(m[1]) == strip(turn), m[1]
		    ids = [c["id"] for c in turn["tool_calls"]]
		    assert [x["tool_call_id"] for x in m[2:]] == ids and all(x["role"] == "tool" for x in m[2:])
		else:
		    m = body["input"]
		    assert strip(m[1:1 + len(turn)]) == strip(turn), m
		    assert m[1]["encrypted_content"] == "gAAAAenc=="
		    ids = [i["call_id"] for i in turn if i["type"] == "function_call"]
		    assert [x["call_id"] for x in m[1 + len(turn):]] == ids and body["store"] is False
		print("good", len(ids))
	EOF
	is echo "$(cat "$DIR/echo")" "good 2"
done

begin anthropic:cache-marks
talk anthropic "script:sse:full,sse:full,sse:text_keepalive" --system s first
is "exit code" "$RC" 0
is "system and the only turn" "$(sent 1 'r["body"].count("cache_control")')" 2
is "system and two turns" "$(sent 3 'r["body"].count("cache_control")')" 3
is "the end of the last turn" "$(sent 3 '"cache_control" in b["messages"][-1]["content"][-1]')" True
is "the end of the one before" "$(sent 3 '"cache_control" in b["messages"][-3]["content"][-1]')" True

# --- tried again, and how often

for w in $WIRES; do
	end=$([ "$w" = anthropic ] && echo text_keepalive || { [ "$w" = chat ] && echo text_usage_after_finish || echo text; })
	for mode in status:429:retry-after-ms=10 status:529 status:500 cleancut halfclosed reset loading; do
		begin "$w:again-after-${mode%%:r*}"
		talk "$w" "script:$mode,$mode,sse:$end" --deltas hi
		is "exit code" "$RC" 0
		is requests "$(requests)" 3
		is attempts "$(turn 1 'd["attempts"]')" 3
		is "shown text is the text" "$(turn 1 'd["shown"]')" true
	done
	begin "$w:gives-up"
	talk "$w" status:529 --tries 3 hi
	ended 4 "HTTP 529: .*gave up after 3 attempts"
	is requests "$(requests)" 3

	for code in 400 403 404 413; do
		begin "$w:not-again-after-$code"
		talk "$w" "status:$code" hi
		ended "$([ $code = 403 ] && echo 3 || echo 4)" "HTTP $code: "
		is requests "$(requests)" 1
	done
	begin "$w:not-again-without-credit"
	talk "$w" quota hi
	ended 4 "exceeded your current quota.*credit"
	is requests "$(requests)" 1
	begin "$w:context-is-full"
	talk "$w" toolong hi
	ended 15 "prompt is too long: 210000 tokens"
	is requests "$(requests)" 1
done

begin STR-05:an-error-inside-a-stream-fails-the-attempt
talk anthropic "script:sse:error_after_text,sse:text_keepalive" --deltas hi
is "exit code" "$RC" 0
is requests "$(requests)" 2
is text "$(turn 1 'd["text"]')" "one two"
is "shown text is the text" "$(turn 1 'd["shown"]')" true
begin STR-05:an-error-inside-every-stream-ends-it
talk anthropic sse:error_after_text --tries 2 hi
ended 4 "api_error: Internal server error.*gave up after 2 attempts"
begin STR-05:a-rate-limit-inside-a-stream
talk chat sse:error_first --tries 2 hi
ended 4 "rate_limit_exceeded: Rate limit reached"
begin a-cut-call-is-never-run
talk anthropic sse:cut_in_tool --tries 2 hi
ended 4 "ended before"
is "no result was sent" "$(sent 2 'len(b["messages"])')" 1
begin usage-of-a-failed-attempt-is-booked
talk anthropic "script:sse:cut_in_tool,sse:text_keepalive" hi
is "exit code" "$RC" 0
is "output of the lost attempt" "$(turn 1 'd["lost_output"]')" 9

begin STR-11:bad-arguments-are-not-run-and-leave-a-valid-history
talk anthropic "script:sse:tool_json_broken,sse:text_keepalive" hi
is "exit code" "$RC" 0
is "inputs are objects" "$(sent 2 'all(isinstance(x["input"], dict) for x in b["messages"][1]["content"])')" True
is "errors" "$(sent 2 'sum(1 for x in b["messages"][2]["content"] if x.get("is_error") and "not valid" in x["content"])')" 10
is "results" "$(sent 2 'len(b["messages"][2]["content"])')" 11

# --- keys in turn

begin keys-rotate-on-rate-limits
OPENAI_API_KEY=$KEY,$KEY2 talk chat "script:status:429:retry-after=30,sse:text_usage_after_finish" hi
is "exit code" "$RC" 0
is requests "$(requests)" 2
is "first key" "$(sent 1 'r["headers"]["authorization"]')" "Bearer $KEY"
is "second key" "$(sent 2 'r["headers"]["authorization"]')" "Bearer $KEY2"
is "no waiting" "$(turn 1 'd["waited_ms"]')" 0
begin keys-rotate-on-a-refused-key
OPENAI_API_KEY_1=$KEY OPENAI_API_KEY_2=$KEY2 OPENAI_API_KEY='' talk chat "script:status:401,sse:text_usage_after_finish" hi
is "exit code" "$RC" 0
is "second key" "$(sent 2 'r["headers"]["authorization"]')" "Bearer $KEY2"
begin a-wrong-key
talk anthropic status:401 hi
ended 3 "HTTP 401: invalid x-api-key .authentication_error.*ANTHROPIC_API_KEY"
is requests "$(requests)" 1
begin no-key
ANTHROPIC_API_KEY='' run "$DRIVE" --model anthropic/claude-sonnet-5-5 hi
ended 3 "no key.*set ANTHROPIC_API_KEY"

# --- what servers do not know is left out

for m in nostreamoptions newmaxtokens; do
	begin "quirk:$m"
	talk chat "$m" first
	is "exit code" "$RC" 0
	is "learnt once" "$(requests)" 2
done
begin quirk:nocachecontrol
talk anthropic nocachecontrol --tries 1 hi
like "learnt" "$(sent 2 'r["body"]')" '"messages"'
unlike "learnt" "$(sent 2 'r["body"]')" cache_control
begin quirk:noencrypted
talk responses noencrypted hi
is "exit code" "$RC" 0
is requests "$(requests)" 2
begin quirk:tools-on-responses-only
talk chat onlyresponses hi
is "exit code" "$RC" 0
is api "$(turn 1 'd["api"]')" responses
is path "$(sent 2 'r["path"]')" /onlyresponses/v1/responses

# --- answers that are none: one line each

for w in $WIRES; do
	begin "$w:body-instead-of-a-stream"
	talk "$w" jsonstream hi
	like "a stream under a wrong name is read" "$(head -n 1 "$O")" '"fault":"none"'
	while read -r mode code regex; do
		begin "$w:$mode"
		talk "$w" "$mode" --tries 1 hi
		ended "$code" "$regex"
	done <<-'EOF'
		empty 4 HTTP 200: an empty answer.*base URL
		emptystream 4 an empty answer.*base URL
		commentsonly 4 HTTP 200, but not a stream
		html 4 HTTP 200, but not a reply of the .* format: Log in to the proxy
		html502 4 HTTP 502: 502 Bad Gateway
		text 4 it works!
		binary 4 HTTP 200, but not a reply
		truncjson 4 HTTP 200, but not a reply
		otherjson 4 HTTP 200, but not a reply.*hello
		arrayerror 4 HTTP 400: API key not valid. Please pass a valid API key
		texterror 4 HTTP 400: model .x. not found
		vllmerror 4 HTTP 400: tool choice requires
		redirect 4 redirect to http://192.0.2.1/steal, which is not followed
		status:404 4 HTTP 404: model: no-such-model.*check the model
	EOF
	begin "$w:not-utf-8"
	talk "$w" badutf8 --tries 1 hi
	[ "$w" = responses ] || ended 4 "UTF-8"
	is "no escape reaches the terminal" "$(tr -d '\n' <"$E" | tr -cd '\000-\037\177' | wc -c)" 0
done

# --- each ends within its time, with exit 4 and the reason

for w in $WIRES; do
	begin "$w:unreachable"
	run "$DRIVE" --api "$w" --base-url "http://127.0.0.1:$DEAD/v1" --model m --tries 2 --base-ms 5 hi
	ended 4 "unreachable.*gave up after 2 attempts"
	begin "$w:stalls-before-headers"
	talk "$w" stallhead --tries 2 --head-ms 300 hi
	ended 4 "no answer|stalled"
	ms=$(turn 1 'd["total_ms"]')
	[ "$ms" -ge 600 ] && [ "$ms" -le 20000 ] || nok "took $ms ms"
	begin "$w:stalls-in-the-middle"
	talk "$w" stallbody --tries 2 --idle-ms 300 hi
	ended 4 "stopped|stalled"
	ms=$(turn 1 'd["total_ms"]')
	[ "$ms" -ge 600 ] && [ "$ms" -le 20000 ] || nok "took $ms ms"
	begin "$w:half-closed"
	talk "$w" halfclosed --tries 1 hi
	ended 4 "cut"
done
begin the-run-has-an-end-of-its-own
talk chat stallhead --deadline-ms 400 hi
ended 13 "time"
begin no-attempt-behind-the-end-of-the-run
talk chat status:429:retry-after=30 --deadline-ms 5000 hi
ended 13 "HTTP 429.*the run ends before"
is requests "$(requests)" 1
for mode in stallhead stallbody status:429:retry-after=30; do
	begin "interrupted:${mode%%:*}"
	"$DRIVE" --api chat --base-url "$(base chat "$mode")" --model m hi >"$O" 2>"$E" </dev/null &
	pid=$!
	wait_for test -s "$J"
	sleep 0.3
	kill -TERM "$pid"
	RC=0
	wait "$pid" || RC=$?
	ended 130 "cancel|interrupt"
done
begin name-that-does-not-resolve
run "$DRIVE" --api chat --base-url https://no-such-host.invalid/v1 --model m --tries 1 hi
ended 4 "no-such-host.invalid"
begin certificate-that-is-not-trusted
run "$DRIVE" --api chat --base-url "https://127.0.0.1:$TLSPORT/sse:full/v1" --model m hi
ended 4 "certificate"
is "nothing was sent" "$(requests)" 0
begin certificate-that-is-trusted
run "$DRIVE" --api chat --base-url "https://127.0.0.1:$TLSPORT/sse:text_usage_after_finish/v1" --ca "$DIR/cert.pem" --model m hi
is "exit code" "$RC" 0
begin plain-http-to-another-host
run "$DRIVE" --api chat --base-url http://192.0.2.1/v1 --model m hi
ended 2 "in the clear.*https"

# --- money and prompts

begin BUD-05:no-price-and-a-limit-of-money
talk chat sse:text_usage_after_finish --max-cost 0.01 hi
ended 2 'no price is known for "m".*--price'
is "nothing was sent" "$(requests)" 0
talk chat sse:text_usage_after_finish --max-cost 0.01 --price in=1,out=2,cache_read=0.1 hi
is "exit code" "$RC" 0
# 26 fresh and 10 written at 1, 64 read at 0.1, 20 out at 2 dollars per million
is cost "$(turn 1 'd["usage"]["cost_usd"]')" 0.0000824
begin a-prompt-that-the-server-cut
talk chat sse:text_usage_after_finish "$(printf 'word %.0s' $(seq 4000))"
is "it is told" "$(turn 1 'd["prompt_cut"]')" true
talk chat sse:text_usage_after_finish hi
is "a short one was not" "$(turn 1 'd["prompt_cut"]')" false

# --- without a network

begin replay-plays-and-records
cat >"$DIR/script" <<-'EOF'
	{"schema":"ak-replay/1"}
	{"match":{"user":"fix"},"reply":{"text":"Looking.","calls":[{"id":"c1","name":"bash","args":{"command":"ls"}}],"usage":{"input":10,"output":5}}}
	{"fault":{"name":"overloaded","status":529,"message":"busy","wait_ms":1,"times":2}}
	{"match":{"result":"ran bash"},"reply":{"text":"Done.","cost_usd":0.25}}
EOF
run "$DRIVE" --api replay --replay "$DIR/script" --record "$DIR/recorded" --deltas "please fix it"
is "exit code" "$RC" 0
is "attempts of the second" "$(turn 2 'd["attempts"]')" 3
is text "$(turn 2 'd["text"]')" Done.
is cost "$(turn 2 'd["usage"]["cost_usd"]')" 0.25
run "$DRIVE" --api replay --replay "$DIR/recorded" "anything"
is "the record plays, too" "$RC $(turn 2 'd["text"]')" "0 Done."
begin a-recorded-conversation-keeps-the-raw-turns
rm -f "$DIR/recorded"
talk anthropic "script:sse:full,sse:text_keepalive" --record "$DIR/recorded" hi
is "exit code" "$RC" 0
like signature "$(cat "$DIR/recorded")" '"signature":"EqQBCgIYAg=="'
is mode "$(stat -c %a "$DIR/recorded")" 600
begin replay-that-does-not-match
printf '{"schema":"ak-replay/1"}\n{"match":{"user":"other"},"reply":{"text":"x"}}\n' >"$DIR/script"
run "$DRIVE" --api replay --replay "$DIR/script" hi
ended 4 "line 2: the request does not match"
begin replay-with-a-slip
printf '{"schema":"ak-replay/1"}\n{"reply":{"txt":"x"}}\n' >"$DIR/script"
run "$DRIVE" --api replay --replay "$DIR/script" hi
ended 2 'line 2: reply: "txt" is not known'

# --- prices and models by the program itself

begin prices
run "$AK" prices show claude-haiku-5-5 --json
is "exit code" "$RC" 0
is "input" "$(js 'd["input"]')" 0.1
is "tier" "$(js 'd["tiers"][0]["above"]')" 100000
is "source" "$(js 'd["source"]')" built-in
run "$AK" prices show anthropic/claude-sonnet-5-5-20261009 --json
is "date and provider are left off" "$(js 'd["model"]')" claude-sonnet-5-5
run "$AK" prices show no-such-model
refused 1 'no price is known for "no-such-model"'
run "$AK" prices list
like "date" "$(head -n 1 "$O")" "Built-in table of 20[0-9][0-9]-"
run "$AK" prices frobnicate
refused 2 'expected "list" or "show MODEL"'
begin prices-of-the-user
mkdir -p "$DIR/config/ak"
printf '{"schema":"ak-prices/1","models":{"local":{"input":0,"output":0},"claude-opus-5":{"input":7}}}' >"$DIR/config/ak/prices.json"
run "$AK" prices show claude-opus-5 --json
is "merged" "$(js '[d["input"], d["output"], d["source"]]')" "[7.0, 25.0, '$DIR/config/ak/prices.json']"
printf '{"m":{"litellm_provider":"x","input_cost_per_token":2.5e-06,"output_cost_per_token":1e-05}}' >"$DIR/litellm"
AK_PRICES_FILE=$DIR/litellm run "$AK" prices show m --json
is "LiteLLM" "$(js '[d["input"], d["output"]]')" "[2.5, 10.0]"
printf '{"schema":"ak-prices/1","models":{"x":{"input":1,"output":1,"cach_read":1}}}' >"$DIR/config/ak/prices.json"
run "$AK" prices list
refused 1 'prices.json: models.x: "cach_read" is no member of a price'
rm -rf "$DIR/config"
begin models
run "$AK" models
is "exit code" "$RC" 0
like anthropic "$(out)" "anthropic +anthropic +set +https://api.anthropic.com"
no "the key is shown" grep -qF "${KEY#sk-}" "$O" "$E"
run "$AK" models --base-url "http://127.0.0.1:$DEAD/v1"
refused 4 "unreachable"
run "$AK" models no-such
refused 2 'no provider is called "no-such"'

# --- a provider of the user's config file, its key in a file; the agent confined

FILEKEY=sk-of-the-file-0123456789
mkdir -p "$DIR/config/ak"
printf '# the key\n%s\n' "$FILEKEY" >"$DIR/corp.key"
chmod 600 "$DIR/corp.key"
for w in $WIRES; do
	begin "provider-of-a-config-file:$w"
	end=$([ "$w" = chat ] && echo text_usage_after_finish || echo text_keepalive)
	[ "$w" = responses ] && end=text
	printf '{"providers": {"corp-gw": {"base_url": "%s", "api": "%s", "api_key_file": "~/corp.key"}}}' \
		"$(base "$w" "script:sse:$(sample_of "$w"),sse:$end")" "$w" >"$DIR/config/ak/config.json"
	run "$AK" run -C "$WS" -q -o json -m corp-gw/m hi
	is "exit code" "$RC" 0
	is provider "$(js 'd["provider"], d["model"]')" "('corp-gw', 'm')"
	is requests "$(requests)" 2
	is "the file's key in both" "$(grep -cF "$FILEKEY" "$J")" 2
	is "and nobody else's" "$(grep -cF "$KEY" "$J")" 0
	is "not in the body" "$(sent 2 "'$FILEKEY' in r['body']")" False
	no "the key is in the output" grep -qF "$FILEKEY" "$O" "$E"
	ok "the session is stored" test -d "$DIR/.local/state/ak/sessions"
	no "the key is in the state" grep -rqF "$FILEKEY" "$DIR/.local"
	run env CORP_GW_API_KEY=$KEY2 "$AK" run -C "$WS" -q -o json -m corp-gw/m hi
	is "exit code" "$RC" 0
	is "a variable's key counts more" "$(tail -n 1 "$J" | grep -cF "$KEY2")" 1
done
begin provider-of-a-config-file-refused
printf '{"providers": {"corp-gw": {"base_url": "%s", "api": "chat", "api_key_file": "~/corp.key"}}}' "$(base chat status:401)" >"$DIR/config/ak/config.json"
run "$AK" run -C "$WS" -q -m corp-gw/m hi
is "exit code" "$RC" 3
like message "$(err)" "check the key in $DIR/corp.key"
no "the key is in the output" grep -qF "$FILEKEY" "$O" "$E"
begin provider-of-a-config-file-elsewhere
: >"$J"
OPENAI_API_KEY='' run "$AK" run -C "$WS" -q --api chat --base-url "$(base chat sse:text_usage_after_finish)" -m corp-gw/m hi
is "exit code" "$RC" 0
is "with --base-url the file's key is not sent" "$(grep -cF "$FILEKEY" "$J")" 0
rm -rf "$DIR/config"

exec {SERVER_IN}>&-
kill "$SERVER" 2>/dev/null
wait "$SERVER" 2>/dev/null
done_suite
