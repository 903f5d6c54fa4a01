# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Command line: what is refused and how, and that arguments arrive byte for byte.
. "$TESTS/lib.sh"

# bad NAME REGEX OPTION... - refused with 125, and the message names what REGEX says
bad() {
	local name=$1 re=$2
	shift 2
	t "0:bad-$name"
	ak "$@" -- touch MARK
	refused 125 "$re"
}

bad unknown-option -- "--nope" --nope
bad unknown-short "-Z" -Z
bad abbreviation "--mem" --mem 1g
bad flag-with-value "--json" --json=1
for v in 10x -1 0 "" 99999999999g 1e9 "1 g" 1 4095k; do bad "memory-'$v'" "--memory" --memory "$v"; done
for v in 0 -1 x 1.5 ""; do bad "pids-'$v'" "--pids" --pids "$v"; done
for v in 0 -1 1x "" 1e12 abc; do bad "timeout-'$v'" "--timeout" --timeout "$v"; done
for v in 0 -1 abc ""; do bad "cpus-'$v'" "--cpus" --cpus "$v"; done
for v in -1 10x 99999999999999999999; do bad "max-output-'$v'" "--max-output" --max-output "$v"; done
for v in 0 -1 x; do bad "cpu-time-'$v'" "--cpu-time" --cpu-time "$v"; done
for v in 0 1 3 7 -1 x; do bad "nofile-'$v'" "--nofile" --nofile "$v"; done
for v in -1 0 10x; do bad "disk-'$v'" "--disk" --disk "$v"; done
for v in -1 10x; do bad "fsize-'$v'" "--fsize" --fsize "$v"; done
bad kill-after "--kill-after" --kill-after -1
for v in -1 x 1:x 4294967295 1:; do bad "user-'$v'" "--user" --user "$v"; done
for v in nope "" "none,host"; do bad "net-'$v'" "--net" --net "$v"; done
bad write "--write" --write nope
bad seccomp "--seccomp" --seccomp /nonexistent/profile.json
bad isolation "--isolation" --isolation nope
bad backend "--backend" --backend nope
bad identity "--identity" --identity nope
bad rootfs-write "--rootfs-write" --rootfs-write nope
for v in =x 1A=b "A-B=c"; do bad "env-'$v'" "--env" --env "$v"; done
bad env-file "/nonexistent/env" --env-file /nonexistent/env
bad workspace-missing "/nonexistent/ws" -C /nonexistent/ws
bad workspace-file "/etc/passwd" -C /etc/passwd
bad rootfs-missing "/nonexistent/root" --rootfs /nonexistent/root
bad rootfs-file "/etc/passwd" --rootfs /etc/passwd
bad ro-missing "/nonexistent/ro" --ro /nonexistent/ro
bad rw-missing "/nonexistent/rw" --rw /nonexistent/rw
bad v-missing "/nonexistent/v" -v /nonexistent/v:/mnt/v
bad v-form "-v" -v justone
bad v-mode "-v" -v /usr:/x:rx
bad tmpfs-size "--tmpfs" --tmpfs /x:10x
bad fd-low "--fd" --fd 1
bad fd-closed "--fd" --fd 99
bad dev-missing "/dev/nonexistent" --dev /dev/nonexistent
bad dev-outside "/etc/passwd" --dev /etc/passwd
bad workdir-missing "/nonexistent/wd" --workdir /nonexistent/wd
bad report "/nonexistent/report" --report /nonexistent/report

t "0:bad-no-command"
ak
refused 125 "command"

t "0:bad-value-missing"
run "$AK" exec --memory
refused 125 "--memory"

t "0:bad-unreadable-rootfs"
mkdir -m 000 "$DIR/noread"
if [ "$WHO" = root ]; then skip "root reads every folder"; else
	ak --rootfs "$DIR/noread" -- touch MARK
	refused 125 "noread"
fi
rmdir "$DIR/noread"

t "CLI-05:message-names-errno"
ak -C /nonexistent/ws -- touch MARK
like "errno in words" "$(err)" "No such file or directory|ENOENT"

