# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Refused calls as they are seen, counted and explained, and profiles learned from runs. FLOOD=N: refused calls in a row (30000).
. "$TESTS/lib.sh"

FLOOD=${FLOOD:-30000}
REP=$DIR/rep
P=$DIR/p.json
export XDG_STATE_HOME=$DIR/state

denied() { # [FILE] - "name count errno" of each refused call
	js '"\n".join("%s %s %s" % (x["name"],x["count"],x["errno"]) for x in d["denied"]["syscalls"])' "$@"
}

t "73:refused-call-is-named-and-counted"
ak --json -- unshare -U true
is code "$RC $(js 'd["exit_code"]')" "1 1"
is denied "$(denied)" "unshare 1 EPERM"
like hint "$(js 'd["denied"]["hint"]')" "unshare\(2\) was refused by the sandbox \(EPERM\): no profile can allow it"

t "73:nothing-refused-is-an-empty-list"
ak --json -- true
is denied "$(js 'd["denied"]["syscalls"], d["denied"]["hint"]')" "([], None)"

t "73:the-report-of-a-run-that-worked-blames-nothing"
ak --report "$REP" -- sh -c 'unshare -U true 2>/dev/null; unshare -U true 2>/dev/null; true'
is denied "$(denied "$REP")" "unshare 2 EPERM"
is hint "$(js 'd["denied"]["hint"]' "$REP")" None

t "73:one-line-with-verbose"
ak --verbose -- sh -c 'unshare -U true 2>/dev/null; exit 3'
is code "$RC" 3
is lines "$(err | grep -c 'refused by the sandbox')" 1
like line "$(err)" "ak: unshare\(2\) was refused by the sandbox \(EPERM\)"
ak -- sh -c 'unshare -U true 2>/dev/null; exit 3'
is "quiet without" "$(err | grep -c refused)" 0

t "73:with-a-terminal-of-its-own"
ak --report "$REP" --tty -- sh -c 'unshare -U true; exit 4'
is code "$RC" 4
is denied "$(denied "$REP")" "unshare 1 EPERM"

t "73:not-asked-for-not-observed"
ak -- grep Seccomp_filters /proc/self/status
is "two filters" "$(out | tr -dc 0-9)" 2
ak --report "$REP" -- grep Seccomp_filters /proc/self/status
is "one joined filter" "$(out | tr -dc 0-9)" 1

# the joined filter refuses what the two refuse
for prog in calls sockets tty setid; do
	OPTS=(--report "$REP")
	esc "$prog" joined=1 "setgid=$([ "$WHO" = root ] && echo deny || echo allow)"
done

t "59:joined-filter-has-the-floor-with-a-profile-that-allows-all"
printf '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[]}' >"$P"
run "$AK" exec -C "$WS" --ro "$ESC:/esc" --seccomp "$P" --report "$REP" -- /esc/calls joined=1
is code "$RC" 0
like ran "$(out)" "BLOCKED"
no floor grep -qE '^OPEN' "$O"
is "observed" "$(js 'len(d["denied"]["syscalls"]) > 20' "$REP")" true

t "control:without-filters-nothing-is-observed"
weak profile,floor,canary --report "$REP" -- sh -c 'unshare -U true'
is denied "$(js 'd["denied"]["syscalls"]' "$REP")" None

t "59:flood-of-refused-calls-ends-and-is-counted"
cp "$ESC/loop" "$WS/"
LIMIT=200 ak --report "$REP" -- ./loop keyctl "$FLOOD"
is code "$RC" 0
like "all answered with the right errno" "$(out)" "^keyctl $FLOOD .* wrong 0$"
is count "$(denied "$REP" | head -1)" "keyctl 10000 EPERM"
LIMIT=200 ak --report "$REP" -- ./loop keyctl "$FLOOD" 8
like "from eight threads" "$(out)" "wrong 0$"
ak --report "$REP" -- ./loop keyctl 9999
is "exact below the maximum" "$(denied "$REP" | head -1)" "keyctl 9999 EPERM"

