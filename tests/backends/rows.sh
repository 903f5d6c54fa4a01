# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# The rows of promises.tsv as tests: each is run with one backend (BE) through `b`, which starts `ak exec`. Sourced by
# tests/integration/backends.sh. A row that a backend does not promise must fail with it, else the table is out of date.

# one command that looks at everything a row can be read from: "key value" lines
# shellcheck disable=SC2016
LOOK='
cd_=$(pwd); echo "pwd $cd_"; [ -f here ] && echo "here yes"
echo "secret ${OPENAI_API_KEY-}${MY_PASSWORD_X-}"; echo "foreign ${BE_FOREIGN-}"; echo "asked ${BE_ASKED-} ${BE_PASSED-}"
[ -r "$OUTSIDE" ] && echo "outside read"
n=0; for p in /proc/[0-9]*; do n=$((n + 1)); done; echo "procs $n"; [ -d "/proc/$HOSTPID" ] && grep -q "backends.sh" "/proc/$HOSTPID/cmdline" 2>/dev/null && echo "host seen"
net=; while read -r name rest; do case $name in *:*) net="$net ${name%%:*}" ;; esac; done </proc/net/dev; echo "net$net"
while read -r k v; do case $k in CapEff:|CapBnd:|NoNewPrivs:|Seccomp:) echo "$k $v" ;; esac; done </proc/self/status
echo made >made
(k=0; while [ $k -lt 40 ]; do sleep 2 & k=$((k + 1)); echo "forked $k"; done) 2>/dev/null
exit 7'

b() { # ARG... - one run over the test's workspace
	run "$AK" exec -C "$WS" "${BFLAGS[@]}" "$@"
}

key() { # NAME - value of a line of LOOK's output
	sed -n "s/^$1 *//p" "$LOOKED" | tail -n 1
}

look() {
	LOOKED=$DIR/look.$BE
	LOOKERR=$DIR/look.$BE.err
	LOOKWS=$DIR/lookws.$BE
	mkdir -p "$LOOKWS"
	: >"$LOOKWS/here"
	echo outside >"$DIR/outside"
	local limits=(--pids 20)
	[ "$BE" != local ] || limits=()
	LOOKRC=0
	BE_FOREIGN=foreign BE_PASSED=passed OPENAI_API_KEY=s3cr3t MY_PASSWORD_X=s3cr3t timeout 120 "$AK" exec -C "$LOOKWS" "${BFLAGS[@]}" \
		${limits[@]+"${limits[@]}"} -t 60 --report "$DIR/look.$BE.json" -e "BE_ASKED=a b" -e BE_PASSED -e "OUTSIDE=$DIR/outside" \
		-e "HOSTPID=$$" -c "$LOOK" </dev/null >"$LOOKED" 2>"$LOOKERR" || LOOKRC=$?
	stuck_reader &
	STUCK=$!
}

row_exit_code() {
	is "code" "$LOOKRC" 7
	for c in 125 ${FULL:+126 127 255}; do
		b --json -c "exit $c"
		is "code" "$RC" "$c"
		is "status" "$(js 'd["status"]')" exited
		is "error" "$(js 'd["error"]')" None
	done
}

row_not_found() {
	b nope-there-is-none
	is "code" "$RC" 127
}

row_signal_name() {
	# shellcheck disable=SC2016
	b --json -c 'kill -SEGV $$'
	is "code" "$RC" 139
	is "signal" "$(js 'd["signal"]')" SIGSEGV
}

row_arguments() {
	local nl=$'a\nb'
	b printf '[%s]' 'a b' "'\"" '$HOME' '`id`' -- -x '' "$nl" '*'
	is "words" "$(out)" "[a b]['\"][\$HOME][\`id\`][--][-x][][$nl][*]"
	[ "$BE" != docker ] || [ -n "${FULL:-}" ] || return 0
	# shellcheck disable=SC2016
	b -c 'x="1 2"; printf "%s" "$x'\''$((1+1))"'
	is "text" "$(out)" "1 2'2"
}

