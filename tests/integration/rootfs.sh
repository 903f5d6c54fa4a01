# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# `--rootfs DIR`: small and hostile root file systems, made of static programs only.
. "$TESTS/lib.sh"

R=$DIR/r

# fresh_root - a root file system with one static program
fresh_root() {
	chmod -R u+rwX "$R" 2>/dev/null
	rm -rf "$R"
	mkdir -p "$R/bin" "$R/etc" "$R/tmp" "$R/proc" "$R/dev" "$R/sys" "$R/usr" "$R/var" "$R/opt"
	cp "$ESC"/{identity,calls,proc,dev,fs,ns,fds,setid,env} "$R/bin/"
}

# rooted PROGRAM ARG... - every claim of a program inside $R
rooted() {
	local prog=$1
	shift
	run "$AK" exec -C "$WS" --rootfs "$R" -- "/bin/$prog" "$@"
}

fresh_root
t "PKG-09:one-static-program"
rooted identity
is code "$RC" 0
like ran "$(out)" "BLOCKED 5:CapEff"

t "PKG-09:no-shell"
ak --rootfs "$R" -c 'echo x'
is code "$RC" 127
like text "$(err)" "^ak: .*sh"

t "35+74:rootfs-read-only"
ak --rootfs "$R" -- /bin/fs
no "root not writable: $(grep -E 'OPEN (35|36):' "$O")" grep -qE '^OPEN (35:(create_in_root|mkdir_in_root|readonly_/ )|36)' "$O"
no "left" test -e "$R/ak-test"

t "53+64:filter-in-rootfs"
rooted calls
no "open: $(grep -E '^OPEN' "$O")" grep -qE '^(OPEN|BROKEN)' "$O"
is code "$RC" 0

t "14+39:proc-in-rootfs"
rooted proc
no "open: $(grep -E '^OPEN (14|39|40)' "$O")" grep -qE '^(OPEN|BROKEN) (14|39|40)' "$O"

t "41:dev-in-rootfs"
rooted dev
no "open: $(grep -E '^OPEN' "$O")" grep -qE '^(OPEN|BROKEN)' "$O"

t "FS:workspace-in-rootfs"
ak --rootfs "$R" -- /bin/fds
is code "$RC" 0
ok "nothing made in the rootfs" test ! -e "$R$WS"

t "FS:rootfs-unchanged-without-mount-points"
fresh_root
rm -rf "$R/tmp" "$R/proc" "${R:?}/dev" "$R/sys"
before=$(cd "$R" && find . | sort)
rooted identity
is code "$RC" 0
is "no stubs" "$(cd "$R" && find . | sort)" "$before"

t "FS:rootfs-write-tmp"
fresh_root
cp "$ESC/hostside" "$R/bin/"
ak --rootfs "$R" --rootfs-write tmp -- /bin/fs
ok "root is writable: $(grep create_in_root "$O")" grep -q '^OPEN 35:create_in_root' "$O"
no "the host below it: $(grep 'OPEN 33' "$O")" grep -qE '^OPEN (33|34|36)' "$O"
no "gone at the end" test -e "$R/ak-test"

t "MNT-06+37:proc-is-a-link"
fresh_root
rmdir "$R/proc"
mkdir "$WS/p"
ln -s "$WS/p" "$R/proc"
rooted proc
[ "$RC" = 125 ] || no "open: $(grep -E '^OPEN (14|39)' "$O")" grep -qE '^(OPEN|BROKEN) (13|14|39)' "$O"
is "nothing in the workspace" "$(ls -A "$WS/p")" ""

t "MNT-06+37:proc-is-a-link-to-etc"
fresh_root
rmdir "$R/proc"
ln -s /etc "$R/proc"
rooted proc
[ "$RC" = 125 ] || no "open: $(grep -E '^OPEN (14|39)' "$O")" grep -qE '^(OPEN|BROKEN) (13|14|39)' "$O"

t "MNT-08+38:dev-null-is-a-link"
fresh_root
ln -s /proc/sys/kernel/core_pattern "$R/dev/null"
rooted proc
no "open: $(grep -E '^OPEN 39' "$O")" grep -qE '^(OPEN|BROKEN) (14|39)' "$O"
rooted dev
no "devices: $(grep -E '^OPEN' "$O")" grep -qE '^(OPEN|BROKEN)' "$O"

t "37:dev-is-a-link"
fresh_root
rmdir "$R/dev"
ln -s /proc/sys "$R/dev"
rooted dev
[ "$RC" = 125 ] || no "devices: $(grep -E '^OPEN' "$O")" grep -qE '^(OPEN|BROKEN)' "$O"

t "37:tmp-is-a-link-out"
fresh_root
rmdir "$R/tmp"
mkdir -p "$DIR/victim"
ln -s "../../../../../../..$DIR/victim" "$R/tmp"
rooted fs
is "nothing outside" "$(ls -A "$DIR/victim")" ""

t "37:parents-of-the-workspace-are-links"
fresh_root
mkdir -p "$DIR/victim"
top=/$(cut -d/ -f2 <<<"$WS")
rmdir "$R$top" 2>/dev/null
ln -sfn "../../../../../../..$DIR/victim" "$R$top"
rooted identity
is "nothing outside" "$(ls -A "$DIR/victim")" ""

t "37:bind-target-through-a-dangling-link"
fresh_root
ln -s "$DIR/victim/deep" "$R/opt/l"
ak --rootfs "$R" --ro "$ESC:/opt/l/x" -- /bin/identity
is "nothing outside" "$(ls -A "$DIR/victim")" ""

t "FS-01:interpreter-is-proc-self-exe"
fresh_root
printf '#!/proc/self/exe\n' >"$R/bin/evil"
chmod 755 "$R/bin/evil"
before=$(sha256sum <"$AK")
ak --rootfs "$R" -- /bin/evil
is "ak is unchanged" "$(sha256sum <"$AK")" "$before"

t "FD-01:workdir-by-descriptor"
fresh_root
exec 8</
ak --rootfs "$R" --workdir /proc/self/fd/8 -- /bin/fs "mark=$DIR/secret"
exec 8<&-
no "host reached" grep -q '^OPEN 33' "$O"

t "SEC-17:setuid-program-in-rootfs"
fresh_root
chmod 4755 "$R/bin/identity"
rooted identity
no "rights: $(grep -E '^OPEN [23567]' "$O")" grep -qE '^OPEN [23567]:' "$O"

t "FS:rootfs-is-a-link"
fresh_root
ln -sfn "$R" "$DIR/rl"
ak --rootfs "$DIR/rl" -- touch MARK
refused 125 "symbolic link"
like "and what to name" "$(err)" "$R"
ln -sfn "$R" "$HOME/rl"
ak --rootfs "$HOME/rl" -- /bin/identity
is "a link of the home itself" "$RC" 0
rm -f "$HOME/rl" "$DIR/rl"

t "FS:rootfs-cannot-be-the-workspace-root"
fresh_root
run "$AK" exec -C "$R" --rootfs "$R" -- /bin/identity
like code "$RC" '^(0|125)$'
chmod -R u+rwX "$R"
rm -rf "$R"
done_suite
