# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Sandboxes inside a sandbox (--nesting): bwrap, unshare and ak work there, what is covered stays covered, the report says it.
. "$TESTS/lib.sh"

RO=$DIR/readonly
mkdir -p "$RO" "$DIR/bin"
cp "$AK" "$DIR/bin/ak"

t "54:USR:without-the-option"
ak -- sh -c 'unshare -Ur true || unshare -U true'
no "a namespace was made" test "$RC" = 0

t "USR:ak-inside-without-the-option-says-why-not"
cp "$AK" "$WS/ak"
ak -- ./ak exec --isolation landlock -- true
is code "$RC" 125
like told "$(err)" "^ak: join a new session keyring: .*EPERM. - a seccomp filter around ak forbids it"

t "USR:too-few-mount-namespaces"
# shellcheck disable=SC2016 # the arguments are the inner shell's
few='echo "$1" >/proc/sys/user/max_mnt_namespaces && shift && exec "$@"'
if [ "$WHO" = root ]; then
	skip "root of a user namespace is not what ak takes for root"
elif unshare -Ur sh -c "$few" x 1 true 2>/dev/null; then
	run unshare -Ur sh -c "$few" x 1 "$AK" exec -C "$WS" -- true
	is code "$RC" 125
	like told "$(err)" "^ak: .*ENOSPC. - a limit of the kernel on mounts is reached .user.max_mnt_namespaces"
	run unshare -Ur sh -c "$few" x 1000 "$AK" exec -C "$WS" -- true
	is "the control" "$RC" 0
else
	skip "no user namespace whose limits can be set"
fi

t "USR:unshare"
# shellcheck disable=SC2016
ak --nesting -- unshare -Urmpf --mount-proc sh -c 'id -u; echo $$; ls -d /proc/[0-9]* | wc -l; mount -t tmpfs none /mnt && echo mounted'
is code "$RC" 0
is "root of a pid namespace of its own" "$(out | head -n 2 | tr '\n' ' ')" "0 1 "
like "mounts" "$(out)" mounted

t "USR:bwrap"
if need bwrap; then
	# shellcheck disable=SC2016
	ak --nesting -- bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --unshare-all sh -c 'echo in $$; ls -d /proc/[0-9]* | wc -l'
	is code "$RC" 0
	like "ran" "$(out)" "^in [0-9]"
fi

t "USR:ak-inside-ak"
ak --nesting --ro "$DIR/bin" -- "$DIR/bin/ak" exec --json -- sh -c 'grep Seccomp_filters /proc/self/status; echo y >made; cat /proc/kallsyms'
is "inner status" "$(js 'd["status"]')" exited
like "filters of both" "$(js 'd["stdout"]')" "filters:.[2-4]"
is "inner namespaces" "$(js 'sorted(d["isolation"]["namespaces"])')" "['cgroup', 'ipc', 'mount', 'net', 'pid', 'user', 'uts']"
like "inner covers" "$(js 'd["stderr"]')" "kallsyms: Permission denied"
is "written through both" "$(cat "$WS/made")" y
is "owner" "$(stat -c %u "$WS/made")" "$(stat -c %u "$WS")"

t "USR:changes-of-an-ak-inside"
ak --nesting -q --ro "$DIR/bin" -c "$DIR/bin/ak exec --write cow --apply always -c 'echo z >taken'; echo \$?; $DIR/bin/ak exec -c 'mkdir -p n; echo x >n/.envrc'"
is "exit code" "$(out)" 0
is "taken over" "$(cat "$WS/taken")" z
like "protected names are looked for inside" "$(err)" "^ak: protected names changed: n/.envrc .new.$"
rm -r "$WS/n" "$WS/taken"

t "USR:ak-inside-keeps-out-what-the-outer-one-hides"
echo secret >"$WS/hid"
ak --nesting --hide "$WS/hid" --ro "$DIR/bin" -- "$DIR/bin/ak" exec -- cat hid
no "read" test "$RC" = 0
unlike "content" "$(out)" secret

# attempts WEAKEN ARG... - the escape program
attempts() {
	local bin=$AK names=$1
	shift
	[ -z "$names" ] || bin=$AKW
	mkdir -p "$WS/sub" "$WS/.git/hooks"
	echo secret >"$WS/hid"
	echo x >"$RO/f"
	cp "$ESC/nest" "$WS/.nest"
	run ${names:+env AK_WEAKEN="$names"} "$bin" exec -C "$WS" --nesting --hide "$WS/hid" --ro "$RO" --rw "$WS/sub" ${OPTS[@]+"${OPTS[@]}"} -- ./.nest \
		hide="$WS/hid" ro="$RO" shown="$WS/sub" "$@"
	OPTS=()
}
t nest
TEST=
attempts ""
claims nest

t "USR:bounded"
attempts "" bound=1
like "an end" "$(out)" "BLOCKED USR:bounded"

t "USR:protected-names-stay"
mkdir -p "$WS/.git/hooks"
# shellcheck disable=SC2016
ak --nesting -- unshare -Urm sh -c 'umount .git/hooks; umount .git; echo x >.git/hooks/pre-commit; mount -o remount,bind,rw .git/hooks; echo x >.git/hooks/pre-commit'
is "hooks" "$(ls -A "$WS/.git/hooks")" ""

if [ -x "$AKW" ]; then
	# covers are locked only because the namespace inside has fewer rights: with the sandbox's own capabilities they come off
	t "USR:control-covers-without-locks"
	OPTS=(--user 0)
	attempts caps root=1
	for c in umount_proc_sys umount_usr umount_hidden setattr_usr bind_root_alone; do
		ok "$c: $(grep "USR:$c " "$O")" grep -qE "^OPEN USR:$c " "$O"
	done
	t "USR:control-the-floor-for-nesting"
	attempts profile,floor,canary
	for c in keyctl io_uring netfilter_socket raw_socket; do
		ok "$c: $(grep "USR:$c " "$O")" grep -qE "^OPEN USR:$c " "$O"
	done
	t "USR:control-without-bounds"
	attempts nslimit
	ok "time namespace: $(grep time_namespace "$O")" grep -qE '^OPEN USR:time_namespace ' "$O"
fi

t "73:USR:report"
ak --nesting --json -- true
is "isolation" "$(js 'd["isolation"]["nesting"], d["isolation"]["seccomp"]')" "(True, 'nested')"
like "warned of" "$(js '" ".join(d["warnings"])')" "no Landlock rules"
ak --json -- true
is "only when asked for" "$(js '"nesting" in d["isolation"]')" false

t "USR:explain"
ak --nesting --explain -- true
like "profile" "$(out)" "profile nested, then the floor for nesting"
unlike "no file rules" "$(out)" "landlock "

# refuse NAME REGEX ARG...
refuse() {
	t "USR:refused-$1"
	local want=$2
	shift 2
	ak "$@" -- touch MARK
	refused 125 "$want"
}
refuse profile-alone "comes with --nesting only" --seccomp nested
refuse other-profile "forbids namespaces" --nesting --seccomp strict
refuse disk "--disk: with --nesting" --nesting --write none --disk 1m
[ "$WHO" = user ] || refuse identity "not with --identity root" --nesting --identity root
t "USR:refused-create"
run "$AK" create --nesting box
is code "$RC" 2

t "SEC:user-profile-with-nesting"
echo '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[]}' >"$DIR/p.json"
ak --nesting --seccomp "$DIR/p.json" -- unshare -Ur id -u
is code "$RC" 0
is uid "$(out)" 0

t "SEC:profile-nested-is-shown"
run "$AK" seccomp check nested
is code "$RC" 0
done_suite
