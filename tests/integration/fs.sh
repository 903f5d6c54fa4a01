# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# The file system view: binds, what is hidden, what wins, and that the host is not touched.
. "$TESTS/lib.sh"

S=$DIR/src
rm -rf "$S"
mkdir -p "$S/a/b" "$S/w"
echo ORIG >"$S/a/f"
echo DEEP >"$S/a/b/g"
echo SECRET >"$DIR/secret"
chmod 644 "$DIR/secret"

t "FS:workspace-read-write"
echo old >"$WS/f"
ak -- sh -c 'cat f; echo new >f; echo x >g; mkdir d; rm f'
is code "$RC" 0
is output "$(out)" old
is "left on the host" "$(ls "$WS" | tr '\n' ' ')" "d g "
is owner "$(stat -c %u:%g "$WS/g")" "$(stat -c %u:%g "$WS")"

t "FS:write-none"
ak --write none -- sh -c 'echo x >f'
no code test "$RC" = 0
like text "$(err)" "Read-only"
is workspace "$(ls -A "$WS")" ""

t "FS:ro-bind"
ak --ro "$S/a" -- sh -c "cat $S/a/f; echo x >$S/a/f"
is output "$(out)" ORIG
like text "$(err)" "Read-only|Permission"
is unchanged "$(cat "$S/a/f")" ORIG

t "FS:ro-bind-to"
ak --ro "$S/a:/mnt/x" -- sh -c "cat /mnt/x/b/g; ls $S"
is output "$(out)" DEEP

t "FS:rw-bind"
ak --rw "$S/w" -- sh -c "echo x >$S/w/new"
is code "$RC" 0
is content "$(cat "$S/w/new")" x
is owner "$(stat -c %u "$S/w/new")" "$(stat -c %u "$S/w")"

t "FS:v-bind"
ak -v "$S/w:/mnt/w" -v "$S/a:/mnt/a:ro" -- sh -c 'echo y >/mnt/w/v; echo z >/mnt/a/v'
like text "$(err)" "Read-only|Permission"
is content "$(cat "$S/w/v")" y

t "FS:file-bind"
ak --ro "$S/a/f:/mnt/one" -- cat /mnt/one
is output "$(out)" ORIG

t "FS:most-specific-wins"
for order in "--ro $S/a --rw $S/a/b" "--rw $S/a/b --ro $S/a"; do
	# shellcheck disable=SC2086
	ak $order -- sh -c "echo x >$S/a/b/new && rm $S/a/b/new; echo y >$S/a/new 2>/dev/null || echo ro"
	is "with $order" "$(out)" ro
done

t "FS:bind-twice-refused"
ak --ro "$S/a:/mnt/x" --ro "$S/w:/mnt/x" -- touch MARK
refused 125 "/mnt/x"

t "MNT-01:try-forms"
ak --ro-try /nonexistent/a --rw-try /nonexistent/b -- true
is code "$RC" 0

t "FS:tmpfs"
ak --tmpfs /mnt/t:2m -- sh -c 'echo x >/mnt/t/f && stat -f -c %T /mnt/t'
is type "$(out)" tmpfs

t "FS:hide-folder"
ak --ro "$S/a" --hide "$S/a/b" -- sh -c "cat $S/a/f; ls -A $S/a/b; cat $S/a/b/g; echo x >$S/a/b/x"
unlike "hidden" "$(out)" DEEP
is "output is the rest" "$(out)" ORIG

t "FS-13:hide-file"
echo TOP >"$WS/.env"
ak --hide "$WS/.env" -- sh -c 'cat .env; mv .env e2; cat e2; cp .env e3; cat e3; ln .env e4; cat e4; echo x >.env'
unlike "never printed" "$(out)" TOP
is "host's file" "$(cat "$WS/.env")" TOP

t "FS-13:hide-by-relative-path"
echo TOP >"$WS/.env"
cd "$WS" || nok cd
run "$AK" exec --hide .env -- cat .env
unlike "never printed" "$(out)" TOP
cd .. || nok cd
run "$AK" exec -C ws --hide ws/.env -- cat .env
unlike "never printed" "$(out)" TOP
cd "$DIR" || nok cd

# kept NAME - nothing that was hidden or read-only is seen or changed, and the folders stand where they stood
kept() {
	unlike "$1: printed" "$(out)" "TOP|MOVED"
	is "$1: the host's file" "$(cat "$WS/conf/a/secret" 2>&1)" TOP
	no "$1: a new name" test -e "$WS/c2"
	is "$1: folders" "$(ls -A "$WS")" conf
}

