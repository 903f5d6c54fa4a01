# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# `ak chat` on a pty, with scripted conversations: what is typed, what is shown, how a turn and a chat end, what is left.
# A script is a file of lines as docs/providers.md has them. The terminal is a dumb one unless a test needs another, so that what it
# gets are lines.
# CHAT_KEYS=N: rounds of random keys (4), CHAT_SEED: which ones.
. "$TESTS/lib.sh"

if ! command -v "$PY" >/dev/null 2>&1; then
	_record SKIP pty "no python3"
	exit 0
fi
export HOME=$DIR/home TERM=dumb
unset XDG_CONFIG_HOME ANTHROPIC_API_KEY OPENAI_API_KEY OPENROUTER_API_KEY GEMINI_API_KEY AK_PRICES_FILE EDITRC
mkdir -p "$HOME"
cow_state || exit 0
R=$DIR/script
SESSIONS=$XDG_STATE_HOME/ak/sessions
AGENT=${AK%/*}/ak-agent

# say LINE... - a new script; each LINE is a step
say() {
	printf '%s\n' '{"schema":"ak-replay/1"}' "$@" >"$R"
}

# bash_step TEXT - a step with one command; TEXT goes into a JSON string as it is
bash_step() {
	printf '{"reply":{"text":"Working.","calls":[{"id":"c1","name":"bash","args":{"command":"%s"}}]}}' "$1"
}

answer='{"reply":{"text":"Done."}}'
CHAT=("$AK" chat -C "$WS" --api replay --replay "$R")

# pty STEPS CMD... - on a terminal of 24 lines and 100 columns; what it got, without carriage returns, is in $O
pty() {
	local steps=$1 size=24x100
	shift
	run "$PY" "$TESTS/onpty.py" --size "${SIZE:-$size}" --limit 35 "$steps" "$@"
	tr -d '\r' <"$O" >"$DIR/term" && cp "$DIR/term" "$O"
}

# chat STEPS ARG... - a chat over the test's workspace
chat() {
	local steps=$1
	shift
	pty "$steps" "${CHAT[@]}" "$@"
}

# modes STEPS ARG... - a chat in a shell that keeps the terminal's modes before and after
modes() {
	local steps=$1
	shift
	# shellcheck disable=SC2016 # the shell's own
	pty "$steps" sh -c 'trap : INT; stty -g >"$0/a"; "$@"; rc=$?; stty -g >"$0/b"; exit $rc' "$DIR" "${CHAT[@]}" "$@"
	is "the terminal's modes" "$(cat "$DIR/b")" "$(cat "$DIR/a")"
}

# session - the id of the session that the last chat had
session() {
	sed -n 's/^ak: session \(s-[0-9a-f]*\).*/\1/p' "$O" | head -1
}

# goes_on TEXT - a run can go on with the last chat's session; the last thing the user said before holds TEXT
goes_on() {
	local id rc=$RC
	id=$(session)
	say "{\"match\":{\"user\":\"$1\"},\"reply\":{\"text\":\"Went on.\"}}"
	run "$AK" run -C "$WS" --api replay --replay "$R" -q --resume "$id" further
	is "gone on with: exit code" "$RC" 0
	is "gone on with" "$(out)" "Went on."
	RC=$rc
}

# ours COMM - process ids of our ak or ak-agent
ours() {
	local p
	for p in /proc/[0-9]*; do
		[ "$(cat "$p/comm" 2>/dev/null)" = "$1" ] && tr '\0' ' ' <"$p/cmdline" 2>/dev/null | grep -qF " --replay $R " && echo "${p#/proc/}"
	done
}

# ---- lines and commands

t a-conversation
printf 'one\n' >"$WS/f"
say '{"match":{"user":"hello"},"reply":{"text":"First\nanswer.","usage":{"input":100,"output":5},"cost_usd":0.01}}' \
	"$(bash_step 'echo two >f; echo seen')" '{"match":{"result":"seen"},"reply":{"text":"Changed.","usage":{"input":200,"output":6},"cost_usd":0.02}}' \
	'{"match":{"user":"/etc/passwd is odd"},"reply":{"text":"A path."}}' '{"match":{"user":" /clear"},"reply":{"text":"A space."}}'
chat '[["ak> ","hello\r"],["answer.[^>]*ak> ","change it\r"],["Changed.[^>]*ak> ","/cost\r"],["cache[^>]*ak> ","/diff\r"],["1 change [^>]*ak> ","/tools\r"],
	["Approval[^>]*ak> ","/help\r"],["empty line[^>]*ak> ","/frobnicate now\r"],["no command here[^>]*ak> ","/etc/passwd is odd\r"],
	["A path.[^>]*ak> "," /clear\r"],["A space.[^>]*ak> ","/cost x\r"],["nothing behind it[^>]*ak> ","  \r"],["ak> ","/quit\r"],["take them over\\?.*y/n\\]","n\n"]]'
