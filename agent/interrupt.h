/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C and its like as a descriptor, so that every wait ends at once. Process: agent. Privilege: none. */
#ifndef AK_AGENT_INTERRUPT_H
#define AK_AGENT_INTERRUPT_H

struct ak_err;

/**
 * interrupt_open() - take SIGINT, SIGTERM and SIGHUP as a descriptor instead of being ended by them
 * Blocks them, for the threads made later too; one that is ignored already (nohup) stays ignored. Give the descriptor to
 * http_do() and http_pause() as cancel_fd: as nobody reads it, it stays readable, and everything after the signal ends at
 * once, too.
 * Return: the descriptor (the caller's to close), or the negative errno of sigprocmask(2) or signalfd(2).
 */
int interrupt_open(struct ak_err *err);

/** interrupt_taken() - the signal that came, read from the descriptor; 0 when none came. Exit code: 128 + it. */
int interrupt_taken(int fd);

#endif
