# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# The result object: --json, --report, what it says of output, isolation and limits.
. "$TESTS/lib.sh"

if [ -z "$PY" ]; then
	_record SKIP json "no python3"
	done_suite
	exit 0
fi

t "OUT:fields"
a=$(date +%s%N)
ak --json -- sh -c 'echo out; echo err >&2; exit 3'
b=$(date +%s%N)
is code "$RC" 3
is "names" "$(js '",".join(sorted(d))')" "changes,denied,duration_ms,error,exit_code,isolation,limits,schema,setup_ms,signal,status,stderr,stderr_bytes,stderr_dropped,stderr_encoding,stdout,stdout_bytes,stdout_dropped,stdout_encoding,usage,warnings"
is "values" "$(js 'd["schema"],d["status"],d["exit_code"],d["signal"],d["error"],d["changes"]')" "('ak-exec/1', 'exited', 3, None, None, None)"
is "output" "$(js 'd["stdout"],d["stderr"],d["stdout_encoding"],d["stderr_encoding"],d["stdout_bytes"],d["stderr_bytes"],d["stdout_dropped"],d["stderr_dropped"]')" "('out\\n', 'err\\n', 'utf-8', 'utf-8', 4, 4, 0, 0)"
is "stderr is quiet" "$(wc -c <"$E")" 0
is "times" "$(js 'd["duration_ms"]>0 and d["setup_ms"]>0 and max(d["duration_ms"],d["setup_ms"])<'$(((b - a) / 1000000 + 1)))" true
is "usage" "$(js 'sorted(d["usage"])')" "['cpu_system_ms', 'cpu_user_ms', 'memory_peak_bytes', 'pids_peak']"
is "limits" "$(js '{"cpus","memory","pids","timeout"} <= set(d["limits"])')" true

t "73:isolation"
ak --json -- true
is "backend" "$(js 'd["isolation"]["backend"],d["isolation"]["network"],d["isolation"]["root"],d["isolation"]["workspace"],d["isolation"]["seccomp"]')" "('native', 'none', 'host', 'direct', 'default')"
is "namespaces" "$(js 'sorted(d["isolation"]["namespaces"])')" "['cgroup', 'ipc', 'mount', 'net', 'pid', 'user', 'uts']"
is "identity" "$(js 'd["isolation"]["identity"]')" "$([ "$WHO" = root ] && echo range || echo same-uid)"
is "landlock" "$(js 'd["isolation"]["landlock_abi"]')" "$("$PY" -c 'import ctypes
print(max(0, ctypes.CDLL(None).syscall(444, 0, 0, 1)))')"
is "denied" "$(js 'sorted(d["denied"])')" "['hint', 'hosts', 'syscalls']"

t "73:isolation-net-host"
ak --json --net host --write none -- true
is "values" "$(js 'd["isolation"]["network"],d["isolation"]["workspace"],"net" in d["isolation"]["namespaces"]')" "('host', 'none', False)"

t "OUT-05:binary-is-base64"
ak --json -- printf 'a\377b'
is "encoding" "$(js 'd["stdout_encoding"]')" base64
is "bytes" "$(js '__import__("base64").b64decode(d["stdout"]).hex(), d["stdout_bytes"]')" "('61ff62', 3)"

t "OUT-05:nul-is-base64"
ak --json -- printf 'a\0b'
is "bytes" "$(js 'd["stdout_encoding"], __import__("base64").b64decode(d["stdout"]).hex()')" "('base64', '610062')"

t "OUT-05:random-bytes"
head -c 65536 /dev/urandom >"$WS/f"
ak --json -- cat f
is "sum" "$(js '__import__("hashlib").sha256(__import__("base64").b64decode(d["stdout"])).hexdigest()')" "$(sha256sum <"$WS/f" | cut -d' ' -f1)"