t "FS-13:hidden-file-below-a-renamed-folder"
mkdir -p "$WS/conf/a"
echo TOP >"$WS/conf/a/secret"
ak --hide "$WS/conf/a/secret" -- sh -c 'LC_ALL=C mv conf c2; mv conf/a conf/b && echo MOVED; cat conf/a/secret c2/a/secret conf/b/secret; mkdir -p conf/a; echo x >conf/a/secret; rm -rf conf'
like "the folder is busy" "$(err)" "'?conf'? to '?c2'?: Device or resource busy"
kept file

t "FS-13:hidden-folder-below-a-renamed-folder"
mkdir -p "$WS/conf/a"
echo TOP >"$WS/conf/a/secret"
ak --hide "$WS/conf/a" -- sh -c 'mv conf c2 && echo MOVED; mv conf/a conf/b && echo MOVED; cat conf/a/secret c2/a/secret conf/b/secret; rm -rf conf'
kept folder

t "FS:read-only-below-a-renamed-folder"
mkdir -p "$WS/conf/a"
echo TOP >"$WS/conf/a/secret"
ak --ro "$WS/conf/a" -- sh -c 'mv conf c2 && echo MOVED; mv conf/a conf/b && echo MOVED; echo x >conf/a/secret; echo x >c2/a/secret; rm -rf conf/a; mkdir -p conf/a; echo x >conf/a/secret'
kept read-only

t "FS:what-is-beside-a-hidden-file-can-be-moved"
mkdir -p "$WS/conf/a"
echo TOP >"$WS/conf/a/secret"
echo x >"$WS/conf/a/other"
ak --hide "$WS/conf/a/secret" -- sh -c 'mv conf/a/other conf/o2 && mkdir conf/new && mv conf/new conf/n2 && cat conf/o2'
is code "$RC" 0
is content "$(out)" x

t "MNT-01:hide-missing"
ak --hide "$DIR/.nope/x/y" --hide /nonexistent -- true
is code "$RC" 0
no "made on the host" test -e "$DIR/.nope"

t "MNT-12:hidden-stays-hidden"
ak --ro "$S/a" --hide "$S/a/b" -- sh -c "unshare -Urm sh -c 'umount $S/a/b; cat $S/a/b/g'"
unlike output "$(out)" DEEP

t "FS-06:hard-link-out"
ak --ro "$S/a" -- sh -c "ln $S/a/f s && echo PWN >s"
no code test "$RC" = 0
is content "$(cat "$S/a/f")" ORIG
is links "$(stat -c %h "$S/a/f")" 1

t "34:secret-not-visible"
ak -- cat "$DIR/secret"
no code test "$RC" = 0
unlike output "$(out)" SECRET

t "FS-11:home-hidden"
mkdir -p "$HOME/.aws" "$HOME/.ssh"
echo SECRET >"$HOME/.aws/credentials"
echo SECRET >"$HOME/.ssh/id"
ak -- sh -c 'cat ~/.aws/credentials ~/.ssh/id '"$HOME/.aws/credentials $HOME/.ssh/id"
unlike output "$(out)" SECRET

t "FS-11:home-as-workspace-by-name"
mkdir -p "$HOME/.aws" "$HOME/.ssh"
echo SECRET >"$HOME/.aws/credentials"
echo SECRET >"$HOME/.ssh/id"
cd "$HOME" || nok cd
run "$AK" exec -- touch MARK
refused 125 "(home|workspace)"
run "$AK" exec -C "$HOME" -- sh -c "cat $HOME/.aws/credentials $HOME/.ssh/id; echo ran"
cd "$DIR" || nok cd
unlike output "$(out)" SECRET
is "but it runs" "$(out)" ran
rm -rf "$HOME/.aws" "$HOME/.ssh"

t "FS-09:own-state-not-writable"
mkdir -p "$HOME/.config/ak" "$HOME/.local/state/ak"
ak -- sh -c "echo x >>$HOME/.config/ak/config.json; echo x >>$HOME/.local/state/ak/x"
no "config" test -e "$HOME/.config/ak/config.json"
no "state" test -e "$HOME/.local/state/ak/x"
run "$AK" exec -C "$HOME" -- sh -c "echo x >>$HOME/.config/ak/config.json; echo x >>$HOME/.local/state/ak/x"
no "config with the home as workspace" test -e "$HOME/.config/ak/config.json"
no "state with the home as workspace" test -e "$HOME/.local/state/ak/x"

