# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Profiles that users bring (--seccomp FILE), `ak seccomp`, the cache, and the floor that none of them lifts.
. "$TESTS/lib.sh"

P=$DIR/p.json
STATE=$DIR/state
export XDG_STATE_HOME=$STATE
CONTAINERS=/usr/share/containers/seccomp.json

profile() { # JSON
	printf '%s\n' "$1" >"$P"
}

ALLOW_ALL='{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[]}'

t "59:allow-all-keeps-the-floor"
profile "$ALLOW_ALL"
run "$AK" exec -C "$WS" --ro "$ESC:/esc" --seccomp "$P" -- /esc/calls
is code "$RC" 0
like ran "$(out)" "BLOCKED"
for what in keyctl io_uring bpf add_key unshare; do
	no "floor: $what" grep -qE "^OPEN .*$what" "$O"
done
run "$AK" exec -C "$WS" --ro "$ESC:/esc" --seccomp "$P" -- /esc/tty
no "TIOCSTI, also with high bits" grep -qE '^OPEN .*(TIOCSTI|sti)' "$O"
run "$AK" exec -C "$WS" --ro "$ESC:/esc" --seccomp "$P" -- /esc/sockets
no "AF_VSOCK" grep -qiE '^OPEN .*vsock' "$O"

t "59:two-filters-with-a-user-profile"
ak --seccomp "$P" -- grep Seccomp_filters /proc/self/status
is filters "$(out | tr -dc 0-9)" 2

t "59:without-the-floor-allow-all-would-open-them"
weak floor,canary --seccomp "$P" --ro "$ESC:/esc" -- /esc/tty
ok "control: the test sees a missing floor" grep -qE '^OPEN' "$O"

t "SEC:containers-profile-runs-real-work"
if [ -r "$CONTAINERS" ]; then
	printf 'int main(void){return 7;}\n' >"$WS/a.c"
	ak --seccomp "$CONTAINERS" -- sh -c 'gcc -o a a.c && ./a'
	is code "$RC" 7
	ak --seccomp "$CONTAINERS" --json -- true
	is name "$(js 'd["isolation"]["seccomp"]')" "$CONTAINERS"
else
	skip "$CONTAINERS is not installed (golang-github-containers-common)"
fi

t "SEC:profile-refuses-what-it-does-not-allow"
profile '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["mkdir","mkdirat"],"action":"SCMP_ACT_ERRNO","errnoRet":95}]}'
ak --seccomp "$P" -- mkdir d
is code "$RC" 1
like errno "$(err)" "not supported"
no "made" test -e "$WS/d"
ak -- mkdir d
is "control: without the profile" "$RC" 0

t "SEC:kill-action-is-a-signal"
profile '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["mkdir","mkdirat"],"action":"SCMP_ACT_KILL"}]}'
ak --seccomp "$P" --json -- mkdir d
is status "$(js 'd["status"]+" "+d["signal"]+" "+str(d["exit_code"])')" "signaled SIGSYS 159"

t "SEC:profile-that-kills-by-default-still-starts"
profile '{"defaultAction":"SCMP_ACT_KILL","syscalls":[{"names":["read","write","exit_group","execve","brk","mmap","access","openat","newfstatat","close","pread64","arch_prctl","set_tid_address","set_robust_list","rseq","mprotect","prlimit64","munmap","getrandom","fstat","readlinkat"],"action":"SCMP_ACT_ALLOW"}]}'
ak --seccomp "$P" -- /bin/true
is code "$RC" 0

# bad WHAT JSON PART - refused with the place, the command is not run
bad() {
	t "SEC:refused-$1"
	profile "$2"
	ak --seccomp "$P" -- touch ran
	is code "$RC" 125
	is lines "$(err | wc -l)" 1
	like text "$(err)" "^ak: .*p\.json:[0-9]+:[0-9]+: .*$3"
	no "ran" test -e "$WS/ran"
}
bad malformed '{"defaultAction":"SCMP_ACT_ALLOW",' 'too early'
bad duplicate-key '{"defaultAction":"SCMP_ACT_ALLOW","defaultAction":"SCMP_ACT_ERRNO","syscalls":[]}' 'twice'
bad unknown-action '{"defaultAction":"SCMP_ACT_MAYBE","syscalls":[]}' 'unknown action'
bad notify '{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"names":["read"],"action":"SCMP_ACT_NOTIFY"}]}' 'SCMP_ACT_NOTIFY'
bad unknown-key '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[],"extra":1}' 'unknown key'
bad no-execve '{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"names":["read"],"action":"SCMP_ACT_ALLOW"}]}' 'execve'

t "SEC:refused-over-the-bpf-limit"
"$PY" - "$P" <<'PYEND'
import json, sys
names = ["read", "write", "close", "lseek", "dup2", "kill", "fcntl", "poll", "flock", "fsync", "access", "pipe2", "mremap", "msync"]
rules = [{"names": [n], "action": "SCMP_ACT_ERRNO", "errnoRet": 1 + (i + j) % 100,
          "args": [{"index": 0, "value": 1000003 * (i + 1) + 7 * j, "op": "SCMP_CMP_EQ"}]} for i, n in enumerate(names) for j in range(250)]
