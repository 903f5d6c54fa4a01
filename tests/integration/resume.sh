# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# A session of `ak run` that goes on with the changes it left, what `ak sessions` says of it, and its checkpoints.
# shellcheck disable=SC2016 # dollars are for the commands in the scripts
. "$TESTS/lib.sh"

export HOME=$DIR/home XDG_STATE_HOME=$DIR/state
unset XDG_CONFIG_HOME ANTHROPIC_API_KEY OPENAI_API_KEY OPENROUTER_API_KEY GEMINI_API_KEY AK_PRICES_FILE
mkdir -p "$HOME"
R=$DIR/script
SESSIONS=$XDG_STATE_HOME/ak/sessions

# bash_step TEXT - a step with one command; TEXT goes into a JSON string as it is
bash_step() {
	printf '{"reply":{"text":"Working.","calls":[{"id":"c1","name":"bash","args":{"command":"%s"}}]}}' "$1"
}
answer='{"reply":{"text":"Done."}}'

say() {
	printf '%s\n' '{"schema":"ak-replay/1"}' "$@" >"$R"
}

# agent ARG... - one run; the result object in $O
agent() {
	run "$AK" run -C "$WS" --api replay --replay "$R" -q -o json "$@" </dev/null
}

# begin - a fresh workspace and a session that has changed it and kept that; its name in $ID, its changeset in $C
begin() {
	# the work folder of a layer is closed to its owner
	[ ! -d "$SESSIONS" ] || chmod -Rf u+rwx "$SESSIONS"
	rm -rf "$WS" "$XDG_STATE_HOME"
	mkdir -p "$WS"
	echo one >"$WS/a"
	echo old >"$WS/gone"
	say "$(bash_step 'echo two >>a; echo new >n; rm gone; mkdir -p d; echo x >d/x')" "$answer"
	agent --apply never go
	ID=$(js 'd["session_id"]')
	C=$(js 'd["changes"]["id"]')
	is "exit code" "$RC" 0
}

# result TEXT - the last call's result in the transcript
result() {
	js '[r["text"] for l in open("'"$SESSIONS/$ID"'/transcript.jsonl") for r in json.loads(l).get("results",[])][-1]'
}

t goes-on-with-its-copy
begin
say "$(bash_step 'cat a n d/x; ls gone; echo three >>a; rm n')" "$answer"
agent --resume "$ID" "and now?"
is "exit code" "$RC" 0
like "the copy is as it was left" "$(result | tr '\n' ' ')" '^one two new x .stderr. .*gone'
is "all of it" "$(js 'd["changes"]["outcome"]')" applied
is "what was changed in both runs" "$(js '[(f["path"], f["op"]) for f in d["changes"]["files"]]')" \
	"[('a', 'modified'), ('d', 'added'), ('d/x', 'added'), ('gone', 'deleted')]"
is "taken over" "$(cat "$WS/a" "$WS/d/x" | tr '\n' ' ')" "one two three x "
no "what the second run removed" test -e "$WS/n"
no "what the first run removed" test -e "$WS/gone"
is "nothing is kept" "$(find "$SESSIONS" -maxdepth 1 -name 'c-*' | wc -l)" 0
say "$(bash_step 'cat a')" "$answer"
agent --resume "$ID" "once more"
is "then on the workspace" "$(result | tr '\n' ' ')" "one two three "

t the-model-is-told
begin
say '{"match":{"user":"The workspace is the copy that you worked on"},"reply":{"text":"I see."}}'
agent --resume "$ID" --apply never go
is "of its copy" "$RC" 0
say '{"match":{"user":"What you changed before is kept as changeset '"$C"'"},"reply":{"text":"I see."}}'
agent --resume "$ID" --write none go
is "of a workspace without it" "$RC" 0
ok "which is still kept" test -d "$SESSIONS/$C"
run "$AK" discard "$ID"
is "discarded by the session's name" "$RC" 0
like "which one" "$(err)" "discarded $C: 5 changes in .* by .ak run $ID"
say '{"match":{"user":"The user has discarded what you changed"},"reply":{"text":"I see."}}'
agent --resume "$ID" go
is "of the discard" "$RC" 0
say '{"match":{"user":"discarded"},"reply":{"text":"Again?"}}'
agent --resume "$ID" --apply never go
no "once" test "$RC" = 0