is "exit code" "$RC" 0
like "text" "$(out)" $'ak> hello\nFirst\nanswer\\.\nak: turn 1: 100 tokens in, 5 out, \\$0\\.0100, [0-9]+\\.[0-9] s\n'
like "a call" "$(out)" $'\nak:   bash: echo two >f; echo seen\nak:   done: bash, [0-9.]+ s: seen\nChanged\\.\nak: turn 3: 200 tokens'
like "/cost" "$(out)" $'2 messages, 3 turns, 1 tool call, [0-9.]+ s\n  [0-9]+ tokens in .* out, '
like "/diff" "$(out)" $'/diff\n  modified f, 4 bytes\n  1 change in the copy'
like "/tools" "$(out)" $'  bash         \\[gated\\] [A-Z]'
like "/tools" "$(out)" $'  read_file            '
like "/help" "$(out)" $'  /rollback \\[TURN\\]  undo'
like "unknown" "$(out)" $'\nak: /frobnicate is no command here: /help lists them \\(a space before it makes it a message\\)\n'
like "one too many" "$(out)" $'\nak: /cost takes nothing behind it: "x"\n'
like "kept" "$(out)" $'\nak: 1 change\\(s\\) are kept as c-[0-9a-f]+: ak diff c-'
like "how to go on" "$(out)" $'\nak: completed: 5 turns, 1 tool calls, .*; go on with --resume s-'
is "not taken over" "$(cat "$WS/f")" one
is "nothing is open to others" "$(find "$XDG_STATE_HOME/ak" -maxdepth 1 -perm /077; find "$SESSIONS"/s-* -perm /077)" ""

t rollback
printf 'one\n' >"$WS/f"
say "$(bash_step 'echo two >f; touch new')" "$answer" '{"match":{"user":"rolled the workspace back to its state before this chat began"},"reply":{"text":"Known.","calls":[{"id":"c2","name":"bash","args":{"command":"cat f; touch third"}}]}}' \
	'{"match":{"result":"one"},"reply":{"text":"It is one."}}' "$(bash_step 'touch fourth')" '{"reply":{"text":"Four."}}' '{"match":{"user":"before turn 5"},"reply":{"text":"Three."}}'
chat '[["ak> ","/rollback\r"],["Nothing to roll back[^>]*ak> ","go\r"],["Done.[^>]*ak> ","/rollback\r"],["Rolled back 2 file[^>]*ak> ","/diff\r"],["0 changes[^>]*ak> ","next\r"],
	["It is one.[^>]*ak> ","more\r"],["Four.[^>]*ak> ","/rollback x\r"],["no number[^>]*ak> ","/rollback 99\r"],["no state before turn 99[^>]*ak> ","/rollback 5\r"],
	["before turn 5[^>]*ak> ","and\r"],["Three.[^>]*ak> ","/diff\r"],["1 change [^>]*ak> ","/exit\r"]]' --apply always
is "exit code" "$RC" 0
is "f is as it was" "$(cat "$WS/f")" one
is "what is left" "$(ls "$WS")" $'f\nthird'
like "taken over without a question" "$(out)" $'\nak: 1 change\\(s\\) taken over into the workspace\n'

t clear
say '{"match":{"user":"old"},"reply":{"text":"Old."}}' '{"match":{"user":"new"},"reply":{"text":"New."}}'
chat '[["ak> ","old\r"],["Old.[^>]*ak> ","/clear\r"],["begins anew[^>]*ak> ","new\r"],["New.[^>]*ak> ","/exit\r"]]'
is "exit code" "$RC" 0
i=$(session)
goes_on further
is "lines of the transcript" "$("$PY" -c 'import json,sys
print([(o.get("role") or next(iter(o))) for o in map(json.loads, open(sys.argv[1]))])' "$SESSIONS/$i/transcript.jsonl")" \
	"['schema', 'user', 'assistant', 'cleared', 'user', 'assistant', 'user', 'assistant']"
say '{"match":{"user":"short"},"reply":{"text":"Short."}}' '{"match":{"user":"long"},"reply":{"text":"Long."}}' '{"match":{"user":"short"},"reply":{"text":"Again."}}'
chat "[[\"ak> \",\"short\\r\"],[\"Short.[^>]*ak> \",\"long $(printf 'x%.0s' {1..3000})\\r\"],[\"Long.[^>]*ak> \",\"/clear\\r\"],[\"anew[^>]*ak> \",\"short\\r\"],[\"Again.[^>]*ak> \",\"/exit\\r\"]]"
is "the prompt is as short as the first" "$(sed -n 's/.*turn 3: \([0-9]*\) tokens.*/\1/p' "$O")" "$(sed -n 's/.*turn 1: \([0-9]*\) tokens.*/\1/p' "$O")"

t the-model-of-a-session-that-goes-on
run env ANTHROPIC_API_KEY=sk-x ANTHROPIC_BASE_URL=http://127.0.0.1:9 "$AK" run -C "$WS" -q -o json -m anthropic/claude-x --timeout 400ms go
i=$(js 'd["session_id"]')
ANTHROPIC_API_KEY=sk-x pty '[["ak> ","/exit\r"]]' "$AK" chat -C "$WS" --resume "$i"
is "exit code" "$RC" 0
like "is the one it used" "$(out)" "ak: session $i goes on, model claude-x \\(anthropic\\)"
pty '[]' "$AK" chat -C "$WS" --resume "$i"
is "without its key: exit code" "$RC" 3
like "and which that is" "$(out)" "ak: chat: the session $i goes on with its model, claude-x \\(anthropic\\): anthropic: no key"

