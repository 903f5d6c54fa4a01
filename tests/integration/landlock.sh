# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Without namespaces (--isolation landlock): what holds, what is refused by name, what the report says, how the tree ends; also
# where namespaces are forbidden. Root is refused.
. "$TESTS/lib.sh"

LL=(--isolation landlock)
STATE=$HOME/.local/state/ak/plain
OUT=$DIR/outside
RO=$DIR/readonly
mkdir -p "$OUT" "$RO"

if [ "$WHO" = root ]; then
	t "USR:not-as-root"
	ak "${LL[@]}" -- touch MARK
	refused 125 "not as root"
	t "USR:root-of-a-user-namespace-is-no-root"
	# its uid 0 is root here: the same refusal, or the caller is not host root after all
	run unshare -U "$AK" exec -C "$WS" "${LL[@]}" -- true
	[ "$RC" = 0 ] || [ "$RC" = 125 ] || nok "exit $RC: $(_short "$(err)")"
	done_suite
	exit 0
fi

abi=$("$PY" -c 'import ctypes
print(ctypes.CDLL(None).syscall(444, None, 0, 1))')
if [ "$abi" -lt 1 ]; then
	_record SKIP landlock "no Landlock in this kernel"
	done_suite
	exit 0
fi

# attempts WEAKEN ARG... - the escape program, with what it needs of the host
attempts() {
	local names=$1
	shift
	rm -rf "$WS"/* "$OUT"/* "$RO"/*
	echo x >"$OUT/f"
	echo x >"$RO/f"
	cp "$ESC/plain" "$WS/.plain"
	sleep 60 &
	local pid=$! bin=$AK
	[ -z "$names" ] || bin=$AKW
	run ${names:+env AK_WEAKEN="$names"} "$bin" exec -C "$WS" "${LL[@]}" --ro "$RO" ${OPTS[@]+"${OPTS[@]}"} -- ./.plain \
		outside="$OUT" ro="$RO" hostpid="$pid" abi="$abi" "$@"
	{
		kill "$pid"
		wait "$pid"
	} 2>/dev/null
	OPTS=()
}

listen_start
t plain
TEST=
attempts "" sock="$SOCK" abs="$ABS"
claims plain
t "USR:nothing-changed-outside"
is "content" "$(cat "$OUT/f" "$RO/f" 2>&1)" "x
x"
is "names" "$(ls -A "$OUT" "$RO" | tr '\n' ' ')" "$OUT: f  $RO: f "

t "USR:with-the-hosts-network"
OPTS=(--net host)
attempts "" sock="$SOCK" abs="$ABS" net=host
is "what got through" "$(grep -E '^(OPEN|BROKEN)' "$O")" ""
like "sockets" "$(out)" "ALLOWED USR:tcp_socket"

# without a protection the same program sees the hole
if [ -x "$AKW" ]; then
	t "USR:control-without-landlock"
	attempts landlock,floor,canary sock="$SOCK" abs="$ABS"
	for c in outside_read outside_write outside_create outside_unlink host_signal tmp unix_socket udp_socket pair_dgram shown_truncate; do
		ok "$c: $(grep "USR:$c " "$O")" grep -qE "^OPEN USR:$c " "$O"
	done
	t "USR:control-the-floor-alone"
	# Landlock alone leaves sockets with a name in the file system, and descriptors for ioctl
	attempts floor,canary sock="$SOCK" abs="$ABS"
	for c in unix_socket unix_connect_path pair_dgram outside_open_for_ioctl; do
		ok "$c: $(grep "USR:$c " "$O")" grep -qE "^OPEN USR:$c " "$O"
	done
	[ "$abi" -lt 4 ] || is "TCP is held" "$(grep -cE '^BLOCKED USR:tcp_(connect|bind) EACCES' "$O")" 2
	no "but not files" grep -qE '^OPEN USR:outside_(read|write|create) ' "$O"
	t "USR:control-a-tree-that-is-not-ended"
	m=97.$RANDOM$$
	weak keeper "${LL[@]}" -- sh -c "setsid sleep $m & sleep 0.1"
	left=$(alive "sleep $m")
	[ -n "$left" ] || nok "nothing survived"
	for p in $left; do kill -KILL "$p" 2>/dev/null; done
fi
listen_stop

t "73:USR:report"
ak "${LL[@]}" --json -- sh -c 'echo out'
is code "$RC" 0
is "isolation" "$(js '(lambda i: (i["namespaces"], i["landlock_abi"], i["network"], i["identity"], i["seccomp"], i["root"]))(d["isolation"])')" \
	"([], $abi, 'none', 'same-uid', 'default', 'host')"
for text in "processes are visible" "chmod" "protected names" "no socket" "without a limit"; do
	like "warned of" "$(js '" ".join(d["warnings"])')" "$text"
done
is "stdout" "$(js 'd["stdout"].strip()')" out
ak "${LL[@]}" --json --write none --net host -- true
like "host" "$(js 'd["isolation"]["network"], d["isolation"]["workspace"]')" "host.*none"

t "USR:never-without-being-asked"
# namespaces are forbidden: no weaker run in silence
run unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"' x "$AK" exec -C "$WS" -- touch MARK
refused 125 "max_user_namespaces"

t "USR-03:where-user-namespaces-are-forbidden"
echo keep >"$OUT/f"
# shellcheck disable=SC2016
run unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"' x "$AK" exec -C "$WS" "${LL[@]}" --json -- sh -c '
	echo ws >made; echo bad >"$1/f"; echo bad >"$1/new"; cat "$1/f"; grep -E "^(Cap|NoNew)" /proc/self/status; unshare -U true; true' x "$OUT"
is code "$RC" 0
is "written in the workspace" "$(cat "$WS/made" 2>&1)" ws
is "not outside" "$(cat "$OUT/f" "$OUT/new" 2>/dev/null)" keep
is "namespaces" "$(js 'd["isolation"]["namespaces"]')" "[]"
is "capabilities of that namespace" "$(js 'd["stdout"].count("0000000000000000")')" 5
like "no_new_privs" "$(js 'd["stdout"]')" "NoNewPrivs:.1"

t "USR-07:where-containers-refuse-clone3"
# docker answers ENOSYS, older ones EPERM; an ordinary child can be made by clone(2)
for how in docker clone; do
	run "$ESC/hostside" deny $how "$AK" exec -C "$WS" "${LL[@]}" -- sh -c 'echo ran; sleep 0 & wait'
	is "$how: code" "$RC" 0
	is "$how: output" "$(out)" ran
	run "$ESC/hostside" deny $how "$AK" exec -C "$WS" -- touch MARK
	refused 125 "seccomp filter.*--isolation landlock"
done

t "USR:without-an-id-map"
run unshare -U "$AK" exec -C "$WS" "${LL[@]}" -- touch made
is code "$RC" 0

t "5:SEC-17:capabilities-of-an-ordinary-caller"
ak "${LL[@]}" -- grep -E '^(CapInh|CapPrm|CapEff|CapAmb|NoNew|Seccomp_f)' /proc/self/status
is "all empty" "$(grep -c 0000000000000000 "$O")" 4
like "filters" "$(out)" "Seccomp_filters:.[12]"

t "USR:read-only-workspace"
echo x >"$WS/f"
ak "${LL[@]}" --write none -- sh -c 'cat f; echo y >f; rm -f f; echo z >g'
is "read" "$(out)" x
is "not written" "$(cat "$WS/f"; ls "$WS")" "x
f"

t "USR:extra-places"
mkdir -p "$DIR/more"
ak "${LL[@]}" --rw "$DIR/more" -- sh -c "echo y >$DIR/more/f"
is "written" "$(cat "$DIR/more/f")" y
ak "${LL[@]}" --ro "$DIR/more" -- sh -c "cat $DIR/more/f; echo z >$DIR/more/f"
is "read" "$(out)" y
is "not written" "$(cat "$DIR/more/f")" y
echo secret >"$DIR/more/s"
ak "${LL[@]}" --ro "$DIR/more" --hide "$DIR/more/s" -- sh -c "cat $DIR/more/f; cat $DIR/more/s"
is "only what is not hidden" "$(out)" y
like "hidden" "$(err)" "Permission denied"

# refuse NAME REGEX ARG... - cannot be kept, and says so
refuse() {
	t "USR:refused-$1"
	local want=$2
	shift 2
	ak "${LL[@]}" "$@" -- touch MARK
	refused 125 "$want"
}
refuse rootfs "--rootfs: cannot be kept" --rootfs "$DIR"
refuse tmpfs "--tmpfs /x: cannot be kept" --tmpfs /x
refuse other-place "-v .*: cannot be kept" -v "$OUT:/data"
refuse hide-in-writable "--hide .*: cannot be kept" --rw "$OUT" --hide "$OUT/f"
refuse readonly-in-writable "--ro .*: cannot be kept" --ro "$WS"
refuse user "--user: cannot be kept" --user 12345
refuse disk "--disk: cannot be kept" --write none --disk 1m
refuse pids "--pids 5: without namespaces" --pids 5
refuse nesting "exclude each other" --nesting
t "USR:refused-home-as-workspace"
run "$AK" exec "${LL[@]}" -C "$HOME" -- true
is code "$RC" 125
like text "$(err)" "cannot hide"
t "USR:refused-create"
run "$AK" create "${LL[@]}" box
is code "$RC" 2
like text "$(err)" "for .ak exec. only"

# --- ends ---
m=96.$RANDOM$$
t "18:USR:tree-ends-with-the-command"
touch "$WS/x"
ak "${LL[@]}" -- sh -c "setsid sh -c 'sleep $m & sleep $m' & (trap '' TERM HUP; sleep $m) & sleep 0.1; exit 7"
is code "$RC" 7
ok "nothing is left" gone "sleep $m"

t "18:USR:timeout"
ak "${LL[@]}" --timeout 1 --kill-after 100ms -- sh -c "trap '' TERM; setsid sleep $m & sleep $m; sleep $m"
is code "$RC" 124
ok "nothing is left" gone "sleep $m"

t "18:USR:killed-ak"
"$AK" exec -C "$WS" "${LL[@]}" -- sh -c "echo up >up; setsid sh -c 'sleep $m & sleep $m' & sleep $m" >/dev/null 2>&1 &
pid=$!
await "$WS/up"
{
	kill -KILL $pid
	wait $pid
} 2>/dev/null
ok "nothing is left" gone "sleep $m"
ok "its folder is" test -n "$(ls "$STATE")"
ak "${LL[@]}" -- true
is "until the next run" "$(ls "$STATE")" ""

t "18:USR:killed-init"
"$AK" exec -C "$WS" "${LL[@]}" --report "$DIR/report" -- sh -c "echo \$PPID >up; setsid sh -c 'sleep $m & sleep $m' & sleep $m" >/dev/null 2>&1 &
pid=$!
await "$WS/up"
kill -KILL "$(cat "$WS/up")"
wait $pid
is code $? 125
ok "nothing is left" gone "sleep $m"
is "status" "$(js 'd["status"]' "$DIR/report")" failed

t "18:USR:forks-without-end"
if need gcc && echo 'int fork(void); int setsid(void); int main(void) { for (;;) if (!fork()) setsid(); }' |
	gcc -w -O1 -static -x c - -o "$WS/bomb-$$"; then
	ak "${LL[@]}" --timeout 1 --kill-after 0 -- "./bomb-$$"
	is code "$RC" 124
	ok "nothing is left" gone "./bomb-$$"
fi

t "USR:interrupted-from-a-terminal"
if [ -n "$PY" ]; then
	cat >"$DIR/interrupt.py" <<'E'
import os, pty, signal, sys, time
ak, ws, m = sys.argv[1:]
pid, fd = pty.fork()
if pid == 0:
    os.execv(ak, [ak, "exec", "-C", ws, "--isolation", "landlock", "--", "sh", "-c", f"trap 'exit 9' INT; echo up >tty; while :; do sleep 0.05; done; : {m}"])
while not os.path.exists(ws + "/tty"):
    time.sleep(0.05)
os.write(fd, b"\x03")
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
E
	run "$PY" "$DIR/interrupt.py" "$AK" "$WS" "$m"
	is "exit code" "$(out)" 130
	ok "nothing is left" gone ": $m"
fi

t "USR:terminal-of-its-own"
if [ -n "$PY" ]; then
	run "$PY" "$TESTS/onpty.py" --limit 20 '[]' "$AK" exec -C "$WS" "${LL[@]}" --tty -- sh -c 'tty >/dev/null && echo yes >/dev/tty'
	like "output" "$(out)" yes
fi

t "USR:private-folder-of-hostile-make"
# deep, closed, full of links
# shellcheck disable=SC2016
ak "${LL[@]}" -- sh -c 'cd "$TMPDIR" || exit 1
	i=0; while [ $i -lt 300 ]; do mkdir aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa && cd aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa || break; i=$((i+1)); done
	ln -s / root; touch .1 .2; mkdir .3; cd "$HOME"; mkdir closed; touch closed/f; chmod 0 closed; ln -s "$0" ws; ln -s .. up' "$OUT"
is code "$RC" 0
is "removed" "$(ls "$STATE")" ""
ok "nothing else" test -e "$OUT/f"

t "USR:explain"
ak "${LL[@]}" --explain -- true
like "rules" "$(out)" "landlock +read.write $WS"
like "no namespaces" "$(out)" "new +none"
is "nothing is made" "$(ls "$STATE")" ""

t "USR-11:doctor"
run "$AK" doctor
like "told" "$(out)" "isolation-landlock"

t "USR:real-work"
cd "$WS" || exit 1
if need gcc make git; then
	printf 'int main(void){return 0;}\n' >a.c
	printf 'all: a\n\t./a\na: a.c\n\tgcc -o a a.c\n' >Makefile
	ak "${LL[@]}" -- sh -c 'make && git init -q . && git add . && git -c user.name=x -c user.email=x@x commit -qm x && git log --oneline | wc -l'
	is code "$RC" 0
	like "one commit" "$(out)" '(^|[^0-9])1$'
fi
cd / || exit 1
done_suite