row_output() {
	b -c 'echo o; echo e >&2; printf x; printf y >&2'
	is "stdout" "$(out)" $'o\nx'
	is "stderr" "$(err)" $'e\ny'
}

row_binary() {
	head -c 300000 /dev/urandom >"$DIR/random"
	IN=$DIR/random b cat
	ok "the same bytes" cmp "$DIR/random" "$O"
	[ "$BE" != docker ] || [ -n "${FULL:-}" ] || return 0
	cp "$DIR/random" "$WS/f"
	b -c 'cat f >&2'
	ok "the same bytes on stderr" cmp "$DIR/random" "$E"
}

row_merged_order() {
	"$AK" exec -C "$WS" "${BFLAGS[@]}" -c 'i=0; while [ $i -lt 200 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done' >"$O" 2>&1 </dev/null
	local want
	want=$(for ((i = 0; i < 200; i++)); do printf 'o%s\ne%s\n' "$i" "$i"; done)
	is "order" "$(out)" "$want"
}

row_stdin_rest() {
	printf '1\n2\n3\n' | { "$AK" exec -C "$WS" "${BFLAGS[@]}" -c 'read x; echo got $x' >"$O" 2>"$E"; cat >"$DIR/rest"; }
	is "read" "$(out)" "got 1"
	is "rest" "$(cat "$DIR/rest")" $'2\n3'
}

row_timeout() {
	b --json -t 1 -c 'printf "Password: "; sleep 60'
	is "code" "$RC" 124
	is "status" "$(js 'd["status"]')" timed_out
	is "hit" "$(js 'd["limits"]["timeout"]["hit"]')" true
	is "so far" "$(js 'd["stdout"]')" "Password: "
}

row_timeout_tree() {
	b -t 1 --kill-after 1s -c 'trap "" TERM; sleep 7001.'"$$"' & setsid sleep 7001.'"$$"' & sleep 7001.'"$$"
	is "code" "$RC" 124
	ok "gone" gone "7001.$$"
}

row_left_behind() {
	b -c 'setsid sleep 7002.'"$$"' & sleep 7002.'"$$"' & echo done'
	is "code" "$RC" 0
	is "output" "$(out)" "done"
	ok "gone" gone "7002.$$"
}

row_cancel() {
	# shellcheck disable=SC2016
	"$AK" exec -C "$WS" "${BFLAGS[@]}" --kill-after 20s -c 'trap "echo bye; exit 5" TERM; echo up >up; sleep 7003.'"$$"' & wait' >"$O" 2>"$E" </dev/null &
	local pid=$!
	await "$WS/up" || nok "never up"
	kill -TERM "$pid"
	RC=0
	wait "$pid" || RC=$?
	is "code" "$RC" 143
	is "clean-up" "$(out)" bye
	ok "gone" gone "7003.$$"
}

row_reader_gone() {
	local codes
	codes=$({
		timeout 100 "$AK" exec -C "$WS" "${BFLAGS[@]}" -c 'echo first; while echo 7004.'"$$"'; do :; done' </dev/null 2>"$E"
		echo $? >"$DIR/code"
	} | head -n 1)
	is "read" "$codes" first
	is "code" "$(cat "$DIR/code")" 141
	ok "gone" gone "7004.$$"
}

# it waits most of the time: begun with the first row, beside the others
stuck_reader() {
	local reader rc=0 fifo=$DIR/stuck.$BE.fifo
	mkfifo "$fifo"
	sleep 300 <"$fifo" &
	reader=$!
	timeout 100 "$AK" exec -C "$LOOKWS" "${BFLAGS[@]}" -q -t 1 --kill-after 1s -c 'head -c 3000000 /dev/zero >&2' </dev/null >/dev/null 2>"$fifo" || rc=$?
	kill "$reader"
	wait "$reader" 2>/dev/null
	echo "$rc" >"$DIR/stuck.$BE"
}

row_stuck_reader() {
	wait "$STUCK"
	is "code" "$(cat "$DIR/stuck.$BE")" 124
}

row_env_secrets() {
	like "looked" "$(cat "$LOOKED")" "secret"
	is "secret" "$(key secret)" ""
}