t what-a-list-says-of-it
say '{"reply":{"text":"One.","usage":{"input":1,"output":1},"cost_usd":0.01}}' '{"reply":{"text":"Two.","usage":{"input":1,"output":1},"cost_usd":0.02}}'
chat '[["ak> ","say one\r"],["One.[^>]*ak> ","say two\r"],["Two.[^>]*ak> ","/exit\r"]]'
i=$(session)
run "$AK" sessions list --json
is "task, turns and cost of all messages" "$(js "[(s['task'],s['num_turns'],s['total_cost_usd'],s['exit_code']) for s in d['agent_sessions'] if s['id']=='$i']")" "[('say one', 2, 0.03, 0)]"

t without-a-copy
printf 'one\n' >"$WS/f"
say '{"reply":{"text":"W.","calls":[{"id":"c1","name":"write_file","args":{"path":"f","content":"two"}}]}}' "$answer" '{"match":{"user":"The user has taken back what write_file"},"reply":{"text":"Known."}}'
chat '[["ak> ","/diff\r"],["no copy here[^>]*ak> ","go\r"],["Done.[^>]*ak> ","/rollback\r"],["Rolled back 1 file[^>]*ak> ","next\r"],["Known.[^>]*ak> ","/exit\r"]]' --write direct -y
is "exit code" "$RC" 0
is "files of the tools are as they were" "$(cat "$WS/f")" one
chat '[["ak> ","/rollback\r"],["nothing can be changed here[^>]*ak> ","/exit\r"]]' --write none
is "exit code" "$RC" 0

t first-message-on-the-command-line
say '{"match":{"user":"-- hi there"},"reply":{"text":"Heard."}}'
chat '[["Heard.[^>]*ak> ","/exit\r"]]' -- '-- hi there'
is "exit code" "$RC" 0

t several-lines
say '{"match":{"user":"one\ntwo\\\\\n\n(The"},"reply":{"text":"Two lines."}}' '{"match":{"user":"x\ty\nz"},"reply":{"text":"Pasted."}}' \
	'{"match":{"user":"see [1mline"},"reply":{"text":"Never."}}'
# shellcheck disable=SC1003
chat '[["ak> ","one\\\r"],["\n[.]{3} ","two\\\\\r"],["Two lines.[^>]*ak> ","\u001b[200~x\ty\r\nz\u001b[201~"],["\\[paste 1: 2 lines, 5 bytes\\]","\r"],["Pasted.[^>]*ak> ","\u0004"]]'
is "exit code" "$RC" 0

t a-paste-is-no-command-and-no-answer
say "$(printf '{"match":{"user":"/exit\\nrm -rf x\\n"},"reply":{"text":"One message."}}')" '{"match":{"user":"before plain after"},"reply":{"text":"In the line."}}'
chat '[["ak> ","\u001b[200~/exit\nrm -rf x\n\u001b[201~\r"],["One message.[^>]*ak> ","before \u001b[200~plain\n\u001b[201~ after\r"],["In the line.[^>]*ak> ","\u001b[200~a\u001b]0;x\u0007\u0003b"],
	["\\[paste 1: 1 line","\u0003"],["\\[dropped\\][^>]*ak> ","\u0003"]]'
is "exit code" "$RC" 0
unlike "what a paste holds is not obeyed" "$(out)" $'\033'
say
# without an end: what is typed belongs to it for as long as it goes on
chat '[["ak> ","\u001b[200~abc"],["",{"again":"\u0003"}],["\\[dropped\\][^>]*ak> ","/exit\r"]]'
is "exit code" "$RC" 0

t line-editing-and-history
TERM=xterm
say '{"match":{"user":"abXc"},"reply":{"text":"Edited."}}' '{"match":{"user":"gr\u00fc\u00df"},"reply":{"text":"German."}}' '{"match":{"user":"my token=[REDACTED]"},"reply":{"text":"Never."}}'
chat '[["ak> ","abc\u001b[DX\r"],["Edited.[^>]*ak> ","gr\u00c3\u00bc\u00c3\u009fx\u007f\r"],["German.[^>]*ak> ","/cost my token=abcdefghijklmnop1234\r"],["behind it[^>]*ak> ","two\\\r"],["[.]{3} ","lines\u0003"],["ak> ","three\\\r"],["[.]{3} ","\u0004"],["dropped[^>]*ak> ","\u0004"]]'
is "exit code" "$RC" 0
is "what is kept" "$(tail -3 "$XDG_STATE_HOME/ak/chat_history")" $'abXc\ngr\xc3\xbc\xc3\x9f\n/cost my token=[REDACTED]'
is "its mode" "$(stat -c %a "$XDG_STATE_HOME/ak/chat_history")" 600
say '{"match":{"user":"gr\u00fc\u00dfe"},"reply":{"text":"From the last chat."}}'
chat '[["ak> ","\u001b[A\u001b[Ae\r"],["From the last chat.[^>]*ak> ","\u0004"]]'
is "goes back" "$RC" 0
cp "$XDG_STATE_HOME/ak/chat_history" "$DIR/before"
say "$answer"
chat '[["ak> ","not kept\r"],["Done.[^>]*ak> ","\u0004"]]' --ephemeral
is "--ephemeral" "$RC" 0
ok "nothing is kept of it" cmp "$DIR/before" "$XDG_STATE_HOME/ak/chat_history"
unlike "and nothing can be gone on with" "$(out)" 'go on with'
TERM=dumb

