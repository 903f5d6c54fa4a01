# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=lib.sh
# Standard streams: which are the caller's own, and that nothing is lost, added or shared.
. "$TESTS/lib.sh"

sum() { sha256sum | cut -d' ' -f1; }
head -c 10000000 /dev/urandom >"$DIR/big"
BIG=$(sum <"$DIR/big")

t "OUT:10-mb-through-pipes"
"$AK" exec -C "$WS" --ro "$DIR/big" -- cat "$DIR/big" 2>"$E" | sum >"$O"
is sum "$(out)" "$BIG"

t "OUT:10-mb-to-file"
ak --ro "$DIR/big" -- cat "$DIR/big"
is sum "$(sum <"$O")" "$BIG"

t "OUT:10-mb-stdin-file"
IN=$DIR/big ak -- sha256sum
like sum "$(out)" "^$BIG"

t "OUT:10-mb-stdin-pipe"
cat "$DIR/big" | timeout 30 "$AK" exec -C "$WS" -- sha256sum >"$O" 2>"$E"
like sum "$(out)" "^$BIG"

t "OUT:stdin-to-stdout-10-mb"
IN=$DIR/big ak -- cat
is sum "$(sum <"$O")" "$BIG"

t "OUT-09:10-mb-to-both-files"
ak -- sh -c 'head -c 10000000 /dev/zero >&2 & head -c 10000000 /dev/zero; wait'
is "bytes of both" "$(stat -c %s "$O" "$E" | tr '\n' ' ')" "10000000 10000000 "

t "OUT-09:10-mb-to-both-pipes"
{ timeout 30 "$AK" exec -C "$WS" -- sh -c 'head -c 10000000 /dev/zero >&2 & head -c 10000000 /dev/zero; wait' 2>&3 | wc -c >"$O"; } 3>&1 | wc -c >"$E"
is bytes "$(tr -d ' ' <"$O") $(tr -d ' ' <"$E")" "10000000 10000000"

t "OUT-10:order-of-merged-output"
"$AK" exec -C "$WS" -- sh -c 'for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done' >"$O" 2>&1
is order "$(out | tr '\n' ' ')" "o1 e1 o2 e2 o3 e3 o4 e4 o5 e5 "

t "25:pipe-is-the-callers-own"
(
	readlink "/proc/$BASHPID/fd/1" >&3
	exec "$AK" exec -C "$WS" -- readlink /proc/self/fd/1
) 3>"$DIR/outer" | cat >"$DIR/inner"
like pipe "$(cat "$DIR/inner")" '^pipe:\['
is link "$(cat "$DIR/inner")" "$(cat "$DIR/outer")"

t "25:stdin-pipe-is-the-callers-own"
: | (
	readlink "/proc/$BASHPID/fd/0" >"$DIR/outer"
	exec "$AK" exec -C "$WS" -- readlink /proc/self/fd/0 >"$DIR/inner"
)
is link "$(cat "$DIR/inner")" "$(cat "$DIR/outer")"

t "25:null-is-passed"
"$AK" exec -C "$WS" -- sh -c 'x=$(readlink /proc/$$/fd/0) y=$(readlink /proc/$$/fd/1); echo "$x $y" >&2' </dev/null >/dev/null 2>"$E"
is links "$(err)" "/dev/null /dev/null"

t "25:file-becomes-a-pipe"
echo hi >"$DIR/f"
"$AK" exec -C "$WS" -- sh -c 'readlink /proc/self/fd/0; readlink /proc/self/fd/1' <"$DIR/f" >"$O" 2>"$E"
unlike "no file" "$(out)" "$DIR"

t "25:read-write-file"
echo hi >"$DIR/f"
"$AK" exec -C "$WS" -- sh -c 'readlink /proc/self/fd/0 >&2; cat' 0<>"$DIR/f" >"$O" 2>"$E"
is content "$(out)" hi
like link "$(err)" '^pipe:'

t "OUT:append"
echo a >"$DIR/f"
"$AK" exec -C "$WS" -- echo b >>"$DIR/f" 2>"$E"
is content "$(tr '\n' ' ' <"$DIR/f")" "a b "

t "OUT:offset-is-kept"
{
	echo a
	"$AK" exec -C "$WS" -- echo b
	echo c
} >"$DIR/f" 2>"$E"
is content "$(tr '\n' ' ' <"$DIR/f")" "a b c "

t "OUT:stdin-file-not-consumed-by-true"
seq 100 >"$DIR/f"
{
	"$AK" exec -C "$WS" -- true
	cat
} <"$DIR/f" >"$O" 2>"$E"
is "lines left" "$(wc -l <"$O")" 100

t "OUT:stdin-file-given-back"
seq 20000 >"$DIR/f"
{
	"$AK" exec -C "$WS" -- sh -c 'read a; read b; echo "$a$b"'
	head -n 1
} <"$DIR/f" >"$O" 2>"$E"
is "two by the command, the third by the caller" "$(out | tr '\n' ' ')" "12 3 "

t "TMO-03:stdin-by-name"
seq 2 >"$DIR/f"
for p in "cat /dev/stdin" "cat /proc/self/fd/0" "cat </dev/fd/0"; do
	seq 2 | timeout 30 "$AK" exec -C "$WS" -- sh -c "$p" >"$O" 2>"$E"
	is "$p from a pipe" "$(out | tr '\n' ' ')" "1 2 "
	IN=$DIR/f ak -- sh -c "$p"
	is "$p from a file" "$(out | tr '\n' ' ')" "1 2 "
