# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Approvals: what rules allow is run under bash with every program start and write traced; what the reader of command lines makes
# of a line is compared with shfmt, bash and dash. APPROVE_LINES=N: so many lines are made (100).
. "$TESTS/lib.sh"

DRIVE=$IT/bin/approve_drive
DUMP=$IT/bin/shell_dump
N=${APPROVE_LINES:-100}
SEED=${APPROVE_SEED:-7}

t "APR:whatever-a-rule-allows-starts-and-writes-only-what-rules-allow"
if command -v strace >/dev/null && command -v git >/dev/null; then
	mkdir -p "$DIR/judged"
	LIMIT=3600 run "$PY" "$TESTS/approve_diff.py" "$AK" "$DRIVE" "$DIR/judged" "$N" "$SEED"
	is "exit code; $(tail -n 3 "$O")" "$RC" 0
	like counts "$(tail -n 1 "$O")" 'allowed=[1-9][0-9]* .* not_permitted=0$'
else
	skip "no strace or no git"
fi

# the same with the text compared as it is: programs and files that no rule names, which the test above has to notice
t "APR:control:without-the-parser-the-same-test-fails"
if command -v strace >/dev/null && command -v git >/dev/null; then
	mkdir -p "$DIR/prefix"
	LIMIT=3600 run "$PY" "$TESTS/approve_diff.py" "$AK" "$DRIVE" "$DIR/prefix" 60 "$SEED" --prefix
	is "exit code" "$RC" 1
	like "what was started" "$(cat "$O")" "'touch', 'M'"
	like counts "$(tail -n 1 "$O")" 'not_permitted=[1-9]'
else
	skip "no strace or no git"
fi

t "APR:lines-are-read-as-shfmt-bash-and-dash-read-them"
if [ "$WHO" = root ]; then
	skip "pure: once is enough"
elif command -v shfmt >/dev/null && command -v dash >/dev/null; then
	LIMIT=3600 run "$PY" "$TESTS/shell_oracle.py" "$DUMP" "$N" "$SEED"
	is "exit code; $(head -n 3 "$O")" "$RC" 0
	like counts "$(tail -n 1 "$O")" 'different=0$'
else
	skip "no shfmt or no dash"
fi

done_suite