t "FS-09:own-state-cannot-be-renamed-away"
mkdir -p "$HOME/.config/ak" "$HOME/.local/state/ak"
run "$AK" exec -C "$HOME" -- sh -c "cd $HOME; for d in .config .config/ak .local .local/state .local/state/ak; do mv \$d \$d.away && echo MOVED \$d; done
for d in .config/ak .local/state/ak; do mkdir -p \$d.away \$d; echo x >\$d/planted; echo x >\$d.away/planted; done; rmdir .config/ak.away .local/state/ak.away; rm -rf .config .local; echo ran"
is "it ran, and nothing moved" "$(out)" ran
for d in .config/ak .local/state/ak; do
	ok "$d is where it was" test -d "$HOME/$d"
	is "nothing planted in $d" "$(find "$HOME/$d" -name planted)" ""
done
rm -rf "$HOME"/.config/*.away "$HOME"/.local/*.away "$HOME"/.local/state/*.away

t "FS-04+95:host-sockets"
if [ -z "$PY" ]; then skip "no python3"; else
	listen_start
	ak -- /usr/bin/python3 -c 'import socket,sys
print([socket.socket(1).connect_ex(p) for p in sys.argv[1:]])' "$DIR/sock" /run/dbus/system_bus_socket /run/systemd/private
	listen_stop
	is "connect" "$(out)" "[2, 2, 2]"
fi

# what one command leaves must not choose what the next one gets: links are followed only where no sandbox can have made them
mkdir -p "$S/other"
echo 'LEFT=1' >"$S/other/env"
for o in "--ro %/lk" "--rw %/lk" "-v %/lk:/mnt/v" "--ro %/lk/other" "--ro-try %/lk" "--rootfs %/lk" "--env-file %/lk/other/env" \
	"--report %/lk/rep"; do
	t "FS-05:link-of-an-earlier-command-${o%% *}"
	ak -- ln -s "$S" lk
	is "the link was made" "$(readlink "$WS/lk")" "$S"
	# shellcheck disable=SC2086
	ak ${o//%/$WS} -- touch MARK
	refused 125 "[sS]ymbolic link|ELOOP"
	no "nothing came through it" test -e "$S/rep"
done

t "FS-05:link-of-an-earlier-command-as-workspace"
ak -- ln -s "$S" lk
run "$AK" exec -C "$WS/lk" -- touch MARK
refused 125 "[sS]ymbolic link|ELOOP"
no "written there" test -e "$S/MARK"

t "FS:links-of-the-home-are-the-users"
ln -sfn "$S/a" "$HOME/alink"
ak --ro "$HOME/alink:/mnt/x" -- cat /mnt/x/f
is output "$(out)" ORIG
rm -f "$HOME/alink"

t "MNT-10:symlink-target-of-a-mount"
mkdir "$DIR/v"
ln -s "$DIR/v" "$WS/o"
ak --ro "$S/a:$WS/o/new" -- true
no "made through the link" test -e "$DIR/v/new"
rmdir "$DIR/v" 2>/dev/null || nok "files in v"

t "FS:target-missing-in-workspace"
ak --ro "$S/a:$WS/stub" -- touch MARK
refused 125 "$WS/stub"
no "a stub" test -e "$WS/stub"

t "FS:tmpfs-target-missing-in-workspace"
ak --tmpfs "$WS/stub" -- touch MARK
refused 125 "stub"
no "a stub" test -e "$WS/stub"

t "FS:target-there-in-workspace"
mkdir "$WS/cache"
ak --tmpfs "$WS/cache" -- sh -c 'echo x >cache/f; ls cache'
is output "$(out)" f
is "nothing stays" "$(ls -A "$WS/cache")" ""

t "MNT-15:links-out-of-the-workspace"
ln -s "$S/w" "$WS/r"
ak -- touch r/f
no code test "$RC" = 0
no "written" test -e "$S/w/f"
ak --rw "$S/w" -- touch r/f
is "with --rw" "$RC" 0

t "FS:unreadable-stays-unreadable"
if [ "$WHO" = root ]; then skip "root reads every file"; else
	mkdir -p "$S/p"
	echo SECRET >"$S/p/f"
	chmod 000 "$S/p/f"
	ak --ro "$S/p" -- cat "$S/p/f"
	no code test "$RC" = 0
	unlike output "$(out)" SECRET
	chmod 600 "$S/p/f"
fi

t "FS:workdir"
mkdir "$WS/d"
ak -w /usr -- pwd
is "absolute" "$(out)" /usr
ak -w "$WS/d" -- pwd
is "below the workspace" "$(out)" "$WS/d"

for n in 3 5 8 10; do
	t "FD-01+26:workdir-by-descriptor-$n"
	exec 8</
	ak --workdir /proc/self/fd/$n -- sh -c "cat ../../..$DIR/secret; cat ..$DIR/secret; touch MARK"
	exec 8<&-
	unlike output "$(out)" SECRET
done

t "26:workdir-by-link"
exec 7</
ln -s /proc/self/fd/7 "$WS/d"
ak --workdir "$WS/d" -- cat "../../..$DIR/secret"
exec 7<&-
unlike output "$(out)" SECRET

t "PROC-07+33:ways-to-the-host"
ak -- sh -c "for p in /proc/1/root /proc/1/cwd /proc/self/root/.. /proc/self/cwd/../../../../../..; do cat \$p$DIR/secret; done"
unlike output "$(out)" SECRET

t "41:dev-works-in-tools"
ak -- sh -c 'echo x >/dev/null; head -c 4 /dev/urandom | wc -c; echo a | tee /dev/stderr >/dev/fd/1'
is code "$RC" 0

t "RES-12:multiprocessing"
if [ -z "$PY" ]; then skip "no python3"; else
	ak -- /usr/bin/python3 -c 'import multiprocessing as m;print(m.Pool(2).map(abs,[-1,-2]))'
	is output "$(out)" "[1, 2]"
fi

t "FS:dev-option"
if [ -c /dev/fuse ]; then
	ak --dev /dev/fuse -- test -c /dev/fuse
	is code "$RC" 0
	ak -- test -e /dev/fuse
	is "not without" "$RC" 1
else skip "no /dev/fuse"; fi

t "FS:names-of-users-and-hosts"
ak -- sh -c 'getent passwd root >/dev/null && getent hosts localhost >/dev/null && echo ok'
is output "$(out)" ok

t "MNT-14:ak-in-the-home"
mkdir -p "$HOME/bin" "$HOME/tmpx"
cp "$AK" "$HOME/bin/ak"
run env TMPDIR="$HOME/tmpx" "$HOME/bin/ak" exec -C "$WS" --hide "$HOME" -- true
is code "$RC" 0
is "nothing left" "$(ls -A "$HOME/tmpx")" ""

t "FS:toolchain-folder-on-path"
mkdir -p "$HOME/tools/bin" "$HOME/tools/other"
printf '#!/bin/sh\necho tool\n' >"$HOME/tools/bin/mytool"
chmod +x "$HOME/tools/bin/mytool"
echo SECRET >"$HOME/tools/other/f"
run env PATH="$HOME/tools/bin:$PATH" "$AK" exec -C "$WS" -- sh -c "mytool; cat $HOME/tools/other/f; echo x >$HOME/tools/bin/new"
is output "$(out)" tool
no "written" test -e "$HOME/tools/bin/new"

# what a command leaves under a name that PATH has must not be a way to the home for the next one
t "FS:link-planted-under-a-name-of-path"
mkdir -p "$HOME/.ssh" "$HOME/private" "$WS/.venv/bin"
echo PRIVATE-KEY >"$HOME/.ssh/id_test"
echo PRIVATE-TEXT >"$HOME/private/text"
for f in "$HOME/private/run" "$HOME/.ssh/run" "$WS/.venv/bin/p"; do
	printf '#!/bin/sh\necho prog\n' >"$f"
	chmod 755 "$f"
done
venv=$WS/.venv/bin
look="cat $HOME/.ssh/id_test $HOME/private/text $venv/text $venv/id_test 2>/dev/null; ls -A $HOME $venv"
run env PATH="$venv:$PATH" "$AK" exec -C "$WS" -- p
is "the workspace's own" "$(out)$(err)" prog
for to in private .ssh; do
	run env PATH="$venv:$PATH" "$AK" exec -C "$WS" -- sh -c "rm -rf .venv/bin && ln -s $HOME/$to .venv/bin"
	is "planted: $to" "$RC$(readlink "$venv")" "0$HOME/$to"
	for with in "--write direct" "--write none" "--isolation landlock"; do
		[ "$WHO:$with" != "root:--isolation landlock" ] || continue
		# shellcheck disable=SC2086
		run env PATH="$venv:$PATH" "$AK" exec $with -C "$WS" -- sh -c "$look"
		unlike "$to, $with" "$(out)" 'PRIVATE|id_test|text'
		like "told: $to, $with" "$(err)" 'on PATH is not shown: .*/.venv/bin.* is a symbolic link'
	done
	# from another workspace, and through a link of the user's own
	mkdir -p "$DIR/ws2"
	ln -sfn "$venv" "$HOME/mybin"
	run env PATH="$venv:$HOME/mybin:$PATH" "$AK" exec -C "$DIR/ws2" -- sh -c "$look"
	unlike "$to, elsewhere" "$(out)" 'PRIVATE|id_test|text'