t another-program-holds-the-history
say "$answer" "$answer"
: >>"$XDG_STATE_HOME/ak/chat_history"
exec 9<"$XDG_STATE_HOME/ak/chat_history"
flock 9
chat '[["ak> ","lock one\r"],["Done.[^>]*ak> ","lock two\r"],["Done.[^>]*ak> ","/exit\r"]]'
exec 9<&-
is "exit code" "$RC" 0
is "said once" "$(grep -c 'chat_history in the state folder is locked' "$O")" 1
no "not kept" grep -q '^lock' "$XDG_STATE_HOME/ak/chat_history"

# ---- interrupts and ends

t interrupt-in-a-call
say "$(printf '{"reply":{"text":"Working.","calls":[{"id":"c1","name":"bash","args":{"command":"echo begun; sleep 86%s"}},{"id":"c2","name":"bash","args":{"command":"sleep 86%s"}},{"id":"c3","name":"read_file","args":{"path":"none"}}]}}' "$TAG" "$TAG")" \
	'{"match":{"user":"second"},"reply":{"text":"Yes."}}'
modes '[["ak> ","first\r"],["bash: sleep 86[0-9]*\r\n","\u0003"],["ak: interrupted\r\n.*ak> ","second\r"],["Yes.[^>]*ak> ","\u0003"]]'
is "exit code" "$RC" 0
is "nothing left" "$(gone "sleep 86$TAG" && echo gone)" gone
like "each call has its end" "$(out)" "failed: bash"
goes_on further

t interrupt-while-waiting-for-the-provider
say '{"fault":{"name":"rate_limited","status":429,"message":"busy","wait_ms":600000}}' '{"match":{"user":"first"},"reply":{"text":"Both are there."}}'
modes '[["ak> ","first\r"],["attempt 1 failed: busy","\u0003\u0003\u0003"],["ak: interrupted\r\n.*ak> ","second\r"],["Both are there.[^>]*ak> ","typed\u0003"],["\\[dropped\\][^>]*ak> ","\u0004"]]'
is "exit code" "$RC" 0
goes_on further

t interrupt-by-a-signal
say "$(bash_step "sleep 87$TAG")" '{"match":{"user":"second"},"reply":{"text":"Yes."}}'
{
	echo 'for p in /proc/[0-9]*; do'
	# shellcheck disable=SC2016
	echo '[ "$(cat $p/comm 2>/dev/null)" = "$1" ] && tr "\0" " " <$p/cmdline 2>/dev/null | grep -qF " --replay '"$R"' " && kill -"$2" "${p#/proc/}"'
	echo 'done; true'
} >"$DIR/signal"
modes '[["ak> ","first\r"],["bash: sleep 87[0-9]*\r\n",{"run":"sh '"$DIR"'/signal ak INT"}],["interrupted\r\n.*ak> ","half"],["half",{"run":"sh '"$DIR"'/signal ak INT"}],["\\[dropped\\][^>]*ak> ","second\r"],["Yes.[^>]*ak> ","\u0004"]]'
is "exit code" "$RC" 0

for how in TERM:143 HUP:129; do
	t "end-by-SIG${how%:*}"
	printf 'one\n' >"$WS/f"
	say "$(bash_step 'echo two >f')" "$answer" "$(bash_step "sleep 88$TAG")"
	modes '[["ak> ","go\r"],["Done.[^>]*ak> ","half a line"],["half a line",{"run":"sh '"$DIR/signal ak ${how%:*}"'"}]]' --apply always
	is "exit code" "$RC" "${how#*:}"
	like "kept" "$(out)" 'change\(s\) are kept as c-'
	is "not taken over" "$(cat "$WS/f")" one
	modes '[["ak> ","go\r"],["Done.[^>]*ak> ","go\r"],["bash: sleep 88[0-9]*\r\n",{"run":"sh '"$DIR/signal ak ${how%:*}"'"}]]'
	is "in a turn: exit code" "$RC" "${how#*:}"
	is "nothing left" "$(gone "sleep 88$TAG" && echo gone)" gone
done

