# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2016 # expanded inside
# `ak exec` on Debian's kernel 6.1, rootless and as root: ids, filters, an idmapped workspace on a disk, ends, refusals.
# shellcheck source=tests/vm/guest/lib.sh
. /job/lib.sh
user() { run "$AS_USER" akother env -C /tmp/vw "$AK" "$@"; }
mkdir -p /home/akother/w /tmp/vw
chown 1234:1234 /home/akother/w
chmod 755 /home/akother
chown akother: /tmp/vw

t "smoke:rootless"
user exec -- id -u
is "id" "$(out)" "$(id -u akother)"
user exec -- sh -c 'exit 42'
is "exit code" "$RC" 42
user exec -- grep -c 'Cap.*0000000000000000' /proc/self/status
is "capabilities" "$(out)" 5
user exec -- sh -c 'grep Seccomp_filters /proc/self/status | tr -dc 0-9'
is "filters" "$(out)" 2

t "smoke:as-root"
cd /home/akother/w || exit 1
run "$AK" exec -- id -u
is "id" "$(out)" 1000
run "$AK" exec -- awk '{ print ($2 > 0) }' /proc/self/uid_map
is "host uid 0 is not mapped" "$(out)" 1

t "smoke:owners-on-disk"
run "$AK" exec -- touch f
is "owner" "$(stat -c %u f)" 1234
run "$AK" exec -- chmod 4755 f
is "no set-user-id bit" "$(stat -c %a f)" 644

t "smoke:core-pattern"
run "$AK" exec -- sh -c ': >/proc/sys/kernel/core_pattern'
is "exit code" "$RC" 2

t "smoke:ends"
run "$AK" exec --timeout 1 -- sleep 9
is "timeout" "$RC" 124
for _ in 1 2 3; do
	"$AK" exec -q -- "$T" forks 1 20 &
	sleep 0.3
	kill -9 $!
	wait $!
done 2>/dev/null
wait_for no_procs || nok "$(procs) processes are left after SIGKILL"
run "$AK" exec -- true
is "next run" "$RC" 0

t "smoke:tmpfs-cannot-be-idmapped-on-6.1"
cd /tmp/vw || exit 1
run "$AK" exec -- true
is "exit code" "$RC" 125
like "the ways out are named" "$(err)" "--identity root"
run "$AK" exec --identity root -- id -u
is "identity root" "$(out)" 0

t "smoke:doctor"
user doctor
is "exit code" "$RC" 0

t "smoke:landlock"
user exec --json -- true
is "ABI" "$(js isolation landlock_abi)" 2

# ABI 2: neither truncation nor TCP nor signals; the filters have to do what it does not
t "smoke:without-namespaces"
mkdir -p /home/akother/out /home/akother/ro
echo keep | tee /home/akother/out/f /home/akother/ro/f >/dev/null
chown -R akother: /home/akother/out /home/akother/ro
cp /job/plain /tmp/vw/.plain
user exec --isolation landlock --ro /home/akother/ro -- ./.plain outside=/home/akother/out ro=/home/akother/ro abi=2
like "attempts" "$(out)" "BLOCKED USR:outside_truncate"
is "what got through" "$(grep -E '^(OPEN|BROKEN)' "$O" | tr '\n' ' ')" ""
is "files" "$(cat /home/akother/out/f /home/akother/ro/f | tr '\n' ' ') $(ls /home/akother/out /home/akother/ro | tr '\n' ' ')" \
	"keep keep  /home/akother/out: f  /home/akother/ro: f "
user exec --isolation landlock --json -- sh -c 'echo in >made; echo bad >/home/akother/out/f'
is "ABI" "$(js isolation landlock_abi)" 2
is "network" "$(js isolation network)" none
like "namespaces" "$(out)" '"namespaces":\[\]'
like "signals are said to pass" "$(out)" "ABI 2 has no scopes"
is "written in the workspace" "$(cat /tmp/vw/made)" in
is "and nowhere else" "$(cat /home/akother/out/f)" keep

t "smoke:nesting"
user exec --nesting --json -- unshare -Urmpf --mount-proc id -u
like "root inside" "$(js stdout)" "^0"
like "no Landlock at all is left" "$(js isolation landlock_abi)" '^(null|)$'
end_suite
