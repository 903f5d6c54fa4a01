#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `ak exec` costs, beside bubblewrap, the least a sandbox of this kind can cost (floor.c) and the bare command, interleaved
# in one run. Prints ratios; proves nothing, so it is no part of the tests. Rootless: as root it runs as an unused id. Usage: tests/bench/bench.sh AK [PAIRS]
set -eu
ak=${1:?usage: bench.sh AK [PAIRS]}
pairs=${2:-80}
cd "$(dirname "$0")/../.."
build=$(dirname "$ak")
work=$(mktemp -d /tmp/ak-bench.XXXXXX)
group=
cleanup() {
	if [ -n "$group" ]; then
		for _ in 1 2 3 4 5; do
			rmdir "$group/shell" "$group" 2>/dev/null && break
			sleep 0.1
		done
	fi
	rm -rf "$work"
}
trap cleanup EXIT
chmod 755 "$work"
mkdir "$work/w" "$work/home"
cp "$ak" "$work/ak"

gcc -O2 -std=c17 -D_GNU_SOURCE -o "$work/lat" tests/bench/lat.c
gcc -O2 -std=c17 -D_GNU_SOURCE -static -o "$work/floor" tests/bench/floor.c
filter=()
if [ -f "$build/seccomp/filters_gen.c" ]; then
	gcc -O2 -std=c17 -D_GNU_SOURCE -I. -o "$work/dump" tests/bench/dump_filter.c seccomp/filters.c "$build/seccomp/filters_gen.c"
	"$work/dump" >"$work/filter"
	filter=(-f "$work/filter")
else
	echo "note: no filter beside $ak, so bwrap and floor run without one"
	: >"$work/filter"
fi
chmod -R a+rX "$work"

as=()
if [ "$(id -u)" -eq 0 ]; then
	chown -R 61234:61234 "$work/w" "$work/home"
	as=(setpriv --reuid 61234 --regid 61234 --clear-groups)
fi
as+=(env -i "HOME=$work/home" PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8)

w=$work/w
bwrap=(bwrap --unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup --die-with-parent --new-session
	--ro-bind /usr /usr --ro-bind /etc /etc)
for d in bin sbin lib lib32 lib64 libx32; do
	if [ -L "/$d" ]; then
		bwrap+=(--symlink "$(readlink "/$d")" "/$d")
	elif [ -d "/$d" ]; then
		bwrap+=(--ro-bind "/$d" "/$d")
	fi
done
bwrap+=(--proc /proc --dev /dev --tmpfs /tmp --bind "$w" "$w" --chdir "$w" --cap-drop ALL)
[ ${#filter[@]} -eq 0 ] || bwrap+=(--seccomp 9)

# ratio NAME PEER WANTED - of the medians that lat printed
ratio() {
	awk -v a="$1" -v b="$2" -v wanted="$3" '{ m[$1] = $3 }
		END { if (m[a] && m[b]) printf "%s / %s = %.3f (wanted: at most %s)\n", a, b, m[a] / m[b], wanted }' "$work/out"
}

echo "== cold start of /bin/true, $pairs rounds, $(nproc) cpus, Linux $(uname -r)"
peers=(ak "$work/ak" exec -C "$w" -- /bin/true ::: floor "$work/floor" "$w" "$work/filter" /bin/true ::: bare /bin/true)
if command -v bwrap >/dev/null; then
	peers=(bwrap "${bwrap[@]}" /bin/true ::: "${peers[@]}")
else
	echo "bwrap is not installed"
fi
"${as[@]}" "$work/lat" -n "$pairs" ${filter[@]+"${filter[@]}"} "${peers[@]}" | tee "$work/out"
ratio ak bwrap 0.65
ratio ak floor 1.2

# the same start with and without a group of its own: made, entered by clone3, read, removed
for top in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ "$(stat -f -c %T "$top")" = cgroup2fs ] || continue
	mkdir "$top/ak-bench" 2>/dev/null || continue	# only root may
	group=$top/ak-bench
	mkdir "$group/shell"
	chown 61234:61234 "$group" "$group/cgroup.procs" "$group/cgroup.subtree_control"
	echo "== a cgroup of the sandbox's own: its parts, and whole starts in $((pairs * 3)) rounds"
	make -s "$build/bench/group" && "$build/bench/group" "$group" $((pairs * 20))
	# shellcheck disable=SC2016
	bash -c 'echo $$ >"$0/shell/cgroup.procs" && exec "$@"' "$group" "${as[@]}" "$work/lat" -n $((pairs * 3)) \
		without env AK_CGROUP=none "$work/ak" exec -C "$w" -- /bin/true \
		::: with env AK_CGROUP="$group" "$work/ak" exec -C "$w" -- /bin/true | tee "$work/out"
	awk '{ m[$1] = $3 } END { printf "with - without = %.3f ms, the end included\n", m["with"] - m["without"] }' "$work/out"
	break
done

echo "== system calls under the filters, and refused ones that are observed"
make -s "$build/bench/calls" && "$build/bench/calls" 50
make -s "$build/escape/loop" && cp "$build/escape/loop" "$w/loop"
echo "a million refused calls, one thread, observed:"
# shellcheck disable=SC2016
"${as[@]}" bash -c 'TIMEFORMAT="%R s in all; ak and all below: user %U s, system %S s"; time "$@"' - \
	"$work/ak" exec -C "$w" --cpus max --report "$work/home/report" -- ./loop keyctl 1000000
grep -o '"denied":{"syscalls":\[[^]]*\]' "$work/home/report"

echo "== cold start with a user's profile that is in the cache, and with a result, $((pairs * 3)) rounds"
profile=/usr/share/containers/seccomp.json
if [ -r "$profile" ] && [ -x "$build/ak-policy" ]; then
	cp "$build/ak-policy" "$work/ak-policy"
	"${as[@]}" "$work/ak" exec -C "$w" --seccomp "$profile" -- /bin/true
	"${as[@]}" "$work/lat" -n $((pairs * 3)) default "$work/ak" exec -C "$w" -- /bin/true \
		::: cached "$work/ak" exec -C "$w" --seccomp "$profile" -- /bin/true \
		::: report "$work/ak" exec -C "$w" --report "$work/home/report" -- /bin/true | tee "$work/out"
	awk '{ m[$1] = $3 } END { printf "cached - default = %.3f ms (wanted: at most 0.2); observed, with a report - default = %.3f ms\n",
		m["cached"] - m["default"], m["report"] - m["default"] }' "$work/out"
