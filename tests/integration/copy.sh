# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Sandboxes that stay, with --write cow: ak create, exec --in, rm, and an executor driven through the client library.
# COPY_KILLS (1): SIGKILLs of each kind.
. "$TESTS/lib.sh"
# shellcheck source=box.sh
. "$TESTS/box.sh"

t "copy:state-folder-works"
cow_state || exit 0
RUN=$XDG_STATE_HOME/ak/run	# for box.sh
SESSIONS=$XDG_STATE_HOME/ak/sessions

# aks ARG... - ak itself, in the workspace
aks() {
	run env -C "$WS" "$AK" "$@"
}

# one TEST FILE - the only changeset has this file, and it is whole
one() {
	local n
	n=$(find "$SESSIONS" -mindepth 1 -maxdepth 1 | wc -l)
	[ "$n" = 1 ] && test -s "$SESSIONS/"*/journal
}

# none - no changeset is left; an empty folder of one is removed by the next look
none() {
	aks sessions list
	[ -z "$(ls "$SESSIONS")" ]
}

t "copy:create-exec-rm"
mkdir -p "$WS/d"
echo old >"$WS/a"
echo old >"$WS/d/b"
sleep 0.05
mk --write cow
into -- sh -c 'echo new >a; rm d/b; echo c >c'
is code "$RC" 0
into -- sh -c 'cat a c; ls d'
is "it stays" "$(out)" "new
c"
is "the workspace is as it was" "$(cat "$WS/a" "$WS/d/b"; ls "$WS")" "old
old
a
d"
aks sessions list --json
is "listed while it runs" "$(js '[s["state"] for s in d["sessions"]]')" "['running']"
id=$(ls "$SESSIONS")
aks apply "$id"
is "not applied while it runs" "$RC" 1
like "said" "$(err)" "^ak: changeset $id is in use"
run "$AK" rm "$BOX"
is "rm" "$RC" 0
is "the id on standard output" "$(out)" "$id"
like "for people" "$(err)" "^ak: 3 changes kept as $id \\(ak diff $id, ak apply $id, ak discard $id\\)"
aks diff --stat
like diff "$(out)" "modified a .*|deleted +d/b"
aks apply
is apply "$RC$(cat "$WS/a"; ls "$WS/d")" 0new
ok "nothing is left" none

t "copy:nothing-changed"
mk --write cow
into -- sh -c 'echo x >x; rm x; cat a'
run "$AK" rm "$BOX"
is "rm says nothing" "$RC$(out)$(err)" 0
ok "nothing is left" none

t "copy:the-result-tells-what-was-changed"
mk --write cow
into --json -- sh -c 'echo x >x; mkdir -p .git/hooks; echo h >.git/hooks/post-merge'
is mode "$(js 'd["isolation"]["workspace"]')" cow
is files "$(js '" ".join(f["path"]+":"+f["op"] for f in d["changes"]["files"])')" ".git:added .git/hooks:added .git/hooks/post-merge:added x:added"
is protected "$(js '[f["path"] for f in d["changes"]["protected"]]')" "['.git/hooks/post-merge']"
is "id" "$(js 'd["changes"]["id"]')" "$(ls "$SESSIONS")"
is "not applied" "$(js 'd["changes"]["applied"]')" false
like "nothing for people yet" "x$(err)" '^x$'

t "copy:rm-while-a-command-runs"
into --detach -- sleep 1000
is "a job" "$RC" 0
run "$AK" rm "$BOX"
is "refused" "$RC" 1
like "said" "$(err)" '^ak: sandbox box: 1 commands run - --force'
into -- cat x
is "nothing has ended" "$(out)" x
run "$AK" rm --force "$BOX"
is "forced" "$RC$(out)" "0$(ls "$SESSIONS")"
aks discard
is "discarded" "$RC" 0

t "copy:ended-by-a-signal"
mk --write cow
into -- sh -c 'echo s >s'
pid=$(executor)
# shellcheck disable=SC2046
set -- $(children "$pid")
kill -TERM "$pid"
ok "nothing lives" all_gone "$@"
ok "the journal was written" one
aks apply
is "applied" "$RC$(cat "$WS/s")" 0s

t "copy:executor-killed"
echo s >"$WS/s"
sleep 0.05
mk --write cow
into -- sh -c 'echo k >k; rm s'
pid=$(executor)
# shellcheck disable=SC2046
set -- $(children "$pid")
kill -KILL "$pid"
ok "nothing lives" all_gone "$@"
no "no journal" one
aks sessions list --json
is "listed" "$(js '[(s["state"], s["count"]) for s in d["sessions"]]')" "[('unread', None)]"
mk --write cow
into -- sh -c 'cat s'
is "the next one begins with the workspace" "$(out)" s
drop
aks apply
is "applied" "$RC$(cat "$WS/k"; ls "$WS/s" 2>/dev/null)" 0k
ok "nothing is left" none

t "copy:idle-end"
mk --write cow --ttl 2s
pid=$(executor)
into -- sh -c 'echo t >t'
ok "it ended" all_gone "$pid"
ok "the journal was written" wait_for one
aks discard
is "discarded" "$RC" 0

t "copy:disk"
mk --write cow --disk 16m
into -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do head -c 3000000 /dev/urandom >f$i; done; sleep 1000'
is "killed" "$RC" 137
like "said" "$(err)" "too much was written|^\$"
into -- sh -c 'rm f*'
is "can be made room in" "$RC" 0
run "$AK" rm --force "$BOX"
is "nothing kept" "$RC$(out)" 0

t "copy:what-needs-another-copy-is-refused"
run "$AK" create "$BOX" -C "$WS" --write cow --pool 2
is "pool" "$RC" 2
like "said" "$(err)" '^ak: --pool: prepared sandboxes would each need a copy'
run "$AK" create "$BOX" -C "$WS" --write cow --apply always
is "apply" "$RC" 2
like "said" "$(err)" '^ak: --apply: the changes of a named sandbox are kept'
mk --write cow
into --fresh -- true
refused 125 'a fresh sandbox would need a copy of the workspace of its own'
into -- true
is "and it lives" "$RC" 0
drop
ok "nothing is left" none

{
	mkdir -p "$DIR/driven"
	_close
	run timeout -k 5 240 "$IT/bin/client/copy" "$AK" "$DIR/driven" "${COPY_KILLS:-1}"
	n=0
	while IFS=$'\t' read -r kind test why; do
		_record "$kind" "$test" "$why"
		n=$((n + 1))
	done <"$O"
	t "copy:driven-to-its-end"
	is "ended with" "$RC" 0
	[ "$n" -gt 15 ] || nok "only $n tests: $(_short "$(err)")"
}
case $XDG_STATE_HOME in /var/tmp/*) rm -rf "$XDG_STATE_HOME" ;; esac
done_suite