t "EXIT-03:not-found"
ak -- nosuchcommand
is code "$RC" 127
is lines "$(wc -l <"$E")" 1
like text "$(err)" "^ak: .*nosuchcommand"

t "EXIT-03:not-found-path"
ak -- ./nosuch
is code "$RC" 127
like text "$(err)" "^ak: .*nosuch"

t "EXIT-03:not-executable"
ak -- /etc/passwd
is code "$RC" 126
is lines "$(wc -l <"$E")" 1
like text "$(err)" "^ak: .*/etc/passwd"

t "EXIT-03:folder"
ak -- /usr
is code "$RC" 126
like text "$(err)" "^ak: .*/usr"

t "EXIT-07:missing-interpreter"
printf '#!/bin/zzz\n' >"$WS/s"
chmod +x "$WS/s"
ak -- ./s
like code "$RC" '^12[67]$'
like text "$(err)" "^ak: .*/bin/zzz"

t "EXIT-07:crlf-interpreter"
printf '#!/bin/sh\r\necho hi\r\n' >"$WS/s"
chmod +x "$WS/s"
ak -- ./s
like code "$RC" '^12[67]$'
like text "$(err)" "^ak: .*/bin/sh"

t "EXIT-08:no-interpreter-line"
printf 'echo hi\n' >"$WS/s"
chmod +x "$WS/s"
ak -- ./s
if [ "$RC" = 0 ]; then is output "$(out)" hi; else
	is code "$RC" 126
	like text "$(err)" "^ak: .*s"
fi

t "CLI-01:argv-exact"
ak -- printf '[%s]' 'a b' '' $'x\ny' '*' '$HOME' "it's" $'\377' '--' '-x'
is output "$(out | od -An -c | tr -d ' \n')" "$(printf '[%s]' 'a b' '' $'x\ny' '*' '$HOME' "it's" $'\377' '--' '-x' | od -An -c | tr -d ' \n')"

t "CLI-01:long-argument"
big=$(head -c 120000 /dev/zero | tr '\0' a)
ak -- sh -c 'printf %s "$1" | wc -c' x "$big"
is length "$(out | tr -d ' ')" 120000

t "CLI:options-end-at-command"
ak echo --json -c x --nope
is output "$(out)" "--json -c x --nope"

t "CLI:command-like-option"
ak -- -x
is code "$RC" 127

t "CLI:value-with-equals"
ak --env=A=b=c --timeout=30 -- sh -c 'printf %s "$A"'
is output "$(out)" "b=c"

t "CLI:shell-text"
ak -c 'echo "$((1+2))" && exit 9'
is code "$RC" 9
is output "$(out)" 3

t "0:bad-shell-text-and-command"
ak -c 'touch MARK' -- touch MARK
refused 125 "-c"

t "CLI:version-help"
run "$AK" --version
is code "$RC" 0
like text "$(out)" "[0-9]+\.[0-9]+"
run "$AK" --help
is code "$RC" 0
like text "$(out)" exec
run "$AK" exec --help
is code "$RC" 0
for o in --workspace --rootfs --ro --rw --tmpfs --hide --env --net --memory --timeout --json --report --tty --user; do
	like "help of exec" "$(out)" "$o"
done

t "CLI:unknown-verb"
run "$AK" nosuchverb
is code "$RC" 2
like text "$(err)" "^ak: .*nosuchverb"

t "CLI-09:odd-workspace"
for n in 'a b:c,d é' $'new\nline' 'trailing\' '-dash' '%s' 'x,y=z'; do
	mkdir -p "$WS/$n"
	cd "$WS/$n" || nok cd
	run "$AK" exec -- pwd
	cd "$DIR" || nok cd
	is "code in '$n'" "$RC" 0
	is "pwd" "$(out)" "$WS/$n"
done

t "CLI-09:trailing-slash"
run "$AK" exec -C "$WS/" -- pwd
is pwd "$(out)" "$WS"

