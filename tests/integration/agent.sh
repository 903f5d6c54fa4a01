# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Subcommands of the agent's side: which program ak becomes, and which it never does.
. "$TESTS/lib.sh"

B=$DIR/place
FAKE=$DIR/fake

# place - a folder with a copy of ak, alone; paths below it in B
place() {
	rm -rf "$B"
	mkdir -p "$B/bin" "$B/libexec/ak"
	cp "$AK" "$B/bin/ak"
}

# a program in ak-agent's place that says what it was given. A script cannot be started by descriptor once that is closed,
# so it is compiled
fake() {
	[ -x "$FAKE" ] || gcc -O1 -static -x c -o "$FAKE" - <<'C'
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
int main(int argc, char *argv[])
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");

	for (int i = 0; i < argc; i++)
		printf("[%s]", argv[i]);
	printf(" X=%s", getenv("X") ? getenv("X") : "-");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NoNewPrivs:", 11) == 0)
			printf(" nnp=%c", line[12]);
	}
	printf("\n");
	return 7;
}
C
	cp "$FAKE" "$1"
	chmod 755 "$1"
}

t missing
place
run "$B/bin/ak" prices list
refused 1 "ak-agent is missing: it is neither in $B/bin/ nor in $B/bin/../libexec/ak"

t beside
place
fake "$B/bin/ak-agent"
X='a b' run "$B/bin/ak" prices "list x" --json ''
is "exit code" "$RC" 7
is arguments "$(out)" "[$B/bin/ak][prices][list x][--json][] X=a b nnp=1"

t in-libexec
place
fake "$B/libexec/ak/ak-agent"
run "$B/bin/ak" models
is "exit code" "$RC" 7
like arguments "$(out)" '\[models\] X=- nnp=1'

t through-a-link
place
fake "$B/libexec/ak/ak-agent"
ln -s "$B/bin/ak" "$B/link"
run "$B/link" models
is "exit code" "$RC" 7

t not-from-path-or-the-working-directory
place
mkdir -p "$WS/libexec/ak" "$WS/bin"
fake "$WS/ak-agent"
fake "$WS/bin/ak-agent"
fake "$WS/libexec/ak/ak-agent"
cd "$WS/bin" || exit 1
PATH=$WS:$PATH run "$B/bin/ak" prices
refused 1 "ak-agent is missing"
PATH=$B/bin:$WS:$PATH run env ak prices
refused 1 "ak-agent is missing"
cd / || exit 1

for mode in 775 757 777; do
	t "writable-by-others:$mode"
	place
	fake "$B/bin/ak-agent"
	chmod "$mode" "$B/bin/ak-agent"
	run "$B/bin/ak" prices
	refused 1 "is not started: .*chmod go-w"
done

t a-folder-is-no-program
place
mkdir "$B/bin/ak-agent"
run "$B/bin/ak" prices
refused 1 "is not started"

t of-another-user
place
fake "$B/bin/ak-agent"
if [ "$WHO" = root ]; then
	chown 12345 "$B/bin/ak-agent"
	run "$B/bin/ak" prices
	refused 1 "is not started"
else
	skip "only root can give a file away"
fi

t of-root
if [ "$WHO" = root ]; then
	skip "the caller is root"
else
	# the runner's copies belong to root
	run "$AK" prices --no-such-option-of-any-kind
	unlike "it was started" "$(err)" "is not started|is missing"
fi

t the-real-one
run "$IT/bin/ak-agent" --version
is "exit code" "$RC" 0
like version "$(out)" '^ak-agent [0-9]'
run "$IT/bin/ak-agent"
refused 2 "started by ak"
run "$IT/bin/ak-agent" no-such-command
refused 2 'no command "no-such-command"'

# trace SESSION LINE... - a trace as a session leaves it, below $WS/state
trace() {
	mkdir -p "$WS/state/ak/sessions/$1"
	printf '%s\n' "${@:2}" >>"$WS/state/ak/sessions/$1/trace.jsonl"
}

# record DAY MODEL COST TOOLS
record() {
	printf '{"ts":"%sT10:00:00.000Z","session_id":"s","iteration":1,"model":"%s","input_tokens":100,"output_tokens":20,"cache_read_tokens":5,' "$1" "$2"
	printf '"cache_write_tokens":1,"estimated_cost_usd":%s,"tool_calls":[%s],"stop_reason":"end_turn","compaction":null}' "$3" "$4"
}

t report:nothing-yet
XDG_STATE_HOME=$WS/state run "$IT/bin/ak-agent" report
is "exit code" "$RC" 0
like text "$(out)" ': 0 sessions, 0 turns, .0'
no "nothing is made" test -e "$WS/state"

t report:sums
today=$(date -u +%F)
trace a "$(record "$today" m1 0.25 '{"name":"bash","approved":true,"is_error":false},{"name":"bash","approved":false,"is_error":true}')" \
	"$(record "$today" m2 null '')" "$(record 2020-01-01 m1 9 '')"
