#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `ak exec` on Debian's kernel 6.1, in an emulated machine: rootless and as root, idmapped workspace, pty, kill, refusal.
# Usage: tests/vm/setup (once), then tests/vm/smoke.sh [AK]. Prints "N passed, N failed". About half a minute.
set -u
cd "$(dirname "$0")/../.." || exit 1
ak=${1:-build/release/ak}
share=$(mktemp -d /tmp/ak-vm.XXXXXX)	# the guest sees the host's /tmp as /hosttmp
trap 'rm -rf "$share"' EXIT
chmod 755 "$share"
cp "$ak" "$share/ak"
cat >"$share/inside.sh" <<'X'
p=0 f=0
is() { if [ "$2" = "$3" ]; then p=$((p + 1)); else f=$((f + 1)); echo "FAIL $1: got \"$2\", wanted \"$3\""; fi; }
cp "$1" /tmp/ak && chmod 755 /tmp/ak
modprobe loop; modprobe ext4
truncate -s 64M /tmp/img && mke2fs -q -t ext4 /tmp/img && mkdir -p /tmp/m && mount -t ext4 "$(losetup -f --show /tmp/img)" /tmp/m
mkdir /tmp/m/w /tmp/vw && chown 1234:1234 /tmp/m/w && chown 1235:1235 /tmp/vw
user() { (cd /tmp/vw && setpriv --reuid 1235 --regid 1235 --clear-groups env -i HOME=/tmp PATH=/usr/bin:/bin /tmp/ak "$@"); }
is "rootless id" "$(user exec -- id -u)" 1235
user exec -- sh -c 'exit 42'; is "rootless exit code" $? 42
is "rootless capabilities" "$(user exec -- grep -c 'Cap.*0000000000000000' /proc/self/status)" 5
is "rootless filters" "$(user exec -- sh -c 'grep Seccomp_filters /proc/self/status | tr -dc 0-9')" 2
cd /tmp/m/w
is "root's sandbox id" "$(/tmp/ak exec -- id -u)" 1000
is "host uid 0 is not mapped" "$(/tmp/ak exec -- awk '{print ($2 > 0)}' /proc/self/uid_map)" 1
/tmp/ak exec -- touch f; is "owner on disk" "$(stat -c %u f)" 1234
/tmp/ak exec -- chmod 4755 f 2>/dev/null; is "no set-user-id bit" "$(stat -c %a f)" 644
/tmp/ak exec -- sh -c ': >/proc/sys/kernel/core_pattern' 2>/dev/null; is "core_pattern" $? 2
/tmp/ak exec --timeout 1 -- sleep 9 2>/dev/null; is "timeout" $? 124
for _ in 1 2 3; do /tmp/ak exec -- sleep 987 & sleep 0.3; kill -9 $!; done 2>/dev/null; sleep 2
is "nothing is left after SIGKILL" "$(pgrep -fc 'sleep 987')" 0
cd /tmp/vw
/tmp/ak exec -- true 2>/tmp/err; is "tmpfs cannot be idmapped on 6.1" $? 125
is "the ways out are named" "$(grep -c -- '--identity root' /tmp/err)" 1
is "identity root" "$(/tmp/ak exec --identity root -- id -u)" 0
user doctor >/dev/null; is "doctor" $? 0
is "Landlock is ABI 2 here" "$(user exec --json -- true | grep -o '"landlock_abi":[0-9]*')" '"landlock_abi":2'
echo "$p passed, $f failed"
[ "$f" -eq 0 ]
X
tests/vm/run -t 250 -- "bash /hosttmp/$(basename "$share")/inside.sh /hosttmp/$(basename "$share")/ak 2>&1"
