/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ak seccomp learn`: what a run needs beside that of `ak exec`. The profile is written by ak-policy, from the rules of the one that
 * the run was under. Process: executor. Privilege: the caller's up to learn_open(), then what the run leaves.
 */
#ifndef AK_LEARN_H
#define AK_LEARN_H

struct ak_err;
struct exec_opts;
struct observing;

struct learn {
	int out;	/* where the profile goes: what was standard output; owned; -1 */
	int policy;	/* ak-policy; owned; -1 */
};

#define LEARN_NONE { .out = -1, .policy = -1 }

/** learn_check() - refuse options that mean nothing here. Return: 0 or -EINVAL, which names the option. */
int learn_check(const struct exec_opts *o, struct ak_err *err);

/**
 * learn_open() - open ak-policy, which later cannot be found any more, and keep standard output for the profile: what the command
 * writes there goes to standard error
 * Return: 0; as companion_open(), or what dup(2) gives.
 */
int learn_open(struct learn *l, struct ak_err *err);

/**
 * learn_write() - write the profile
 * @ob:	after the run
 * Return: 0; -EPROTO (the run came to no end that init could tell of), as companion_run_fd(), or what writing gives.
 */
int learn_write(const struct learn *l, const struct exec_opts *o, const struct observing *ob, struct ak_err *err);

void learn_release(struct learn *l);

#endif