done
# the control: what the user names himself is shown
run env PATH="$HOME/private:$PATH" "$AK" exec -C "$WS" -- sh -c "cat $HOME/private/text; run"
is "named on PATH" "$(out | tr '\n' ' ')" "PRIVATE-TEXT prog "
run env PATH="$venv:$PATH" "$AK" exec -C "$WS" --ro "$HOME/.ssh" -- cat "$HOME/.ssh/id_test"
is "named with --ro" "$(out)" PRIVATE-KEY
rm -rf "$HOME/private" "$HOME/mybin" "$HOME/.ssh" "$DIR/ws2"

t "FS:path-names-what-is-no-folder-of-programs"
mkdir -p "$HOME/.aws/x" "$HOME/docs"
echo PRIVATE-KEY >"$HOME/.aws/credentials"
echo PRIVATE-TEXT >"$HOME/docs/text"
printf '#!/bin/sh\n' >"$HOME/.aws/run"
chmod 755 "$HOME/.aws/run"
run env PATH="$HOME/.aws:$HOME/docs:$PATH" "$AK" exec -C "$WS" -- sh -c "cat $HOME/.aws/credentials $HOME/docs/text"
unlike "shown" "$(out)" PRIVATE
chmod 755 "$HOME/docs/text"
run env PATH="$HOME/.aws:$HOME/docs:$PATH" "$AK" exec -C "$WS" -- sh -c "cat $HOME/.aws/credentials $HOME/docs/text"
is "the control: with a program" "$(out)" PRIVATE-TEXT
rm -rf "$HOME/.aws" "$HOME/docs"

