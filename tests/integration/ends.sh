# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# What `ak run` does when things end badly: its processes are killed or stopped, the provider dies, output cannot be written.
# ENDS_ROUNDS=N: runs that get a signal at a random moment (8). ROLLBACK_ROUNDS=N: random direct runs that are rolled back (12).
# ENDS_SEED=S: another series of both. docs/testing.md says more.
. "$TESTS/lib.sh"

export HOME=$DIR/home XDG_STATE_HOME=$DIR/state
unset XDG_CONFIG_HOME ANTHROPIC_API_KEY OPENAI_API_KEY
mkdir -p "$HOME"
R=$DIR/script

# say LINE... - a new script; each LINE is a step
say() {
	printf '%s\n' '{"schema":"ak-replay/1"}' "$@" >"$R"
}

answer='{"reply":{"text":"Done."}}'
lasting="{\"reply\":{\"text\":\"x\",\"calls\":[{\"id\":\"c1\",\"name\":\"bash\",\"args\":{\"command\":\"echo x >made; exec sleep 97$TAG\"}}]}}"
FORM=json

# begin ARG... - a run that lasts, in the background: P is ak, A its agent
begin() {
	say "$lasting" "$answer"
	env --default-signal=INT,TERM,HUP "$AK" run -C "$WS" -y --api replay --replay "$R" -q -o "$FORM" "$@" go </dev/null >"$O" 2>"$E" &
	P=$!
	wait_for pgrep -x -f "sleep 97$TAG"
	A=$(pgrep -P "$P" -x ak-agent)
}

# ended CODE SUBTYPE - how it ended; nothing of it is left
ended() {
	RC=0
	wait "$P" || RC=$?
	told "$1" "$2"
	is "nothing is left" "$(gone "sleep 97$TAG" && echo gone)" gone
	is "no agent" "$(wait_for _none "$R" && echo gone)" gone
}

# told CODE SUBTYPE - the result object says so
told() {
	is "exit code" "$RC" "$1"
	tail -n 1 "$O" >"$DIR/last"
	is "its exit code" "$(js 'd["exit_code"]' "$DIR/last")" "$1"
	is subtype "$(js 'd["subtype"]' "$DIR/last")" "$2"
	is schema "$(js 'd["schema"]' "$DIR/last")" ak-result/1
}

# goes_on - the session of the last run can be gone on with
goes_on() {
	local id
	id=$(js 'd["session_id"]' "$DIR/last")
	say '{"match":{"user":"further"},"reply":{"text":"Went on."}}'
	run "$AK" resume "$id" -C "$WS" --api replay --replay "$R" -q further
	is "gone on with" "$RC:$(out)" "0:Went on."
}

for FORM in json stream-json; do
	t "agent-killed:$FORM"
	begin --write direct
	kill -KILL "$A"
	ended 1 error
	like why "$(js 'd["error"]["message"]' "$DIR/last")" "ak-agent was killed by signal 9"
	is "what ak does not know" "$(js 'd["num_turns"], d["usage"], d["total_cost_usd"]' "$DIR/last")" "(None, None, None)"
	is "every member is there" "$(js 'sorted(set("type subtype schema status is_error exit_code result error session_id model provider num_turns num_tool_calls duration_ms stop_reason total_cost_usd cost_source price_as_of budget_exceeded usage permission_denials changes structured_output".split())-set(d))' "$DIR/last")" "[]"
	is "one line" "$(grep -c '^ak: ' "$E")" 1
	goes_on
done
FORM=json

t agent-killed:cow
begin --write cow
kill -KILL "$A"
ended 1 error
id=$(js 'd["changes"]["id"]' "$DIR/last")
is outcome "$(js 'd["changes"]["outcome"]' "$DIR/last")" kept
is files "$(js 'd["changes"]["files"]' "$DIR/last")" "[{'path': 'made', 'op': 'added'}]"
no "nothing is taken over" test -e "$WS/made"
run "$AK" apply "$id"
is "ak apply" "$RC:$(cat "$WS/made")" 0:x
goes_on

# its changeset holds nothing and is swept up; the session goes on all the same
t all-killed:nothing-changed
kept=$lasting
lasting="{\"reply\":{\"text\":\"x\",\"calls\":[{\"id\":\"c1\",\"name\":\"bash\",\"args\":{\"command\":\"exec sleep 97$TAG\"}}]}}"
begin --write cow
lasting=$kept
kill -KILL "$P" "$A"
wait "$P" 2>/dev/null
gone "sleep 97$TAG"
say '{"reply":{"text":"Went on."}}'
run "$AK" resume -C "$WS" --api replay --replay "$R" -q further
is "gone on with" "$RC:$(out)" "0:Went on."