json.dump({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": rules}, open(sys.argv[1], "w"))
PYEND
ak --seccomp "$P" -- touch ran
is code "$RC" 125
like text "$(err)" "longer than the kernel takes|too many|too long"
no "ran" test -e "$WS/ran"

t "SEC:refused-10-megabytes"
head -c 10000000 /dev/zero >"$P"
ak --seccomp "$P" -- touch ran
is code "$RC" 125
like text "$(err)" "longer than 1 MiB"

t "SEC:refused-no-file"
ak --seccomp "$DIR" -- true
like folder "$(err)" "not a regular file"
ak --seccomp "$DIR/none.json" -- true
is code "$RC" 125
like missing "$(err)" "none.json"
mkfifo "$DIR/fifo" 2>/dev/null
LIMIT=5 ak --seccomp "$DIR/fifo" -- true
like "a FIFO does not hang" "$(err)" "not a regular file"

t "SEC:cache-is-used-and-never-trusted"
rm -rf "$STATE"
profile '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["mkdir","mkdirat"],"action":"SCMP_ACT_ERRNO","errnoRet":95}]}'
ak --seccomp "$P" -- true
entry=$(find "$STATE/ak/seccomp" -type f)
is "one entry" "$(echo "$entry" | wc -l)" 1
is mode "$(stat -c %a "$entry" "$STATE/ak/seccomp" | tr '\n' ' ')" "600 700 "
stamp=$(stat -c %Y.%i "$entry")
ak --seccomp "$P" -- true
is "not made again" "$(stat -c %Y.%i "$entry")" "$stamp"
rm -rf "$STATE"
ak --explain --seccomp "$P" -- true
is "explain runs" "$RC" 0
no "and keeps nothing" test -e "$STATE/ak/seccomp"
ak --seccomp "$P" -- true
for damage in 'truncate -s 20' 'truncate -s 0' 'dd if=/dev/zero bs=1 seek=60 count=8 conv=notrunc of='; do
	case $damage in
	dd*) dd if=/dev/zero bs=1 seek=60 count=8 conv=notrunc of="$entry" 2>/dev/null ;;
	*) $damage "$entry" ;;
	esac
	ak --seccomp "$P" -- mkdir d
	is "right filter after: $damage" "$RC" 1
	no "made after: $damage" test -e "$WS/d"
done
# an entry of this name that holds another profile
profile "$ALLOW_ALL"
rm -rf "$STATE"
ak --seccomp "$P" -- true
other=$(find "$STATE/ak/seccomp" -type f)
mkdir -p "$DIR/keep" && cp "$other" "$DIR/keep/other"
profile '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["mkdir","mkdirat"],"action":"SCMP_ACT_ERRNO","errnoRet":95}]}'
ak --seccomp "$P" -- true
for f in "$STATE"/ak/seccomp/*; do cp "$DIR/keep/other" "$f"; done
ak --seccomp "$P" -- mkdir d
is "not the other profile's" "$RC" 1
chmod 777 "$STATE/ak/seccomp"
ak --seccomp "$P" -- mkdir d
is "not from a folder that others write" "$RC" 1

t "SEC:ak-policy-missing-is-told"
mkdir -p "$DIR/alone" && cp "$AK" "$DIR/alone/ak"
rm -rf "$STATE"
run "$DIR/alone/ak" exec -C "$WS" --seccomp "$P" -- true
is code "$RC" 125
like text "$(err)" "ak-policy is missing"

t "SEC:check-and-dump"
run "$AK" seccomp check default
is code "$RC" 0
like default "$(out)" "refused, not permitted \(EPERM\)"
run "$AK" seccomp check "$P"
like user "$(out)" "refused with another error: 2"
run "$AK" seccomp dump strict
like program "$(out)" "return kill the process"
run "$AK" seccomp check
is usage "$RC" 2
run "$AK" seccomp check /nonexistent/x
is failed "$RC" 1
is lines "$(err | wc -l)" 1

t "SEC:ak-policy-is-confined"
if command -v strace >/dev/null; then
	profile "$ALLOW_ALL"
	rm -rf "$STATE"
	strace -f -o "$DIR/trace" -e trace=prctl,landlock_restrict_self,seccomp,setresuid,openat "$AK" seccomp check "$P" >/dev/null 2>&1
	ok nnp grep -q 'PR_SET_NO_NEW_PRIVS' "$DIR/trace"
	ok filter grep -q 'seccomp(SECCOMP_SET_MODE_FILTER' "$DIR/trace"
	last=$(grep -n 'seccomp(SECCOMP_SET_MODE_FILTER' "$DIR/trace" | tail -1 | cut -d: -f1)
	no "opens nothing afterwards" sh -c "tail -n +$last '$DIR/trace' | grep -q openat"
	[ "$WHO" = user ] || ok "root becomes nobody" grep -q 'setresuid(65534' "$DIR/trace"
else
	skip "strace is not installed"
fi
done_suite
