#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What runs before libc has begun (executor/ns/early.h) may not use it, nor a table of pointers: neither is ready. Looks at the compiled
# functions: what they call, and what of .data.rel.ro they read. Prints what breaks the rule; exit status 1 if anything does.
# usage: scripts/check-early.sh BUILD
set -u

build=${1:?usage: check-early.sh BUILD}
# every function that may run before main() has taken the child over
functions='early_begin early_likely asks_for_another variable_of_ours same look aux plain_caller streams_open no_group_to_be_had find_ranges touch populate
	ahead_early clone_and_leave job_of child close_inherited leave receive take_libc late_fds thread_waits
	netns_promise netns_start run_thread work make_netns netlink_socket ask wait_until_told
	nslimit_raw prework_do write_ids join_keyring map_text put_number put
	mount_early_root mount_early_proc mount_proc_covers cover_row mount_attrs part_bind part_mount part_flags set_attr
	vclone_on clone3_call vthread vcall vexit'
# later ones that they hand over to: the executor is suspended then, or has told what libc made
later='setup_child nslimit_first nlmsg_hdr __stack_chk_fail'
files='early ahead netns nslimit prework mount mount_proc mount_part vclone'

for f in $files; do
	objdump -dr --no-show-raw-insn "$build/executor/ns/$f.o" || exit 2
done | awk -v functions="$functions" -v later="$later" '
	BEGIN {
		n = split(functions, list)
		for (i = 1; i <= n; i++)
			early[list[i]] = allowed[list[i]] = 1
		n = split(later, list)
		for (i = 1; i <= n; i++)
			allowed[list[i]] = 1
	}
	/^[0-9a-f]+ <.*>:$/ {
		at = substr($2, 2, length($2) - 3)
		sub(/\.(cold|part|isra|constprop).*/, "", at)
		seen[at] = 1
	}
	# calls within the object are resolved, others are relocations
	(at in early) && $2 ~ /^(call|jmp)$/ && $NF ~ /^<[^+]*>$/ {
		name = substr($NF, 2, length($NF) - 2)
		sub(/\.(cold|part|isra|constprop).*/, "", name)
		if (!(name in allowed))
			print "early: " at " calls " name
	}
	(at in early) && /R_X86_64_(PLT32|GOT|REX_GOT|GOTPCREL)/ {
		name = $NF
		sub(/[-+]0x.*/, "", name)
		if (name !~ /^\./ && !(name in allowed))
			print "early: " at " uses " name
	}
	(at in early) && /R_X86_64_.*\.data\.rel\.ro/ { print "early: " at " reads a table of pointers" }
	END {
		if (!("early_begin" in seen) || !("child" in seen))
			print "early: the functions are not found in what was built"
	}' >"$build/check-early"
cat "$build/check-early"
[ ! -s "$build/check-early" ]