t agent-killed:text
FORM=text
begin --write direct
FORM=json
kill -KILL "$A"
RC=0
wait "$P" || RC=$?
is "exit code" "$RC" 1
is "nothing on stdout" "$(wc -c <"$O")" 0
like why "$(err)" "^ak: run: ak-agent was killed by signal 9"

# it would hear nothing: so it is continued
for s in TERM INT HUP; do
	t "agent-stopped:$s"
	begin --write direct
	kill -STOP "$A"
	kill -"$s" "$P"
	ended $((128 + $(kill -l "$s"))) error_interrupted
	is "the agent itself says so" "$(js 'd["num_turns"]' "$DIR/last")" 1
	goes_on
done

t agent-stopped:ak-killed
begin --write direct
kill -STOP "$A"
kill -KILL "$P"
wait "$P" 2>/dev/null
is "no agent" "$(wait_for _none "$R" && echo gone)" gone
tail -n 1 "$O" >"$DIR/last"
is subtype "$(js 'd["subtype"]' "$DIR/last")" error_sandbox
is "nothing is left" "$(gone "sleep 97$TAG" && echo gone)" gone

t agent-missing
cp "$AK" "$DIR/ak"
run "$DIR/ak" run -C "$WS" --api replay --replay "$R" -q -o json go
told 1 error
rm "$DIR/ak"

for FORM in text json stream-json; do
	t "stdout-full:$FORM"
	say "$answer"
	run sh -c '"$@" >/dev/full' x "$AK" run -C "$WS" --api replay --replay "$R" -q -o "$FORM" go
	is "exit code" "$RC" 1
	is "one line" "$(err)" "ak: run: write to standard output: No space left on device (ENOSPC)"
	t "stdout-closed:$FORM"
	run sh -c '"$@" >&-' x "$AK" run -C "$WS" --api replay --replay "$R" -q -o "$FORM" go
	is "exit code" "$RC" 1
	is "one line" "$(err)" "ak: run: write to standard output: Bad file descriptor (EBADF)"
	say '{"reply":{"text":"Half","stop":"max_tokens"}}'
	run sh -c '"$@" >&-' x "$AK" run -C "$WS" --api replay --replay "$R" -q -o "$FORM" go
	is "a failure keeps its own code" "$RC" 16
done
FORM=json

t stdout-full:agent-killed
begin --write direct
kill -KILL "$P"
wait "$P" 2>/dev/null
gone "sleep 97$TAG"
say "$lasting" "$answer"
"$AK" run -C "$WS" -y --write direct --api replay --replay "$R" -q -o json go </dev/null >/dev/full 2>"$E" &
P=$!
wait_for pgrep -x -f "sleep 97$TAG"
pkill -KILL -P "$P" -x ak-agent
RC=0
wait "$P" || RC=$?
is "exit code" "$RC" 1
like "told" "$(err)" "ak: run: write the result to standard output: No space left on device"

# ---- rollback where the workspace is written directly

# call ID NAME ARGS - a step with one call
call() {
	printf '{"reply":{"text":"x","calls":[{"id":"%s","name":"%s","args":%s}]}}' "$1" "$2" "$3"
}

# talk ARG... - a direct run; res N: the text of its Nth result
talk() {
	run "$AK" run -C "$WS" -y --write direct --api replay --replay "$R" -q -o stream-json "$@"
	tail -n 1 "$O" >"$DIR/last"
}

res() {
	"$PY" -c 'import json,sys
r=[("ERR " if c["is_error"] else "")+c["content"] for l in open(sys.argv[1]) if l.strip() for m in [json.loads(l)] if m["type"]=="user" for c in m["message"]["content"]]
print(r[int(sys.argv[2])-1])' "$O" "$1"
}

# kept - sessions that can be rolled back
kept() {
	find "$XDG_STATE_HOME/ak/touched" -mindepth 2 -maxdepth 2 | wc -l
}

nothing="Nothing to roll back — no files have been modified."
back='{}'
t CKP:rollback-of-a-direct-run
printf 'old\n' >"$WS/f"
chmod 600 "$WS/f"
ln -s f "$WS/l"
[ "$WHO" = user ] || chown -R 12345:12345 "$WS"
say "$(call a rollback "$back")" "$(call b write_file '{"path":"l","content":"new"}')" "$(call c edit_file '{"path":"f","old":"new","new":"newer"}')" \
	"$(call d write_file '{"path":"n/m/x","content":"x"}')" "$(call e bash '{"command":"chmod 755 f; echo made >by-bash; rm f; ln -s by-bash f"}')" \
	"$(call f rollback '{"to":1}')" "$(call g rollback "$back")" "$(call h rollback "$back")" "$answer"
