# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What must not be tried on a machine that is needed: core handlers, shared mounts, settings of the kernel, bombs without
# limits, swap. As root, in the machine without an init system.
# shellcheck source=tests/vm/guest/lib.sh
. /job/lib.sh
user() { run "$AS_USER" aktest "$AK" exec -C /home/aktest "$@"; }
core_log() { wc -l </run/core.log 2>/dev/null || echo 0; }

# settled - the number of lines in the log of the core handler, after time for a late one
settled() {
	sleep 0.7
	core_log
}

# --- core handlers ---
echo "|$T log %p %u %E" >/proc/sys/kernel/core_pattern
t "85:control:the-handler-runs-for-the-host"
: >/run/core.log
(cd /tmp && "$T" crash) 2>/dev/null
wait_for test -s /run/core.log || nok "no line in the log"

t "85:no-core-handler-for-a-sandbox"
: >/run/core.log
for sig in 11 6 3; do
	run "$AK" exec -C "$WS" -- "$T" crash $sig
	is "signal $sig" "$RC" $((128 + sig))
	user -- "$T" crash $sig
	is "signal $sig, ordinary user" "$RC" $((128 + sig))
done
run "$AK" exec -C "$WS" --identity root -- "$T" crash
is "identity root" "$RC" 139
run "$AK" exec -C "$WS" --user 0 -- "$T" crash
is "user 0" "$RC" 139
is "handler runs" "$(settled)" 0

t "85:control:without-its-limit-the-handler-runs"
: >/run/core.log
run env AK_WEAKEN=rlimits "$AKW" exec -C "$WS" -- "$T" crash
is "exit code" "$RC" 139
wait_for test -s /run/core.log || nok "no line in the log"

t "85:no-core-file"
echo core >/proc/sys/kernel/core_pattern
run "$AK" exec -C "$WS" -- "$T" crash
run "$AK" exec -C "$WS" --identity root -- "$T" crash
is "files" "$(ls -A "$WS")" ""

t "85:the-pattern-cannot-be-changed"
for id in auto root; do
	run "$AK" exec -C "$WS" --identity $id -- sh -c "echo '|$T log' >/proc/sys/kernel/core_pattern"
	is "pattern ($id)" "$(cat /proc/sys/kernel/core_pattern)" core
done

# --- mounts ---
mounts() { sort /proc/1/mountinfo | cut -d' ' -f5- | grep -v "$DIR"; }

t "46:control:a-shared-mount-is-seen-by-the-host"
mount --make-rshared /
mkdir -p /tmp/probe
mounts >"$DIR/before"
unshare -m --propagation unchanged mount -t tmpfs probe /tmp/probe
no "seen" diff -q "$DIR/before" <(mounts)
umount /tmp/probe

t "46:no-mount-of-a-sandbox-reaches-the-host"
mounts >"$DIR/before"
for who in root user; do
	case $who in
	root) "$AK" exec -q -C "$WS" --tmpfs /srv -- sleep 1 & ;;
	user) "$AS_USER" aktest "$AK" exec -q -C /home/aktest --tmpfs /srv -- sleep 1 & ;;
	esac
	for _ in 1 2 3 4; do
		mounts >"$DIR/during"
		diff "$DIR/before" "$DIR/during" >"$DIR/diff" || nok "$who: $(head -n 2 "$DIR/diff" | tr '\n' ' ')"
		sleep 0.2
	done
	wait $!
done
mounts >"$DIR/after"
ok "after" diff "$DIR/before" "$DIR/after"

t "46:no-mount-of-the-host-comes-in-late"
"$AK" exec -C "$WS" -- sh -c 'echo up >up; while [ ! -e go ]; do sleep 0.1; done; cat /proc/self/mountinfo' >"$O" 2>"$E" &
wait_for test -s "$WS/up"
mkdir -p /usr/share/late && mount -t tmpfs lateprobe /usr/share/late
: >"$WS/go"
wait $!
umount /usr/share/late
like "the list is there" "$(out)" " / "
unlike "mounts inside" "$(out)" lateprobe
mount --make-rprivate /

