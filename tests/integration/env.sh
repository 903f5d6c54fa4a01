# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Environment: built from nothing; what is asked for arrives exactly.
. "$TESTS/lib.sh"

export OPENAI_API_KEY=sek1 GITHUB_TOKEN=sek2 AWS_SECRET_ACCESS_KEY=sek3 DB_PASSWORD=sek4 ANTHROPIC_API_KEY=sek5
export BASH_ENV=/tmp/e NODE_OPTIONS=--inspect PYTHONPATH=/x LD_LIBRARY_PATH=/x GCONV_PATH=/x PYTHONSTARTUP=/x ENV=/x PERL5LIB=/x
export SSH_AUTH_SOCK=/tmp/agent DBUS_SESSION_BUS_ADDRESS=unix:path=/tmp/bus DISPLAY=:0 WAYLAND_DISPLAY=w XDG_RUNTIME_DIR=/tmp GIT_DIR=/x
export MINE=mine

esc env

t "ENV-01:no-secrets"
ak -- env
is code "$RC" 0
unlike values "$(out)" 'sek[1-5]'
unlike names "$(out)" '(_KEY|TOKEN|SECRET|PASSWORD)'

t "ENV-06:no-hooks"
ak -- env
unlike names "$(out)" '(BASH_ENV|NODE_OPTIONS|PYTHONPATH|LD_LIBRARY_PATH|GCONV_PATH|PYTHONSTARTUP|PERL5LIB)'
unlike "ENV" "$(out | grep '^ENV=')" .

t "ENV-09:no-session-sockets"
ak -- env
unlike names "$(out)" '(SSH_AUTH_SOCK|DBUS_SESSION|DISPLAY|XDG_RUNTIME_DIR|GIT_DIR)'

t "ENV:pass-through"
ak --env MINE -- sh -c 'printf %s "$MINE"'
is value "$(out)" mine

t "ENV:pass-through-missing"
ak --env NOSUCHVAR -- sh -c 'echo "${NOSUCHVAR-unset}"'
is value "$(out)" unset

t "ENV:own-keys-never-pass"
ak --env ANTHROPIC_API_KEY -- env
unlike value "$(out)" sek5

t "ENV:asked-hook-variable"
ak --env PYTHONPATH=/mine -- sh -c 'echo "$PYTHONPATH"'
is value "$(out)" /mine

t "ENV-07:newline"
ak --env "$(printf 'A=l1\nl2=x')" -- sh -c 'printf %s "$A"'
is value "$(out | tr '\n' '|')" "l1|l2=x"

t "ENV-07:bytes"
ak --env $'A=\377\001 "\\' -- sh -c 'printf %s "$A" | od -An -tx1'
is value "$(out | tr -d ' \n')" ff0120225c

t "ENV-07:120-kb"
v=$(head -c 120000 /dev/zero | tr '\0' v)
ak --env "A=$v" -- sh -c 'printf %s "$A" | wc -c'
is length "$(out | tr -d ' ')" 120000

t "ENV-07:empty"
ak --env A= -- sh -c 'echo "${A-unset}.${A:-empty}"'
is value "$(out)" ".empty"

t "ENV:last-wins"
ak --env A=1 --env A=2 -- sh -c 'echo $A; env | grep -c ^A='
is value "$(out | tr '\n' ' ')" "2 1 "

t "ENV:env-file"
printf '# comment\nA=one\n\nB=two words\nC=x=y\n' >"$DIR/ef"
ak --env-file "$DIR/ef" -- sh -c 'printf "%s|%s|%s" "$A" "$B" "$C"'
is values "$(out)" "one|two words|x=y"

t "ENV:env-file-bad"
printf 'A=1\nno equals sign here\n' >"$DIR/ef"
ak --env-file "$DIR/ef" -- touch MARK
refused 125 "(ef|line 2|--env-file)"

t "ENV:overrides-defaults"
ak --env HOME=/tmp/h --env PATH=/usr/bin -- sh -c 'echo $HOME $PATH'
is values "$(out)" "/tmp/h /usr/bin"

# the set-up child is sent to another processor for a while
t "ENV:the-caller's-processors"
n=0
want=$(sed -n 's/^Cpus_allowed:[[:space:]]*//p' /proc/self/status)
for _ in $(seq 25); do
	ak -- sed -n 's/^Cpus_allowed:[[:space:]]*//p' /proc/self/status
	[ "$(out)" = "$want" ] && n=$((n + 1))
done
is all "$n" 25
if need taskset; then
	one=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
	run taskset -c "$one" "$AK" exec -C "$WS" -- sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status
	is one "$RC $(out)" "0 $one"
fi

t "ENV:pwd"
mkdir "$WS/d"
ak --workdir "$WS/d" -- sh -c '[ -z "$PWD" ] || [ "$PWD" = "$(pwd -P)" ]'
is code "$RC" 0

t "PKG-10:locale"
if [ -z "$PY" ]; then skip "no python3"; else
	run env -i "$AK" exec -C "$WS" -- /usr/bin/python3 -c 'print("é")'
	is output "$(out)" "é"
fi

t "ENV:empty-environment"
run env -i "$AK" exec -C "$WS" -- sh -c 'echo "$HOME" "$PATH"'
is code "$RC" 0
like values "$(out)" '^/.* /'

t "ENV-05:no-helper-from-the-path"
mkdir "$WS/bin"
for n in sh env git newuidmap newgidmap ip bwrap docker curl ldconfig; do
	printf '#!/bin/sh\n: >"%s/ran"\n' "$DIR" >"$WS/bin/$n"
	chmod +x "$WS/bin/$n"
done
cd "$WS" || nok cd
run env PATH="$WS/bin:$PATH" BASH_ENV="$WS/bin/sh" "$AK" exec -- /bin/true
cd "$DIR" || nok cd
no "a helper was run on the host" test -e "$DIR/ran"
rm -f "$DIR/ran"

t "28+29:nothing-in-proc"
AK_SEK=qzq7733 ak -- sh -c 'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr "\0" "\n" | grep -c "qzq77[3]3"'
is count "$(out)" 0
done_suite