talk go
is "exit code" "$RC" 0
is "nothing yet" "$(res 1)" "$nothing"
like "no turns" "$(res 6)" "^ERR the workspace is written directly"
is "all" "$(res 7)" "Rolled back 2 file(s) to their pre-edit state."
is "once" "$(res 8)" "$nothing"
is "as it was" "$(stat -c '%F %a' "$WS/f") $(cat "$WS/f")" "regular file 600 old"
no "what was made is gone" test -e "$WS/n/m/x"
is "the link" "$(readlink "$WS/l")" f
is "what commands made stays" "$(cat "$WS/by-bash")" made
[ "$WHO" = user ] || is owner "$(stat -c %u:%g "$WS/f")" 12345:12345
is "nothing is kept" "$(kept)" 0

t CKP:calls-beside-a-rollback
say '{"reply":{"text":"x","calls":[{"id":"a","name":"write_file","args":{"path":"f","content":"x"}},{"id":"b","name":"rollback","args":{}}]}}' "$answer"
talk go
is told "$(res 2)" "ERR call rollback alone in its turn"

t CKP:a-run-that-came-to-its-end-is-good
printf old >"$WS/f"
say "$(call a write_file '{"path":"f","content":"new"}')" "$answer"
talk go
is kept "$(kept)" 0
say "$(call b rollback "$back")" "$answer"
talk --resume "$(js 'd["session_id"]' "$DIR/last")" go
is told "$(res 1)" "$nothing"
is "the file" "$(cat "$WS/f")" new

for s in KILL INT agent; do
	t "CKP:rollback-after-$s"
	printf old >"$WS/f"
	say "$(call a write_file '{"path":"f","content":"new"}')" "$(call b write_file '{"path":"g","content":"new"}')" "$lasting" "$answer"
	env --default-signal=INT "$AK" run -C "$WS" -y --write direct --api replay --replay "$R" -q -o stream-json go </dev/null >"$O" 2>"$E" &
	P=$!
	wait_for pgrep -x -f "sleep 97$TAG"
	A=$(pgrep -P "$P" -x ak-agent)
	case $s in
	KILL) kill -KILL "$P" "$A" ;;
	INT) kill -INT "$P" ;;
	agent) kill -KILL "$A" ;;
	esac
	wait "$P" 2>/dev/null
	gone "sleep 97$TAG"
	id=$(grep -o 's-[0-9a-f]\{12\}' "$O" | head -n 1)
	is "the files are changed" "$(cat "$WS/f" "$WS/g")" newnew
	is kept "$(kept)" 1
	if [ $s = KILL ]; then
		say '{"match":{"user":"wrote the workspace directly did not come to its end"},"reply":{"text":"I see."}}'
		run "$AK" run -C "$WS" --apply never --api replay --replay "$R" -o json --resume "$id" go </dev/null
		is "a run on a copy is told, too" "$RC" 0
		like "and who started it" "$(err)" 'with --write direct did not come to its end'
		is "still kept" "$(kept)" 1
	fi
	say '{"match":{"user":"2 file(s) that write_file and edit_file have"},"reply":{"text":"x","calls":[{"id":"c","name":"rollback","args":{}}]}}' "$answer"
	talk --resume "$id" go
	is "exit code" "$RC" 0
	is told "$(res 1)" "Rolled back 2 file(s) to their pre-edit state."
	is "as it was" "$(cat "$WS/f")" old
	no "what was made is gone" test -e "$WS/g"
	is "nothing is kept" "$(kept)" 0
done

t CKP:planted-links
mkdir -p "$WS/d" "$DIR/aim"
printf old >"$WS/d/f"
printf keep >"$DIR/aim/f"
say "$(call a write_file '{"path":"d/f","content":"new"}')" "$(call b write_file '{"path":"d/new","content":"new"}')" \
	"$(call c bash "{\"command\":\"mv d e; ln -s $DIR/aim d\"}")" "$(call d rollback "$back")" \
	"$(call e bash '{"command":"rm d; mv e d"}')" "$(call f rollback "$back")" "$answer"
