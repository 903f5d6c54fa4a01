# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Requests of the agent against a server on loopback that misbehaves: each ends within its set time, for its own reason, with
# one line, and the key is nowhere but in the header of the request.
. "$TESTS/lib.sh"

GET=$IT/bin/httpget
KEY=sk-ant-test-0123456789abcdef
export HTTPGET_KEY=$KEY
J=$DIR/journal
SERVER=

# ends of agent/http.h, in their order
DONE=0 BAD_REQUEST=1 NO_NAME=2 UNREACHABLE=3 TLS=4 STALLED_HEAD=5 STALLED_BODY=6 CUT=7 TOO_LARGE=8 OVERTIME=9 CANCELLED=10 BAD_ANSWER=11
STOPPED=12

# get OPTION... URL... - in fields: END STATUS KEPT BYTES EVENTS FAULT EXIT WAIT EXCERPT of the last request; MS: the time of all
get() {
	local begun=${EPOCHREALTIME/./} line word
	# the worst that a machine under load does to a client that works well
	LIMIT=60 run "$GET" "$@"
	MS=$(((${EPOCHREALTIME/./} - begun) / 1000))
	END='' STATUS='' KEPT='' CUTOFF='' BYTES='' EVENTS='' FAULT='' EXIT='' WAIT='' EXCERPT='' TOTAL='' LEFT='' BEFORE=''
	line=$(grep '^end=' "$O" | tail -n 1)
	EXCERPT=$(sed -n "s/.* excerpt='\(.*\)'\$/\1/p" <<<"$line")
	for word in ${line%% end_text=*} $(tail -n 1 "$O"); do
		case $word in
		end=*) END=${word#*=} ;;
		status=*) STATUS=${word#*=} ;;
		kept=*) KEPT=${word#*=} ;;
		cut=*) CUTOFF=${word#*=} ;;
		bytes=*) BYTES=${word#*=} ;;
		events=*) EVENTS=${word#*=} ;;
		fault=*) FAULT=${word#*=} ;;
		exit=*) EXIT=${word#*=} ;;
		wait=*) WAIT=${word#*=} ;;
		total=*) TOTAL=${word#*=} ;;
		key_before=*) BEFORE=${word#*=} ;;
		key_after=*) LEFT=${word#*=} ;;
		esac
	done
}

# ended END FAULT EXIT REGEX - of a request that failed: its end, its meaning, one line; the key is in no output
ended() {
	is end "$END" "$1"
	is fault "$FAULT" "$2"
	is exit "$EXIT" "$3"
	is "lines on stderr" "$(wc -l <"$E")" 1
	like message "$(err)" "^ak: "
	like message "$(err)" "$4"
	no "the key is in the output" grep -qF "${KEY#sk-}" "$O" "$E"
}

# within LOW HIGH - the transfer took so many ms, measured by itself; HIGH leaves room for a machine under load
within() {
	if [ "$TOTAL" -lt "$1" ] || [ "$TOTAL" -gt "$2" ]; then nok "took $TOTAL ms, wanted $1 to $2"; fi
}

# good STATUS - an answer came, whatever its status; nothing to say
good() {
	is end "$END" "$DONE"
	is status "$STATUS" "$1"
	is stderr "$(err)" ""
	is "exit code" "$RC" 0
}

server_start() {
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$DIR/key.pem" -out "$DIR/cert.pem" -days 2 -subj /CN=ak-test \
		-addext 'subjectAltName=IP:127.0.0.1,DNS:api.test' >"$DIR/openssl.log" 2>&1
	: >"$J"
	rm -f "$DIR/ports"
	coproc SRV { exec "$PY" "$TESTS/http_server.py" "$DIR/ports" "$J" "$DIR/cert.pem" "$DIR/key.pem" 2>"$DIR/server.log"; }
	SERVER=$SRV_PID
	exec {SERVER_IN}>&"${SRV[1]}"
	wait_for test -s "$DIR/ports" || return 1
	read -r PLAIN TLSPORT PROXY DEAD FULL <"$DIR/ports"
	U=http://127.0.0.1:$PLAIN
	S=https://127.0.0.1:$TLSPORT
}

server_stop() {
	exec {SERVER_IN}>&-
	kill "$SERVER" 2>/dev/null
	wait "$SERVER" 2>/dev/null
}

# the head of the last request that the server saw
last_head() {
	awk '/^== /{text=""} {text=text $0 "\n"} END{printf "%s", text}' "$J"
}

t server
if ! need "$PY" openssl || ! server_start; then
	nok "$(cat "$DIR/server.log" 2>/dev/null)"
	done_suite
	exit 0