t rollback-in-a-session-that-goes-on
begin
roll='{"reply":{"text":"x","calls":[{"id":"c2","name":"rollback","args":{}}]}}'
say "$roll" "$answer"
agent --resume "$ID" --apply never go
like "nothing of this run" "$(result)" '^Nothing to roll back — no files have been modified\. 5 change.s. of earlier runs of this session, not taken over yet, stay\.'
no "no file is named" grep -q 'until then' <<<"$(result)"
# one of the same size, one that is new, one that the first run made, one that it removed
say "$(bash_step 'echo six >d/x; echo one >a; echo b >b; rm n; echo old >gone')" "$roll" "$(bash_step 'cat a n d/x; ls')" "$answer"
agent --resume "$ID" --apply never go
is "as it was when the run began" "$(result | tr '\n' ' ')" "one two new x a d n "
like "what was taken back" "$(js '[r["text"] for l in open("'"$SESSIONS/$ID"'/transcript.jsonl") for r in json.loads(l).get("results",[])][-2]')" \
	'^Rolled back 5 file.s. to their pre-edit state\. 5 change.s. of earlier'
is "which" "$(js 'sorted([r["text"] for l in open("'"$SESSIONS/$ID"'/transcript.jsonl") for r in json.loads(l).get("results",[])][-2].split("\n")[2:])')" \
	"['added b', 'added gone', 'deleted n', 'modified a', 'modified d/x']"
say "$(bash_step 'echo 6 >d/x')" "$roll" "$answer"
agent --resume "$ID" --apply never go
like "the same size" "$(result)" '^Rolled back 1 file.s. .*modified d/x$'
is "what is kept" "$(js 'd["changes"]["outcome"], len(d["changes"]["files"])')" "('kept', 5)"

t continue
begin
say "$(bash_step 'cat a')" "$answer"
agent --continue --apply never go
is session "$(js 'd["session_id"]')" "$ID"
is "its copy" "$(result | tr '\n' ' ')" "one two "
run "$AK" resume -C "$WS" --api replay --replay "$R" -q -o json --apply never go
is "as a command" "$(js 'd["changes"]["id"]')" "$C"

t changed-outside-meanwhile
begin
echo mine >>"$WS/a"
say "$(bash_step 'echo three >>a')" "$answer"
agent --resume "$ID" go
is "exit code" "$RC" 19
is "kept" "$(js 'd["changes"]["outcome"]')" kept
is "the user's words stay" "$(tr '\n' ' ' <"$WS/a")" "one mine "
run "$AK" apply "$ID" --force
is "by force" "$RC" 0
is "the agent's words" "$(tr '\n' ' ' <"$WS/a")" "one two three "

t removed-outside-meanwhile
begin
rm "$WS/a"
say "$(bash_step 'echo three >>a')" "$answer"
agent --resume "$ID" go
is "exit code" "$RC" 19
no "it does not come back by itself" test -e "$WS/a"
run "$AK" apply "$ID"
like "the path is named" "$(err)" 'changed outside: a'
run "$AK" apply "$ID" n
is "the others can be taken" "$RC" 0
ok "and are" test -e "$WS/n"

t after-a-kill
begin
say "$(bash_step 'echo three >>a; touch begun; sleep 96'$$)" "$answer"
"$AK" run -C "$WS" --api replay --replay "$R" -q -o json --resume "$ID" go </dev/null >"$DIR/killed" 2>"$E" &
p=$!
wait_for test -e "$SESSIONS/$C/layer/upper/begun" || nok "the command did not begin"
kill -KILL $p
wait $p 2>/dev/null
wait_for grep -q '"type":"result"' "$DIR/killed"
is "nothing runs" "$(gone "sleep 96$$" && echo gone)" gone
run "$AK" sessions list --json
is "its state" "$(js '[(s["id"], s["state"], s["changeset"]) for s in d["agent_sessions"]]')" "[('$ID', 'kept', '$C')]"
say "$(bash_step 'cat a')" "$answer"
agent --resume "$ID" go
is "exit code" "$RC" 0
is "the copy has all of it" "$(result | tr '\n' ' ')" "one two three "
is "taken over" "$(tr '\n' ' ' <"$WS/a")" "one two three "
no "what was removed in the first run" test -e "$WS/gone"