talk go
like "not through the link" "$(res 4)" "^ERR .*take back 1 file.*d/f"
is "the file outside" "$(cat "$DIR/aim/f") $(find "$DIR/aim" | wc -l)" "keep 2"
is "and it can be begun again" "$(res 6)" "Rolled back 2 file(s) to their pre-edit state."
is "as it was" "$(cat "$WS/d/f")" old
no "what was made is gone" test -e "$WS/d/new"

# what a killed run has left may hold the kept files for a moment
t CKP:kept-files-are-locked
printf old >"$WS/f"
printf old >"$WS/g"
say "$(call a write_file '{"path":"f","content":"new"}')" '{"reply":{"text":"Half","stop":"max_tokens"}}'
talk go
id=$(js 'd["session_id"]' "$DIR/last")
exec 9<"$(find "$XDG_STATE_HOME/ak/touched" -mindepth 2 -maxdepth 2)"
flock -x 9
say "$(call a write_file '{"path":"g","content":"new"}')" "$(call b rollback "$back")" "$(call c bash '{"command":"echo $((6 * 7))"}')" '{"reply":{"text":"Half","stop":"max_tokens"}}'
talk --resume "$id" go 9<&-
like warned "$(err)" "write_file and edit_file write nothing in this run, since nothing can be kept for rollback: another process still works"
like "no write" "$(res 1)" "^ERR .*cannot be kept for rollback: another process still works"
like "no rollback" "$(res 2)" "^ERR nothing is kept to roll back to in this run"
like "commands work" "$(res 3)" "^42"
is "the files" "$(cat "$WS/f" "$WS/g")" newold
{
	sleep 0.5
	flock -u 9
} &
unlocker=$!
exec 9<&-
say "$(call a write_file '{"path":"g","content":"new"}')" "$(call b rollback "$back")" "$answer"
talk --resume "$id" go
wait "$unlocker"
is "it waits for that" "$(res 2)" "Rolled back 2 file(s) to their pre-edit state."
is "as it was" "$(cat "$WS/f" "$WS/g")" oldold
is "nothing is kept" "$(kept)" 0

# a link is another one each time it is looked at: a write goes where the old state was kept, or is not done
t CKP:a-link-that-changes-all-the-time
mkdir "$WS/d1" "$WS/d2"
ln -sfn d1 "$WS/l"
writes=
for i in {1..40}; do
	printf old1 >"$WS/d1/$i"
	printf old2 >"$WS/d2/$i"
	writes+=${writes:+,}"{\"id\":\"w$i\",\"name\":\"write_file\",\"args\":{\"path\":\"l/$i\",\"content\":\"new\"}}"
done
say "$(call a bash '{"command":"while :; do ln -sfnT d2 t && mv -T t l; ln -sfnT d1 t && mv -T t l; ln -sfnT /etc t && mv -T t l; done","background":true}')" \
	"{\"reply\":{\"text\":\"x\",\"calls\":[$writes]}}" "$(call r rollback "$back")" "$answer"
talk go
is "exit code" "$RC" 0
is "all is as it was" "$(cat "$WS"/d1/*)$(cat "$WS"/d2/*)" "$(printf 'old1%.0s' {1..40})$(printf 'old2%.0s' {1..40})"
like "some were written" "$(res 42)" "^Rolled back [1-9]"
rm -rf "${WS:?}"/{d1,d2,l,t}

t CKP:what-is-in-the-way
printf old >"$WS/a"
printf old >"$WS/f"
say "$(call a write_file '{"path":"f","content":"new"}')" "$(call b write_file '{"path":"a","content":"new"}')" "$(call c write_file '{"path":"n","content":"new"}')" \
	"$(call d bash '{"command":"rm a; mkdir a; echo q >a/q"}')" "$(call e rollback "$back")" "$(call f rollback "$back")" \
	"$(call g bash '{"command":"rm -r a"}')" "$(call h rollback "$back")" "$(call i rollback "$back")" "$answer"
talk go
like "what could not be" "$(res 5)" '^ERR .*take back 1 file\(s\): "a": Is a directory; 2 others were rolled back'
like "nor once more" "$(res 6)" '^ERR .*take back 1 file\(s\): "a": Is a directory; 0 others'
is "when it is out of the way" "$(res 8)" "Rolled back 1 file(s) to their pre-edit state."
is "nothing is left to do" "$(res 9)" "$nothing"
is "as it was" "$(cat "$WS/f" "$WS/a")" oldold
no "what was made is gone" test -e "$WS/n"
rm -f "$WS/a"

