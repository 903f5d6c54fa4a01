# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# The escape programs in the default sandbox; every line of theirs is one result.
. "$TESTS/lib.sh"

uid=$([ "$WHO" = root ] && echo 1000 || id -u)
echo SECRET >"$DIR/secret"
chmod 644 "$DIR/secret"

spec=
[ -z "$PY" ] || spec=spec=$("$PY" -c 'import ctypes
print(ctypes.CDLL(None).prctl(52, 0, 0, 0, 0))')
esc identity "uid=$uid" ${spec:+"$spec"}
esc calls
esc sockets
esc abi
esc limits "corehard=$(ulimit -Hc | sed 's/unlimited/-1/')"
export AKT_SEK=qzq991177
esc proc secret=qzq991177
unset AKT_SEK
esc dev
esc setid "setgid=$([ "$WHO" = root ] && echo deny || echo allow)"
t "104:nothing-left-on-the-host"
cp "$ESC/setid" "$WS/.setid"
ak -- ./.setid "setgid=$([ "$WHO" = root ] && echo deny || echo allow)"
is "files with bits" "$(find "$WS" ! -type l -perm /4000)" ""
[ "$WHO" = user ] || is "or group bits" "$(find "$WS" ! -type l -perm /2000)" ""
is "owner" "$(find "$WS" ! -uid "$(stat -c %u "$WS")")" ""

esc fds
esc fs "top=$(cut -d/ -f2 <<<"$WS")" "secret=$DIR/secret" "mark=$DIR/secret"
# shellcheck disable=SC2046
esc ns $(for n in user mnt pid net ipc uts cgroup; do printf "%s " "$n=$(readlink /proc/self/ns/$n)"; done)
if listen_start; then
	esc net "tcp=$TCP" "udp=$UDP" "abs=$ABS" "sock=$SOCK"
	listen_stop
	t "91:no-datagram-came"
	is datagrams "$DATAGRAMS" 0
else
	t "91:listeners"
	nok "the host's listeners did not start"
fi
esc signals "hostpid=$$"
esc tty

t "52+9:objects-of-the-host"
cp "$ESC/ipc" "$WS/.ipc"
run "$ESC/hostside" objects "$AK" exec -C "$WS" -- ./.ipc shm=0x616b7401 mq=/ak-test
is code "$RC" 0
claims ipc

t "24:descriptors-3-to-200"
cp "$ESC/fds" "$WS/.fds"
run "$ESC/hostside" fds "$AK" exec -C "$WS" -- ./.fds
is code "$RC" 0
no "open: $(grep OPEN "$O")" grep -q '^OPEN' "$O"

t "24:one-kept-among-many"
exec 7< <(:)
run "$ESC/hostside" fds sh -c 'exec 7</dev/null; exec "$@"' x "$AK" exec -C "$WS" --fd 7 -- touch MARK
exec 7<&-
[ "$RC" = 0 ] || refused 125 "--fd"

t "85:no-core-file"
ak -- sh -c 'ulimit -c unlimited 2>/dev/null; ulimit -c 1 2>/dev/null; kill -SEGV $$'
is code "$RC" 139
is "files" "$(ls -A "$WS")" ""

t "90:no-network-for-tools"
ak -- sh -c 'getent hosts example.com; echo rc $?; cat /proc/net/route | wc -l; ls /sys/class/net 2>/dev/null'
like "look-up fails" "$(out)" 'rc [12]'
like "no routes" "$(out)" '(^|[^0-9])1$'

t "90:look-up-fails-fast"
# the resolver would wait twice 5 s for an answer
LIMIT=9 ak -- getent hosts example.com
is code "$RC" 2

t "SEC-07:32-bit-program"
if need gcc && echo 'int main(void){return 0;}' | gcc -m32 -static -x c - -o "$DIR/m32" 2>/dev/null; then
	cp "$DIR/m32" "$WS/m32"
	ak -- ./m32
	like code "$RC" '^(159|126)$'
else skip "no 32-bit compiler"; fi

t "15:ak-cannot-be-overwritten"
before=$(sha256sum <"$AK")
ak -- sh -c 'for p in /proc/[0-9]*; do : 2>/dev/null >>$p/exe; readlink $p/exe; done'
unlike "no link to ak" "$(out)" "$AK"
is sum "$(sha256sum <"$AK")" "$before"

t "72:canary"
if [ ! -x "$AKW" ]; then skip "no weak build (make weak)"; else
	weak floor -- touch MARK
	refused 125 "(filter|canary|seccomp)"
fi

t "54:no-nesting-by-default"
ak -- sh -c 'unshare -Ur true || unshare -U true || bwrap --ro-bind / / true'
no "a namespace was made" test "$RC" = 0

# the covers are made by two threads, beside the change of the root: here that is held up in the middle, and the covers are slow
t "39:covers-beside-the-change-of-the-root"
if command -v strace >/dev/null; then
	for slow in "-e inject=pivot_root:delay_exit=60000 -e inject=open_tree:delay_enter=1000 -e inject=mount:delay_enter=500" \
		"-e inject=pivot_root:delay_exit=30000 -e inject=mount:delay_enter=100"; do
		for _ in 1 2 3; do
			# shellcheck disable=SC2086
			run strace -f -qq -o /dev/null -e trace=pivot_root,open_tree,mount $slow "$AK" exec -q -C "$WS" -- sh -c \
				'ls /proc/irq /proc/bus /proc/fs 2>/dev/null | grep -v "^/\|^$"; head -qc 1 /proc/keys /proc/kallsyms /proc/iomem 2>/dev/null; echo end'
			is "seen" "$(out)" end
		done
	done
else skip "no strace"; fi

t "47:no-host-path-but-the-workspace"
ak -- cat /proc/self/mountinfo
# the file system of the workspace may itself be mounted from a folder: its path then stands in front
is "sources" "$(awk -v ws="$WS" 'index($4, ws) == 0 {print $4}' "$O" | grep -F "$IT")" ""

t "71:no-filter-compiler-inside"
no "libseccomp in ak" grep -qa seccomp_rule_add "$AK"

t "50:doctor-looks-at-planted-files"
run "$AK" doctor
like text "$(out)" "protected_"

t "58:doctor-looks-at-restricted-namespaces"
if [ -e /proc/sys/kernel/apparmor_restrict_unprivileged_userns ]; then
	run "$AK" doctor
	like text "$(out)" "(AppArmor|apparmor)"
else skip "a host without that restriction"; fi

t "RES-13:no-ipc-objects-left"
before=$(cat /proc/sysvipc/shm | wc -l)
ak -- sh -c 'ipcmk -M 4096 >/dev/null; ipcmk -Q >/dev/null; true'
is segments "$(cat /proc/sysvipc/shm | wc -l)" "$before"
done_suite