fi

t what-is-sent
get --post 5 "$U/ok"
good 200
is bytes "$BYTES" 5
like head "$(last_head)" "POST /ok HTTP/1.1"
like key "$(last_head)" "x-api-key: $KEY"
like length "$(last_head)" "Content-Length: 5"
unlike "no Expect" "$(last_head)" "[Ee]xpect"
like "no encoding asked for" "$(last_head)" "Accept-Encoding: identity"
is "the key is sent once" "$(last_head | grep -cF "$KEY")" 1

t great-bodies-are-sent-without-waiting
get --post 3000000 "$U/ok"
good 200
unlike "no Expect" "$(last_head)" "[Ee]xpect"

for s in 204 none trailers continue hints gzip; do
	t "good:$s"
	get "$U/$s"
	case $s in 204) good 204 ;; *) good 200 ;; esac
	case $s in gzip) is bytes "$BYTES" 500 ;; 204 | none) is bytes "$BYTES" 0 ;; *) is bytes "$BYTES" 5 ;; esac
	is "an early hint says nothing of retries" "$WAIT" -1
done

t connections-are-used-again
get "$U/ok" "$U/ok" "$U/ok"
good 200
is ports "$(grep '^== plain' "$J" | tail -n 3 | sort -u | wc -l)" 1

t a-connection-that-was-closed-meanwhile-is-made-anew
get "$U/closelater" "$U/ok"
good 200

t stream-of-events
get --sse 1 "$U/sse"
good 200
is events "$EVENTS" 2

t stream-without-a-last-blank-line
get --sse 1 "$U/sseclose"
good 200
is events "$EVENTS" 2

# --- errors that are answers

t status-401
get "$U/401"
good 401
is fault "$FAULT $EXIT" "authentication 3"
like excerpt "$EXCERPT" "invalid x-api-key"

t status-429
get "$U/429"
good 429
is fault "$FAULT $WAIT" "rate_limited 7000"

t status-529
get "$U/529"
good 529
is fault "$FAULT $WAIT" "overloaded 20"

t html-error-page
get "$U/502html"
good 502
is fault "$FAULT" server_error
is excerpt "$EXCERPT" "502 Bad Gateway"

t html-instead-of-a-stream
get --sse 1 "$U/200html"
good 200
is excerpt "$EXCERPT" "Log in"

t json-instead-of-a-stream
get --sse 1 "$U/json"
good 200
is kept "$KEPT" 18

t body-that-would-reach-the-terminal
get --sse 1 "$U/binary"
good 200
is "bytes of control" "$(LC_ALL=C tr -d '\40-\176\n' <"$O" | wc -c)" 0

t error-body-without-an-end
get "$U/bigerror"
good 500
is kept "$KEPT $CUTOFF" "65536 1"
within 0 10000

t error-body-cut
get "$U/cuterror"
good 500
is kept "$KEPT $CUTOFF" "8 1"

t error-body-stalled
get --idle 500 "$U/stallerror"
good 500
is kept "$KEPT $CUTOFF" "8 1"
within 450 10000

t redirect-is-not-followed
get "$U/redirect"
good 302
is fault "$FAULT $EXIT" "redirect 4"
no "the other address was asked" grep -q stolen "$J"

# --- no answer, each within its time

t unreachable
get "http://127.0.0.1:$DEAD/"
ended "$UNREACHABLE" unreachable 4 "127.0.0.1:$DEAD: unreachable: Connection refused"
within 0 10000

t no-connection-in-time
get --connect 700 "http://127.0.0.1:$FULL/"
ended "$UNREACHABLE" unreachable 4 "no connection within 0.7 s"
within 650 10000

t name-not-resolved
get --connect 5000 "https://no-such-host.invalid/"
ended "$NO_NAME" unreachable 4 "no-such-host.invalid:443: name not resolved"
within 0 15000

t stalled-before-headers
get --head 600 "$U/stallhead"
ended "$STALLED_HEAD" stalled 4 "stalled before headers: no answer within 0.6 s"
within 550 10000

t stalled-before-headers-with-the-request-not-taken
get --head 600 --post 50000000 "$U/noread"
ended "$STALLED_HEAD" stalled 4 "stalled before headers: the request was not taken for 0.6 s"
within 550 10000

t stalled-in-the-headers
get --idle 600 "$U/stallinhead"
ended "$STALLED_BODY" stalled 4 "stalled in the middle"
within 550 10000

t stalled-in-the-middle
get --idle 600 --sse 1 "$U/stallbody"
ended "$STALLED_BODY" stalled 4 "stalled in the middle: nothing for 0.6 s after 9 bytes"
is events "$EVENTS" 1
within 550 10000

