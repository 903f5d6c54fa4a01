# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# One suite for all backends: tests/backends/promises.tsv says which row each one passes, rows.sh holds the rows. Then what is
# docker's or local's alone. docker is podman's CLI with an image made here (DOCKER_CLI=PATH: another one, with its engine); only root
# has it in this suite. FULL=1 also runs the
# rows that docker does not promise, and kills ak ten times instead of once.
. "$TESTS/lib.sh"
. "$TESTS/backends/rows.sh"

IMAGE=ak-test:bb
# another CLI than podman's, as of a real engine: its absolute path; images are imported there and removed in the end
DOCKER=${DOCKER_CLI:-/usr/bin/docker}
NODOCKER=
CLIENT=$IT/bin/client

# an image of the host's static busybox, and two that lack something; in a store of our own
make_images() {
	local d=$DIR/image a
	[ "$WHO" = root ] || {
		echo "rootless docker is not set up by this suite"
		return
	}
	[ -x "$DOCKER" ] && { [ -n "${DOCKER_CLI:-}" ] || [ -x /usr/bin/podman ]; } || {
		echo "no podman-docker on this machine (scripts/deps --test installs it where no other docker is)"
		return
	}
	[ -x /usr/bin/busybox ] && file_is_static /usr/bin/busybox || {
		echo "no static busybox on this machine"
		return
	}
	mkdir -p "$DIR/store" "$d/bin" "$d/tmp" "$d/etc"
	chmod 1777 "$d/tmp"
	# limits of this process are those of the container's, which runc cannot raise; crun wants a plain cgroup tree
	cat >"$DIR/containers.conf" <<-CONF
		[containers]
		default_ulimits=["nofile=1024:$(ulimit -Hn)","nproc=4096:4096"]
		[engine]
		runtime="runc"
		cgroup_manager="cgroupfs"
		events_logger="file"
	CONF
	printf '[storage]\ndriver="vfs"\ngraphroot="%s"\nrunroot="%s"\n' "$DIR/store/graph" "$DIR/store/run" >"$DIR/storage.conf"
	export CONTAINERS_CONF=$DIR/containers.conf CONTAINERS_STORAGE_CONF=$DIR/storage.conf
	cp /usr/bin/busybox "$d/bin/busybox"
	for a in sh sleep timeout cat id ls printf env head tail wc setsid kill grep mv true ln mkfifo mkdir rmdir; do ln -s busybox "$d/bin/$a"; done
	tar -C "$d" -c . | "$DOCKER" import - "$IMAGE" >/dev/null 2>"$DIR/import.err" || {
		echo "docker import failed: $(tail -n 1 "$DIR/import.err")"
		return
	}
	rm "$d/bin/timeout"
	tar -C "$d" -c . | "$DOCKER" import - ak-test:notimeout >/dev/null 2>&1
	rm -r "$d/bin"
	mkdir "$d/bin"
	cp /usr/bin/busybox "$d/bin/cat"
	tar -C "$d" -c . | "$DOCKER" import - ak-test:bare >/dev/null 2>&1
	"$DOCKER" run --rm --network none "$IMAGE" true >/dev/null 2>"$DIR/import.err" ||
		echo "docker cannot run a container: $(tail -n 1 "$DIR/import.err")"
}

file_is_static() {
	! ldd "$1" >/dev/null 2>&1
}

flags() { # BACKEND
	BE=$1
	case $BE in
	native) BFLAGS=(--backend native) ;;
	docker) BFLAGS=(--backend docker --image "$IMAGE") ;;
	local) BFLAGS=(--backend local) ;;
	esac
	[ "$BE" = native ] || [ "$WHO" != root ] || BFLAGS+=(--identity root)
}

# a row that is not promised is run all the same: it must not pass, or the table is wrong
try_row() { # ROW PROMISE
	t "$BE:$1"
	"row_${1//-/_}"
	[ "$2" != no ] && return
	if [ "$TEST_BAD" = 0 ]; then
		nok "passes, although the table says that $BE does not promise it"
	else
		TEST_BAD=0
	fi
}

