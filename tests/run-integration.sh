#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Integration suites of `ak exec`: each runs as an ordinary user made for the purpose and as root, at the same time.
# Builds nothing: wants `make all weak escape itools serve client` first. Not root: runs as the current user only, and says so.
# Usage: tests/run-integration.sh [-b BUILD] [-w WEAKBUILD] [-k] [-s] [-o RESULTS] [-u|-r] [SUITE...]
# KILLS=N: rounds of the tests that kill processes at random moments (6). SLOW=N: names the tests that took N seconds or more.
# ENDS_ROUNDS=N: runs of the suite ends that get a signal at a random moment (8). ROLLBACK_ROUNDS=N: its runs that are rolled back (12).
# APPROVE_LINES=N: command lines that the suite approve makes (100). What makes a suite long is in its head, and is passed on (LONG below).
# FULL=1: also rows of the suite backends that are run by hand only. SUITE_LIMIT: seconds that one suite may take (900).
# AK_AIMOCK=FOLDER: where npm has installed the model server of the suite peers, which otherwise is fetched.
# DOCKER_CLI=PATH: docker of the suite backends, instead of podman's.
#	-k keeps the work folder, -o keeps the result files there, -u and -r run one identity only, -s one after the other
set -u
cd "$(dirname "$0")/.." || exit 1
build=build/release
weak=build/weak
keep=
results=
only=
serial=
while getopts b:w:o:kurs opt; do
	case $opt in
	b) build=$OPTARG ;;
	w) weak=$OPTARG ;;
	o) results=$OPTARG ;;
	k) keep=1 ;;
	u) only=user ;;
	r) only=root ;;
	s) serial=1 ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
all="cli named session terminal serve exit streams time env fs rootfs workspace tty json escape controls root seccomp observe config checkpoint protected landlock nesting backends cow copy tools doctor cgroup serve-init agent http llm run ends search approve hostile peers resume chat planted"
suites=${*:-$all}

[ -x "$build/ak" ] || {
	echo "run-integration: $build/ak is missing: run make first" >&2
	exit 1
}
[ -x "$build/escape/fs" ] || {
	echo "run-integration: $build/escape is empty: run make escape first" >&2
	exit 1
}
for f in ak-agent ak-search integration/httpget integration/llm_drive integration/approve_drive integration/shell_dump; do
	[ -x "$build/$f" ] || {
		echo "run-integration: $build/$f is missing: run make all itools first" >&2
		exit 1
	}
done
work=$(mktemp -d /tmp/ak-it.XXXXXX) || exit 1
user=
started=$(date +%s)

# end what the temporary user still runs, one by one
end_user() {
	local uid p owner
	uid=$(id -u "$user") || return 0
	for p in /proc/[0-9]*; do
		owner=$(stat -c %u "$p" 2>/dev/null) || continue
		[ "$owner" = "$uid" ] && kill -9 "${p#/proc/}" 2>/dev/null
	done
	userdel "$user" 2>/dev/null
}

# end what a failing test left of our own copies of ak, one by one: a fault found must not stay on the machine
end_leftovers() {
	local p exe
	for p in /proc/[0-9]*; do
		exe=$(readlink "$p/exe" 2>/dev/null) || continue
		[[ $exe == "$work/bin/"* ]] && kill -9 "${p#/proc/}" 2>/dev/null
	done
}

passes=
end_passes() {
	local p
	for p in $passes; do kill "$p" 2>/dev/null && wait "$p" 2>/dev/null; done
}

# A cgroup for each pass, in which the suites run and may make others; only root can make it. CGTOP: ours, or empty
make_groups() {
	local top who
	CGTOP=
	for top in /sys/fs/cgroup /sys/fs/cgroup/unified; do
		[ "$(stat -f -c %T "$top")" = cgroup2fs ] || continue
		mkdir "$top/ak-it-$$" 2>/dev/null || return
		CGTOP=$top/ak-it-$$
		for who in user root; do
			echo "+memory +pids +cpu" 2>/dev/null >"$CGTOP/cgroup.subtree_control"
			mkdir -p "$CGTOP/$who/shell"
			[ "$who" = root ] || [ -z "$user" ] || chown "$user:" "$CGTOP/$who" "$CGTOP/$who/cgroup.procs" \
				"$CGTOP/$who/cgroup.subtree_control" "$CGTOP/$who/shell" "$CGTOP/$who/shell/cgroup.procs"
		done
		# belongs to the user, but lies beyond the edge of what was delegated
		mkdir "$CGTOP/user-apart"
		[ -z "$user" ] || chown "$user:" "$CGTOP/user-apart" "$CGTOP/user-apart/cgroup.procs" "$CGTOP/user-apart/cgroup.subtree_control"
		return
	done
}