else
	echo "not measured: $profile is not installed (golang-github-containers-common)"
fi

echo "== a command in a named sandbox, $pairs rounds"
"${as[@]}" "$work/ak" create bench -C "$w" --pool 4
running=(ak-in "$work/ak" exec --in bench -- /bin/true ::: ak-in-c "$work/ak" exec --in bench -c : ::: ak-in-fresh "$work/ak" exec --in bench --fresh
	-- /bin/true ::: ak-help "$work/ak" --version ::: bare /bin/true)
if command -v bwrap >/dev/null; then
	"${as[@]}" "$work/lat" -n "$pairs" ${filter[@]+"${filter[@]}"} bwrap "${bwrap[@]}" /bin/true ::: "${running[@]}" | tee "$work/out"
	awk '$1 == "ak-in" { for (i = 1; i < NF; i++) if ($i ~ /^x/) { sub("x", "", $i); printf "ak exec --in / bwrap = %s (wanted: at most 0.45)\n", $i; exit } }' "$work/out"
else
	echo "bwrap is not installed"
	"${as[@]}" "$work/lat" -n "$pairs" "${running[@]}"
fi
# podman wants a container that runs already, in the caller's own setup: PODMAN_CONTAINER names it. Both under the usual scheduler: a
# process of another one cannot be put into the container's group
if ! command -v podman >/dev/null; then
	echo "podman exec: not compared, podman is not installed"
elif [ -z "${PODMAN_CONTAINER:-}" ]; then
	echo "podman exec: not compared, PODMAN_CONTAINER names no running container"
else
	chrt -o 0 "$work/lat" -n 20 podman podman exec "$PODMAN_CONTAINER" /bin/true ::: ak-in "${as[@]}" "$work/ak" exec --in bench -- /bin/true | tee "$work/out"
	awk '$1 == "ak-in" { for (i = 1; i < NF; i++) if ($i ~ /^x/) { sub("x", "", $i); printf "podman exec / ak exec --in = %.1f (wanted: at least 20)\n", 1 / $i; exit } }' "$work/out"
fi
"${as[@]}" "$work/ak" rm --force bench

if [ -x "$build/client/bench" ]; then
	echo "== a command through libak, beside fork+exec by the same process, $((pairs * 4)) rounds (wanted: running at most 1.2, from the pool at most 1.5)"
	cp "$build/client/bench" "$work/bench"
	"${as[@]}" "$work/bench" "$work/ak" "$w" "$((pairs * 4))"
fi

echo "== 1 GiB through a pipe, 9 rounds"
inner=$("${as[@]}" "$work/ak" exec -C "$w" -- readlink /proc/self/fd/1 | cat)
echo "stdout inside is $inner"
"${as[@]}" "$work/lat" -n 9 -w 1 -p bare head -c 1G /dev/zero ::: ak "$work/ak" exec -C "$w" -- head -c 1G /dev/zero

echo "== resident memory while a command runs"
"${as[@]}" "$work/ak" exec -C "$w" -- sleep 3 &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
	sleep 0.1
	init=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null | awk '{print $1}')
	[ -n "$init" ] && [ -n "$(cat "/proc/$init/task/$init/children" 2>/dev/null)" ] && break
done
rss() { awk '/^VmRSS/ {print $2}' "/proc/$1/status"; }
echo "ak $(rss "$pid") kB (wanted: at most 3072), ak-init $(rss "$init") kB (wanted: at most 1024)"
kill -TERM "$pid"
wait "$pid" 2>/dev/null || true