row_env_clean() {
	is "foreign" "$(key foreign)" ""
}

row_env_asked() {
	is "asked" "$(key asked)" "a b passed"
}

row_env_lines() {
	b -e "$(printf 'A=l1\nl2=x')" -c 'printf %s "$A"'
	is "value" "$(out)" "$(printf 'l1\nl2=x')"
}

row_cwd() {
	is "in the workspace" "$(key here)" yes
	mkdir "$WS/sub"
	b -w sub -c 'echo x >there'
	ok "in the folder" test -s "$WS/sub/there"
}

row_own_path() {
	is "pwd" "$(key pwd)" "$LOOKWS"
}

row_files() {
	is "content" "$(cat "$LOOKWS/made" 2>/dev/null)" made
	is "owner" "$(stat -c %u "$LOOKWS/made")" "$(stat -c %u "$LOOKWS")"
}

row_write_none() {
	echo old >"$WS/f"
	b --write none -c 'cat f; echo new >f; echo x >g'
	is "file" "$(cat "$WS/f")" old
	no "new file" test -e "$WS/g"
	is "read" "$(out)" old
}

row_protected() {
	mkdir -p "$WS/.git/hooks"
	echo old >"$WS/.git/hooks/pre-commit"
	b -c 'echo new >.git/hooks/pre-commit; echo x >.git/hooks/post-commit; mv .git g2; echo fine >.git/config'
	is "hook" "$(cat "$WS/.git/hooks/pre-commit" 2>&1)" old
	no "new hook" test -e "$WS/.git/hooks/post-commit"
	is "the rest stays writable" "$(cat "$WS/.git/config" 2>&1)" fine
}

row_other_files() {
	is "outside" "$(key outside)" ""
	like "looked" "$(cat "$LOOKED")" "procs"
}

row_processes() {
	is "host" "$(key host)" ""
	[ "$(key procs)" -lt 12 ] || nok "$(key procs) processes are seen"
}

row_network() {
	is "interfaces" "$(key net)" lo
}

row_rights() {
	is "effective" "$(key CapEff:)" 0000000000000000
	is "bounding" "$(key CapBnd:)" 0000000000000000
	is "no_new_privs" "$(key NoNewPrivs:)" 1
	is "filter" "$(key Seccomp:)" 2
}

row_memory() {
	b --memory 48m -t 60 -c 'head -c 300m /dev/zero 2>/dev/null | tail -c 200m | wc -c; exit 3'
	[ "$(out)" != 209715200 ] || nok "200 MiB were held within 48 MiB"
	unlike "refused" "$(err)" "cannot be had"
	no "a file of docker's is left" test -e oom
}

row_pids() {
	[ -n "$(key procs)" ] && [ "$(key forked)" != 40 ] || nok "40 processes were started under a limit of 20"
}

row_tty() {
	b --tty -c 'test -t 0 && test -t 1 && echo terminal'
	like "terminal" "$(out)" terminal
}

row_usage() {
	b --json -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'
	is "times" "$(js 'd["usage"]["cpu_user_ms"] is not None and d["usage"]["memory_peak_bytes"] is not None')" true
}

row_concurrency() {
	local i pids=() numbers="1 2 3"
	[ "$BE" != docker ] || [ -n "${FULL:-}" ] || numbers="1 2"
	for i in $numbers; do
		mkdir -p "$WS/$i"
		timeout 120 "$AK" exec -C "$WS/$i" "${BFLAGS[@]}" -c "sleep 1; echo $i; echo $i >f; exit $i" </dev/null >"$DIR/c$i" 2>"$DIR/ce$i" &
		pids+=($!)
	done
	for i in $numbers; do
		RC=0
		wait "${pids[i - 1]}" || RC=$?
		is "code of $i" "$RC" "$i"
		is "output of $i" "$(cat "$DIR/c$i")" "$i"
		is "file of $i" "$(cat "$WS/$i/f")" "$i"
	done
}

