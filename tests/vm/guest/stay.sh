# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Cgroups of sandboxes that stay: one for the sandbox, one for each command, so that a command can be out of memory alone.
# shellcheck source=tests/vm/guest/lib.sh
. /job/lib.sh

in_box() { run "$AK" exec --in box --json "$@"; }

# the machine runs it for an ordinary user only; for root by hand, who keeps host root: an executor that gives it up makes no groups
KEEP=()
[ "$WHO" != root ] || KEEP=(--identity root)

W=$DIR/stays # t makes a new one of WS for each test
mkdir "$W"
t "STAY:create"
run "$AK" create -C "$W" -m 64m --pids 40 --cpus 1 ${KEEP[@]+"${KEEP[@]}"} box
is "exit code" "$RC" 0
box=$(groups | head -n 1)
is "memory.max" "$(cat "$box/memory.max")" 67108864
is "memory.oom.group of the sandbox" "$(cat "$box/memory.oom.group")" 0
is "cpu.max" "$(cat "$box/cpu.max")" "100000 100000"
is "processes of the sandbox's own group" "$(cat "$box/cgroup.procs")" ""
ok "init is in a group of its own" test -n "$(cat "$box/init/cgroup.procs")"
is "memory.oom.group of a command" "$(cat "$box/c1/memory.oom.group")" 1
is "memory.oom.group of init" "$(cat "$box/init/memory.oom.group")" 0

t "STAY:out-of-memory-alone"
in_box -c 'cd /tmp; export A=1'
is "exit code" "$RC" 0
in_box -c "$T mem 1g; touch survived; sleep 1"
is "exit code" "$RC" 137
is "status" "$(js status)" oom_killed
is "memory.hit" "$(js limits memory hit)" true
is "memory.enforced_by" "$(js limits memory enforced_by)" cgroup
is "cpus.enforced_by" "$(js limits cpus enforced_by)" cgroup
no "the shell went on" test -e "$W/survived"

t "STAY:the-session-lives"
# shellcheck disable=SC2016 # the shell inside expands it
in_box -c 'echo $A; pwd; cat /proc/self/cgroup'
is "exit code" "$RC" 0
like "what was kept, and the group as it is seen" "$(js stdout)" '^1\\n/tmp\\n0::/c[0-9]+\\n$'

t "STAY:usage-is-the-commands-own"
in_box -- "$T" mem 8m 1
is "status" "$(js status)" exited
is "memory.hit" "$(js limits memory hit)" false
between "peak" "$(js usage memory_peak_bytes)" 8000000 40000000

t "STAY:groups-of-ended-commands-go"
ok "few are left" test "$(find "$box" -mindepth 1 -type d | wc -l)" -le 7

t "STAY:killed-executor-leaves-nothing-for-long"
kill -9 "$("$AK" ls --json | tr '{,' '\n' | sed -n 's/^ *"pid": *//p' | head -n 1)"
run "$AK" create -C "$W" -m 32m ${KEEP[@]+"${KEEP[@]}"} box
is "exit code" "$RC" 0
no "the old group" test -e "$box"

t "STAY:rm"
run "$AK" rm box
is "exit code" "$RC" 0
wait_for no_groups || nok "left: $(groups | head -n 3)"
end_suite