rows_of() { # BACKEND COLUMN
	local row promise
	flags "$1"
	if [ "$1" = docker ] && [ -n "$NODOCKER" ]; then
		t "docker:rows"
		skip "$NODOCKER"
		return
	fi
	look
	while IFS=$'\t' read -r row promise <&7; do
		[ "$promise" = no ] && [ "$1" = docker ] && [ -z "${FULL:-}" ] && continue
		try_row "$row" "$promise"
	done 7< <(grep -v '^#' "$TESTS/backends/promises.tsv" | cut -f "1,$2")
}

# par NAME ARG... - one run in the background; par_of NAME makes its end that of the last run. Containers start side by side
par() {
	local name=$1
	shift
	{
		timeout 120 "$AK" exec -C "$WS" --backend docker --identity root "$@" </dev/null >"$DIR/par.$name.out" 2>"$DIR/par.$name.err"
		echo $? >"$DIR/par.$name.code"
	} &
	PARS="${PARS:-} $!"
}

par_wait() {
	local p
	for p in $PARS; do wait "$p"; done
	PARS=
}

par_of() {
	cp "$DIR/par.$1.out" "$O"
	cp "$DIR/par.$1.err" "$E"
	RC=$(cat "$DIR/par.$1.code")
}

NODOCKER=$(make_images | tail -n 1)
[ -n "$NODOCKER" ] || { # the exports of a subshell are lost
	export CONTAINERS_CONF=$DIR/containers.conf CONTAINERS_STORAGE_CONF=$DIR/storage.conf
}
# podman's CLI, also where another docker comes first
export PATH=${DOCKER%/*}:/usr/bin:/bin:/usr/sbin:/sbin

t table-in-the-documentation
# shellcheck disable=SC2016
is "rows" "$(grep -E '^\| [a-z-]+ \| (yes|no) \|' "$TESTS/backends/backends.md")" \
	"$(grep -v '^#' "$TESTS/backends/promises.tsv" | sed 's/\t/ | /g; s/^/| /; s/$/ |/')"

rows_of native 2
rows_of local 4
rows_of docker 3

# agent TEXT FLAGS... - an agent whose model calls bash and write_file, and wants TEXT in a result
agent() {
	local text=$1
	shift
	cat >"$DIR/agent.jsonl" <<-END
		{"schema":"ak-replay/1"}
		{"match":{"user":"go"},"reply":{"text":"","calls":[{"id":"c1","name":"bash","args":{"command":"cat f && echo out >g"}},{"id":"c2","name":"write_file","args":{"path":"h","content":"written"}}],"usage":{"input":9,"output":9}}}
		{"match":{"result":"$text"},"reply":{"text":"seen","usage":{"input":9,"output":9}}}
	END
	echo inside >"$WS/f"
	LIMIT=150 run "$AK" run -C "$WS" --api replay --replay "$DIR/agent.jsonl" -q "$@" go
}

t agent:changes-are-not-held-back
agent inside --backend local -y
is "code" "$RC" 2
like "message" "$(err)" "^ak: run: --backend local: .*--write"
no "nothing ran" test -e "$WS/g"

# --- local alone ---

flags local

t local:root-must-force-it
if [ "$WHO" = root ]; then
	run "$AK" exec -C "$WS" --backend local touch MARK
	refused 125 "identity root"
else
	run "$AK" exec -C "$WS" --backend local --identity root touch MARK
	refused 125 "not started by root"
fi

t local:control-secrets-are-noticed
if [ -x "$AKW" ]; then
	# shellcheck disable=SC2016
	run env AK_WEAKEN=env OPENAI_API_KEY=s3cr3t "$AKW" exec -C "$WS" "${BFLAGS[@]}" -c 'echo "$OPENAI_API_KEY"'
	is "secret" "$(out)" s3cr3t
else
	skip "no weak build (make weak)"
fi

t local:agent
agent inside "${BFLAGS[@]}" --write direct -y
is "code" "$RC" 0
is "answer" "$(out)" seen
is "the command's file" "$(cat "$WS/g" 2>&1)" out
is "the tool's file" "$(cat "$WS/h" 2>&1)" written
rm -f "$WS/g" "$WS/h"
agent "Denied: no approver" "${BFLAGS[@]}" --write direct
is "asks: code" "$RC" 0
no "asks: nothing ran" test -e "$WS/g"
no "asks: nothing written" test -e "$WS/h"

t local:own-session
# shellcheck disable=SC2016
b -c 'read -r _ _ _ _ pgrp sid _ </proc/$$/stat; [ "$sid" = $$ ] && [ "$pgrp" = $$ ] && echo leads'
is "leads its session" "$(out)" leads

t local:cannot-start
mkdir "$WS/d"
: >"$WS/plain"
b ./d
is "folder" "$RC" 126
b ./plain
is "not executable" "$RC" 126
b -w /nonexistent touch MARK
is "no folder" "$RC" 125
like "message" "$(err)" "working directory /nonexistent"
run "$AK" exec -C /nonexistent "${BFLAGS[@]}" touch MARK
refused 125 "workspace"

# --- docker alone ---

flags docker

t docker:missing
run env PATH=/nonexistent "$AK" exec -C "$WS" "${BFLAGS[@]}" touch MARK
refused 125 "docker sandbox unavailable: docker was not found"

t docker:never-from-the-workspace
mkdir "$WS/bin"
printf '#!/bin/sh\ntouch "%s/MARK"\n' "$WS" >"$WS/bin/docker"
chmod 755 "$WS/bin/docker"
run env PATH="$WS/bin" "$AK" exec -C "$WS" "${BFLAGS[@]}" true
refused 125 "lies in the workspace"
mkdir "$DIR/open"
chmod 777 "$DIR/open"
cp "$WS/bin/docker" "$DIR/open/docker"
run env PATH="$DIR/open" "$AK" exec -C "$WS" "${BFLAGS[@]}" true
refused 125 "others than you and root can write"

t docker:another-machine
run env DOCKER_HOST=tcp://127.0.0.1:1 "$AK" exec -C "$WS" "${BFLAGS[@]}" touch MARK
refused 125 "another machine"

t docker:home-is-no-workspace
run "$AK" exec -C "$HOME" --backend docker --image x --identity auto true
is "code" "$RC" 125
like "message" "$(err)" "home folder"

t docker:bad-words
for words in "--image -x" "--image=" "--net -x"; do
	# shellcheck disable=SC2086
	run "$AK" exec -C "$WS" --backend docker --image a $words touch MARK
	refused 125 "^ak: --(image|net)"
done
run "$AK" exec -C "$WS" --backend docker --image 'a b' touch MARK
refused 125 "is not the name of an image"

if [ -n "$NODOCKER" ]; then
	t docker:live
	skip "$NODOCKER"
	done_suite
	exit 0
fi

t docker:root-must-force-it
run "$AK" exec -C "$WS" --backend docker --image "$IMAGE" touch MARK
refused 125 "host's uid 0"
chown 1234:1234 "$WS"
run "$AK" exec -C "$WS" --backend docker --image "$IMAGE" -c 'id -u; echo x >f'
is "runs as the owner" "$(out)" 1234
is "owner" "$(stat -c %u:%g "$WS/f")" 1234:1234

t docker:failures-are-told-apart
b() { run "$AK" exec -C "$WS" "${BFLAGS[@]}" "$@"; }
par none --image ak-test:none touch MARK
par net --image "$IMAGE" --net no-such-net touch MARK
par cwd --image "$IMAGE" -w /nonexistent touch MARK
par_wait
par_of none
refused 125 "docker sandbox unavailable: could not start container: .*docker pull ak-test:none"
par_of net
refused 125 "docker sandbox unavailable: could not start container: .*network"
par_of cwd
refused 125 "docker exec: .*chdir"
b -v /nonexistent:/x touch MARK
refused 125 "-v \"/nonexistent\""
run "$AK" create stay -C "$WS" --backend docker --identity root --image ak-test:none
is "create: code" "$RC" 1
like "create: message" "$(err)" "^ak: docker sandbox unavailable: could not start container: .*docker pull ak-test:none"
is "create: no list" "$("$AK" ls)" ""
is "left" "$("$DOCKER" ps -aq 2>/dev/null)" ""

# podman's monitors, runc, and what it has begun to be a container, of our images
half_made() {
	local f
	for f in $(grep -lsz -xE '.*/(conmon|runc)' /proc/[0-9]*/cmdline); do
		grep -qsaF "$DIR/" "$f" "${f%cmdline}mountinfo" && f=${f#/proc/} && echo "${f%/cmdline}"
	done
}

none_half_made() {
	[ -z "$(half_made)" ]
}

# its end comes as soon as something of the container is there, and a little later. FULL=1: at twenty moments
t docker:stopped-while-it-is-made
moments="02 06"
[ -z "${FULL:-}" ] || moments=$(seq -w 0 19)
for m in $moments; do
	"$AK" create made -C "$WS" --backend docker --identity root --image "$IMAGE" </dev/null >/dev/null 2>"$DIR/made.err" &
	pid=$!
	for ((i = 0; i < 3000; i++)); do
		none_half_made || break
		sleep 0.01
	done
	[ "$i" -lt 3000 ] || nok "never begun: $(cat "$DIR/made.err")"
	sleep "0.$m"
	run "$AK" rm --force made
	is "rm" "$RC $(err)" "0 "
	wait "$pid" 2>/dev/null
	wait_for none_half_made || nok "0.$m s after it began, this was left: $(half_made)"
	wait_for nothing_left || nok "0.$m s after it began, this was left: $(left)"
done
is "list" "$("$AK" ls)" ""

t docker:agent
agent inside --backend docker --identity root --image "$IMAGE" --write direct -y
is "code" "$RC" 0
is "answer" "$(out)" seen
is "the command's file" "$(cat "$WS/g" 2>&1)" out
is "the tool's file" "$(cat "$WS/h" 2>&1)" written
agent "docker sandbox unavailable: " --backend docker --identity root --image ak-test:none --write direct -y
is "no image: code" "$RC" 0
is "no image: answer" "$(out)" seen
is "left" "$("$DOCKER" ps -aq 2>/dev/null)" ""

t docker:odd-workspace
WS="$DIR/w:s,x \"q' \$(id)"$'\n'"é"
mkdir "$WS"
echo in >"$WS/f"
b -c 'cat f; echo out >g'
is "read" "$(out)" in
is "written" "$(cat "$WS/g" 2>&1)" out

t docker:no-secret-on-a-command-line
# shellcheck disable=SC2016
"$AK" exec -C "$WS" "${BFLAGS[@]}" -e BE_KEY=s3cr3t.$$ -c 'echo "$BE_KEY" >k; sleep 7006.'"$$" </dev/null >"$O" 2>"$E" &
pid=$!
await "$WS/k" || nok "never up"
is "the command has it" "$(cat "$WS/k")" "s3cr3t.$$"
no "docker inspect" grep -q "s3cr3t.$$" <("$DOCKER" inspect "$("$DOCKER" ps -q --filter label=ak.owner 2>/dev/null)" 2>/dev/null)
for f in /proc/[0-9]*/cmdline; do
	case $f in "/proc/$pid/"*) continue ;; esac
	{ tr '\0' ' ' <"$f" | grep -q "BE_KEY=s3cr3t.$$" && [ "$(cat "${f%cmdline}comm")" != ak ] && nok "$f shows it"; } 2>/dev/null