t while-it-runs
begin
say "$(bash_step 'touch begun; while [ ! -e end ]; do sleep 0.05; done')" "$answer"
"$AK" run -C "$WS" --api replay --replay "$R" -q -o json --resume "$ID" --apply never go </dev/null >"$DIR/first" 2>&1 &
p=$!
wait_for test -e "$SESSIONS/$C/layer/upper/begun" || nok "the command did not begin"
agent --resume "$ID" go
is "exit code" "$RC" 1
like "message" "$(js 'd["error"]["message"]')" 'in use'
run "$AK" sessions list --json
is "its state" "$(js '[s["state"] for s in d["agent_sessions"]]')" "['running']"
run "$AK" sessions rm "$ID"
is "not removed" "$RC" 1
like "which" "$(err)" "^ak: the session $ID is in use"
run "$AK" discard "$ID"
is "nor its changes" "$RC" 1
like "which" "$(err)" "^ak: the session $ID is in use"
run "$AK" discard "$C"
is "nor by their name" "$RC" 1
like "which" "$(err)" "^ak: changeset $C is in use"
ok "they are there" test -e "$SESSIONS/$C/layer/upper/begun"
kill -TERM $p
wait $p 2>/dev/null
ok "the session is there" test -d "$SESSIONS/$ID"

t taken-over-in-part
begin
: >"$SESSIONS/$C/applying"
agent --resume "$ID" go
is "exit code" "$RC" 1
like "what to do" "$(js 'd["error"]["message"], d["error"]["hint"]' | tr -d '\n')" "taken over in part.*ak apply $C"

t changes-that-are-lost
begin
chmod -R u+rwx "$SESSIONS/$C/layer"
rm -r "$SESSIONS/$C/layer"
agent --resume "$ID" go
is "exit code" "$RC" 1
like "it is said, and what to do" "$(js 'd["error"]["message"], d["error"]["hint"]' | tr -d '\n')" "$C is incomplete.*ak discard $C"
ok "the session is there" test -d "$SESSIONS/$ID"
run "$AK" discard "$C"
is "discarded" "$RC" 0
say '{"match":{"user":"The user has discarded what you changed"},"reply":{"text":"I see."}}'
agent --resume "$ID" go
is "the model is told" "$RC" 0

t a-session-that-is-gone
begin
rm -r "${SESSIONS:?}/$ID"
agent --resume "$ID" go
is "exit code" "$RC" 2
like message "$(js 'd["error"]["message"]')" "there is no session $ID"
run "$AK" resume "$ID" -C "$WS"
is "before a model is asked for: exit code" "$RC" 2
like "before a model is asked for" "$(err)" "there is no session $ID"
run "$AK" resume -C "$WS" words
is "one that is none: exit code" "$RC" 2
like "one that is none" "$(err)" "this workspace has no session to go on with"
run "$AK" sessions show "$C" --json
is "its changes are kept all the same" "$(js 'd["state"], len(d["files"])')" "('kept', 5)"

t of-another-workspace
begin
mkdir "$DIR/other"
run "$AK" run -C "$DIR/other" --api replay --replay "$R" -o json --resume "$ID" go </dev/null
is "exit code" "$RC" 2
like message "$(js 'd["error"]["message"]')" 'belongs to another workspace'
ok "its changes are untouched" test -e "$SESSIONS/$C/journal"
# the folder was replaced
mv "$WS" "$DIR/was"
mkdir "$WS"
say "$answer"
agent --resume "$ID" go
is "exit code" "$RC" 1
like message "$(js 'd["error"]["message"]')" 'made in another folder'
rm -r "$DIR/other" "$DIR/was"

