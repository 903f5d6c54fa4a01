#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every unit test of a build folder and replays the fuzz corpora; needs no root and no network.
# usage: tests/run-unit.sh BUILD_FOLDER
set -u

# seconds for one test; the 4 of the library are too few on a busy machine, or under a sanitizer
export CK_DEFAULT_TIMEOUT=60

build=${1:?usage: tests/run-unit.sh BUILD_FOLDER}
here=$(dirname "$0")
passed=0
failed=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# NAME STATUS: a program that ended without saying what it counted, or with a status that does not fit
broken() {
	failed=$((failed + 1))
	echo "FAIL $1 (exit status $2)"
	tail -n 20 "$log"
}

for t in "$build"/unit/test_*; do
	case $t in *.d | *.o) continue ;; esac
	[ -x "$t" ] || continue
	"$t" >"$log" 2>&1
	status=$?
	# "100%: Checks: 14, Failures: 0, Errors: 0", once for each runner in the program
	counts=$(sed -n 's/^[0-9]*%: Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: \([0-9]*\)$/\1 \2 \3/p' "$log" |
		awk '{ c += $1; f += $2 + $3 } END { print c + 0, f + 0 }')
	checks=${counts% *}
	bad=${counts#* }
	passed=$((passed + checks - bad))
	failed=$((failed + bad))
	if [ "$bad" -gt 0 ]; then
		echo "FAIL $(basename "$t")"
		grep -v -e '^Running suite' -e '^[0-9]*%: Checks' "$log"
	elif [ "$status" -ne 0 ] || { [ "$checks" -eq 0 ] && ! grep -q '^not tested: ' "$log"; }; then
		broken "$(basename "$t")" "$status"
	else
		grep -i -e '^not tested' -e '^skip' "$log"
	fi
done

for f in "$build"/fuzz/fuzz_*; do
	case $f in *.d | *.o) continue ;; esac
	[ -x "$f" ] || continue
	name=$(basename "$f")
	corpus=$here/fuzz/corpus/$name
	if ! [ -d "$corpus" ]; then
		: >"$log"
		broken "$name: no corpus in $corpus" "-"
		continue
	fi
	# under libFuzzer the same with its own options: each file once
	files=$(find "$corpus" -type f ! -name '.*' | wc -l)
	if grep -q LLVMFuzzerRunDriver "$f"; then
		find "$corpus" -type f ! -name '.*' -exec "$f" {} + >"$log" 2>&1
		status=$?
	else
		"$f" "$corpus" >"$log" 2>&1
		status=$?
		[ "$status" -ne 0 ] || grep -qx "$files files" "$log" || status=-
	fi
	if [ "$status" = 0 ] && [ "$files" -gt 0 ]; then
		passed=$((passed + files))
	else
		broken "$name" "$status"
	fi
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
