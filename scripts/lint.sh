#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Everything that can be said about the sources without running them. Prints what it finds; exit status 1 if anything.
# A tool that is missing is named and counts as a finding, unless LINT_SKIP_MISSING is set.
# usage: scripts/lint.sh [CHECK...]    checks: warnings globals cppcheck tidy banned length licence shell man
set -u

cd "$(dirname "$0")/.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
bad=0

warn='-Wall -Wextra -Wformat=2 -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wundef -Wvla
	-Wwrite-strings -Wno-missing-field-initializers -Werror'
echo '#define AK_VERSION "lint"' >"$work/version.h"
std="-std=c17 -D_GNU_SOURCE -I. -include $work/version.h"
libs=$(pkg-config --cflags libcap libnl-3.0 libseccomp libcjson libcurl libutf8proc libpcre2-8 libcrypto libedit check 2>/dev/null)
c_files=$(find executor lib seccomp agent tests -name '*.c' 2>/dev/null | sort)
program_files=$(find executor lib seccomp agent -name '*.c' 2>/dev/null | sort)
executor_files=$(find executor -name '*.c' | sort)
agent_files=$(find agent -name '*.c' 2>/dev/null | sort)

# NAME: the tool is there
have() {
	command -v "$1" >/dev/null 2>&1 && return 0
	echo "lint: $1 is not installed"
	[ -n "${LINT_SKIP_MISSING:-}" ] || bad=1
	return 1
}

# WHAT STATUS
verdict() {
	if [ "$2" -eq 0 ]; then
		echo "lint: $1: ok"
	else
		echo "lint: $1: FAILED"
		bad=1
	fi
}

# FILES COMMAND...: the command on each file (its last argument), two at a time; fails if one fails
each() {
	files=$1
	shift
	echo "$files" | xargs -P 2 -n 1 "$@"
}

check_warnings() {
	st=0
	# as they are built: ak-init and the escape programs without the checks of glibc's headers
	plain=$(echo "$c_files" | grep -E '^(executor/init|tests/escape)/')
	# shellcheck disable=SC2086 # lists of flags
	each "$plain" gcc $std $warn $libs -O1 -S -o /dev/null || st=1
	# shellcheck disable=SC2086
	each "$(echo "$c_files" | grep -vxF "$plain")" gcc $std $warn $libs -O1 -D_FORTIFY_SOURCE=2 -S -o /dev/null || st=1
	# the test build differs only where a switch is asked for
	# shellcheck disable=SC2086
	each "$(grep -lE 'AK_(WEAK|TEST_WEAKEN)' $executor_files)" gcc $std $warn $libs -DAK_TEST_WEAKEN -fsyntax-only || st=1
	if have clang; then
		# shellcheck disable=SC2086
		each "$c_files" clang $std $warn $libs -fsyntax-only || st=1
	fi
	verdict "warnings (gcc, clang)" "$st"
}

# The log level and the signal flag may be global, and what is written before main() is there; nothing else that can change
check_globals() {
	allowed='^(ak_log_level|ak_got_signal)$'
	for f in $executor_files $agent_files; do
		# not position independent: then tables of pointers are read-only in the object, too
		# shellcheck disable=SC2086
		if gcc $std $libs -O1 -fno-pie -c -o "$work/o.o" "$f"; then
			nm "$work/o.o" | awk '$2 ~ /^[bBdDC]$/ { print $3 }' | grep -vE "$allowed" | sed "s|^|$f: mutable global |"
		else
			echo "$f: does not compile"
		fi
	done >"$work/globals"
	cat "$work/globals"
	[ ! -s "$work/globals" ]
	verdict "no mutable globals" $?
}

check_cppcheck() {
	have cppcheck || return 0
	# comparePointers: the two symbols around the blob come from the assembler, one object in truth
	# shellcheck disable=SC2086
	cppcheck --quiet -j 2 --std=c11 --enable=warning,performance,portability --inline-suppr \
		--suppress=missingIncludeSystem --suppress=comparePointers:executor/ns/init_image.c \
		-I. -D_GNU_SOURCE -D__linux__ -D__x86_64__ --error-exitcode=1 $program_files
	verdict cppcheck $?
}

check_tidy() {
	have clang-tidy || return 0
	# its count of suppressed warnings goes to stderr and is of no use; what stops it goes to stdout, too
	# shellcheck disable=SC2016 # expanded by the inner shell
	LINT_FLAGS="$std $libs" each "$program_files" sh -c 'clang-tidy --quiet "$1" -- $LINT_FLAGS 2>/dev/null' sh
	verdict clang-tidy $?
}

check_banned() {
	calls='system|popen|strcpy|stpcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|mktemp|tmpnam|alloca'
	# comments and strings may name them
	for f in $c_files $(find executor lib seccomp agent tests -name '*.h' 2>/dev/null); do
		sed -E 's/"([^"\\]|\\.)*"/""/g; s:/\*.*\*/::; s:/\*.*$::; s:^[[:space:]]*\* .*::; s://.*$::' "$f" |
			grep -nE "(^|[^A-Za-z0-9_])($calls)[[:space:]]*\(" | sed "s|^|$f:|"
	done >"$work/banned"
	cat "$work/banned"
	[ ! -s "$work/banned" ]
	verdict "banned calls" $?
}

check_length() {
	# a function's brace stands alone in the first column
	for f in $program_files; do
		awk -v max=100 '/^{$/ { start = NR; name = prev } /^}/ && start { if (NR - start > max)
			printf "%s:%d: %d lines: %s\n", FILENAME, start, NR - start, name; start = 0 } { prev = $0 }' "$f"
	done >"$work/length"
	cat "$work/length"
	[ ! -s "$work/length" ]
	verdict "functions up to 100 lines" $?
}

check_licence() {
	# the first line, or the second behind a #!
	find Makefile executor lib seccomp agent tests scripts .ci \( -name '*.[chS]' -o -name '*.sh' -o -name Makefile -o -path 'scripts/*' \
		-o -path '.ci/*' \) -type f 2>/dev/null | while read -r f; do
		head -n 2 "$f" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$f: no licence line"
	done >"$work/licence"
	cat "$work/licence"
	[ ! -s "$work/licence" ]
	verdict "licence lines" $?
}

check_shell() {
	have shellcheck || return 0
	find scripts tests .ci -type f 2>/dev/null | sort | while read -r f; do
		head -n 1 "$f" | grep -qaE '^#!.*[/ ](ba)?sh( |$)' && echo "$f"
	done >"$work/shell"
	[ ! -s "$work/shell" ] || xargs shellcheck -x -S info <"$work/shell"
	verdict shellcheck $?
}

check_man() {
	have mandoc || return 0
	st=0
	for f in docs/man/*.[1-8]; do
		[ ! -e "$f" ] || mandoc -T lint -W warning "$f" || st=1
	done
	verdict "man pages" "$st"
}

[ $# -gt 0 ] || set -- licence banned length shell man globals cppcheck warnings tidy
for check; do
	case $check in
	licence) check_licence ;;
	banned) check_banned ;;
	length) check_length ;;
	shell) check_shell ;;
	man) check_man ;;
	globals) check_globals ;;
	cppcheck) check_cppcheck ;;
	warnings) check_warnings ;;
	tidy) check_tidy ;;
	*)
		echo "lint: no check is called $check" >&2
		exit 2
		;;
	esac
done
exit "$bad"