t checkpoints
begin
say "$(bash_step 'echo three >>a')" "$(bash_step 'echo four >>a; rm -r d')" "$answer"
agent --resume "$ID" --apply never go
run "$AK" checkpoint list "$ID"
is "exit code" "$RC" 0
like "one before each turn that may change something" "$(out)" '1 .* run 1, before turn 1.*2 .* run 2, before turn 1.*3 .* run 2, before turn 2'
run "$AK" checkpoint list "$ID" --json
is "as JSON" "$(js 'd["schema"], d["changeset"], [(c["id"], c["run"], c["turn"]) for c in d["checkpoints"]]')" \
	"('ak-session-checkpoints/1', '$C', [(1, 1, 1), (2, 2, 1), (3, 2, 2)])"
run "$AK" checkpoint restore "$ID" 3
is "restored" "$RC" 0
like "what was there is kept" "$(err)" 'until now is checkpoint 4'
run "$AK" sessions show "$ID" --json
is "the changes are those of then" "$(js '[f["path"] for f in d["files"]]')" "['a', 'd', 'd/x', 'gone', 'n']"
say "$(bash_step 'cat a; cat d/x')" "$answer"
agent --resume "$ID" --apply never go
is "a run goes on from there" "$(result | tr '\n' ' ')" "one two three x "
run "$AK" checkpoint restore "$ID" 1 --json
is "to the beginning" "$(js 'd["restored"], d["before"] > 4')" "(1, True)"
run "$AK" diff "$ID"
is "nothing is changed" "$(wc -c <"$O")" 0
run "$AK" checkpoint restore "$ID" 4 -q
is "and forth" "$RC" 0
run "$AK" apply "$ID"
is "taken over" "$(tr '\n' ' ' <"$WS/a")" "one two three four "
no "what was removed" test -e "$WS/d"
for c in "restore $ID 4:1:no kept changes of the session" "list $ID:1:no kept changes" "list s-000000000000:1:no kept changes" \
	"restore $ID:2:number of a checkpoint is missing" "restore $ID x:2:no number" "restore $ID 1 a:2:one word too many" "list $ID -C .:2:about a workspace" \
	"restore $ID 1 --live:2:about a workspace" "diff $ID:2:only list and restore" "list x:2:one word too many"; do
	IFS=: read -r words code text <<<"$c"
	# shellcheck disable=SC2086
	run "$AK" checkpoint $words
	is "$words" "$RC" "$code"
	like "message of $words" "$(err)" "$text"
done
begin
run "$AK" checkpoint restore "$ID" 2
is "a number that there is not" "$RC" 1
like message "$(err)" "has no checkpoint 2"

