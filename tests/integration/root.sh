# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# What only a root caller can show: no host root inside, files come out with the owner's ids, slots and locks.
. "$TESTS/lib.sh"

if [ "$WHO" != root ]; then
	_record SKIP root "needs a root caller"
	done_suite
	exit 0
fi

# no slot is locked, but by an ak of another path, which is not ours: somebody may work on this machine
slots_free() {
	local f pid exe
	for f in /run/ak/*; do
		[ -f "$f" ] && ! flock -n "$f" true || continue
		pid=$(awk -v ino=":$(stat -c %i "$f")" '$2 == "FLOCK" && substr($6, length($6) - length(ino) + 1) == ino {print $5; exit}' /proc/locks)
		exe=$(readlink "/proc/${pid:-none}/exe")
		[ "${exe##*/}" = ak ] && [ "$exe" != "$AK" ] || return 1
	done
}

t "2:no-host-root-in-the-map"
ak -- cat /proc/self/uid_map /proc/self/gid_map
is code "$RC" 0
is "rows with host 0" "$(awk '$2 == 0' "$O")" ""
is "a range" "$(awk '$3 > 1' "$O" | wc -l)" 2

t "3:user-0-is-not-host-root"
ak --user 0 -- sh -c 'id -u; touch f; cat /proc/sys/kernel/core_pattern >/tmp/c; cat /tmp/c >/proc/sys/kernel/core_pattern; echo rc $?'
like "refused" "$(out)" 'rc [12]'
is "owner outside" "$(stat -c %u "$WS/f")" "$(stat -c %u "$WS")"

t "HOST:kernel-ids-of-processes"
"$AK" exec -C "$WS" -- sh -c 'echo up >up; sleep 55.5'"$$" >"$O" 2>"$E" </dev/null &
pid=$!
await "$WS/up"
uids=$(for p in $(alive "sleep 55.5$$"); do [ "$p" = "$pid" ] || stat -c %u "/proc/$p"; done | sort -u)
# ak itself carries the text on its command line: it must have left host root as well
ak_uid=$(stat -c %u "/proc/$pid")
caps=$(awk '/^CapEff/ {print $2}' "/proc/$pid/status")
kill -TERM $pid
wait $pid 2>/dev/null
unlike "no host root among them" "$uids" '(^|[[:space:]])0($|[[:space:]])'
ok "high ids: $uids" test "$(head -n 1 <<<"$uids")" -ge 1000
no "ak is not host root while serving ($ak_uid, $caps)" test "$ak_uid" = 0

t "USR-09:owner-of-new-files"
u=$(awk -F: '$3 >= 1000 && $3 < 60000 {print $3; exit}' /etc/passwd)
chown "${u:-1000}:${u:-1000}" "$WS"
ak -- sh -c 'id -u; echo x >f; mkdir d; echo y >d/g; ln f h; mkfifo p; ln -s f l'
is code "$RC" 0
is "all are the owner's" "$(find "$WS" ! -uid "${u:-1000}")" ""
is "group too" "$(find "$WS" ! -gid "${u:-1000}")" ""

t "USR-09:files-of-the-owner-are-writable"
chown "${u:-1000}:${u:-1000}" "$WS"
install -o "${u:-1000}" -g "${u:-1000}" -m 600 /dev/null "$WS/mine"
ak -- sh -c 'echo x >mine && cat mine && rm mine'
is output "$(out)" x

t "FS:files-of-others-are-read-only"
chown "${u:-1000}" "$WS"
install -o 12345 -g 12345 -m 644 /etc/hostname "$WS/other"
install -o 12345 -g 12345 -m 600 /etc/hostname "$WS/private"
ak -- sh -c 'cat other >/dev/null && echo read; echo x >other; cat private'
is output "$(out)" read
is "unchanged" "$(cat "$WS/other")" "$(cat /etc/hostname)"

t "FS:root-owned-workspace"
chown 0:0 "$WS"
ak -- sh -c 'echo x >f; id -u'
is code "$RC" 0
is "owner outside" "$(stat -c %u:%g "$WS/f")" 0:0
is "no bits" "$(find "$WS" -perm /6000)" ""

t "34:root-only-files-stay-closed"
mkdir -p "$DIR/closed"
install -m 600 /etc/hostname "$DIR/closed/roots"
chown 12345 "$DIR/closed"
ak --ro "$DIR/closed:/mnt/c" -- sh -c 'cat /mnt/c/roots; cat /etc/shadow; cat /etc/sudoers'
is output "$(out)" ""

t "0:core-pattern-as-every-process"
ak --user 0 -- sh -c 'for f in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/sys/vm/drop_caches /proc/sys/kernel/modprobe; do (: >>$f) 2>/dev/null && echo "OPEN $f"; done; echo end'
is output "$(out)" end