t CKP:nothing-stays-of-an-ephemeral-run
say "$(call a write_file '{"path":"f","content":"new"}')" '{"reply":{"text":"Half","stop":"max_tokens"}}'
talk --ephemeral go
is "exit code" "$RC" 16
is "nothing is kept" "$(kept)" 0

t CKP:what-a-removed-session-has-left-goes
say "$(call a write_file '{"path":"f","content":"new"}')" '{"reply":{"text":"Half","stop":"max_tokens"}}'
talk go
is kept "$(kept)" 1
rm -rf "$XDG_STATE_HOME/ak/sessions/$(js 'd["session_id"]' "$DIR/last")"
say "$answer"
talk go
is "nothing is kept" "$(kept)" 0

t CKP:backend-local
printf old >"$WS/f"
say "$(call a write_file '{"path":"f","content":"new"}')" "$(call b rollback "$back")" "$answer"
# shellcheck disable=SC2046
talk --backend local $([ "$WHO" = user ] || echo --identity root) go
is told "$(res 2)" "Rolled back 1 file(s) to their pre-edit state."
is "as it was" "$(cat "$WS/f")" old

t CKP:rounds
if need "$PY"; then
	rm -rf "$DIR/rounds"
	mkdir "$DIR/rounds"
	LIMIT=$((60 + ${ROLLBACK_ROUNDS:-12} * 5)) run "$PY" "$TESTS/rollback_rounds.py" "$AK" "$DIR/rounds" "${ROLLBACK_ROUNDS:-12}" "${ENDS_SEED:-$$}" 4
	is "all rounds" "$RC" 0
	[ "$RC" = 0 ] || grep '^FAULT' "$O" | cut -c1-2000
	like "each was counted" "$(tail -n 1 "$O")" "^${ROLLBACK_ROUNDS:-12} rounds, none bad"
fi

# ---- what a run meets, and what it leaves changed

t limits
if ! run "$AK" exec -C "$WS" --write cow --disk 24m -- true || [ "$RC" != 0 ]; then
	skip "no file system for an overlay's layer here"
else
	n=0
	while IFS='|' read -r name words command line; do
		n=$((n + 1))
		say "$(call a bash "{\"command\":\"$command\"}")" "$answer"
		# shellcheck disable=SC2086
		run "$AK" run -C "$WS" --apply never --api replay --replay "$R" -q -o stream-json $words go
		tail -n 1 "$O" >"$DIR/last"
		like "$name: told the model" "$(res 1)" "$line"
		is "$name: in the result" "$(js 'd["limits_hit"]' "$DIR/last")" "['$name']"
	done <<-'EOF'
		disk|--disk 24m|for i in 1 2 3 4 5 6; do head -c 5000000 /dev/zero >f$i; done; sleep 60|too much was written: the limit .--disk.*24 MiB
		disk|--disk 24m|exec head -c 100000000 /dev/zero >big|too much was written: the limit .--disk.*24 MiB
		fsize|--fsize 1m|exec head -c 100000000 /dev/zero >big|too large: the limit .--fsize. is 1 MiB
		cpu_time|--cpu-time 1s|while :; do :; done|processor time is used up, the limit .--cpu-time. is 1.0 s
		memory|--memory 64m|exec tail /dev/zero|out of memory, the limit is 64 MiB
		timeout|--tool-timeout 1s|sleep 60|timed out after 1s
	EOF
	is "all were tried" "$n" 6
	say "$(call a bash '{"command":"true"}')" "$answer"
	run "$AK" run -C "$WS" --api replay --replay "$R" -q -o json go
	is "none was met" "$(js 'd["limits_hit"]')" "[]"
	# once it is over, file tools are refused
	say "$(call a bash '{"command":"for i in 1 2 3 4 5 6; do head -c 5000000 /dev/zero >f$i; done; sleep 60"}')" \
		"$(call b write_file '{"path":"more","content":"x"}')" "$answer"
	run "$AK" run -C "$WS" --apply never --api replay --replay "$R" -q -o stream-json --disk 24m go
	is "a file tool" "$(res 2)" "ERR more: more was written than --disk allows: remove something first; the file is as it was"
fi