done

t "OUT:stdout-by-name"
timeout 30 "$AK" exec -C "$WS" -- sh -c 'echo a >/dev/stdout; echo b >/proc/self/fd/1; echo c >/dev/stderr' 2>"$E" | cat >"$O"
is stdout "$(out | tr '\n' ' ')" "a b "
is stderr "$(err)" c
ak -- sh -c 'echo a >/dev/stdout; echo b >>/proc/self/fd/1; echo c >/dev/stderr'
is "stdout to a file" "$(out | tr '\n' ' ')" "a b "

t "FD-05:closed-combinations"
cd "$WS" || nok cd
for set in '<&-' '>&-' '2>&-' '<&- >&-' '<&- 2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
	RC=0
	eval 'timeout 30 "$AK" exec -- sh -c "echo hi; echo e >&2; cat; echo x >ran; exit 3" '"$set" >"$O" 2>"$E" </dev/null || RC=$?
	is "code with $set" "$RC" 3
	ok "ran with $set" test -f ran
	rm -f ran
done
is "no other file" "$(ls -A)" ""
cd "$DIR" || nok cd

t "FD-05:closed-output-goes-nowhere"
timeout 30 "$AK" exec -C "$WS" -- sh -c 'echo hi; ls /proc/self/fd >&2; exit 3' >&- 2>"$E" </dev/null
is code $? 3

t "OUT:sockets"
run "$ESC/hostside" socketpair "$AK" exec -C "$WS" -- sh -c 'cat; readlink /proc/self/fd/0; readlink /proc/self/fd/1'
is code "$RC" 0
like "data came through" "$(out)" '^hello'
unlike "no socket inside" "$(out)" 'socket:'

t "OUT:folder-as-stdin"
IN=/ ak -- touch MARK
is code "$RC" 125
like text "$(err)" "^ak: "
no "not run" test -e "$WS/MARK"

t "OUT:reader-gone"
{ timeout 30 "$AK" exec -C "$WS" -- yes; echo "$?" >"$DIR/rc"; } 2>"$E" | head -n 1 >"$O"
is first "$(out)" y
unlike "ended by itself" "$(cat "$DIR/rc")" '^(124|137|0)$'

t "OUT:reader-gone-ends-the-tree"
m=934.7$RANDOM$$
{ timeout 30 "$AK" exec -C "$WS" --max-output 1g -- sh -c "sleep $m & yes"; echo "$?" >"$DIR/rc"; } 2>"$E" | head -n 1 >"$O"
unlike "ended by itself" "$(cat "$DIR/rc")" '^(124|137|0)$'
ok "left: $(alive "sleep $m")" gone "sleep $m"

t "OUT-05:bytes-exact"
head -c 65536 /dev/urandom >"$WS/f"
ak -- cat f
ok "equal" cmp "$WS/f" "$O"

t "OUT:max-output"
ak --max-output 1000 -- sh -c 'head -c 100000 /dev/zero | tr "\0" a; echo e >&2'
is code "$RC" 0
like "bytes passed" "$(wc -c <"$O")" '^1000$'

t "OUT:max-output-pipe"
RC=0
timeout 30 "$AK" exec -C "$WS" --max-output 1000 -- sh -c 'head -c 100000 /dev/zero | tr "\0" a; exit 5' 2>"$E" | wc -c >"$O"
is "bytes passed" "$(tr -d ' ' <"$O")" 1000

t "OUT-01:endless-output-bounded"
run "$AK" exec -C "$WS" --timeout 1 --max-output 1m --json -- yes
is code "$RC" 124
like "cut" "$(js 'd["stdout_dropped"] > 0 and len(d["stdout"]) <= 1100000')" true

t "86:memory-of-ak-bounded"
if [ -z "$PY" ]; then skip "no python3"; else
	run "$PY" -c 'import resource,subprocess,sys
subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$AK" exec -C "$WS" --timeout 2 --max-output 1m --json -- yes
	ok "peak $(out) kB" test "$(out)" -lt 65536
fi

t "25:file-as-stdin-cannot-be-reopened"
echo secret >"$DIR/in"
cp "$ESC/fds" "$WS/.fds"
chmod 600 "$DIR/in"
: >"$DIR/fo"
"$AK" exec -C "$WS" -- ./.fds dev=1 <"$DIR/in" >"$DIR/fo" 2>"$E"
is code $? 0
no "open claims: $(grep OPEN "$DIR/fo")" grep -q OPEN "$DIR/fo"
is "stdin unchanged" "$(cat "$DIR/in")" secret
is "mode unchanged" "$(stat -c %a "$DIR/in")" 600

t "24:fd-option"
exec 7< <(echo through)
"$AK" exec -C "$WS" --fd 7 -- sh -c 'cat <&7' >"$O" 2>"$E"
RC=$?
exec 7<&-
is code "$RC" 0
is data "$(out)" through

t "24:fd-option-only-pipes"
exec 7</etc/passwd
"$AK" exec -C "$WS" --fd 7 -- touch MARK >"$O" 2>"$E" </dev/null
RC=$?
exec 7<&-
refused 125 "--fd"

done_suite
