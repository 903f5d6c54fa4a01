# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# `ak exec` where systemd owns the tree of groups: through the user manager of a session, without one, with controllers missing,
# and as root in a service. Runs as root and becomes aktest by logging in.
# shellcheck source=tests/vm/guest/lib.sh
. /job/lib.sh
WS0=/home/aktest/sd
install -d -o aktest -g aktest "$WS0"
install -d -o akother -g akother /home/akother/w

# login USER TEXT - a session of that user; its own output in $O
login() {
	run su - "$1" -c "cd ~/; $2"
}
scopes() {
	su - aktest -c 'systemctl --user --no-legend --plain list-units --all "ak*"' 2>/dev/null
}

t "systemd:session-enforces"
login aktest "exec $AK exec -C $WS0 --json -m 64m -- $T mem 1g"
is "exit code" "$RC" 137
is "status" "$(js status)" oom_killed
is "enforced_by" "$(js limits memory enforced_by)" cgroup
is "warnings" "$(js warnings)" "[]"
login aktest "exec $AK exec -C $WS0 --json -m 64m --pids 30 -- $T forks 60"
is "exit code" "$RC" 0
is "pids.hit" "$(js limits pids hit)" true
login aktest "exec $AK exec -C $WS0 -m 64m -- true"
is "stderr" "$(err)" ""

t "systemd:the-group-is-below-the-user-manager"
back su - aktest -c "exec $AK exec -C $WS0 -q -m 64m -- sleep 5"
wait_for some_group
like "place" "$(groups)" "user@$(id -u aktest)\.service/"
front
is "exit code" "$RC" 0
no_groups || nok "left: $(groups)"

t "systemd:no-unit-is-left"
is "units" "$(scopes)" ""

t "systemd:lingering-user-without-a-login"
# the manager runs, the caller is in no session: a cron job, a service
run "$AS_USER" aktest env XDG_RUNTIME_DIR="/run/user/$(id -u aktest)" "$AK" exec -C "$WS0" --json -m 64m -- "$T" mem 300m
is "status" "$(js status)" oom_killed
is "enforced_by" "$(js limits memory enforced_by)" cgroup

t "systemd:no-session-gets-the-advice"
run "$AS_USER" akother "$AK" exec -C /home/akother/w --cpus 0.5 -- touch MARK
is "exit code" "$RC" 125
like "cause" "$(err)" "^ak: "
like "advice" "$(err)" "systemd-run|linger|machinectl|log in"
no "the command was run" test -e /home/akother/w/MARK
run "$AS_USER" akother "$AK" exec -C /home/akother/w --json -m 64m -- "$T" mem 300m 5
if [ "$RC" != 125 ]; then
	is "the watcher keeps it" "$(js limits memory enforced_by)" ak
	is "status" "$(js status)" oom_killed
fi
run "$AS_USER" akother "$AK" exec -C /home/akother/w --verbose -- true
is "defaults go on" "$RC" 0
like "and say so" "$(err)" "ak: warning: .*cgroup"

t "CG-03:no-cpu-in-the-user-session"
mkdir -p /etc/systemd/system/user@.service.d
printf '[Service]\nDelegate=\nDelegate=pids memory\n' >/etc/systemd/system/user@.service.d/few.conf
systemctl daemon-reload
login akother "grep . /sys/fs/cgroup/user.slice/user-\$(id -u).slice/user@\$(id -u).service/cgroup.controllers"
unlike "test is set up" "$(out)" cpu
login akother "exec $AK exec -C w --cpus 0.5 -- touch MARK"
is "exit code" "$RC" 125
like "the controller is named" "$(err)" "cpu"
no "the command was run" test -e /home/akother/w/MARK
login akother "exec $AK exec -C w --json -m 64m -- $T mem 300m"
is "memory is enforced" "$(js limits memory enforced_by)" cgroup
is "status" "$(js status)" oom_killed
is "cpus are not" "$(js limits cpus enforced_by)" none
like "and it says so" "$(js warnings)" cpu
rm /etc/systemd/system/user@.service.d/few.conf
systemctl daemon-reload

t "systemd:scope-with-delegation"
login aktest "exec systemd-run -q --user --scope -p Delegate=yes $AK exec -C $WS0 --json -m 64m -- $T mem 300m"
is "status" "$(js status)" oom_killed
is "enforced_by" "$(js limits memory enforced_by)" cgroup

t "systemd:root-in-a-service"
run "$AK" exec -C "$WS0" --json -m 64m -- "$T" mem 300m
is "status" "$(js status)" oom_killed
is "enforced_by" "$(js limits memory enforced_by)" cgroup
is "exit code" "$RC" 137

t "systemd:root-logged-in"
run su - root -c "exec $AK exec -C $WS0 --json -m 64m -- $T mem 300m"
is "status" "$(js status)" oom_killed
is "enforced_by" "$(js limits memory enforced_by)" cgroup

t "systemd:doctor"
login aktest "exec $AK doctor"
like "session" "$(tr -s ' \n' ' ' <"$O")" "gives a scope with the controllers [^;]*memory"
run "$AS_USER" akother "$AK" doctor
unlike "no session" "$(grep -A 3 ' cgroup ' "$O")" "^ok +cgroup"
like "no session" "$(grep -A 5 ' cgroup ' "$O" | tr -s ' \n' ' ')" "systemd-run|enable-linger"

t "systemd:nothing-is-left"
nothing_left
end_suite