t "CLI-09:relative-workspace"
mkdir -p "$WS/sub"
cd "$WS" || nok cd
run "$AK" exec -C ./sub/../sub -- pwd
is pwd "$(out)" "$WS/sub"
cd "$DIR" || nok cd

t "CLI-09:deleted-cwd"
mkdir "$DIR/del"
cd "$DIR/del" || nok cd
rmdir "$DIR/del"
run "$AK" exec -- touch MARK
cd "$DIR" || nok cd
is code "$RC" 125
like text "$(err)" "^ak: "

t "CLI-07:json-on-failure"
ak --json --rootfs /nonexistent/root -- true
is code "$RC" 125
is status "$(js 'd["status"], d["exit_code"], d["schema"]')" "('failed', 125, 'ak-exec/1')"
is "error fields" "$(js 'sorted(d["error"])')" "['errno', 'hint', 'message', 'stage']"
like "message" "$(js 'd["error"]["message"]')" "/nonexistent/root"

t "CLI-07:json-on-usage-error"
ak --json --memory 10x -- true
is code "$RC" 125
is status "$(js 'd["status"]')" failed

# without_ns KIND UNSHARE-OPTION... - ak where no further namespace of this kind may be made
without_ns() {
	local kind=$1
	shift
	run unshare -U "$@" sh -c 'echo 0 >/proc/sys/user/max_'"$kind"'_namespaces || exit 98; shift; exec "$@"' x x "$AK" exec -C "$WS" -- touch MARK
}

for ns in user net pid mnt; do
	t "USR-03+58:max-$ns-namespaces-0"
	if [ "$WHO" = root ]; then skip "the host's own limit cannot be lowered for a test"; else
		without_ns $ns --map-current-user --keep-caps
		refused 125 "max_${ns}_namespaces"
	fi
	t "USR-03:max-$ns-namespaces-0-as-root-of-a-container"
	without_ns $ns --map-root-user
	refused 125 "namespace"
done

t "USR-07+58:clone-refused"
for how in clone docker; do
	run "$ESC/hostside" deny $how "$AK" exec -C "$WS" -- touch MARK
	refused 125 "namespaces"
	no "$how: made" test -e "$WS/MARK"
done

t "USR-11:mount-refused"
run "$ESC/hostside" deny mount "$AK" exec -C "$WS" -- touch MARK
refused 125 "mount"

t "23:no-signal-by-number"
# init alone may signal by number, in its own namespace; doctor ends its own try-outs. Waiting for an own child by number is safe
ok "the sources are there" test -e "$SRC/executor/ns/userns.c"
is "calls" "$(grep -nE '(^|[^_a-z])kill\(' "$SRC"/executor/*.c "$SRC"/executor/ns/*.c 2>/dev/null | grep -vE '/doctor|^[^:]*:[0-9]*:[[:space:]]*(/?\*|//)')" ""

t "CLI:explain"
ak --explain -- touch MARK
is code "$RC" 0
no "the command was run" test -e "$WS/MARK"
like "plan shows the workspace" "$(out)" "$WS"
like "and the filter" "$(out)" "seccomp"

t "CLI:quiet-on-success"
ak -- true
is code "$RC" 0
is stderr "$(wc -c <"$E")" 0

t "CLI:verbose-warns"
ak --verbose -- true
is code "$RC" 0
unlike "every line is ours" "$(grep -v '^ak: ' "$E")" .

# of ak itself: what is only read lies where nothing can be executed, and nothing that can is writable
t "CLI:what-of-ak-can-be-executed"
if need readelf; then
	wrong=$(readelf -lW "$AK" | awk '/^  [A-Z_]+ +0x/ { if ($1 == "LOAD" && / RWE | R E /) { exec[n + 0] = 1; if (/ RWE /) print "writable" } n++ }
		/^   [0-9][0-9] / && exec[$1 + 0] { for (i = 2; i <= NF; i++) if ($i ~ /rodata|eh_frame|data$/) print $i }')
	is none "$wrong" ""
fi
done_suite