trace b "$(record "$today" m1 0.000001 '')" '{"torn":' "$(record "$today" m1 0 '')"
mkdir -p "$WS/state/ak/sessions/c-no-trace"
ln -s "$WS/state/ak/sessions/a" "$WS/state/ak/sessions/link"
XDG_STATE_HOME=$WS/state run "$IT/bin/ak-agent" report --json
is "exit code" "$RC" 0
like "a broken line is counted" "$(err)" '^ak: report: 1 lines of traces are no records'
is figures "$("$PY" -c 'import json,sys
d=json.load(open(sys.argv[1]))
print(d["schema"],d["sessions"],d["turns"],d["cost_usd"],d["unknown_cost_calls"],d["skipped_lines"],[(x["model"],x["turns"]) for x in d["by_model"]],
      [(x["tool"],x["tool_calls"],x["tool_errors"],x["tool_denied"]) for x in d["by_tool"]],[x["day"]==sys.argv[2] for x in d["by_day"]])' "$O" "$today")" \
	"ak-report/1 2 4 0.250001 1 1 [('m1', 3), ('m2', 1)] [('bash', 2, 1, 1)] [True]"
XDG_STATE_HOME=$WS/state run "$IT/bin/ak-agent" report --days 36500
like "older days" "$(out)" '(^|[^0-9])2020-01-01 +1 +100 +6 +20 +9[.]0000'
like total "$(out)" '2 sessions, 5 turns, .9.2500 and 1 calls of unknown cost'

t report:bad-input
run "$IT/bin/ak-agent" report --days 0
refused 2 '--days expects a number of days from 1 to 36500, got "0"'
run "$IT/bin/ak-agent" report --day 3
refused 2 'unknown option "--day"'
run "$IT/bin/ak-agent" report x
refused 2 'unexpected argument "x"'

t report:through-ak
XDG_STATE_HOME=$WS/state run "$AK" report --json
is "exit code" "$RC" 0
like document "$(out)" '^\{"schema":"ak-report/1"'

t ak-links-neither-libcurl-nor-cjson
if need nm; then
	is symbols "$(nm "$AK" | grep -ciE 'curl_|cjson')" 0
	is libraries "$(ldd "$AK" 2>&1 | grep -ciE 'curl|cjson')" 0
	[ "$(ldd "$IT/bin/ak-agent" | grep -cE 'libcurl|libcjson')" = 2 ] || nok "the control: ak-agent links both"
fi

# breach NAME FILE LINE - a tree with this line in this file is a broken boundary
breach() {
	t "boundary:$1"
	mkdir -p "$WS/tree/agent/cli" "$WS/tree/executor/shared" "$WS/tree/executor/init"
	printf '%s\n' '#include "agent/json.h"' '#include "executor/shared/ak_err.h"' '#include <stdio.h>' >"$WS/tree/agent/main.c"
	printf '%s\n' '#include <cjson/cJSON.h>' '#include "agent/json_int.h"' 'cJSON_CreateNull();' >"$WS/tree/agent/json.c"
	printf '%s\n' '#include <curl/curl.h>' >"$WS/tree/agent/http_int.h"
	printf '%s\n' '#include "executor/shared/ak_err.h"' >"$WS/tree/executor/main.c"
	run sh "$TESTS/check-boundary.sh" "$WS/tree"
	is "the control: kept" "$RC $(out)" "0 boundary: kept"
	printf '%s\n' "$3" >>"$WS/tree/$2"
	run sh "$TESTS/check-boundary.sh" "$WS/tree"
	is "exit code" "$RC" 1
	like "the line is named" "$(out)" "$2:"
}

breach agent-uses-the-executor agent/main.c '#include "executor/privs.h"'
breach agent-uses-a-profile agent/main.c '#include "seccomp/filters.h"'
breach agent-includes-by-a-way-up agent/cli/a.c '#include "../../executor/privs.h"'
breach agent-parses-with-cjson agent/main.c 'x = cJSON_Parse(text);'
breach agent-parses-with-cjson-in-json agent/json.c 'x = cJSON_ParseWithLength(text, n);'
breach agent-prints-with-cjson agent/json.c 'x = cJSON_PrintUnformatted(item);'
breach agent-looks-up-in-any-case agent/json.c 'x = cJSON_GetObjectItem(o, "a");'
breach cjson-elsewhere agent/cli/a.c '#include <cjson/cJSON.h>'
breach libcurl-elsewhere agent/main.c '#include <curl/curl.h>'
breach pcre-elsewhere agent/main.c '#include <pcre2.h>'
breach libcrypto-elsewhere agent/main.c '#include <openssl/sha.h>'
breach agent-starts-a-program agent/main.c 'execve(path, argv, envp);'
breach agent-forks agent/main.c 'pid = fork();'
breach executor-uses-the-agent executor/main.c '#include "agent/json.h"'
breach executor-uses-libcurl executor/main.c '#include <curl/curl.h>'
breach executor-uses-cjson executor/main.c '#include <cjson/cJSON.h>'
breach executor-looks-up-names executor/main.c 'getaddrinfo(a, b, c, d);'
breach shared-uses-the-agent executor/shared/a.c '#include "agent/json.h"'
breach init-uses-the-agent executor/init/a.c '#include "agent/json.h"'

done_suite
