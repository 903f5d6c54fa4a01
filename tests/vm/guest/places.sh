# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Where a sandbox's group may be, and what is said where it may not: AK_CGROUP, groups that hold others, containers, no tree at
# all. As root, and as an ordinary user in a delegated subtree (WHO).
# shellcheck source=tests/vm/guest/lib.sh
. /job/lib.sh
: "${OUTER:?a group that the caller may use}"

# refusal GROUP REGEX - AK_CGROUP names a group that cannot be used
refusal() {
	run env AK_CGROUP="$1" "$AK" exec -C "$WS" -m 64m -- touch MARK
	refused 125 "$2"
	like "the variable is named" "$(err)" AK_CGROUP
}

t "AK_CGROUP:used"
mkdir "$OUTER/mine"
back env AK_CGROUP="$OUTER/mine" "$AK" exec -C "$WS" --json -m 64m -- sleep 4
wait_for some_group
like "place" "$(groups)" "^$OUTER/mine/ak-"
front
is "exit code" "$RC" 0
is "memory" "$(js limits memory enforced_by)" cgroup
ok "the group itself stays" rmdir "$OUTER/mine"

t "AK_CGROUP:not-there"
refusal "$OUTER/no-such-group" "no-such-group"

t "AK_CGROUP:not-absolute"
refusal "mine" "mine"

t "AK_CGROUP:a-file"
refusal "$OUTER/cgroup.procs" "cgroup\.procs"

t "AK_CGROUP:another-mount"
refusal /tmp "/tmp"

t "AK_CGROUP:holds-a-process"
mkdir "$OUTER/full"
sleep 60 &
pid=$!
echo $pid >"$OUTER/full/cgroup.procs"
refusal "$OUTER/full" "full"
kill $pid
wait $pid 2>/dev/null
ok "empty again" wait_for rmdir "$OUTER/full"

t "AK_CGROUP:frozen"
mkdir "$OUTER/cold"
echo 1 >"$OUTER/cold/cgroup.freeze"
refusal "$OUTER/cold" "cold"
like "reason" "$(err)" "fr[eo]ez|frozen"
ok "unchanged" rmdir "$OUTER/cold"

t "AK_CGROUP:below-a-frozen-one"
mkdir -p "$OUTER/cold/inner"
echo 1 >"$OUTER/cold/cgroup.freeze"
refusal "$OUTER/cold/inner" "inner"
ok "unchanged" rmdir "$OUTER/cold/inner" "$OUTER/cold"

if [ "$WHO" != root ]; then
	t "AK_CGROUP:of-somebody-else"
	refusal /sys/fs/cgroup/foreign "foreign"

	t "AK_CGROUP:outside-of-the-delegated-part"
	refusal /sys/fs/cgroup "/sys/fs/cgroup"
fi

# in_tree SETUP CMD... - with a mount namespace, and as root, where SETUP has changed the tree of groups
in_tree() {
	local setup=$1
	shift
	run unshare -m --propagation private bash -c "$setup"' && exec "$@"' in_tree "$@"
}

if [ "$WHO" = root ]; then
	RO='mount -o remount,bind,ro /sys/fs/cgroup'
	t "CG:read-only-tree"
	in_tree "$RO" "$AK" exec -C "$WS" --cpus 0.5 -- touch MARK
	refused 125 "read-only|EROFS"
	in_tree "$RO" env AK_CGROUP="$OUTER" "$AK" exec -C "$WS" --cpus 0.5 -- touch MARK
	refused 125 "read-only|EROFS"
	in_tree "$RO" "$AK" exec -C "$WS" --verbose -- true
	is "defaults go on" "$RC" 0
	like "and say so" "$(err)" "ak: warning: .*cgroup"

	t "CG:no-tree-at-all"
	in_tree 'umount /sys/fs/cgroup' "$AK" exec -C "$WS" --verbose -- true
	is "defaults go on" "$RC" 0
	like "and say so" "$(err)" "ak: warning: .*cgroup"
	in_tree 'umount /sys/fs/cgroup' "$AK" exec -C "$WS" --cpus 0.5 -- touch MARK
	refused 125 "--cpus"
	in_tree 'umount /sys/fs/cgroup' "$AK" exec -C "$WS" --json -m 64m -- "$T" mem 300m 5
	if [ "$RC" != 125 ]; then
		is "the watcher keeps it" "$(js limits memory enforced_by)" ak
		is "status" "$(js status)" oom_killed
	fi

	# contained ALONE CMD... - as in a container: a private view of a group that holds this process only, or another one too
	contained() {
		local other=''
		mkdir "$OUTER/box"
		[ "$1" = alone ] || { sleep 60 & other=$!; echo $other >"$OUTER/box/cgroup.procs"; }
		shift
		run bash -c 'echo $$ >"$0/cgroup.procs" && exec unshare -C -m --propagation private bash -c "umount /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup &&
			exec \"\$@\"" in "$@"' "$OUTER/box" "$@"
		[ -z "$other" ] || { kill $other; wait $other; } 2>/dev/null
		LEFT=$(find "$OUTER/box" -mindepth 1 -type d)
		wait_for rmdir "$OUTER/box"
	}

	t "CG-01:container-that-holds-only-us"
	contained alone "$AK" exec -C "$WS" --json -m 64m -- "$T" mem 300m
	is "exit code" "$RC" 137
	is "status" "$(js status)" oom_killed
	is "enforced" "$(js limits memory enforced_by)" cgroup
	is "groups left in it" "$LEFT" ""

	t "CG-01:container-that-holds-others"
	contained shared "$AK" exec -C "$WS" --cpus 0.5 -- touch MARK
	refused 125 "."
	like "reason" "$(err)" "process"
	contained shared "$AK" exec -C "$WS" --verbose -- true
	is "defaults go on" "$RC" 0
	like "and say so" "$(err)" "ak: warning: .*cgroup"
	is "groups left in it" "$LEFT" ""

	t "CG-08:a-limit-on-the-number-of-groups"
	mkdir "$OUTER/few"
	echo 0 >"$OUTER/few/cgroup.max.descendants"
	refusal "$OUTER/few" "few"
	ok "unchanged" rmdir "$OUTER/few"
fi

t "doctor:names-the-place"
run "$AK" doctor
is "exit code" "$RC" 0
like "cgroup" "$(grep -A 3 ' cgroup ' "$O")" "^ok +cgroup"

t "CG:nothing-is-left"
nothing_left
end_suite
