#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `ak run` adds to a command for each turn: runs of a script with many turns that each run TEXT by bash, less runs of one without turns,
# beside the same text in a session of a sandbox like it through the client library (tests/client/session.c), and beside bash alone.
# In turn in each round; medians and least of the rounds. As root with real-time priority, for other work disturbs by more than what
# is measured; rootless, as an unused id. Usage: tests/bench/turn.sh AK [ROUNDS] [TURNS] [TEXT]
set -eu
ak=${1:?usage: turn.sh AK [ROUNDS] [TURNS] [TEXT]}
rounds=${2:-7}
turns=${3:-100}
text=${4:-true}
cd "$(dirname "$0")/../.."
build=$(dirname "$ak")
work=$(mktemp -d /tmp/ak-bench.XXXXXX)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/w" "$work/home"
cp "$ak" "$build/ak-agent" "$build/client/session" "$work/"
: >"$work/out"

# script TURNS FILE
script() {
	local i
	echo '{"schema":"ak-replay/1"}'
	for ((i = 0; i < $1; i++)); do
		printf '{"reply":{"text":"","calls":[{"id":"c%d","name":"bash","args":{"command":"%s"}}]}}\n' "$i" "$text"
	done
	echo '{"reply":{"text":"Done."}}'
}
script "$turns" >"$work/many"
script 0 >"$work/none"

as=()
if [ "$(id -u)" -eq 0 ]; then
	chown -R 61234:61234 "$work/w" "$work/home"
	as=(setpriv --reuid 61234 --regid 61234 --clear-groups)
	! chrt -f 1 true 2>/dev/null || as=(chrt -f 1 "${as[@]}")
fi
as+=(env -i "HOME=$work/home" PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8)

# ms CMD... - how long it takes
ms() {
	local begun=$EPOCHREALTIME
	"${as[@]}" "$@" >/dev/null 2>"$work/err" </dev/null || { cat "$work/err" >&2; exit 1; }
	awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f\n", (b - a) * 1e3 }'
}

for ((r = 0; r < rounds; r++)); do
	many=$(ms "$work/ak" run -q -C "$work/w" --max-turns $((turns + 1)) --api replay --replay "$work/many" go)
	none=$(ms "$work/ak" run -q -C "$work/w" --max-turns $((turns + 1)) --api replay --replay "$work/none" go)
	mean=$("${as[@]}" "$work/session" "$work/ak" "$work/w" "$turns" "$text" --write cow 2>"$work/err" | cut -d ' ' -f 1)
	[ -n "$mean" ] || { cat "$work/err" >&2; exit 1; }
	bare=$(ms bash -c "for ((i = 0; i < $turns; i++)); do bash -c '$text'; done")
	awk -v m="$many" -v n="$none" -v s="$mean" -v b="$bare" -v t="$turns" 'BEGIN { turn = (m - n) / t
		printf "%.3f turn\n%.3f session\n%.3f bare\n%.3f overhead\n", turn, s, b / t, turn - s }' >>"$work/out"
done
sort -n "$work/out" | awk '{ n[$2]++; v[$2, n[$2]] = $1 }
	function row(k, what) { printf "%-9s median %6.3f  least %6.3f ms  %s\n", k, v[k, int((n[k] + 1) / 2)], v[k, 1], what }
	END { row("turn", "of ak run, with its command")
	      row("session", "the command alone, in a session through libak")
	      row("bare", "bash -c, outside")
	      row("overhead", "turn - session (wanted: at most 2)") }'