t keep-alive-comments-are-life
get --idle 1500 --sse 1 "$U/drip"
good 200
is events "$EVENTS" 1
within 1900 60000

t total-time
get --total 700 --sse 1 "$U/dripforever"
ended "$OVERTIME" overtime 13 "the time of 0.7 s is over"
within 650 10000

t half-closed
get --idle 30000 --sse 1 "$U/halfclosed"
ended "$CUT" cut 4 "connection cut after 9 bytes"
within 0 10000

for s in cutlength cutchunk reset; do
	t "cut:$s"
	get --idle 30000 "$U/$s"
	ended "$CUT" cut 4 "connection cut after [59] bytes"
	within 0 10000
done

t cut:empty
get "$U/empty"
ended "$CUT" cut 4 "closed without an answer"

t cut:in-the-headers
get "$U/cuthead"
ended "$CUT" cut 4 "cut in the headers"

# --- too much, and not what was asked for

t many-headers
get "$U/manyheaders"
ended "$TOO_LARGE" bad_answer 4 "more than 128 headers"

t great-headers
get "$U/bigheaders"
ended "$TOO_LARGE" bad_answer 4 "more than 65536 bytes of headers"

t one-great-header
get "$U/bigline"
ended "$TOO_LARGE" bad_answer 4 "header"

t endless-body
get --body-max 1000000 "$U/bigbody"
ended "$TOO_LARGE" bad_answer 4 "over 1000000 bytes"
within 0 10000

t one-event-without-an-end
get --sse 1 "$U/ssehuge"
ended "$STOPPED" bad_answer 4 "more than 16777216 bytes"

t compressed-bomb
get --sse 1 --body-max 1000000 "$U/bomb"
ended "$TOO_LARGE" bad_answer 4 "over 1000000 bytes"

for s in http09 tlsbytes; do
	t "not-http:$s"
	get "$U/$s"
	ended "$BAD_ANSWER" bad_answer 4 "not an HTTP answer"
done

t broken-encoding
get "$U/badgzip"
ended "$BAD_ANSWER" bad_answer 4 "encoding"

t stopped-by-the-caller
get --stop 1 "$U/ok"
ended "$STOPPED" bad_answer 4 "stopped by the caller"

# --- TLS

t tls-with-the-right-certificate
get --ca "$DIR/cert.pem" "$S/ok"
good 200
like journal "$(last_head)" "^== tls"

t tls-self-signed
: >"$J"
get "$S/ok"
ended "$TLS" tls 4 "TLS failed: .*self-signed certificate"
is "nothing was sent" "$(wc -c <"$J")" 0

t tls-other-host
get --ca "$DIR/cert.pem" "https://localhost:$TLSPORT/ok"
ended "$TLS" tls 4 "TLS failed: .*localhost"
is "nothing was sent" "$(wc -c <"$J")" 0

t tls-file-of-certificates-missing
get --ca /nonexistent "$S/ok"
ended "$TLS" tls 4 "file of trusted certificates"

t tls-asked-of-a-plain-server
get --connect 700 "https://127.0.0.1:$PLAIN/ok"
ended "$UNREACHABLE" unreachable 4 "no connection within"

t plain-asked-of-a-tls-server
get "http://127.0.0.1:$TLSPORT/ok"
ended "$CUT" cut 4 "closed without an answer"

# --- where a request may go

t plain-to-another-host
get "http://api.test/"
ended "$BAD_REQUEST" internal 1 "http:// would send the key and the prompt to api.test in the clear"

t plain-to-another-host-if-allowed
http_proxy=http://127.0.0.1:$PROXY get --plain-ok 1 "http://api.test/x"
good 200
like journal "$(last_head)" "GET http://api.test/x"

t proxy-for-https
https_proxy=http://127.0.0.1:$PROXY get --ca "$DIR/cert.pem" https://api.test/ok
good 200
like tls "$(last_head)" "x-api-key: $KEY"
is "the proxy sees no key" "$(awk '/^== /{on=/proxy/} on' "$J" | grep '^x-api-key' -c)" "$(awk '/^== /{on=/proxy/} on' "$J" | grep -c '^GET http')"
like "the proxy was asked" "$(cat "$J")" "CONNECT api.test:443"

t proxy-refuses
https_proxy=http://127.0.0.1:$PROXY get --ca "$DIR/cert.pem" https://refuse.test/ok
ended "$UNREACHABLE" unreachable 4 "the proxy answered 403"

