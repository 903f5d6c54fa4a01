#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clean-room.sh [root|user]...: runs scripts/try and scripts/test from a fresh clone in a fresh, minimal Debian 12, as root
# and as an ordinary user with sudo, and prints how long each took. The room is a folder that is entered with mount and pid
# namespaces of its own and pivot_root (a chroot would not do: the kernel refuses user namespaces there). Nothing is mounted
# on the host. Needs root and debootstrap; mirror, proxies and certificates are the host's own.
#
# AK_VM_DIR  where the minimal system is kept for the next time (default /var/tmp/ak-clean-room)
# AK_KEEP    not empty: leave the used room behind and say where
set -euo pipefail

top=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
store=${AK_VM_DIR:-/var/tmp/ak-clean-room}
base=$store/base
suite=bookworm

# the first mirror in the host's own package sources
mirror() {
	local f uri
	for f in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
		[ -f "$f" ] || continue
		uri=$(grep -v '^#' "$f" | grep -oE 'https?://[^ ]+' | head -n 1)
		[ -n "$uri" ] && echo "$uri" && return
	done
	echo "clean-room: no Debian mirror in the host's package sources" >&2
	return 1
}

make_base() {
	local from
	[ ! -d "$base/etc/apt" ] || return 0
	from=$(mirror)
	echo "== minimal system into $base"
	rm -rf "$base.part"
	mkdir -p "$base.part"
	debootstrap --variant=minbase "$suite" "$base.part" "$from" >"$store/debootstrap.log" 2>&1 || {
		tail -n 5 "$store/debootstrap.log" >&2
		return 1
	}
	mv "$base.part" "$base"
}

# how packages reach this machine: sources, apt's transport settings, certificates, name service
copy_host_setup() { # ROOM
	local f
	rm -f "$1"/etc/apt/sources.list
	for f in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; do
		[ ! -f "$f" ] || cp "$f" "$1$f"
	done
	for f in /etc/apt/apt.conf.d/*; do
		# settings only: hooks would call programs that the room does not have
		if grep -qE 'Acquire|Proxy' "$f" && ! grep -qE 'Invoke|Post-' "$f"; then
			cp "$f" "$1$f"
		fi
	done
	mkdir -p "$1/etc/ssl/certs"
	[ ! -f /etc/ssl/certs/ca-certificates.crt ] || cp /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"
	cat /etc/resolv.conf >"$1/etc/resolv.conf"
	cat /etc/hosts >"$1/etc/hosts"
}

fresh_clone() { # TARGET
	if git -C "$top" rev-parse -q --verify HEAD >/dev/null 2>&1 && [ -z "${AK_WORKTREE:-}" ]; then
		git clone -q --no-hardlinks "$top" "$1"
	else
		echo "(a copy of the work tree: nothing is committed, or AK_WORKTREE is set)"
		mkdir -p "$1"
		tar -C "$top" --exclude=./build --exclude=./.git -cf - . | tar -C "$1" --no-same-owner -xf -
	fi
}

# Runs as pid 1 of the room's pid namespace, before pivot_root; the rest of the file's functions are not known here.
# shellcheck disable=SC2016  # expanded by that shell
enter='
set -eu
mount --bind "$ROOM" "$ROOM"
cd "$ROOM"
mount -t proc proc proc
mount -t tmpfs -o mode=755 dev dev
for n in null zero full random urandom tty; do : >dev/$n; mount --bind /dev/$n dev/$n; done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
mount -t tmpfs shm dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for n in 0:stdin 1:stdout 2:stderr; do ln -s /proc/self/fd/${n%%:*} dev/${n#*:}; done
mount -t tmpfs -o mode=755 run run
mkdir -p oldroot
pivot_root . oldroot
cd /
umount -l /oldroot
rmdir /oldroot
exec "$@"
'

in_room() { # COMMAND...
	local keep=() name
	for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY SSL_CERT_FILE; do
		[ -z "${!name:-}" ] || keep+=("$name=${!name}")
	done
	env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb ROOM="$room" \
		"${keep[@]}" unshare --mount --propagation private --pid --fork --kill-child bash -c "$enter" enter "$@"
}

timed() { # NAME COMMAND...
	local name=$1 start end rc=0
	shift
	echo "== $name"
	start=$(date +%s)
	"$@" || rc=$?
	end=$(date +%s)
	summary+=("$(printf '%-28s exit %d  %4d s' "$name" "$rc" "$((end - start))")")
	[ "$rc" -eq 0 ] || failed=1
}

visit() { # root|user
	room=$(mktemp -d "$store/room-$1-XXXXXX")
	cp -a "$base/." "$room/"
	chmod 755 "$room"
	copy_host_setup "$room"
	if [ "$1" = root ]; then
		fresh_clone "$room/root/src"
		timed "root: scripts/try" in_room /root/src/scripts/try
		timed "root: scripts/test" in_room /root/src/scripts/test
	else
		mkdir -p "$room/home"
		in_room bash -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends sudo >/dev/null &&
			useradd -m -s /bin/bash dev && echo "dev ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/dev'
		fresh_clone "$room/home/dev/src"
		in_room chown -R dev:dev /home/dev/src
		timed "user: scripts/try" in_room setpriv --reuid dev --regid dev --init-groups env HOME=/home/dev USER=dev \
			/home/dev/src/scripts/try
		timed "user: scripts/test" in_room setpriv --reuid dev --regid dev --init-groups env HOME=/home/dev USER=dev \
			/home/dev/src/scripts/test
	fi
	if [ -n "${AK_KEEP:-}" ]; then
		echo "kept: $room"
	else
		rm -rf --one-file-system "$room"
	fi
}

[ "$(id -u)" -eq 0 ] || {
	echo "clean-room: needs root" >&2
	exit 1
}
command -v debootstrap >/dev/null || {
	echo "clean-room: needs debootstrap" >&2
	exit 1
}
mkdir -p "$store"
chmod 755 "$store"
make_base
summary=()
failed=0
[ $# -gt 0 ] || set -- root user
for who; do
	visit "$who"
done
echo "== times"
printf '%s\n' "${summary[@]}"
exit "$failed"