t "OUT:text-with-controls"
text=$(printf 'q"\\/\b\f\n\r\t\033[1m\177é€\U1F600')
ak --json -- printf %s "$text"
is "text" "$(js 'd["stdout"].encode().hex()')" "$(printf %s "$text" | od -An -tx1 | tr -d ' \n')"

t "OUT:utf8-cut-by-reads"
ak --json -- sh -c "printf '\\303'; sleep 0.1; printf '\\251'"
is "text" "$(js 'd["stdout"]')" é

t "OUT-03:cap-on-character-edge"
for l in 100 101 102; do
	ak --json --max-output $l -- /usr/bin/python3 -c 'print("€"*200)'
	is "encoding at $l" "$(js 'd["stdout_encoding"]')" utf-8
	is "no replacement sign" "$(js '"\ufffd" in d["stdout"]')" false
	is "counts at $l" "$(js 'd["stdout_bytes"], d["stdout_dropped"] >= 601-'$l', d["stdout_dropped"] < 601')" "(601, True, True)"
done

t "OUT-07:head-and-tail"
ak --json --max-output 1000 -- sh -c 'seq 1 20000; echo FINAL-ERROR'
like "head" "$(js 'd["stdout"][:6]')" '^1.*2'
is "tail" "$(js '"FINAL-ERROR" in d["stdout"][-20:]')" true
is "count" "$(js 'd["stdout_bytes"]')" 108906

t "OUT-09:10-mb-to-both"
ak --json --max-output 20m -- sh -c 'head -c 10000000 /dev/zero | tr "\0" e >&2 & head -c 10000000 /dev/zero | tr "\0" o; wait'
is "bytes" "$(js 'd["stdout_bytes"],d["stderr_bytes"],len(d["stdout"]),len(d["stderr"])')" "(10000000, 10000000, 10000000, 10000000)"

t "OUT:default-cap-of-json"
ak --json -- sh -c 'head -c 20000000 /dev/zero | tr "\0" a'
is "counts" "$(js 'd["stdout_bytes"], d["stdout_dropped"] >= 20000000-16*1024*1024')" "(20000000, True)"

t "CLI-07:one-object-whatever-happens"
for a in "sh -c kill\ -9\ \$\$" "nosuch" "/etc/passwd"; do
	eval "ak --json -- $a"
	is "one line" "$(wc -l <"$O")" 1
	is "code agrees" "$(js 'd["exit_code"]')" "$RC"
done
ak --json --timeout 500ms -- sleep 5
is "timeout" "$(js 'd["exit_code"],d["limits"]["timeout"]["value"] is not None')" "(124, True)"

t "EXIT-03:error-of-not-found"
ak --json -- nosuch
is code "$RC" 127
is values "$(js 'd["exit_code"]')" 127

t "OUT:report-file"
ak --report "$DIR/rep" -- sh -c 'echo out; exit 4'
is code "$RC" 4
is "passed through" "$(out)" out
is "object" "$(js 'd["schema"],d["exit_code"],"stdout" in d' "$DIR/rep")" "('ak-exec/1', 4, False)"
rm -f "$DIR/rep"

t "OUT:report-file-not-reachable-from-inside"
echo old >"$WS/rep"
ln -s "$DIR/elsewhere" "$WS/link"
ak --report "$WS/rep" -- sh -c 'rm -f rep; ln -s '"$DIR"'/elsewhere rep'
is code "$RC" 0
no "written through a link made inside" test -e "$DIR/elsewhere"

t "OUT:report-on-failure"
ak --report "$DIR/rep" --ro /nonexistent/x -- true
is code "$RC" 125
is "object" "$(js 'd["status"],d["exit_code"],d["error"]["stage"]' "$DIR/rep")" "('failed', 125, 'plan')"
rm -f "$DIR/rep"

t "RES:usage-of-the-tree"
ak --json -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; true'
is "cpu counted" "$(js 'd["usage"]["cpu_user_ms"] > 20')" true
done_suite
