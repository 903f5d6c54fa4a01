# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# `ak doctor`: that it tries and does not guess, what it says where something is missing, and its exit codes.
. "$TESTS/lib.sh"

if [ -z "$PY" ]; then
	_record SKIP doctor "no python3"
	done_suite
	exit 0
fi

# row NAME - the results of the rows of that name, as a list
row() {
	js '[c["result"] for c in d["checks"] if c["name"]=="'"$1"'"]'
}

# well_formed - the document of the last run keeps its schema
well_formed() {
	is "schema" "$(js 'd["schema"]')" ak-doctor/1
	is "names and results" "$(js '[c for c in d["checks"] if not c["name"] or c["result"] not in ("ok","info","warn","fail")]')" "[]"
	is "fields" "$(js 'sorted({k for c in d["checks"] for k in c})')" "['detail', 'errno', 'fix', 'name', 'result']"
	is "a name twice" "$(js 'len({c["name"] for c in d["checks"]})-len(d["checks"])')" 0
	is "ok means that nothing failed" "$(js 'd["ok"] == (not [c for c in d["checks"] if c["result"]=="fail"])')" true
	is "what fails says what to do" "$(js '[c["name"] for c in d["checks"] if c["result"]=="fail" and not c["fix"]]')" "[]"
	is "exit code agrees" "$RC" "$(js '0 if d["ok"] else 1')"
	is "stderr" "$(err)" ""
}

# with_max N COMMAND... - where user.max_user_namespaces is N, in a user namespace of the test's own
with_max() {
	local n=$1
	shift
	# shellcheck disable=SC2016
	run unshare -Ur sh -c 'echo "$0" >/proc/sys/user/max_user_namespaces || exit 98; exec "$@"' "$n" "$@"
}

t "DOCTOR:host-that-can"
run "$AK" doctor --json
is code "$RC" 0
well_formed
is "uid" "$(js 'd["uid"]')" "$(id -u)"
for n in namespaces id-maps procfs pivot-root tmpfs loopback capabilities seccomp memfd-exec; do is "$n" "$(row $n)" "['ok']"; done

t "DOCTOR:text"
run "$AK" doctor
is code "$RC" 0
for n in namespaces landlock seccomp planted-files; do like "a row for $n" "$(out)" "(^|"$'\n'")(ok|info|warn) +$n "; done
is "as many rows as --json has" "$(grep -cE '^(ok|info|warn|fail) ' "$O")" "$(run "$AK" doctor --json && js 'len(d["checks"])')"

t "DOCTOR:usage"
for a in --nope extra --json=1; do
	run "$AK" doctor "$a"
	is "code of $a" "$RC" 2
	like "message" "$(err)" "^ak: .*$a"
	is "stdout" "$(out)" ""
done
run "$AK" doctor --help
is "code of --help" "$RC" 0

t "DOCTOR:output-cannot-be-written"
RC=0
"$AK" doctor --json >/dev/full 2>"$E" || RC=$?
is code "$RC" 1
like message "$(err)" "^ak: "

t "58:doctor-names-the-sysctl"
with_max 0 "$AK" doctor --json
is code "$RC" 1
well_formed
is "row" "$(row namespaces)" "['fail']"
like "names the sysctl" "$(js '[c["fix"] for c in d["checks"] if c["name"]=="namespaces"][0]')" "user\.max_user_namespaces"
is "errno" "$(js '[c["errno"] for c in d["checks"] if c["name"]=="namespaces"][0]')" ENOSPC
with_max 0 "$AK" doctor
is "code of the text" "$RC" 1
like "text" "$(out)" "user\.max_user_namespaces"

t "DOCTOR:mount-refused"
run "$ESC/hostside" deny mount "$AK" doctor --json
is code "$RC" 1
is "found" "$(js '[c["name"] for c in d["checks"] if c["result"]=="fail"] != []')" true
well_formed

t "DOCTOR:clone-refused"
run "$ESC/hostside" deny clone "$AK" doctor --json
is code "$RC" 1
is "row" "$(row namespaces)" "['fail']"
well_formed

t "DOCTOR:agrees-with-exec"
with_max 0 "$AK" exec -C "$WS" -- touch MARK
is "what doctor calls missing is refused" "$RC" 125
no "not run" test -e "$WS/MARK"

t "DOCTOR:host-left-as-found"
left() {
	cat /proc/self/mountinfo
	find /tmp /var/tmp /dev/shm "$DIR" "$HOME" -mindepth 1 -maxdepth 1 -user "$(id -u)" 2>/dev/null | sort
}
before=$(left)
run "$AK" doctor
is "mounts and files" "$(left)" "$before"
done_suite