t proxy-is-down
https_proxy=http://127.0.0.1:$DEAD get https://api.test/ok
ended "$UNREACHABLE" unreachable 4 "127.0.0.1 port $DEAD"

t no-proxy
https_proxy=http://127.0.0.1:$DEAD no_proxy=127.0.0.1 get --ca "$DIR/cert.pem" "$S/ok"
good 200

t loopback-never-goes-through-a-proxy
http_proxy=http://127.0.0.1:$DEAD all_proxy=http://127.0.0.1:$DEAD get "$U/ok"
good 200

# --- the key

t the-key-is-wiped
get "$U/ok" "$U/401" "$U/cutchunk"
is "the scan sees the pool" "$BEFORE" 1
is "left in memory" "$LEFT" 0
get --ca "$DIR/cert.pem" "$S/ok"
is "the scan sees the pool" "$BEFORE" 1
is "left in memory" "$LEFT" 0

t the-key-is-in-no-file-of-proc
"$GET" --head 30000 "$U/stallhead" >"$O" 2>"$E" &
pid=$!
wait_for grep -q stallhead "$J"
wait_for grep -q "^GET /stallhead" "$J"
no "cmdline" grep -qaF "$KEY" "/proc/$pid/cmdline"
no "environ" grep -qaF "$KEY" "/proc/$pid/environ"
ok "the control: its name is there" grep -qaF HTTPGET_KEY "/proc/$pid/environ"
kill -TERM "$pid"
wait "$pid"
is "exit code" "$?" 143
no "output" grep -qF "$KEY" "$O" "$E"

# --- cancel

# cancel NAME SIGNAL CODE ARG... - the signal ends the request at once, wherever it stands
cancel() {
	local name=$1 sig=$2 code=$3 begun rc
	shift 3
	t "cancel:$name"
	: >"$J"
	# a shell's background jobs ignore SIGINT, and httpget leaves it ignored
	env --default-signal "$GET" --connect 30000 --head 30000 --idle 30000 "$@" >"$O" 2>"$E" &
	pid=$!
	# asleep in its wait
	wait_for grep -q 'State:.*sleeping' "/proc/$pid/status"
	case $name in connect*) sleep 0.3 ;; *) wait_for test -s "$J" && sleep 0.3 ;; esac
	begun=${EPOCHREALTIME/./}
	kill -"$sig" "$pid"
	wait "$pid"
	rc=$?
	# without the scan for the key that httpget does afterwards
	MS=$(($(sed -n 's/.* at=\([0-9]*\) .*/\1/p' "$O") - begun / 1000))
	is "exit code" "$rc" "$code"
	[ "$MS" -le 10000 ] || nok "ended after $MS ms"
	like end "$(out)" "end=$CANCELLED .*fault=cancelled exit=130"
	like message "$(err)" "cancelled"
}

cancel connecting INT 130 "http://127.0.0.1:$FULL/"
cancel before-headers INT 130 "$U/stallhead"
cancel in-the-middle TERM 143 --sse 1 "$U/stallbody"
cancel sending HUP 129 --post 50000000 "$U/noread"
cancel tls-in-the-middle INT 130 --ca "$DIR/cert.pem" "$S/stallbody"

t cancel:not-by-a-signal-that-is-ignored
: >"$J"
(trap '' HUP && exec "$GET" --head 1500 "$U/stallhead") >"$O" 2>"$E" &
pid=$!
wait_for test -s "$J"
kill -HUP "$pid"
wait "$pid"
like end "$(out)" "end=$STALLED_HEAD "

# --- controls: without the protection the tests above would notice

# weakly NAME OPTION... URL - the request by the test build that lacks this protection
weakly() {
	local GET=$IT/bin/httpget-weak
	t "control:$1"
	: >"$J"
	[ -x "$GET" ] || {
		skip "no weak build (make weak)"
		return 1
	}
	AK_WEAKEN_HTTP=$1 get "${@:2}"
}

if weakly verify "$S/ok"; then
	is end "$END $STATUS" "$DONE 200"
	ok "the key went to whoever answered" grep -qF "$KEY" "$J"
fi
if weakly redirect "$U/redirect"; then
	ok "the other address was asked" grep -q stolen "$J"
	is "keys sent" "$(grep -cF "$KEY" "$J")" 2
fi
if http_proxy=http://127.0.0.1:$DEAD weakly proxy "$U/ok"; then
	is end "$END" "$UNREACHABLE"
fi
if weakly wipe "$U/401"; then
	[ "${LEFT:-0}" -gt 0 ] || nok "no key left in memory"
fi

server_stop
done_suite
