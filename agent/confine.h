/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agent takes from itself before the first byte from the network: it opens its session's folder, certificates and what
 * names are looked up with, starts no program and no process, and cannot be looked into. Process: agent. Privilege: none.
 */
#ifndef AK_AGENT_CONFINE_H
#define AK_AGENT_CONFINE_H

#include <stdbool.h>

struct ak_err;

/**
 * struct confine - what is left
 * @dir:	folder that is written to; -1: none
 * @ca_file:	NULL, or a file with certificates
 * @terminal:	lines are edited on one that is open already: its modes may be set. Nothing else about it, and no other one opened.
 */
struct confine {
	int dir;
	const char *ca_file;
	bool terminal;
};

/* What a kernel lacks, for a warning */
enum confine_lack {
	CONFINE_NO_LANDLOCK = 1 << 0,
	CONFINE_NO_SCOPES = 1 << 1, /* of signals and abstract sockets: Linux 6.12 */
	CONFINE_NO_MDWE = 1 << 2,   /* memory that was writable can be made executable: Linux 6.3 */
};

/**
 * confine_apply() - for good, and for threads that are made later
 *
 * Not dumpable, no core file; no new memory is both writable and executable; Landlock: reading the system's certificates, resolver
 * files and libraries, reading and writing @dir, nothing else, no signal to others; seccomp: a list of calls, without exec, fork,
 * ptrace, mount, keyrings, io_uring, bpf; sockets of the internet and local ones only; resource limits.
 * Requires: one thread; every other file is open. Leaves: descriptors that are open.
 * Return: enum confine_lack; negative errno where what the kernel has cannot be used: then nothing may be read from the network.
 */
int confine_apply(const struct confine *c, struct ak_err *err);

#endif