t the-terminal-goes-away
KEPT=$(find "$SESSIONS" -maxdepth 1 -name 'c-*' | wc -l)
printf 'one\n' >"$WS/f"
say "$(bash_step 'echo two >f')" "$answer"
run "$PY" -c 'import os,pty,re,sys
pid,fd=pty.fork()
if pid==0: os.execv(sys.argv[1],sys.argv[1:])
got=b""
while not re.search(rb"Done.[^>]*ak> ",got): got+=os.read(fd,65536) if len(got)<9999 or sys.exit(got) else b""
while b"half" not in got[-30:]: os.write(fd,b"half"); got+=os.read(fd,65536)
os.close(fd)
print(os.waitstatus_to_exitcode(os.waitpid(pid,0)[1]))' "${CHAT[@]}" --apply always go
is "exit code" "$(out)" 129
is "not taken over" "$(cat "$WS/f")" one
is "kept" "$(find "$SESSIONS" -maxdepth 1 -name 'c-*' | wc -l)" "$((KEPT + 1))"

t killed
say "$answer"
modes '[["ak> ","half a line"],["half a line",{"run":"sh '"$DIR"'/signal ak-agent KILL"}]]'
is "the agent: exit code" "$RC" 1
like "told" "$(out)" 'ak: chat: ak-agent was killed by signal 9'
modes '[["ak> ","half a line"],["half a line",{"run":"sh '"$DIR"'/signal ak KILL"}],["executor is gone","x"]]'
is "ak: exit code" "$RC" 137
is "nothing left" "$(wait_for eval '[ -z "$(ours ak-agent)" ]' && echo gone)" gone

t job-control
if need bash stty; then
	say "$(bash_step "until [ -e go ]; do sleep 0.1; done")" '{"reply":{"text":"Yes."}}'
	pty '[["bash[^ ]*[#$] ","stty -g >'"$DIR"'/a; '"${CHAT[*]}"' --write direct -y\r"],["ak> ","hel\u001a"],["Stopped[^#$]*[#$] ","stty -g >'"$DIR"'/b; fg\r"],["ak> hel","lo\r"],["\\[ -e go[^\n]*\n","\u001a"],
		["Stopped[^#$]*[#$] ","stty -g >'"$DIR"'/c; touch '"$WS"'/go; fg\r"],["Yes.[^>]*ak> ","/exit\r"],["completed[^\n]*\n[^#$]*[#$] ","stty -g >'"$DIR"'/d; exit\r"]]' bash --norc --noediting -i
	for i in b c d; do is "modes $i" "$(cat "$DIR/$i")" "$(cat "$DIR/a")"; done
	is "the line is there again" "$(grep -c 'ak> hello' "$O")" 1
	# a caller that ignores the signal, a group that nobody could continue, and one of the two continued alone
	say '{"match":{"user":"hello"},"reply":{"text":"Yes."}}'
	pty '[["bash[^ ]*[#$] ","sh -c '"'trap \\\"\\\" TSTP; exec ${CHAT[*]}'"'\r"],["ak> ","hel\u001a"],["hel[^>]*ak> hel","lo\r"],["Yes.[^>]*ak> ","/exit\r"],["completed[^\n]*\n[^#$]*[#$] ","exit\r"]]' bash --norc --noediting -i
	is "ignored" "$RC" 0
	say '{"match":{"user":"hello"},"reply":{"text":"Yes."}}'
	chat '[["ak> ","hel\u001a"],["hel[^>]*ak> hel","lo\r"],["Yes.[^>]*ak> ","/exit\r"]]'
	is "alone" "$RC" 0
	say '{"match":{"user":"hello"},"reply":{"text":"Yes."}}'
	pty '[["bash[^ ]*[#$] ","'"${CHAT[*]}"'\r"],["ak> ","hel\u001a"],["Stopped[^#$]*[#$] ",{"run":"sh '"$DIR"'/signal ak CONT"}],["","fg\r"],["ak> hel[^>]*$","lo\r"],["Yes.[^>]*ak> ","/exit\r"],["completed[^\n]*\n[^#$]*[#$] ","exit\r"]]' bash --norc --noediting -i
	is "continued alone" "$RC" 0
fi

# ak wants to be told twice where it would hand root's rights over
t local-backend
[ "$WHO" = user ] && local=() || local=(--identity root)
say "$(bash_step "sleep 89$TAG")" '{"match":{"user":"second"},"reply":{"text":"Yes."}}'
modes '[["ak> ","first\r"],["bash: sleep 89[0-9]*\r\n","\u0003"],["interrupted\r\n.*ak> ","second\r"],["Yes.[^>]*ak> ","\u0004"]]' --backend local --write direct -y "${local[@]}"
is "exit code" "$RC" 0
is "nothing left" "$(gone "sleep 89$TAG" && echo gone)" gone

# ---- approvals

t approvals
w='{"id":"c%s","name":"write_file","args":{"path":"%s","content":"1"}}'
# shellcheck disable=SC2059 # the format is the call
say "$(printf '{"reply":{"text":"A.","calls":['"$w"']}}' 1 a)" "$(printf '{"match":{"result":"Denied by user."},"reply":{"text":"B.","calls":['"$w"']}}' 2 b)" \
	"$(printf '{"reply":{"text":"C.","calls":['"$w"']}}' 3 c)" "$(printf '{"reply":{"text":"C.","calls":['"$w"']}}' 4 c)" \
	"$answer" "$(printf '{"reply":{"text":"C.","calls":['"$w,$w"']}}' 5 c 6 d)" '{"match":{"result":"Denied by user."},"reply":{"text":"End."}}'
