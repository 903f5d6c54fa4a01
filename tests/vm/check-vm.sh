#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check-vm.sh [-k] [-b BUILD] [-w WEAKBUILD] [plain|systemd [SUITE...]]: limits, and what must not be tried on a machine that
# is needed, in an emulated machine with Debian's kernel 6.1 and a real cgroup v2 tree (docs/testing.md, "The VM"). Sets the
# machine up, starts it without an init system and beside that with systemd, and counts what their suites print. A machine that does not
# start, or a suite that stops before its end, is a failure. Builds nothing: wants `make all weak escape vmtool` first. Needs root for setup.
#
# AK_VM_DIR    where the machine is kept (default ~/.cache/ak-vm)
# AK_VM_BOMBS  fork bombs in a row (default 20); AK_VM_PARALLEL  sandboxes side by side (default 12)
set -u
cd "$(dirname "$0")/../.." || exit 1
build=build/release weak=build/weak keep=''
while getopts b:w:k opt; do
	case $opt in
	b) build=$OPTARG ;;
	w) weak=$OPTARG ;;
	k) keep=1 ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
machines=${1:-plain systemd}
shift
suites=$*
begun=$SECONDS
started=()
work=$(mktemp -d "${TMPDIR:-/tmp}/ak-vm-XXXXXX") || exit 1
cleanup() {
	if [ -n "$keep" ]; then echo "kept: $work"; else rm -rf "$work"; fi
}
trap cleanup EXIT
trap 'kill "${started[@]}" 2>/dev/null; exit 130' INT TERM

fail() {
	echo "check-vm: $*" >&2
	echo "0 passed, 1 failed"
	exit 1
}

for f in "$build/ak" "$weak/ak" "$build/escape/plain" build/vm/vmtool; do
	[ -x "$f" ] || fail "$f is missing: run make all weak escape vmtool first"
done
tests/vm/setup || fail "the machine cannot be set up"
mkdir "$work/job"
cp tests/vm/guest/*.sh "$work/job/"
cp tests/integration/lib.sh "$work/job/integration-lib.sh"
cp "$build/ak" "$build/escape/plain" build/vm/vmtool "$work/job/"
cp "$weak/ak" "$work/job/ak-weak"
# the variables reach the suites as a prefix of the job, so that nothing else of this environment does
prefix="export SUITES='$suites' BOMBS='${AK_VM_BOMBS:-20}' PARALLEL='${AK_VM_PARALLEL:-12}'"

# the suites each machine must end; a name that is given on the command line must be one of them
expected() { # MACHINE
	local all s
	case $1 in
	plain) all="root/smoke root/limits delegated/limits root/places delegated/places delegated/stay root/host root/machine" ;;
	systemd) all="systemd/systemd session/limits systemd/machine" ;;
	esac
	for s in $all; do
		case " ${suites:-${s#*/}} machine " in *" ${s#*/} "*) echo "$s" ;; esac
	done
}

# start MACHINE - one processor each, so that the emulator never has two of one machine wait for each other, and side by side they
# use two of the host. A machine that gave no result has stood still: it is started again, once, and what it said is shown.
start() {
	local m=$1 options=() rc=0 try from pid=''
	trap '[ -z "$pid" ] || kill "$pid"; exit 143' TERM
	[ "$m" = plain ] || options=(--systemd)
	for try in 1 2; do
		from=$SECONDS
		tests/vm/run "${options[@]}" -c 1 -j "$work/job" -t "${AK_VM_LIMIT:-900}" -s 240 -- \
			"$prefix; $(cat "tests/vm/guest/$m.job")" >"$work/$m" 2>&1 &
		pid=$!
		rc=0
		wait "$pid" || rc=$?
		echo "machine $m: $((SECONDS - from)) s"
		if [ "$rc" -ne 125 ] || [ "$try" = 2 ]; then break; fi
		echo "machine $m: no result, started again; it had said:"
		tail -n 40 "$work/$m"
	done
	[ "$rc" -eq 0 ] || echo "not ok machine $m: exit $rc" >>"$work/$m"
}

for m in $machines; do
	case $m in
	plain | systemd) ;;
	*) fail "no such machine: $m" ;;
	esac
done
for m in $machines; do
	start "$m" &
	started+=($!)
done
wait "${started[@]}"
for m in $machines; do
	for s in $(expected "$m"); do
		grep -q "^end ${s%/*} ${s#*/} " "$work/$m" || echo "not ok $s stopped before its end" >>"$work/$m"
	done
	if [ -n "${AK_VM_VERBOSE:-}" ]; then cat "$work/$m"; else grep -v '^ok ' "$work/$m"; fi
done
passed=$(cat "$work"/plain "$work"/systemd 2>/dev/null | grep -c '^ok ')
failed=$(cat "$work"/plain "$work"/systemd 2>/dev/null | grep -c '^not ok ')
skipped=$(cat "$work"/plain "$work"/systemd 2>/dev/null | grep -c '^skip ')
echo "$passed passed, $failed failed, $skipped skipped ($((SECONDS - begun)) s)"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