t GIT:protected-names-in-the-result
mkdir -p "$WS/n"
sleep 0.05	# what is written in the clock's tick of the start counts as changed by the run
say "$(call a bash '{"command":"echo z >.envrc; mkdir -p n/.vscode; echo x >n/.vscode/tasks.json"}')" "$answer"
want="[{'path': '.envrc', 'op': 'added'}, {'path': 'n/.vscode/tasks.json', 'op': 'added'}]"
talk go
is "of a direct run" "$(js 'd["changes"]' "$DIR/last")" "{'id': None, 'files': None, 'protected': $want}"
rm -r "$WS/.envrc" "$WS/n/.vscode"
run "$AK" run -C "$WS" --api replay --replay "$R" -q -o json go
is "of a copy" "$(js 'd["changes"]["protected"]')" "$want"
say "$(call a bash '{"command":"echo x >plain"}')" "$answer"
talk go
is "nothing changed" "$(js 'd["changes"]' "$DIR/last")" None
rm -rf "$WS/n"
sleep 0.05
say "$(call a bash '{"command":"echo z >.envrc"}')" "$lasting" "$answer"
"$AK" run -C "$WS" -y --write direct --api replay --replay "$R" -q -o json go </dev/null >"$O" 2>"$E" &
P=$!
wait_for pgrep -x -f "sleep 97$TAG"
kill -KILL "$(pgrep -P "$P" -x ak-agent)"
ended 1 error
is "of an agent that has died" "$(js 'd["changes"]["protected"]' "$DIR/last")" "[{'path': '.envrc', 'op': 'added'}]"
rm "$WS/.envrc"
mkdir -p "$WS/.git/objects" "$WS/.git/refs"
echo 'ref: refs/heads/m' >"$WS/.git/HEAD"
printf '[user]\n\tname = x\n' >"$WS/.git/config"
sleep 0.05
say "$(call a bash '{"command":"printf \"[alias]\\n\\tx = !y\\n\" >>.git/config"}')" "$lasting" "$answer"
"$AK" run -C "$WS" -y --write direct --api replay --replay "$R" -q -o json go </dev/null >"$O" 2>"$E" &
P=$!
wait_for pgrep -x -f "sleep 97$TAG"
kill -KILL "$(pgrep -P "$P" -x ak-agent)"
ended 1 error
# null where it could not be looked into, as in root mode
keys="['alias.x']"
[ "$WHO" = root ] && keys=None
is "with what it sets, as ak exec has it" "$(js 'd["changes"]["protected"]' "$DIR/last")" "[{'path': '.git/config', 'op': 'modified', 'keys': $keys}]"
rm -r "$WS/.git"

# no terminal, nothing on standard input: whatever would be asked is denied, and nothing waits. setsid: not even /dev/tty is there
t never-waits
for args in "--write direct" "--approval ask" "--approval smart" "--plan" "--apply ask" "--write direct --approval ask --allow bash(ls*)"; do
	say '{"reply":{"text":"x","calls":[{"id":"c1","name":"bash","args":{"command":"touch made"}},{"id":"c2","name":"write_file","args":{"path":"w","content":"x"}}]}}' \
		"$answer" "$answer" "$answer"
	# shellcheck disable=SC2086
	run setsid -w "$AK" run -C "$WS" --api replay --replay "$R" -q -o json $args go
	unlike "$args: it came to its end" "$RC" "^(124|137|143)$"
	is "$args: a result" "$(js 'd["type"]')" result
	is "$args: not waited for" "$(js 'd["duration_ms"] < 30000')" true
done
for args in "" "-"; do
	# shellcheck disable=SC2086
	run setsid -w "$AK" run -C "$WS" --api replay --replay "$R" -q -o json $args
	told 2 error_usage
done

t at-random-moments
if need "$PY" nice; then
	[ -z "${CG:-}" ] || mkdir -p "$CG/ends"
	rm -rf "$DIR/rounds"
	mkdir "$DIR/rounds"
	LIMIT=$((120 + ${ENDS_ROUNDS:-8} * 20)) run "$PY" "$TESTS/ends_rounds.py" "$AK" "$DIR/rounds" "${ENDS_ROUNDS:-8}" "${ENDS_SEED:-$$}" 4 ${CG:+"$CG/ends"}
	is "all rounds" "$RC" 0
	[ "$RC" = 0 ] || grep '^FAULT' "$O"
	like "each was counted" "$(tail -n 1 "$O")" "^${ENDS_ROUNDS:-8} rounds, 0 bad"
	[ -z "${ENDS_ROUNDS:-}" ] || tail -n 2 "$O"
	# an empty group of an ak that was killed goes with the next run
	[ -z "${CG:-}" ] || is "groups" "$(find "$CG/ends" -mindepth 1 -type d -name 'ak-[0-9]*' | wc -l)" 0
fi

done_suite