t "59:flood-does-not-hold-up-the-rest"
cp "$ESC/loop" "$WS/"
ak --report "$REP" -- sh -c './loop keyctl 1000000000 8 & p=$!; i=0; while [ $i -lt 2000 ]; do echo line; i=$((i+1)); done; kill $p; wait'
is code "$RC" 0
is output "$(out | grep -c line)" 2000
ak --report "$REP" -t 2 --kill-after 200ms -- ./loop keyctl 1000000000 8
is timeout "$RC" 124
is status "$(js 'd["status"],d["denied"]["syscalls"][0]["name"]' "$REP")" "('timed_out', 'keyctl')"
"$AK" exec -C "$WS" --report "$REP" -- ./loop keyctl 1000000000 8 >/dev/null 2>"$E" &
pid=$!
sleep 0.5
kill -TERM "$pid"
RC=0
wait "$pid" || RC=$?
is "a signal ends it" "$RC" 143
"$AK" exec -C "$WS" --report "$REP" -- ./loop keyctl "77$TAG" 8 >/dev/null 2>&1 &
pid=$!
sleep 0.3
kill -KILL "$pid"
wait "$pid" 2>/dev/null
ok "nothing outlives a killed ak" gone "77$TAG"

t "SEC:a-second-observer-is-told"
cat >"$DIR/outer.py" <<'PYEND'
import ctypes, os, socket, struct, sys
here, there = socket.socketpair()
pid = os.fork()
if pid:
    there.close()
    kept = socket.recv_fds(here, 1, 1)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
libc = ctypes.CDLL(None, use_errno=True)
insn = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000), 8)	# allow all
prog = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(insn)))
assert libc.prctl(38, 1, 0, 0, 0) == 0
fd = libc.syscall(317 if os.uname().machine == "x86_64" else 277, 1, 8, prog)
if fd < 0:
    os._exit(77)
# ak closes what it inherits: the listener has to stay open elsewhere
socket.send_fds(there, [b"x"], [fd])
os.execv(sys.argv[1], sys.argv[1:])
PYEND
run "$PY" "$DIR/outer.py" "$AK" exec -C "$WS" --report "$REP" -- sh -c 'unshare -U true; exit 5'
if [ "$RC" = 77 ]; then
	skip "no listener can be had here"
elif [ "$RC" = 125 ]; then
	skip "ak does not run under an outer filter as this identity: $(err | head -1)"
else
	is code "$RC" 5
	is denied "$(js 'd["denied"]["syscalls"]' "$REP")" None
	like warning "$(js 'd["warnings"]' "$REP")" "refused system calls are not observed"
fi

t "SEC:profile-without-sendmsg-is-not-observed-and-told"
printf '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["sendmsg"],"action":"SCMP_ACT_ERRNO","errnoRet":1}]}' >"$P"
ak --seccomp "$P" --json -- sh -c 'exit 6'
is code "$(js 'd["exit_code"],d["denied"]["syscalls"]')" "(6, None)"
like warning "$(js 'd["warnings"]')" "not observed: the profile refuses a call that sending the listener needs"

t "SEC:refusal-of-a-profile-of-the-users-is-explained"
printf '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["mkdir","mkdirat"],"action":"SCMP_ACT_ERRNO","errnoRet":95}]}' >"$P"
ak --seccomp "$P" --json -- mkdir d
is denied "$(denied)" "mkdir 1 EOPNOTSUPP"
like hint "$(js 'd["denied"]["hint"]')" "mkdir\(2\) was refused by the sandbox \(EOPNOTSUPP\): the profile .*p.json does not allow it"

t "SEC-07:foreign-architecture-is-killed-and-named"
cp "$ESC/loop" "$WS/"
ak --json -- ./loop foreign
if [ "$(js 'd["exit_code"]')" = 77 ]; then
	skip "this machine has no such call"
else
	is status "$(js 'd["status"]+" "+d["signal"]')" "signaled SIGSYS"
	like hint "$(js 'd["denied"]["hint"]')" "call of another architecture \(i386 or x32\); only x86_64"
	ak --json -- sh -c './loop foreign; exit $?'
	like "in a child of a shell" "$(js 'd["denied"]["hint"]')" "another architecture"
fi

# ---- learning ----