# all groups of ours: what a run of ak has left in them is a fault
end_groups() {
	[ -n "$CGTOP" ] && [ -d "$CGTOP" ] || return 0
	find "$CGTOP" -mindepth 1 -type d -name 'ak-[0-9]*' -printf 'FAIL group left behind: %P\n' | tee -a "$work/broken"
	find "$CGTOP" -depth -type d -exec sh -c 'echo 1 >"$1/cgroup.kill"; sleep 0.02; rmdir "$1"' sh {} \; 2>/dev/null
}

CGTOP=
# variables that make a test longer, or repeat one: those that are set
LONG="AK_CHECKPOINT_ROUNDS AK_CHECKPOINT_SEED AK_CHECKPOINT_FILES COW_ROUNDS COW_RUNS COW_BEGIN COPY_KILLS MANY FLOOD AK_RACE_TRIES AK_SERVE_COMMANDS
	AK_SERVE_KILLS AK_SERVE_HOSTILE"
long=()
for v in $LONG; do [ -z "${!v:-}" ] || long+=("$v=${!v}"); done

cleanup() {
	end_passes
	end_leftovers
	end_groups
	[ -n "$user" ] && end_user
	if [ -n "$keep" ]; then
		echo "kept: $work"
	else
		chmod -R u+rwX "$work" 2>/dev/null
		rm -rf "$work"
	fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM

chmod 755 "$work"
mkdir -p "$work/bin" "$work/tests" "$work/user" "$work/root"
cp "$build/ak" "$work/bin/ak"
[ -x "$build/ak-policy" ] && cp "$build/ak-policy" "$work/bin/ak-policy"
cp "$build/ak-agent" "$build/ak-search" "$work/bin/"
cp "$build/integration/httpget" "$build/integration/llm_drive" "$build/integration/approve_drive" "$build/integration/shell_dump" "$work/bin/"
cp -r tests/replay "$work/replay"
[ -x "$weak/integration/httpget" ] && cp "$weak/integration/httpget" "$work/bin/httpget-weak"
[ -x "$weak/ak" ] && cp "$weak/ak" "$work/bin/ak-weak"
cp -r "$build/escape" "$work/bin/escape"
[ -d "$build/client" ] && cp -r "$build/client" "$work/bin/client"
[ -d "$build/serve" ] && cp -r "$build/serve" "$work/bin/serve"
[ -d "$weak/serve" ] && cp -r "$weak/serve" "$work/bin/serve-weak"
cp -r tests/integration/. "$work/tests/"
cp -r tests/backends "$work/tests/backends"
cp docs/backends.md "$work/tests/backends/"
cp scripts/check-boundary.sh README.md "$work/tests/"
cp -r tests/peers "$work/tests/peers"
# the tree itself may lie below /tmp, which the suites do not see, or in a closed home
mkdir "$work/src"
cp -r executor "$work/src/"
chmod -R a+rX "$work/bin" "$work/tests" "$work/src"

# get_aimock - the model server of the suite peers, from the npm registry unless AK_AIMOCK says where it is; the file state ends it
get_aimock() {
	local to=$work/aimock
	mkdir "$to"
	cp tests/peers/aimock/package.json tests/peers/aimock/package-lock.json "$to/"
	if [ -n "${AK_AIMOCK:-}" ]; then
		cp -r "$AK_AIMOCK/node_modules" "$to/"
	else
		timeout 60 npm ci --prefix "$to" --cache "$work/npm" --no-audit --no-fund --ignore-scripts --fetch-retries 0
	fi >"$to/log" 2>&1
	chmod -R a+rX "$to"
	grep -m 1 -i err "$to/log" >"$to/.state"
	mv "$to/.state" "$to/state"
}

# private CMD... - with /tmp, /var/tmp and System V objects of our own, so that what others do is not taken for a leak; $work
# stays visible. Namespaces of our own: the host's mounts are not touched. Does not return.
private() {
	# shellcheck disable=SC2016
	exec unshare -m -i --propagation private bash -c 'exec 9<"$0" && mount -t tmpfs -o mode=1777 none /tmp && mkdir "$0" &&
		mount -c --bind /proc/self/fd/9 "$0" && mount -t tmpfs -o mode=1777 none /var/tmp || exit 1
		exec 9<&-
		exec "$@"' "$work" "$@"
}

# run_as WHO SUITES PREFIX... - those suites, one process each, with a clean environment. Runs in a subshell of its own
run_as() {
	local who=$1 list=$2 home=$work/$1/home s py pid='' begun
	shift 2
	# timeout passes the signal to its whole suite
	trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; exit 143' TERM
	[ -z "$CGTOP" ] || echo "$BASHPID" >"$CGTOP/$who/shell/cgroup.procs"
	for s in $list; do
		[ -f "$work/tests/$s.sh" ] || {
			echo "FAIL $who $s no such suite" | tee -a "$work/broken"
			continue
		}
		begun=$(date +%s)
		py=$(command -v /usr/bin/python3 || command -v python3) || py=
		mkdir -p "$work/$who/$s"
		# not what is in it: suites run beside each other, and a file that is chowned counts as changed
		[ -n "$user" ] && [ "$who" = user ] && chown "$user:" "$work/user/$s"
		"$@" env -i HOME="$home" USER="${user:-$(id -un)}" PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 TERM=dumb \
			AK="$work/bin/ak" AKW="$work/bin/ak-weak" ESC="$work/bin/escape" SERVE="$work/bin/serve" SERVEW="$work/bin/serve-weak" \
			DIR="$work/$who/$s" WHO="$who" PY="$py" \
			CG="${CGTOP:+$CGTOP/$who}" RES="$work/$who/results" SUITE="$s" TESTS="$work/tests" IT="$work" SRC="$work/src" REALHOME="$HOME" \
			KILLS="${KILLS:-6}" ENDS_ROUNDS="${ENDS_ROUNDS:-}" ENDS_SEED="${ENDS_SEED:-}" ROLLBACK_ROUNDS="${ROLLBACK_ROUNDS:-}" \
			SLOW="${SLOW:-}" FULL="${FULL:-}" DOCKER_CLI="${DOCKER_CLI:-}" \
			APPROVE_LINES="${APPROVE_LINES:-100}" APPROVE_SEED="${APPROVE_SEED:-7}" "${long[@]}" \
			timeout -k 5 "${SUITE_LIMIT:-900}" bash "$work/tests/$s.sh" </dev/null &
		pid=$!
		wait "$pid" || echo "FAIL $who $s the suite itself ended with an error" | tee -a "$work/broken"
		echo "$who $s: $(($(date +%s) - begun)) s"
	done
}

# the agent's suites make few sandboxes and mostly wait: they run beside the others
sandboxes='' talks=''
for s in $suites; do
	case $s in
	agent | http | llm | ends | search | approve | peers | resume) talks="$talks $s" ;;
	*) sandboxes="$sandboxes $s" ;;
	esac
