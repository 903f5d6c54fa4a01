# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# ak-search, which find_files and search_text run inside the sandbox: what it finds, what it passes over, what it bounds.
. "$TESTS/lib.sh"

S=$IT/bin/ak-search

# found - the lines of the last run, joined by |
found() {
	tr '\n' '|' <"$O"
}

# tree - a small project in $WS
tree() {
	mkdir -p "$WS/src/deep" "$WS/build" "$WS/.git"
	printf 'int main(void)\n{\n\treturn 0;\n}\n' >"$WS/src/main.c"
	printf 'int helper(void);\r\nint other;\r\n' >"$WS/src/deep/helper.h"
	printf 'main main\n' >"$WS/build/out.c"
	printf 'main\n' >"$WS/.git/main.c"
	printf 'bin\0main\n' >"$WS/src/blob"
	printf '/build/\n' >"$WS/.gitignore"
	ln -s /etc "$WS/etc"
	ln -s main.c "$WS/src/link.c"
	cd "$WS" || exit 1
}

t files:by-name
tree
run "$S" files '*.c'
is "exit code" "$RC" 0
is found "$(found)" "src/link.c|src/main.c|"

t files:by-path
tree
run "$S" files 'src/**/*.h'
is found "$(found)" "src/deep/helper.h|"
run "$S" files '**/main.c'
is found "$(found)" "src/main.c|"
run "$S" files '*.h' src/deep
is "below a folder" "$(found)" "src/deep/helper.h|"
run "$S" files '*.c' "$WS/src/"
is "by an absolute path" "$(found)" "src/link.c|src/main.c|"

t files:nothing
tree
run "$S" files '*.none'
is "exit code and output" "$RC $(out)$(err)" "1 "

t files:ignored-folders-can-be-asked-for
tree
run "$S" files '*.c' build
is found "$(found)" "build/out.c|"

t text:lines
tree
run "$S" text '\bmain\b'
is found "$(found)" "src/main.c:1: int main(void)|"
run "$S" text 'int (helper|other);?' src
is "CRLF is no part of a line" "$(found)" "src/deep/helper.h:1: int helper(void);|src/deep/helper.h:2: int other;|"
run "$S" text -i -g '*.h' 'INT'
is "glob and case" "$(found)" "src/deep/helper.h:1: int helper(void);|src/deep/helper.h:2: int other;|"
run "$S" text main src/main.c
is "one file" "$(found)" "src/main.c:1: int main(void)|"

t text:binaries-and-links-are-passed-over
tree
run "$S" text 'main|root:'
is found "$(found)" "src/main.c:1: int main(void)|"

t bounds:long-lines-and-many
mkdir -p "$WS"
cd "$WS" || exit 1
head -c 100000 /dev/zero | tr '\0' x >long
yes 'a hit' | head -n 3000 >many
run "$S" text 'x|hit'
is "exit code" "$RC" 0
ok "the line is cut" test "$(head -n 1 "$O" | wc -c)" -lt 500
is lines "$(grep -c '^many:' "$O")" 999
like note "$(tail -n 1 "$O")" '^\[more were found than are shown'

t bounds:catastrophic-patterns-end
mkdir -p "$WS"
cd "$WS" || exit 1
head -c 50 /dev/zero | tr '\0' a >f
run "$S" text '^(a+)+b|^(a|a)*c'
is "exit code" "$RC" 1
like note "$(out)" '1 lines the pattern took too long'

t bounds:deep-trees-and-devices
mkdir -p "$WS"
cd "$WS" || exit 1
mkfifo fifo
"$PY" -c 'import os
for i in range(200):
    os.mkdir("d"); os.chdir("d")
open("f", "w").write("x")'
run "$S" files f
is "exit code" "$RC" 1
like note "$(out)" '1 left out: too deep'
run "$S" text x
is "a pipe is not waited for" "$RC" 1

t bounds:paths-that-lead-out
tree
run "$S" text root: etc
is "a link is not followed" "$RC $(out)" "1 "
for p in .. /etc ../.. src/../.. etc/ssl src/link.c/x src/main.c/x; do
	run "$S" files '*' "$p"
	is "$p: exit code" "$RC" 2
	is "$p: output" "$(wc -c <"$O") $(wc -l <"$E")" "0 1"
done

t bad-input
tree
run "$S"
is "usage" "$RC $(wc -l <"$E")" "2 1"
run "$S" text '('
is "exit code" "$RC" 2
like message "$(err)" 'no regular expression: missing closing parenthesis'
run "$S" files a b c
is "too many" "$RC" 2
run "$S" files x missing
like message "$(err)" 'missing: No such file'

t names-cannot-forge-lines
mkdir -p "$WS"
cd "$WS" || exit 1
mkdir "$(printf 'a\nsrc')"
touch "$(printf 'a\nsrc/forged.c')" "$(printf 'b\033[2J.c')"
run "$S" files '*.c'
is "no such line" "$(grep -c '^src/forged' "$O")" 0
is "no escape sequence" "$(grep -c "$(printf '\033')" "$O")" 0

t as-git-does
if need git; then
	mkdir -p "$DIR/rounds"
	run "$PY" "$TESTS/search_rounds.py" "$S" "$([ -n "${FULL:-}" ] && echo 400 || echo 8)" "$RANDOM" "$DIR/rounds"
	is "exit code" "$RC" 0
	like compared "$(out)" '^[0-9]+ trees, [0-9]+ paths$'
	# three stars are two, when they are a whole component
	run "$PY" "$TESTS/search_rounds.py" "$S" 1 3423 "$DIR/rounds"
	is "more stars" "$RC" 0
	# the control: one that knows no rules is told from git
	printf '#!/bin/sh\nfind . -path ./.git -prune -o ! -type d -printf "%%P\\n"\n' >"$DIR/find"
	chmod 755 "$DIR/find"
	run "$PY" "$TESTS/search_rounds.py" "$DIR/find" 8 1 "$DIR/rounds"
	is "the control: exit code" "$RC" 1
fi

t static
if need ldd; then
	like "links nothing" "$(ldd "$S" 2>&1)" 'statically linked|not a dynamic'
fi

done_suite