t "8:slots-of-two-sandboxes-differ"
for n in 1 2; do
	mkdir -p "$WS/$n"
	"$AK" exec -C "$WS/$n" -- sh -c 'cat /proc/self/uid_map >map; while [ ! -e stop ]; do sleep 0.05; done' >/dev/null 2>&1 </dev/null &
done
await "$WS/1/map" "$WS/2/map"
a=$(awk '{print $2}' "$WS/1/map") b=$(awk '{print $2}' "$WS/2/map")
: >"$WS/1/stop"
: >"$WS/2/stop"
wait
ok "maps are there" test -n "$a"
no "the same host ids: $a" test "$a" = "$b"

t "8:slot-locks"
ok "/run/ak" test -d /run/ak
is "owner" "$(stat -c %u /run/ak)" 0
is "nobody else writes there" "$(find /run/ak -perm /022)" ""
is "nobody else can lock" "$(find /run/ak -type f -perm /077)" ""
ak -- true
ok "no lock is held afterwards" wait_for slots_free

t "8:many-at-once"
rm -f "$DIR"/map[1-8]
for n in 1 2 3 4 5 6 7 8; do "$AK" exec -C "$WS" -- sh -c 'cat /proc/self/uid_map; while [ ! -e stop ]; do sleep 0.1; done' >"$DIR/map$n" 2>>"$E" </dev/null & done
await "$DIR"/map1 "$DIR"/map2 "$DIR"/map3 "$DIR"/map4 "$DIR"/map5 "$DIR"/map6 "$DIR"/map7 "$DIR"/map8
: >"$WS/stop"
wait
is "distinct" "$(cat "$DIR"/map[1-8] | awk '{print $2}' | sort -u | wc -l)" 8

t "88:pools-of-the-kernel-are-not-shared"
if [ -z "$PY" ]; then skip "no python3"; else
	"$AK" exec -C "$WS" -- /usr/bin/python3 -c 'import ctypes,time,os
c=ctypes.CDLL(None); n=0
while c.inotify_init1(0) >= 0: n+=1
open("full","w").write(str(n))
while not os.path.exists("stop"): time.sleep(0.05)' >"$O" 2>"$E" </dev/null &
	pid=$!
	await "$WS/full"
	mkdir -p "$DIR/ws2"
	run "$AK" exec -C "$DIR/ws2" -- /usr/bin/python3 -c 'import ctypes
print(ctypes.CDLL(None).inotify_init1(0) >= 0)'
	is "second sandbox" "$(out)" True
	: >"$WS/stop"
	wait $pid
fi

t "IDENTITY:idmap-refused-file-system"
# a file system without idmapped mounts: proc, through a bind, in a mount namespace of its own
run unshare -m sh -c 'exec "$@"' x "$AK" exec -C /proc/self/net -- touch MARK
like code "$RC" '^125$'
like text "$(err)" "^ak: "

t "IDENTITY:root-is-reported"
ak --json --identity root -- sh -c 'cat /proc/self/uid_map'
is code "$RC" 0
is "identity" "$(js 'd["isolation"]["identity"]')" root
unlike "warnings" "$(js 'd["warnings"]')" '^\[\]$'

t "10+11:ak-holds-no-host-privilege"
"$AK" exec -C "$WS" -- sh -c 'echo up >up; sleep 60' >/dev/null 2>&1 </dev/null &
pid=$!
await "$WS/up"
is "in a user namespace of its own" "$([ "$(readlink /proc/$pid/ns/user)" != "$(readlink /proc/self/ns/user)" ] && echo yes)" yes
no "not host root" test "$(stat -c %u /proc/$pid)" = 0
is "no host root in its map" "$(awk '$2 == 0' /proc/$pid/uid_map)" ""
is "no_new_privs" "$(awk '/^NoNewPrivs/ {print $2}' /proc/$pid/status)" 1
is "groups" "$(awk '/^Groups/ {print NF}' /proc/$pid/status)" 1
kill -TERM $pid
wait $pid 2>/dev/null

t "10:rss"
"$AK" exec -C "$WS" -- sh -c 'echo up >up; sleep 60' >/dev/null 2>&1 </dev/null &
pid=$!
await "$WS/up"
rss=$(awk '/^VmRSS/ {print $2}' /proc/$pid/status)
kill -TERM $pid
wait $pid 2>/dev/null
ok "RSS of ak $rss kB" test "$rss" -le 3072

t "16:killed-executor-frees-the-slot"
"$AK" exec -C "$WS" -- sh -c 'echo up >up; sleep 60' >/dev/null 2>&1 </dev/null &
pid=$!
await "$WS/up"
{
	kill -KILL $pid
	wait $pid
} 2>/dev/null
ok "no lock is held afterwards" wait_for slots_free

t "PKG-05:tar-with-foreign-owners"
mkdir "$DIR/t" && echo x >"$DIR/t/f"
tar -C "$DIR" --owner=1234 --group=1234 -cf "$WS/a.tar" t
ak -- tar xf a.tar
is code "$RC" 0
rm -rf "$DIR/t"
done_suite