row_result() {
	local f=$DIR/look.$BE.json
	is "backend" "$(js 'd["isolation"]["backend"]' "$f")" "$BE"
	is "schema" "$(js 'd["schema"]' "$f")" ak-exec/1
	is "code" "$(js 'd["exit_code"]' "$f")" 7
	case $BE in
	local)
		is "namespaces" "$(js 'd["isolation"]["namespaces"]' "$f")" "[]"
		is "network" "$(js 'd["isolation"]["network"]' "$f")" host
		like "warning" "$(js 'd["warnings"][0]' "$f")" "no isolation"
		is "memory" "$(js 'd["limits"]["memory"]["enforced_by"]' "$f")" none
		;;
	docker)
		is "namespaces" "$(js '"pid" in d["isolation"]["namespaces"] and "net" in d["isolation"]["namespaces"]' "$f")" true
		is "root" "$(js 'd["isolation"]["root"]' "$f")" "$IMAGE"
		is "pids" "$(js 'd["limits"]["pids"]["enforced_by"]' "$f")" docker
		;;
	*) is "namespaces" "$(js 'len(d["isolation"]["namespaces"])' "$f")" 7 ;;
	esac
}

# --- sandboxes that stay; each row makes the one that it needs, unless the row before has left it ---

STAY=stay

# one command in it
s() { # ARG...
	run "$AK" exec --in "$STAY" "$@"
}

stay() { # [OPTION...] - make it, unless it is there
	[ "$("$AK" ls --json | grep -c "\"name\":\"$STAY\"")" = 0 ] || return 0
	run "$AK" create "$STAY" -C "$LOOKWS" "${BFLAGS[@]}" "$@"
	is "create" "$RC $(err)" "0 "
}

row_stay() {
	stay
	s -- sh -c 'echo o; echo e >&2; cat; exit 9'
	is "code" "$RC" 9
	is "stdout" "$(out)" o
	is "stderr" "$(err)" e
	IN=$LOOKED s cat
	ok "bytes" cmp "$LOOKED" "$O"
	# shellcheck disable=SC2016
	s --json -- sh -c 'kill -SEGV $$'
	is "signal" "$(js 'd["signal"]')" SIGSEGV
	is "backend" "$(js 'd["isolation"]["backend"]')" "$BE"
	is "listed" "$("$AK" ls --json >"$O"; js 'd["sandboxes"][0]["backend"]')" "$BE"
	[ "$BE" != local ] || like "said in every result" "$(js 'd["warnings"][0]' <(s --json true; cat "$O"))" "no isolation"
	s -e "S_ASKED=a b" -- sh -c 'echo "$S_ASKED"; pwd; echo stay >stayed'
	is "asked" "$(out | head -n 1)" "a b"
	is "in the workspace" "$(cat "$LOOKWS/stayed")" stay
	is "owner" "$(stat -c %u "$LOOKWS/stayed")" "$(stat -c %u "$LOOKWS")"
	[ "$BE" != docker ] || is "containers" "$("$DOCKER" ps -q --filter label=ak.owner 2>/dev/null | wc -l)" 1
}

row_stay_session() {
	stay
	s -c 'mkdir -p d && cd d && export STAYING=yes'
	# shellcheck disable=SC2016
	s -c 'pwd; echo "$STAYING"'
	like "folder and variable" "$(out | tr '\n' ' ')" "/d yes"
	s -c 'cd ..; rmdir d'
}

row_stay_tty() {
	stay
	s --tty -- sh -c 'test -t 0 && test -t 1 && test -t 2 && echo terminal'
	like "terminal" "$(out)" terminal
}

row_stay_jobs() {
	local job
	stay
	s --detach -- sh -c "echo begun; exec sleep 7008.$$"
	job=$(out)
	wait_for stay_log "$job" || nok "no log: $(out) $(err)"
	run "$AK" jobs "$STAY"
	like "listed" "$(out)" "$job +running"
	run "$AK" kill "$STAY" "$job"
	is "kill" "$RC" 0
	ok "gone" gone "7008.$$"
}

stay_log() { # JOB
	run "$AK" logs "$STAY" "$1"
	[ "$(out)" = begun ]
}

