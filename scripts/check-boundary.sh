#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Who may use what: the process with the network has no privilege, the process with privilege has no network and no JSON.
# Prints every line that breaks a rule; exit status 1 if there is one.
# usage: scripts/check-boundary.sh [TREE]
set -u

cd "${1:-$(dirname "$0")/..}" || exit 2
bad=0

# RULE TEXT: lines that break a rule, if any
report() {
	[ -n "$2" ] || return 0
	echo "boundary: $1"
	echo "$2" | sed 's/^/  /'
	bad=1
}

# FOLDER: "file:line:header" of every include
includes() {
	[ -d "$1" ] || return 0
	grep -rnE --include='*.[chS]' '^[[:space:]]*#[[:space:]]*include' "$1" |
		sed -E 's/^([^:]*:[0-9]*):[^<"]*[<"]([^>"]*)[>"].*/\1:\2/'
}

# FOLDER REGEX: included project headers that REGEX does not allow; a name without a slash is the folder's own header
project_includes_but() {
	includes "$1" | grep -E ':(executor|seccomp|agent|lib|tests)/' | grep -vE ":($2)"
}

report "agent/ uses executor/shared/, lib/libak.h and nothing else of the executor" \
	"$(project_includes_but agent '(agent/|executor/shared/|lib/libak\.h$)')"
report "agent/ includes by path from the top" "$(includes agent | grep -E ':\.\.?/')"

if [ -d agent ]; then
	report "agent/ parses, prints and searches JSON through agent/json.h only" \
		"$(grep -rnE --include='*.c' --include='*.h' \
			'\bcJSON_(Parse|Print|Minify|GetErrorPtr|GetObjectItem|HasObjectItem|(Add|Delete|Detach|Replace)[A-Za-z]*Object)[A-Za-z]*[[:space:]]*\(' agent)"
	report "agent/ reaches cJSON in agent/json*.c and libcurl in agent/http*.c only" \
		"$(includes agent | grep -E ':(cjson/|cJSON|curl/)' | grep -vE '^agent/json[a-z_]*\.[ch]:[0-9]+:cjson/|^agent/json[a-z_]*\.[ch]:[0-9]+:cJSON\.h$|^agent/http[a-z_]*\.[ch]:[0-9]+:curl/')"
	report "agent/ reaches libpcre2 in agent/pattern.c and agent/search/text.c, libcrypto in agent/trace_sha.c and agent/attach.c only" \
		"$(includes agent | grep -E ':(pcre2|openssl/)' | grep -vE '^agent/(pattern|search/text)\.c:[0-9]+:pcre2\.h$|^agent/(trace_sha|attach)\.c:[0-9]+:openssl/')"
	report "agent/ reaches libedit in agent/line.c only, and readline nowhere" \
		"$(includes agent | grep -E ':(editline|histedit|readline)' | grep -vE '^agent/line\.c:[0-9]+:histedit\.h$')"
	report "agent/search/ uses executor/shared/ and its own headers" \
		"$(project_includes_but agent/search '(agent/search/|executor/shared/)')"
	# the test verb tries what shall be refused
	report "agent/ starts no program" \
		"$(grep -rnE --include='*.c' '\b(exec[vl][a-z]*|posix_spawnp?|fork|vfork|system|popen)[[:space:]]*\(' agent | grep -v '^agent/cli/cmd_confine_check\.c:')"
fi

report "executor/shared/ uses nothing of the executor outside of itself" \
	"$(project_includes_but executor/shared 'executor/shared/')"

report "lib/ uses executor/shared/ and nothing else of the executor" \
	"$(project_includes_but lib '(lib/|executor/shared/)')"

report "executor/init/ uses executor/shared/, executor/ns/kabi.h and its own headers" \
	"$(project_includes_but executor/init '(executor/shared/|executor/init/|executor/ns/kabi\.h$)')"
report "executor/init/ links no library" \
	"$(includes executor/init | grep -E ':(seccomp\.h|sys/capability\.h|netlink/|cjson/|curl/)')"

report "executor/ does not use agent/ or tests/" "$(includes executor | grep -E ':(agent|tests)/')"
report "executor/ includes by path from the top" "$(includes executor | grep -E ':\.\.?/')"
report "executor/ parses no JSON, and has no network and no name look-up" \
	"$(includes executor | grep -E ':(cjson/|cJSON|curl/|netdb\.h|arpa/|resolv\.h|seccomp\.h)')"
if [ -d executor ]; then
	report "executor/ has no network and no name look-up" \
		"$(grep -rnE --include='*.c' --include='*.h' '\b(cJSON_[A-Za-z]+|curl_[a-z]+|getaddrinfo|gethostbyname|res_query)[[:space:]]*\(' executor)"
fi

[ "$bad" -eq 0 ] && echo "boundary: kept"
exit "$bad"
