# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Exit codes, signal deaths, what is left behind.
. "$TESTS/lib.sh"

for c in 0 1 42 124 125 126 127 255; do
	t "EXIT:code-$c"
	ak -- sh -c "exit $c"
	is code "$RC" "$c"
done

for s in KILL:137 TERM:143 SEGV:139 INT:130 ABRT:134 34:162 PIPE:141; do
	t "EXIT-01:signal-${s%:*}"
	ak --json -- sh -c "kill -${s%:*} \$\$"
	is code "$RC" "${s#*:}"
	is status "$(js 'd["status"]')" signaled
	like name "$(js 'd["signal"]')" '^SIG'
done

t "EXIT-01:name"
ak --json -- sh -c 'kill -KILL $$'
is name "$(js 'd["signal"]')" SIGKILL

t "EXIT-05:no-hidden-shell-options"
ak -- sh -c 'false | true; echo $?; false; echo go'
is output "$(out | tr '\n' ' ')" "0 go "

t "EXIT:id"
ak -- id -u
is code "$RC" 0
is uid "$(out)" "$([ "$WHO" = root ] && echo 1000 || id -u)"

t "EXIT:user-option"
ak --user 0 -- id -u
is code "$RC" 0
is uid "$(out)" 0
ak --user 1234:77 -- sh -c 'id -u; id -g'
is ids "$(out | tr '\n' ' ')" "1234 77 "

t "EXIT:login-name"
ak -- id -un
is code "$RC" 0
unlike name "$(out)" '^[0-9]*$'

t "SIG-07:init-cannot-be-signalled"
ak -- sh -c 'i=1; while [ $i -le 64 ]; do kill -$i 1 2>/dev/null; i=$((i+1)); done; exit 7'
is code "$RC" 7

t "17:background-ends-with-command"
m=931.7$RANDOM$$
ak -- sh -c "sleep $m & sleep $m & echo done"
is code "$RC" 0
is output "$(out)" "done"
ok "left behind: $(alive "sleep $m")" gone "sleep $m"

t "17:daemon-ends-with-command"
m=932.7$RANDOM$$
ak -- sh -c "setsid sh -c 'trap \"\" HUP TERM; sleep $m & sleep $m' >/dev/null 2>&1 & sleep 0.1"
ok "left behind: $(alive "sleep $m")" gone "sleep $m"

t "TMO-01:background-holds-stdout"
m=933.7$RANDOM$$
ak -- sh -c "sleep $m & exit 3"
is code "$RC" 3

t "SIG-03:no-zombie-of-the-caller"
if [ -z "$PY" ]; then skip "no python3"; else
	run "$PY" -c 'import os,subprocess,sys
p=subprocess.Popen([sys.argv[1],"exec","-C",sys.argv[2],"--","true"]); p.wait()
me=str(os.getpid()); left=[]
for d in os.listdir("/proc"):
    if d.isdigit():
        try: s=open("/proc/%s/stat"%d).read().rsplit(")",1)[1].split()
        except OSError: continue
        if s[1]==me: left.append(d)
print(left)' "$AK" "$WS"
	is children "$(out)" "[]"
fi

t "EXIT-09:refused-call-does-not-kill"
if [ -z "$PY" ]; then skip "no python3"; else
	ak -- /usr/bin/python3 -c 'import ctypes;print(ctypes.CDLL(None).syscall(425,8,0))'
	is output "$(out)" -1
fi

t "RES:limits-under-which-ak-cannot-start"
if need prlimit; then
	run prlimit --data=1000000 "$AK" exec -C "$WS" -- touch MARK
	refused 125 '^ak: the limit of data memory \(ulimit -d, RLIMIT_DATA\) is too low for ak to start - raise it to 1280 kB or more$'
	is "one line" "$(wc -l <"$E")" 1
	run prlimit --data=1310720 "$AK" --version
	is "control: the least" "$RC" 0
	run prlimit --as=3000000 "$AK" exec -C "$WS" -- touch MARK
	refused 125 '^ak: the limit of address space \(ulimit -v, RLIMIT_AS\) is too low for ak to start - raise it to 4096 kB or more$'
	run prlimit --as=4194304 "$AK" --version
	is "control: the least of it" "$RC" 0
fi

t "0:host-left-as-found"
left() {
	cat /proc/self/mountinfo
	find /tmp /var/tmp /dev/shm "$DIR" "$HOME" -mindepth 1 -maxdepth 1 -user "$(id -u)" 2>/dev/null | sort
}
before=$(left)
ak -- sh -c 'echo x >/tmp/x; mkdir /tmp/d'
ak -- nosuch
ak --nope
is "mounts and files" "$(left)" "$before"
is "workspace" "$(ls -A "$WS")" ""
done_suite