done
is "file" "$(find "$HOME/.local/state/ak/docker" -name '*.env' 2>/dev/null)" ""
kill "$pid"
wait "$pid" 2>/dev/null
ok "gone" gone "7006.$$"

t docker:images-that-lack-something
echo inside >"$WS/f"
par notimeout --image ak-test:notimeout -t 1 -c 'echo x; trap "" TERM; sleep 60'
par bare --image ak-test:bare -- cat f
par text --image ak-test:bare -c 'touch MARK'
par nope --image ak-test:bare -- nope
run "$AK" create stay -C "$WS" --backend docker --identity root --image ak-test:bare
is "a sandbox that stays: code" "$RC" 1
like "a sandbox that stays: message" "$(err)" "^ak: docker sandbox unavailable: "
par_wait
par_of notimeout
is "without timeout: code" "$RC" 124
is "without timeout: output" "$(out)" x
par_of bare
is "without sh: code" "$RC" 0
is "without sh: output" "$(out)" inside
par_of text
refused 125 "-c needs a shell"
par_of nope
is "without sh: not found" "$RC" 127

[ -z "${DOCKER_CLI:-}" ] || "$DOCKER" rmi -f "$IMAGE" ak-test:notimeout ak-test:bare >/dev/null 2>&1
done_suite
