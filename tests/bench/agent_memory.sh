#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Memory of ak-agent in a session of 200 turns over TLS to a server on loopback, with the certificates that the system trusts: the most
# of RssAnon that was seen, read 20 times a second. With a second number: fails above that many kB.
# usage: tests/bench/agent_memory.sh AK [TURNS] [MOST_KB]
set -eu
ak=$(readlink -f "${1:?usage: agent_memory.sh AK [TURNS] [MOST_KB]}")
turns=${2:-200}
most=${3:-}
cd "$(dirname "$0")/../.."
bundle=/etc/ssl/certs/ca-certificates.crt
for c in python3 openssl; do
	command -v "$c" >/dev/null || { echo "agent_memory: not measured: $c is not installed"; exit 0; }
done
[ -r "$bundle" ] || { echo "agent_memory: not measured: $bundle is not there (ca-certificates)"; exit 0; }
work=$(mktemp -d /tmp/ak-bench.XXXXXX)
server='' run=''
cleanup() {
	[ -z "$run" ] || kill "$run" 2>/dev/null || :
	[ -z "$server" ] || { exec 5>&-; wait "$server" 2>/dev/null || :; }
	rm -rf "$work"
}
trap cleanup EXIT
mkdir "$work/w" "$work/home"
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key.pem" -out "$work/cert.pem" -days 2 -subj /CN=localhost \
	-addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' 2>/dev/null
cat "$bundle" "$work/cert.pem" >"$work/all.pem"
mkfifo "$work/in"
python3 tests/bench/tls_server.py "$work/port" "$turns" "$work/cert.pem" "$work/key.pem" <"$work/in" &
server=$!
exec 5>"$work/in"
until [ -s "$work/port" ]; do
	kill -0 "$server"
	sleep 0.05
done
HOME=$work/home ANTHROPIC_API_KEY=sk-bench "$ak" run -C "$work/w" --api anthropic -m m --base-url "https://localhost:$(cat "$work/port")" \
	--ca-file "$work/all.pem" --context 1000000 --max-turns $((turns + 1)) -q -o json go >"$work/result" 2>"$work/err" 5>&- </dev/null &
run=$!
peak=0 agent='' samples=0
while kill -0 "$run" 2>/dev/null; do
	if [ -z "$agent" ]; then
		read -r -a children <"/proc/$run/task/$run/children" 2>/dev/null || children=()
		for p in ${children[@]+"${children[@]}"}; do
			[ "$(cat "/proc/$p/comm" 2>/dev/null)" != ak-agent ] || agent=$p
		done
	fi
	kb=$(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\).*/\1/p' "/proc/${agent:-none}/status" 2>/dev/null || :)
	[ -z "$kb" ] || samples=$((samples + 1))
	[ "${kb:-0}" -le "$peak" ] || peak=$kb
	sleep 0.05
done
code=0
wait "$run" || code=$?
run=
done_turns=$(sed -n 's/.*"num_turns":\([0-9]*\).*/\1/p' "$work/result")
if [ "$code" -ne 0 ] || [ "$done_turns" != $((turns + 1)) ] || [ "$samples" -lt 3 ]; then
	echo "agent_memory: the run ended with $code after ${done_turns:-no} turns, $samples samples: $(tail -n 2 "$work/err")" >&2
	exit 1
fi
echo "ak-agent, $turns turns over TLS with $(grep -c BEGIN "$work/all.pem") certificates: RssAnon at most $peak kB in $samples samples (wanted: at most 12288)"
[ -z "$most" ] || [ "$peak" -le "$most" ]