# --- settings of the kernel ---
# what changes by itself is left out
settings() {
	grep -rs '' /proc/sys --exclude-dir=random --exclude-dir=quota --exclude='*inode-*' --exclude=dentry-state --exclude=file-nr \
		--exclude=ns_last_pid --exclude=nr --exclude='sched_domain*' --exclude='aio-nr' --exclude='compact_memory' |
		grep -v '/kernel/pty/' | sort
}

t "39:settings-of-the-kernel-stay"
settings >"$DIR/before"
ok "there are some" test "$(wc -l <"$DIR/before")" -gt 300
cat >"$WS/try.sh" <<'Y'
for f in kernel/core_pattern kernel/hostname kernel/domainname kernel/modprobe kernel/panic_on_oops kernel/pid_max vm/overcommit_memory \
	vm/drop_caches fs/suid_dumpable fs/file-max net/ipv4/ip_forward user/max_user_namespaces kernel/shmmax kernel/msgmax; do
	echo 1 >/proc/sys/$f
done 2>/dev/null
for f in /proc/sysrq-trigger /sys/power/state /sys/kernel/uevent_helper /proc/1/oom_score_adj; do echo 1 >$f; done 2>/dev/null
exit 0
Y
run "$AK" exec -C "$WS" -- sh try.sh
is "ran" "$RC" 0
run "$AK" exec -C "$WS" --identity root -- sh try.sh
is "ran, identity root" "$RC" 0
cp "$WS/try.sh" /home/aktest/try.sh
user -- sh try.sh
is "ran, ordinary user" "$RC" 0
settings >"$DIR/after"
diff "$DIR/before" "$DIR/after" >"$DIR/diff" || nok "$(head -n 4 "$DIR/diff" | tr '\n' ' ')"
is "host name" "$(hostname)" akvm

# --- bombs without limits ---
t "17:fork-bomb-without-limits"
for who in root user; do
	case $who in
	root) run "$AK" exec -C "$WS" --pids max --memory max --cpus max --timeout 1 --kill-after 0 -- "$T" bomb 60 ;;
	user) user --pids max --memory max --cpus max --timeout 1 --kill-after 0 -- "$T" bomb 60 ;;
	esac
	is "$who" "$RC" 124
	nothing_left
done
is "the host forks" "$("$T" forkrate 50)" "50 of 50"

t "17:fork-bomb-and-a-killed-ak"
"$AK" exec -q -C "$WS" --pids max --memory max --cpus max -- "$T" bomb 60 &
sleep 1
kill -9 $!
wait $! 2>/dev/null
nothing_left
run "$AK" exec -C "$WS" -- true
is "next run" "$RC" 0
nothing_left

t "89:memory-bomb-without-limits"
# most of the memory is taken before, so that the bomb soon meets the end of it
have=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
dd if=/dev/zero of=/dev/shm/ballast bs=1M count=$((have - 160)) status=none
echo -500 >/proc/self/oom_score_adj
run "$AK" exec -C "$WS" --json --memory max -- "$T" mem 3g
echo 0 >/proc/self/oom_score_adj
rm /dev/shm/ballast
is "exit code" "$RC" 137
is "memory.hit" "$(js limits memory hit)" false
nothing_left
run "$AK" exec -C "$WS" -- true
is "next run" "$RC" 0

t "RES-05:empty-files"
run "$AK" exec -C "$WS" --json -m 32m -- "$T" inodes /tmp 3000000
if [ "$(js status)" = exited ]; then
	like "an end" "$(js stdout)" "No space left"
else
	is "status" "$(js status)" oom_killed
fi

t "RES-03:swap-is-not-used"
fallocate -l 96m "$DIR/swap"
chmod 600 "$DIR/swap"
mkswap -q "$DIR/swap" && swapon "$DIR/swap"
like "there is swap" "$(cat /proc/swaps)" "$DIR/swap"
swapped() { awk '/^pswpout/ { print $2 }' /proc/vmstat; }
before=$(swapped)
run "$AK" exec -C "$WS" --json -m 64m -- "$T" mem 128m
is "status" "$(js status)" oom_killed
is "exit code" "$RC" 137
between "pages swapped out" $(($(swapped) - before)) 0 200
swapoff "$DIR/swap"
end_suite
