# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Each test notices the absence of what it proves: the same programs under the weak build, one protection (or the smallest
# set, where another layer still holds) taken away, must see their claims open.
#
# Without the profile and the floor, the canary must be off as well: it would refuse to start the command.
. "$TESTS/lib.sh"

if [ ! -x "$AKW" ]; then
	_record SKIP controls "no weak build (make weak)"
	done_suite
	exit 0
fi

# the weak build with nothing taken away is the release build: its claims hold
t "control:weak-build-itself"
cp "$ESC/calls" "$WS/.calls"
run "$AKW" exec -C "$WS" -- ./.calls
is code "$RC" 0

# --- identity
control caps "5:CapBnd 7:securebits" identity
control nnp,profile,floor,canary,caps,landlock "6:no_new_privs" identity

# --- filters; a call that the kernel refuses an unprivileged process with the same errno cannot tell
F=profile,floor,canary
control "$F" "43:mount 43:umount2 43:fsopen 43:open_tree 44:name_to_handle_at 45:chroot 53:unshare_files 53:unshare_user 53:clone_user \
61:clone3 63:io_uring_setup 19:process_vm_readv 19:pidfd_getfd 64:keyctl 64:add_key 64:modify_ldt 64:vmsplice \
64:set_mempolicy 67:personality_no_randomize 67:personality_high_bits 59:two_filters" calls
control "$F,nslimit" "53:unshare_user 53:clone_user" calls
OPTS=(--user 0)
control "$F,caps" "57:sethostname" calls
control "$F" "65:netlink_9 65:netlink_9_high_bits 65:packet_raw" sockets
OPTS=(--user 0)
control "$F,caps" "66:inet_raw 66:inet_packet" sockets
control "$F" "62:x32_getpid" abi
control "$F" "30:TIOCSTI_no_fd 30:TIOCSTI_no_fd_high_bits 30:TIOCLINUX_no_fd 30:TIOCSETD_no_fd" tty
control "floor,canary" "104:chmod_setuid 104:fchmodat2_setuid 104:openat_setuid 104:mkdirat_setuid 104:openat2 104:nothing_left" \
	setid setgid=allow
t "control:setid-clean-up"
is "bits left by the control" "$([ -n "$(find "$DIR/ws" -perm /4000 2>/dev/null)" ] && echo some)" ""

# --- init
control dumpable,landlock "14:init_environ 14:init_maps 14:init_link_cwd 14:init_fd_list" proc
control "floor,canary" "84:prlimit_init_nofile 84:prlimit_other 68:setpriority_init 68:sched_setaffinity_init 68:ioprio_init" limits
control rlimits "84:nofile 84:nproc" limits
control oomadj "89:oom_score_adj" limits

# --- /proc and the file system
control masks "39:masked_kallsyms" proc
control procro "39:readonly_sys" proc
control rdonly "35:readonly_/usr" fs
control nosuid "36:writable_nosuid_nodev" fs
control rootview "34:root_list" fs