row_stay_timeout() {
	stay
	s -t 1 --kill-after 1s -- sh -c 'trap "" TERM; sleep 7009.'"$$"' & setsid sleep 7009.'"$$"' & sleep 7009.'"$$"
	is "code" "$RC" 124
	ok "gone" gone "7009.$$"
	s sh -c 'echo after'
	is "the next one" "$(out)" after
}

# by the driver of the client library, which has a name for each thing it tries
row_stay_files() {
	local only=files
	[ "$BE" = native ] || [ -z "${FULL:-}" ] || only=
	mkdir "$DIR/ops.$BE"
	OPS=$only "$CLIENT/ops" "$AK" "$DIR/ops.$BE" "${BFLAGS[@]}" >"$O" 2>"$E"
	is "code" "$?" 0
	is "failed" "$(grep '^FAIL' "$O")" ""
	like "tried" "$(out)" "file:links-out-and-fifos-are-refused"
}

row_stay_end() {
	local pid
	stay
	s --detach -- sleep "7010.$$"
	run "$AK" rm "$STAY"
	is "a job runs" "$RC" 1
	run "$AK" rm --force "$STAY"
	is "rm" "$RC $(err)" "0 "
	ok "gone" gone "7010.$$"
	is "no list" "$("$AK" ls)" ""
	is "left" "$(left)" ""
	[ "$BE" != docker ] || [ -n "${FULL:-}" ] || return 0
	stay --ttl 1s
	pid=$("$AK" ls --json >"$O"; js 'd["sandboxes"][0]["pid"]')
	ok "ends when idle" wait_for test ! -e "/proc/$pid"
	is "left of it" "$(left)" ""
}

# what is left of this backend: processes that have the suite's mark, containers, files
left() {
	alive "be-left-$BE.$$"
	[ "$BE" != docker ] || "$DOCKER" ps -a --filter label=ak.owner --format '{{.Names}}' 2>/dev/null
	find "$HOME/.local/state/ak/docker" -type f 2>/dev/null
}

# the rows above have run a good many
row_close() {
	ok "left: $(left)" wait_for nothing_left
	is "workspace" "$(ls -A "$WS")" ""
}

# what looks after the command
kill_children() { # PID
	local child
	for child in $(cat "/proc/$1/task/$1/children"); do kill -9 "$child" 2>/dev/null; done
}

nothing_left() {
	[ -z "$(left)" ]
}

row_crash() {
	local i pid rounds=1
	[ -z "${FULL:-}" ] || rounds=10
	for ((i = 0; i < rounds; i++)); do
		rm -f "$WS/up"
		"$AK" exec -C "$WS" "${BFLAGS[@]}" -c "echo up >up; sleep 7005.$$; : be-left-$BE.$$" </dev/null >/dev/null 2>&1 &
		pid=$!
		await "$WS/up" || nok "never up"
		# every other time what looks after the command is killed as well, and so it is the last time, for the control
		[ $(((rounds - i) % 2)) = 0 ] || [ "$BE" != docker ] || kill_children "$pid"
		kill -9 "$pid"
		wait "$pid" 2>/dev/null
	done
	# the control: one that looks for no leftovers
	if [ "$BE" = docker ] && [ -x "$AKW" ]; then
		run env AK_WEAKEN=keeper "$AKW" exec -C "$WS" "${BFLAGS[@]}" true
		[ "$("$DOCKER" ps -q --filter label=ak.owner 2>/dev/null | wc -l)" -ge 1 ] || nok "the test does not notice a leftover"
	fi
	# the same of one that stays: with its warden, if it has one
	stay
	s --detach -- sh -c "sleep 7005.$$; : be-left-$BE.$$"
	pid=$("$AK" ls --json >"$O"; js 'd["sandboxes"][0]["pid"]')
	[ "$BE" != docker ] || kill_children "$pid"
	kill -9 "$pid" 2>/dev/null	# without its warden it may have ended by itself
	b true
	is "code of the next run" "$RC" 0
	ok "nothing left" wait_for nothing_left
	ok "gone" gone "7005.$$"
}
