# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the suites inside the test machine share, on top of tests/integration/lib.sh. Sourced. From the job: WHO and SUITE.
# Results are lines on the console ("ok NAME", "not ok NAME: WHY", "skip NAME: WHY") that tests/vm/check-vm.sh counts.

# on the disk: a tmpfs cannot be the workspace of root's sandboxes here (no idmapped tmpfs before 6.3)
DIR=$(mktemp -d "/home/tests/$SUITE.XXXXXX")
RES=/dev/null
AK=/opt/ak/ak
AKW=/opt/ak/ak-weak
T=/opt/ak/vmtool # visible in every sandbox: /opt is shown
# shellcheck disable=SC2034 # used by the suites
AS_USER=/opt/ak/as-user # NAME CMD...: an ordinary user without a session
LIMIT=90         # emulation is slow
CG=/sys/fs/cgroup
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
unset AK_CGROUP
# shellcheck source=tests/integration/lib.sh
. /job/integration-lib.sh

_record() { # KIND NAME DETAIL
	local took=$((SECONDS - ${LAST:-0}))
	LAST=$SECONDS
	case $1 in
	PASS) echo "ok $WHO $SUITE/$2 ($took s)" ;;
	SKIP) echo "skip $WHO $SUITE/$2: $3" ;;
	*) echo "not ok $WHO $SUITE/$2: $3" ;;
	esac
}

# js KEY... - a value of the JSON document on the last run's stdout
js() {
	"$T" js "$O" "$@"
}

# back CMD... - run beside us; front waits for it and takes its exit code
back() {
	(run "$@" && exit "$RC") &
	BACK=$!
}

front() {
	RC=0
	wait "$BACK" || RC=$?
}

# between TEXT NUMBER LOW HIGH (whole numbers)
between() {
	[[ $2 =~ ^[0-9]+$ && $2 -ge $3 && $2 -le $4 ]] || nok "$1: $2 is not between $3 and $4; stderr: $(_short "$(err)")"
}

# groups of ours anywhere in the tree
groups() {
	find "$CG" -type d -name 'ak-*' 2>/dev/null
}

no_groups() {
	[ -z "$(groups)" ]
}

some_group() {
	[ -n "$(groups)" ]
}

# procs - how many processes of the tool there are
procs() {
	local n=0 p c
	for p in /proc/[0-9]*/comm; do
		read -r c <"$p" && [ "$c" = vmtool ] && n=$((n + 1))
	done 2>/dev/null
	echo "$n"
}

no_procs() {
	[ "$(procs)" = 0 ]
}

# nothing_left - no process and no group, now or soon: what a killed run leaves ends by itself
nothing_left() {
	wait_for no_procs || nok "$(procs) processes are left"
	wait_for no_groups || nok "left: $(groups | head -n 3 | tr '\n' ' ')"
}

end_suite() {
	_close
	echo "end $WHO $SUITE $SECONDS"
}