chat '[["ak> ","go\r"],["run it[^\n]*","n\n"],["run it[^\n]*","y\n"],["run it[^\n]*","a\n"],["Done.[^>]*ak> ","again\r"],["run it[^\n]*","\u0004"],["End.[^>]*ak> ","/exit\r"],["take them over\\?.*y/n\\]","y\n"]]' --approval ask
is "exit code" "$RC" 0
is "what was run" "$(ls "$WS")" $'b\nc'
is "asked" "$(grep -c 'ak: run it' "$O")" 4
like "a denied one" "$(out)" $'failed: write_file: Denied by user\\.\n'

t a-yes-for-the-session-is-bound-to-the-folder
w='{"reply":{"text":"W.","calls":[{"id":"c9","name":"write_file","args":{"path":"w","content":"1"}}]}}'
say "$(bash_step 'echo one')" "$(bash_step 'echo one')" "$w" "$w" "$(bash_step 'mkdir d; cd d')" "$(bash_step 'echo one')" "$(bash_step 'echo one')" \
	"$(bash_step "mkdir e; cd e; pwd() { echo $WS; }; command() { echo $WS; }; unset() { :; }; kill() { :; }")" "$(bash_step 'echo one')" "$(bash_step 'true')" \
	"$(bash_step 'exit 3')" "$(bash_step 'cd ..')" "$(bash_step 'echo one')" "$answer"
chat '[["ak> ","go\r"],["(?s)bash in .*one.*run it[^\n]*","a\n"],["(?s)write_file in .*run it[^\n]*","a\n"],["(?s)cd d.*run it[^\n]*","y\n"],["(?s)bash in [^\n]*/d:.*run it[^\n]*","a\n"],
	["(?s)mkdir e.*run it[^\n]*","y\n"],["(?s)bash in [^\n]*/d/e:.*run it[^\n]*","y\n"],["(?s)true.*run it[^\n]*","y\n"],["(?s)exit 3.*run it[^\n]*","y\n"],["(?s)cd \\.\\..*run it[^\n]*","y\n"],
	["Done.[^>]*ak> ","/exit\r"],["take them over\\?.*y/n\\]","n\n"]]' --approval ask
is "exit code" "$RC" 0
is "asked" "$(grep -c 'ak: run it' "$O")" 9
unlike "always with what may be said" "$(grep 'ak: run it' "$O")" '\[n\]o $'

t typed-before-the-question
say "$(bash_step 'sleep 1')" "$(bash_step 'touch MARK')" '{"match":{"result":"Denied by user."},"reply":{"text":"Not run."}}'
chat '[["ak> ","go\r"],["bash: sleep 1\r\n","y\ny\ny\n"],["run it","n\n"],["Not run.[^>]*ak> ","/exit\r"]]' --approval ask --allow 'bash(sleep*)'
is "exit code" "$RC" 0
no "it is no answer" test -e "$WS/MARK"
say "$(bash_step 'sleep 1')" "$answer" '{"match":{"user":"typed ahead"},"reply":{"text":"Got it."}}'
chat '[["ak> ","go\r"],["bash: sleep 1\r\n","typed ahead\n"],["Got it.[^>]*ak> ","/exit\r"]]'
is "it is the next message" "$RC" 0

t interrupt-at-a-question
say "$(bash_step 'touch MARK')" '{"match":{"user":"second"},"reply":{"text":"Yes."}}'
modes '[["ak> ","first\r"],["run it","\u0003"],["interrupted\r\n.*ak> ","second\r"],["Yes.[^>]*ak> ","/exit\r"]]' --approval ask
is "exit code" "$RC" 0
unlike "nothing was changed" "$(out)" "take them over"
unlike "nobody has denied it" "$(out)" "denied"
is "and so it is written" "$("$PY" -c 'import json,sys
print([r["text"] for l in open(sys.argv[1]) for r in json.loads(l).get("results",[])])' "$SESSIONS/$(session)/transcript.jsonl")" "['Not run: interrupted']"
goes_on further

t a-yes-before-all-was-seen
long=$(printf 'echo %s\\n' {1..60})
say "$(bash_step "$long")" "$answer"
chat '[["ak> ","go\r"],["(?s)how all of it","y\n"],["(?s)echo 60\r?\n.*lways in this session","y\n"],["Done.[^>]*ak> ","/exit\r"]]' --approval ask
is "exit code" "$RC" 0
is "asked again" "$(grep -c 'ak: run it' "$O")" 2
unlike "nothing is denied" "$(out)" denied

# ---- limits

t budgets-begin-anew-with-each-message
say '{"reply":{"text":"Dear.","usage":{"input":10,"output":5},"cost_usd":0.5,"calls":[{"id":"c1","name":"bash","args":{"command":"touch MARK"}}]}}' \
	'{"match":{"user":"second"},"reply":{"text":"Dear again.","usage":{"input":10,"output":5},"cost_usd":0.5}}' '{"match":{"user":"third"},"reply":{"text":"Cheap.","usage":{"input":10,"output":5},"cost_usd":0.1}}'