done

# pass WHO PREFIX... - run_as beside us
pass() {
	local who=$1 list
	shift
	for list in "$sandboxes" "$talks"; do
		[ -n "$list" ] || continue
		(run_as "$who" "$list" "$@") &
		passes="$passes $!"
		[ -z "$serial" ] || wait "$!"
	done
}

aimock=
case " $suites " in
*" peers "*)
	get_aimock &
	aimock=$!
	;;
esac

if [ "$(id -u)" -eq 0 ]; then
	if [ "$only" != root ]; then
		user=aktest$$
		useradd -M -d "$work/user/home" -s /bin/bash "$user" || exit 1
		mkdir -p "$work/user/home"
		chown -R "$user:" "$work/user"
		make_groups
		pass user private setpriv --reuid "$user" --regid "$user" --init-groups
	fi
	[ -n "$CGTOP" ] || make_groups
	mkdir -p "$work/root/home"
	[ "$only" = user ] || pass root private
else
	echo "note: not root, so only as $(id -un): the suites of a root caller are not run"
	mkdir -p "$work/user/home"
	pass user
fi
for p in $passes; do wait "$p"; done
passes=
[ -z "$aimock" ] || wait "$aimock"
end_groups

cat "$work"/*/results 2>/dev/null >"$work/results"
passed=$(grep -c '^PASS' "$work/results")
failed=$(grep -c '^FAIL' "$work/results")
skipped=$(grep -c '^SKIP' "$work/results")
[ -f "$work/broken" ] && failed=$((failed + $(wc -l <"$work/broken")))
if [ -n "$results" ]; then
	mkdir -p "$results"
	for w in user root; do
		[ -f "$work/$w/results" ] && cp "$work/$w/results" "$results/$w.tsv"
	done
fi
echo "$passed passed, $failed failed, $skipped skipped ($(($(date +%s) - started)) s)"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