# --- Landlock alone: the read-only bind is left writable, and the layer below must hold. Not below /tmp or the home: those
# are writable by rule, and a rule holds for everything below it
S=$DIR/own
mkdir -p "$S"
for set in rdonly rdonly,landlock; do
	rm -f "$S"/*
	echo x >"$S/file"
	echo x >"$S/other"
	t "landlock-with-$set"
	cp "$ESC/landlock" "$WS/.landlock"
	weak "$set" --ro "$S:/mnt/own" -- ./.landlock ro=/mnt/own
	if [ "$set" = rdonly ]; then
		claims landlock
	else
		for c in 74:create 74:write 74:truncate 74:unlink; do
			grep -q "^OPEN $c " "$O" || nok "$c: $(grep " $c " "$O")"
		done
	fi
done
if listen_start; then
	t "75:scope-of-abstract-sockets"
	cp "$ESC/landlock" "$WS/.landlock"
	ak --net host -- ./.landlock "abs=$ABS"
	claims landlock-scope
	OPTS=(--net host)
	control landlock "75:abstract_of_host" landlock "abs=$ABS"
	listen_stop
fi

# --- descriptors, streams, environment, signals
t "control:descriptors-without-fds"
cp "$ESC/fds" "$WS/.fds"
run "$ESC/hostside" fds env AK_WEAKEN=fds "$AKW" exec -C "$WS" -- ./.fds
ok "open: $(head -n 3 "$O")" grep -q '^OPEN 24:only_listed' "$O"

t "control:files-as-streams-without-streams"
cp "$ESC/fds" "$WS/.fds"
echo x >"$DIR/in"
AK_WEAKEN=streams "$AKW" exec -C "$WS" -- ./.fds dev=1 <"$DIR/in" >"$O" 2>"$E"
ok "open: $(head -n 3 "$O")" grep -q '^OPEN 25:' "$O"

t "control:environment-without-env"
run env SOME_TOKEN=x AK_WEAKEN=env "$AKW" exec -C "$WS" -- env
like names "$(out)" SOME_TOKEN

t "control:signal-state-without-signals"
run "$ESC/hostside" signals env AK_WEAKEN=signals "$AKW" exec -C "$WS" -- grep -E 'Sig(Blk|Ign)' /proc/self/status
like "something is set" "$(out | cut -f2)" '[1-9a-f]'

control session "20:own_session" tty

# --- namespaces and kernel objects
# shellcheck disable=SC2046
control ipcns "52:new_ipc" ns $(for n in ipc uts net; do printf '%s ' "$n=$(readlink /proc/self/ns/$n)"; done)
# shellcheck disable=SC2046
control utsns "52:new_uts" ns $(for n in ipc uts net; do printf '%s ' "$n=$(readlink /proc/self/ns/$n)"; done)
# shellcheck disable=SC2046
control netns "52:new_net" ns $(for n in ipc uts net; do printf '%s ' "$n=$(readlink /proc/self/ns/$n)"; done)
control nslimit "53:max_user_namespaces" ns
control loopback "56:lo_up" net
if listen_start; then
	control netns "91:host_tcp" net "tcp=$TCP" "abs=$ABS"
	listen_stop
fi
t "control:shared-memory-without-ipcns"
cp "$ESC/ipc" "$WS/.ipc"
run "$ESC/hostside" objects env AK_WEAKEN=ipcns "$AKW" exec -C "$WS" -- ./.ipc shm=0x616b7401
ok "open: $(out)" grep -q '^OPEN 52:host_shm' "$O"

# the filter refuses the key calls, so the keyring is looked at without it: ours is another one than the caller's
t "9:keyring-is-not-the-callers"
cp "$ESC/ipc" "$WS/.ipc"
run "$ESC/hostside" objects env AK_WEAKEN=$F "$AKW" exec -C "$WS" -- ./.ipc key=ak-test
ok "not found: $(out) $(err)" grep -q '^BLOCKED 9:session_keyring' "$O"
t "control:key-without-keyring"
cp "$ESC/ipc" "$WS/.ipc"
run "$ESC/hostside" objects env AK_WEAKEN=$F,keyring "$AKW" exec -C "$WS" -- ./.ipc key=ak-test
ok "found: $(out) $(err)" grep -q '^OPEN 9:session_keyring' "$O"

# --- lifetime: without the death signal and the pipe the tree outlives a killed ak
t "control:killed-executor-without-pdeath"
m=98.7$RANDOM$$
env AK_WEAKEN=pdeath "$AKW" exec -C "$WS" -- sh -c "echo up >up; sleep $m" >/dev/null 2>&1 </dev/null &
pid=$!
await "$WS/up"
{
	kill -KILL $pid
	wait $pid
} 2>/dev/null
sleep 1
left=$(alive "sleep $m")
[ -n "$left" ] || nok "nothing survived"
for p in $left; do kill -KILL "$p" 2>/dev/null; done

# --- terminal filter
t "control:terminal-without-ttyfilter"
if [ -z "$PY" ]; then skip "no python3"; else
	run env AK_WEAKEN=ttyfilter "$PY" "$TESTS/onpty.py" --limit 10 '[]' "$AKW" exec -C "$WS" -- printf '\033]52;c;QUJD\007'
	like "passes" "$(out)" $'\033\\]52'
fi

# --- workspace
t "control:protected-names-without-protect"
echo orig >"$WS/.envrc"
weak protect -- sh -c 'echo evil >.envrc'
is content "$(cat "$WS/.envrc")" evil

# --- root caller
if [ "$WHO" = root ]; then
	# the documented way to keep host uid 0 is what the default must differ from
	OPTS=(--identity root)
	control canary "2:uid_map_without_host_0 3:not_uid_0" identity
	t "control:core-pattern-with-host-root-and-without-procro"
	cp "$ESC/proc" "$WS/.proc"
	weak procro,landlock --identity root -- ./.proc
	ok "opened for writing: $(grep core_pattern "$O")" grep -q '^OPEN 39:write_sys/kernel/core_pattern' "$O"
fi
done_suite