chat '[["ak> ","first\r"],["ak: Stopped: budget exceeded \\(cost \\$0.500000 > limit \\$0.20\\).\r\n.*ak> ","second\r"],["limit is exceeded: cost \\$0.500000 > limit \\$0.20 [(]the next[^>]*ak> ","third\r"],["Cheap.[^>]*ak> ","/exit\r"]]' --max-cost 0.20 --price in=1,out=1
is "exit code" "$RC" 0
goes_on further
say "$(bash_step 'true')" "$(bash_step 'true')" '{"match":{"user":"second"},"reply":{"text":"One."}}'
chat '[["ak> ","first\r"],["Stopped: reached max iterations without a final answer.\r\n.*ak> ","second\r"],["One.[^>]*ak> ","/exit\r"]]' --max-turns 2
is "turns" "$RC" 0

t a-provider-that-fails-ends-no-chat
say '{"fault":{"name":"bad_request","status":400,"message":"no such thing"}}' '{"match":{"user":"second"},"reply":{"text":"Now."}}'
chat '[["ak> ","first\r"],["no such thing[^>]*ak> ","second\r"],["Now.[^>]*ak> ","/exit\r"]]'
is "exit code" "$RC" 0
say '{"reply":{"text":"I will not","stop":"refusal"}}' '{"reply":{"text":"cut","stop":"max_tokens"}}' "$answer"
chat '[["ak> ","first\r"],["ak: the model refused[^>]*ak> ","second\r"],["cut at the maximum[^>]*ak> ","third\r"],["Done.[^>]*ak> ","/exit\r"]]'
is "nor a refusal" "$RC" 0

# ---- over HTTP, the agent confined

t text-is-shown-as-it-comes
: >"$DIR/journal"
# it ends when its standard input does
exec {SERVER_IN}> >(exec "$PY" "$TESTS/llm_server.py" "$DIR/ports" "$DIR/journal" "$IT/replay/sse" 2>"$DIR/server.log" >&2)
wait_for test -s "$DIR/ports" || nok "$(cat "$DIR/server.log")"
read -r PORT _ <"$DIR/ports"
export ANTHROPIC_API_KEY=sk-x
SCRIPTED=("${CHAT[@]}")
CHAT=("$AK" chat -C "$WS" --api anthropic -m m)
# a reply that stops half-way, and then one that is whole
modes '[["ak> ","first\r"],["hle Zeilen","\u0003"],["ak: interrupted; what the model was saying is not part of the conversation\r\n.*ak> ","second\r"],["two\r\n[^>]*ak> ","\u0004"]]' \
	--base-url "http://localhost:$PORT/script:stallbody,sse:text_keepalive"
is "exit code" "$RC" 0
is "what was sent" "$("$PY" -c 'import json,sys
r=[json.loads(json.loads(l)["body"])["messages"] for l in open(sys.argv[1])]
m=r[-1]
t="".join(c.get("text","") for c in m[0]["content"]) if isinstance(m[0]["content"],list) else m[0]["content"]
print(len(r), len(m), m[0]["role"], "first\n" in t, t.rstrip().endswith("second"), "Zeilen" in t)' "$DIR/journal")" "2 1 user True True False"
i=$(session)
no "no key in the state" grep -rqF sk-x "$XDG_STATE_HOME/ak/sessions/$i"
# one that is cut off: it is told, and tried again
chat '[["ak> ","first\r"],["hle Zeilen[^>]*attempt 1 failed[^>]*one two\r\n[^>]*ak> ","\u0004"]]' \
	--base-url "http://localhost:$PORT/script:cleancut,sse:text_keepalive"
is "exit code" "$RC" 0
unset ANTHROPIC_API_KEY
exec {SERVER_IN}>&-
CHAT=("${SCRIPTED[@]}")

# ---- sessions

t resume
say '{"match":{"user":"first"},"reply":{"text":"One."}}'
chat '[["ak> ","first\r"],["One.[^>]*ak> ","/exit\r"]]'
i=$(session)
say '{"match":{"user":"second"},"reply":{"text":"Two."}}'
chat '[["goes on[^>]*ak> ","second\r"],["Two.[^>]*ak> ","/exit\r"]]' --resume "$i"
is "chat --resume" "$RC" 0
say '{"match":{"user":"third"},"reply":{"text":"Three."}}'
run "$AK" resume "$i" -C "$WS" --api replay --replay "$R" -q third
is "resume" "$(out)" "Three."
say '{"match":{"user":"fourth"},"reply":{"text":"Four."}}'
chat '[["goes on[^>]*ak> ","fourth\r"],["Four.[^>]*ak> ","/exit\r"]]' --continue
is "chat --continue" "$(session)" "$i"
is "turns in one transcript" "$(grep -c '"role"' "$SESSIONS/$i/transcript.jsonl")" 8
is "and in one trace" "$(wc -l <"$SESSIONS/$i/trace.jsonl")" 4
chat '[]' --resume s-000000000000
is "no such session" "$RC" 2

# ---- what others write