t "SEC:learned-profile-of-make-runs-make"
if need make gcc; then
	printf 'all: a\n\t./a\na: a.c\n\tgcc -o a a.c\n' >"$WS/Makefile"
	printf '#include <stdio.h>\nint main(void) { return puts("made") < 0; }\n' >"$WS/a.c"
	run "$AK" seccomp learn -C "$WS" -- make
	is code "$RC" 0
	like "output of the command" "$(err)" "made"
	cp "$O" "$P"
	is profile "$(js 'd["defaultAction"],d["defaultErrnoRet"]' "$P")" "('SCMP_ACT_ERRNO', 1)"
	is "no call that make does not need" "$(js '[n for r in d["syscalls"] for n in r["names"] if n in ("ptrace","mount","keyctl","splice")]' "$P")" "[]"
	is "clone stays conditional" "$(js '[len(r.get("args",[])) for r in d["syscalls"] if "clone" in r["names"]]' "$P")" "[1]"
	run "$AK" seccomp check "$P"
	is "read again" "$RC" 0
	rm -f "$WS/a"
	ak --seccomp "$P" -- make
	is "works" "$RC" 0
	like made "$(out)" "made"
	# one call less: it fails, and the report says which
	"$PY" -c 'import json,sys
d=json.load(open(sys.argv[1]))
for r in d["syscalls"]:
    if "getdents64" in r["names"]:
        r["names"].remove("getdents64")
json.dump(d,open(sys.argv[1],"w"))' "$P"
	rm -f "$WS/a"
	ak --seccomp "$P" --json -- make
	is "fails" "$(js 'd["exit_code"]')" 2
	like named "$(denied)" "^getdents64 [0-9]+ EPERM$"
	like hint "$(js 'd["denied"]["hint"]')" "^getdents64\(2\) was refused"
fi

t "SEC:learning-covers-threads-children-and-signals"
if need python3; then
	cat >"$WS/w.py" <<'PYEND'
import os, signal, subprocess, threading
t = threading.Thread(target=lambda: os.getpriority(0, 0)); t.start(); t.join()
subprocess.run(["sh", "-c", "umask >/dev/null"], check=False)
signal.signal(signal.SIGUSR1, lambda *a: os.getsid(0)); os.kill(os.getpid(), signal.SIGUSR1)
p = subprocess.Popen(["sh", "-c", "kill -STOP $$; exit 0"]); os.waitpid(p.pid, os.WUNTRACED)
os.kill(p.pid, signal.SIGCONT); p.wait()
print("done")
PYEND
	run "$AK" seccomp learn -C "$WS" -- python3 w.py
	is code "$RC" 0
	like ran "$(err)" "done"
	cp "$O" "$P"
	for call in getpriority umask getsid; do
		is "$call" "$(js '[n for r in d["syscalls"] for n in r["names"] if n=="'$call'"]' "$P")" "['$call']"
	done
	ak --seccomp "$P" -- python3 w.py
	is "works" "$RC $(out)" "0 done"
fi

t "SEC:learning-lets-through-no-more-than-the-profile"
run "$AK" seccomp learn -C "$WS" --ro "$ESC:/esc" -- /esc/calls joined=1
no "open under the tracer" grep -q '^OPEN' "$E"
ok "ran" grep -q '^BLOCKED' "$E"
is "not learned" "$(js '[n for r in d["syscalls"] for n in r["names"] if r["action"].endswith("ALLOW") and n in ("mount","unshare","bpf","keyctl","add_key")]')" "[]"

t "SEC:learning-in-strict"
run "$AK" seccomp learn -C "$WS" --seccomp strict -- sh -c 'echo a >f; cat f'
is code "$RC" 0
cp "$O" "$P"
ak --seccomp "$P" -- sh -c 'echo a >f; cat f'
is "works" "$RC $(out)" "0 a"

t "CLI:learn-codes-and-refusals"
run "$AK" seccomp learn -C "$WS" -- sh -c 'exit 9'
is "failed command" "$RC" 1
like "profile all the same" "$(out)" "SCMP_ACT_ALLOW"
like text "$(err)" "ak: the command ended with 9"
run "$AK" seccomp learn -C "$WS" -- /nonexistent/x
is "nothing run" "$RC $(wc -c <"$O")" "1 0"
run "$AK" seccomp learn -C "$WS" -t 1 --kill-after 0 -- sh -c 'trap "" TERM; sleep 20'
is "killed" "$RC $(wc -c <"$O")" "1 0"
for bad in --json --explain "--report $REP" "--in x" "--seccomp $P"; do
	# shellcheck disable=SC2086
	run "$AK" seccomp learn $bad -- touch MARK
	refused 2 "seccomp learn: ${bad%% *}"
done
run "$AK" seccomp learn
refused 2 "no command"
done_suite