# which model is asked, and whose: nobody has to answer for that
t the-model-it-used
[ ! -d "$SESSIONS" ] || chmod -Rf u+rwx "$SESSIONS"
rm -rf "$XDG_STATE_HOME"
mkdir -p "$WS" "$HOME/.config/ak"
CONFIG=$HOME/.config/ak/config.json
CORP='"providers": {"corp": {"base_url": "http://127.0.0.1:9/v1", "api": "chat"}}'
printf '{%s}\n' "$CORP" >"$CONFIG"
export OLLAMA_BASE_URL=http://127.0.0.1:9/v1
asked() { # WANT WORD... - of one run, whose id is in $ID afterwards
	local want=$1
	shift
	run "$AK" "$@" -C "$WS" -q -o json --timeout 400ms go </dev/null
	is "model and provider of: ${*//$ID/ID}" "$(js 'd["model"], d["provider"]')" "$want"
	ID=$(js 'd["session_id"]')
}
asked "('a/b', 'corp')" run -m corp/a/b
asked "('a/b', 'corp')" resume "$ID"
asked "('a/b', 'corp')" run --continue
asked "('z', 'ollama')" resume "$ID" --model ollama/z
asked "('z', 'ollama')" resume "$ID"
AK_MODEL=corp/env asked "('env', 'corp')" resume "$ID"
printf '{%s, "run": {"model": "corp/file"}}\n' "$CORP" >"$CONFIG"
asked "('file', 'corp')" resume "$ID"
AK_MODEL=corp/env asked "('env', 'corp')" resume "$ID"
AK_MODEL=corp/env asked "('flag', 'corp')" resume "$ID" -m corp/flag
printf '{%s}\n' "$CORP" >"$CONFIG"
is "one session" "$(find "$SESSIONS" -maxdepth 1 -name 's-*' | wc -l)" 1
echo '{}' >"$CONFIG"
run "$AK" resume "$ID" -C "$WS" go
is "a provider that is gone: exit code" "$RC" 2
is "one line names it, and the way out" "$(err)" "ak: run: the session $ID goes on with its model, flag (corp): there is no provider \"corp\" (name another model with --model PROVIDER/MODEL, or give providers.corp.base_url in your config file)"
run "$AK" resume "$ID" -C "$WS" -o json go
is "the session stays as it was" "$(js 'd["exit_code"], d["session_id"]')" "(2, '$ID')"
run env ANTHROPIC_API_KEY=sk-x ANTHROPIC_BASE_URL=http://127.0.0.1:9 "$AK" run -C "$WS" -q -o json -m anthropic/claude-x --timeout 400ms go
ID=$(js 'd["session_id"]')
run "$AK" resume "$ID" -C "$WS" go
is "without its key: exit code" "$RC" 3
like "and which that is" "$(err)" "$ID goes on with its model, claude-x \(anthropic\): anthropic: no key \(set ANTHROPIC_API_KEY"
asked "('q/r', '127.0.0.1:9')" run --base-url http://127.0.0.1:9/x -m q/r
asked "('q/r', '127.0.0.1:9')" resume "$ID"
asked "('q/r', 'localhost:9')" resume "$ID" --base-url 'http://localhost:9/?key=HIDDEN'
no "what may be a key is not kept" grep -rqF HIDDEN "$XDG_STATE_HOME"
run "$AK" resume "$ID" -C "$WS" go
is "a server that is not kept: exit code" "$RC" 2
like "how to name it" "$(err)" 'which is not kept \(give --base-url again'
asked "('q/r', '127.0.0.1:9')" resume "$ID" --base-url http://127.0.0.1:9/x
unset OLLAMA_BASE_URL
rm -r "$HOME/.config"

t sessions
begin
run "$AK" sessions list
like "a table" "$(out)" "$C +kept .*ak run $ID.*SESSION .*$ID kept .* 2 +\\? +$C +$WS +go"
run "$AK" sessions show "$ID"
like "one of them" "$(out)" "id +$ID.*turns +2.*changes +$C: 5.*modified a.*added +n"
run "$AK" sessions show "$ID" --json
is "as JSON" "$(js 'd["schema"], d["state"], d["num_turns"], d["num_tool_calls"], d["total_cost_usd"], d["exit_code"], len(d["files"])')" \
	"('ak-agent-session/1', 'kept', 2, 1, None, 0, 5)"
say '{"reply":{"text":"Paid.","usage":{"input":10,"output":5},"cost_usd":0.25}}'
agent --ephemeral go
agent "second task"
ID2=$(js 'd["session_id"]')
run "$AK" sessions list --json
is "the newest first, and no ephemeral ones" "$(js '[(s["id"], s["state"], s["task"], s["total_cost_usd"]) for s in d["agent_sessions"]]')" \
	"[('$ID2', 'ended', 'second task', 0.25), ('$ID', 'kept', 'go', None)]"
run "$AK" diff "$ID" --stat
is "diff by the session's name" "$RC" 0
like "its changes" "$(out)" 'a.*n'
run "$AK" diff "$ID2"
is "none" "$RC" 1
like message "$(err)" "no kept changes of the session $ID2"
run "$AK" sessions rm "$ID"
is "removed" "$RC" 0
no "with its changes" test -e "$SESSIONS/$C"
no "and its transcript" test -e "$SESSIONS/$ID"
run "$AK" sessions show s-000000000000
is "a session that is none" "$RC" 1
like message "$(err)" 'there is no session "s-000000000000"'
say '{"reply":{"text":"x"}}'
agent "key sk-ant-REDACTME0123456789abcdefghij in a task"
no "secrets in what the list says" grep -qF REDACTME "$SESSIONS/$(js 'd["session_id"]')/about"
printf 'junk' >"$SESSIONS/$ID2/about"
run "$AK" sessions list
is "a file that cannot be read" "$RC" 0
like "is named as such" "$(out)" "$ID2 old"

done_suite