t TTY-07+114+115:hostile-text
mkdir "$WS/d"
: >"$WS/d/$(printf 'a\033[2Jb\342\200\256')"
say '{"reply":{"text":"A\u001b]52;c;QUJD\u0007B\u001b[2J\r\u009b31mC\u202eD\ud83d\udc69\u200d\ud83d\udcbb","calls":[{"id":"c1","name":"bash","args":{"command":"printf \u0027\\033]0;x\\007\\033[6n\\n\u0027; echo x >>d/*; # \u001b[2J\u202e"}},{"id":"c2","name":"no\u001b[2Jtool","args":{}}]}}' "$answer"
chat '[["ak> ","go\r"],["Done.[^>]*ak> ","/diff\r"],["1 change [^>]*ak> ","/exit\r"],["take them over\\?.*y/n\\]","n\n"]]' --approval auto
is "exit code" "$RC" 0
no "no control reaches the terminal" grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$O"
no "nor a second way to write one" grep -q $'\302[\200-\237]' "$O"
no "nor what turns text around" grep -q $'\342\200\256' "$O"
like "it is seen" "$(out)" 'A<U\+001B>\]52;c;QUJD<U\+0007>B<U\+001B>\[2J<U\+000D><U\+009B>31mC<U\+202E>D'
like "in a call" "$(out)" '# <U\+001B>\[2J<U\+202E>'
like "in a name" "$(out)" $'modified d/a<U\\+001B>\\[2Jb<U\\+202E>, 2 bytes'

# ---- the terminal

t resize
TERM=xterm
say "$(bash_step 'echo 1234567890123456789012345678901234567890123456789012345678901234567890')" "$answer"
SIZE=24x60 chat '[["ak> ","first"],["first",{"size":[24,40]}],["ak> first","\r"],["Done.[^>]*ak> ","/exit\r"]]'
is "exit code" "$RC" 0
is "a call is cut to the new width" "$(grep -a '^ak:   bash: ' "$O" | wc -L)" 40
TERM=dumb

t random-keys
for ((i = 0; i < 99; i++)); do STEPS[i]=$answer; done
say "${STEPS[@]}"
TERM=xterm run "$PY" "$TESTS/chat_keys.py" "${CHAT_SEED:-$$}" "${CHAT_KEYS:-4}" "${CHAT[@]}"
is "seed ${CHAT_SEED:-$$}" "$(out)" "rounds ${CHAT_KEYS:-4}, wrong 0"

t no-terminal
say "$answer"
for IN in /dev/null "$R"; do
	run "${CHAT[@]}" hello
	refused 2 'chat: standard input, output and error have to be a terminal \(without one, use ak run\)'
done
unset IN
pty '[]' sh -c '"$@" >'"$DIR"'/file; echo rc $?' x "${CHAT[@]}"
like "output" "$(out)" $'ak: chat: standard input, output and error.*\nrc 2'
pty '[]' sh -c '"$@" 2>'"$DIR"'/file; echo rc $?' x "${CHAT[@]}"
like "error" "$(cat "$DIR/file")" '^ak: chat: standard input, output and error'

t options
for i in "-o json" --json "--output-last-message $DIR/x" "--output-schema $R" --fail-on-denied; do
	# shellcheck disable=SC2086
	chat '[]' $i
	is "$i" "$RC" 2
	like "$i" "$(out)" '^ak: chat: --[a-z -]*: a chat has no single result \(use it with ak run\)'
done
run "$AK" chat -C "$WS" --no-such-thing
refused 2 'chat: unknown option --no-such-thing'
run "$AK" chat -C "$WS" -m x one two
refused 2 'chat: one PROMPT is taken'
run "$AK" chat --help
is "help needs no terminal" "$RC" 0
like "help" "$(out)" '^usage: ak chat'

t settings-of-run
mkdir -p "$HOME/.config/ak"
printf '{"run":{"fail_on_denied":true,"max_turns":1}}' >"$HOME/.config/ak/config.json"
say "$(bash_step 'true')"
chat '[["ak> ","go\r"],["Stopped: reached max iterations[^>]*ak> ","/exit\r"]]'
is "they hold, but for those about one result" "$RC" 0
rm "$HOME/.config/ak/config.json"

t images
printf '\211PNG\r\n\032\n0000' >"$DIR/x.png"
say '{"match":{"images":1,"user":"(Attached images, in this order: x.png)"},"reply":{"text":"Seen."}}' '{"match":{"user":"and this"},"reply":{"text":"Not again."}}'
chat '[["ak> ","what is it?\r"],["Seen.[^>]*ak> ","and this\r"],["Not again.[^>]*ak> ","/exit\r"]]' --attach "$DIR/x.png"
is "they are in the first message" "$RC" 0
is "and only there" "$(grep -c image/png "$SESSIONS/$(session)/transcript.jsonl")" 1

t no-sandbox
say "$answer"
chat '[]' --rootfs "$DIR/none"
is "exit code" "$RC" 5
like "told" "$(out)" "^ak: "

t confinement
mkdir -p "$DIR/own"
pty '[]' "$AGENT" confine-check "$DIR/own" --terminal
claims confine-check-terminal

done_suite