t "FS:what-each-process-has-for-itself-is-not-hidden"
for p in /proc/self/status /proc/mounts /proc/2 /dev/fd; do
	ak --hide "$p" -- true
	is "code of $p" "$RC" 125
	like "told of $p" "$(err)" "^ak: --hide \"$p\": belongs to one process"
done
ak --hide /proc/cpuinfo -- cat /proc/cpuinfo
is "the control: a file of all" "$(out)" ""
like "it is hidden" "$(err)" "Permission denied"

t "FS:what-is-covered-already-can-be-hidden"
for p in /proc/sys /proc/irq /proc/bus /proc/keys; do
	[ -e "$p" ] || continue
	ak --hide "$p" -- sh -c "ls $p; cat $p"
	unlike "made: $p" "$(err)" "ak:"
	is "hidden: $p" "$(out)" "$([ -d "$p" ] || echo "$p")"
	like "told: $p" "$(err)" "cat: $p: Permission denied"
done

t "FS:home-is-private"
ak -- sh -c 'echo x >~/.newfile && cat ~/.newfile'
is output "$(out)" x
no "on the host" test -e "$HOME/.newfile"
t "41:device-nodes-keep-their-attributes"
ak -- sh -c 'echo x >/dev/null; chmod 600 /dev/null; touch /dev/zero'
like "refused" "$(err)" "Read-only file system"
ak -- sh -c 'echo x >/dev/null && head -c 1 /dev/zero | wc -c'
is "and still work" "$(out)" 1

t "SIG:ignored-by-the-caller-stays-ignored"
(trap '' HUP; exec "$AK" exec -q -C "$WS" -- sh -c 'echo up >up; while [ ! -e go ]; do sleep 0.05; done; exit 7') &
pid=$!
await "$WS/up"
kill -HUP "$pid"
: >"$WS/go"
wait "$pid"
is code $? 7

done_suite
