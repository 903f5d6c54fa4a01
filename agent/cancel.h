/* SPDX-License-Identifier: Apache-2.0 */
/* Why a run has to end before it is done, as one descriptor for every wait. Process: agent. Privilege: none. */
#ifndef AK_AGENT_CANCEL_H
#define AK_AGENT_CANCEL_H

#include <stdbool.h>

struct ak_err;

#define CANCEL_CONTROL_FD 4	/* where ak says that a signal came, or is gone: executor/agent.h */
#define CANCEL_EXECUTOR_GONE -1

/**
 * struct cancel - start with cancel_open(); all descriptors owned
 * @fd:	readable as soon as the run has to end, and from then on; for poll(2) and provider.cancel_fd
 */
struct cancel {
	int fd;
	int signals;
	int control;
};

/**
 * cancel_open() - take SIGINT, SIGTERM and SIGHUP, and what ak says on CANCEL_CONTROL_FD, if that is open
 * Return: 0, or the negative errno of signalfd(2), epoll_create1(2). cancel_close() in every case.
 */
int cancel_open(struct cancel *c, struct ak_err *err);
void cancel_close(struct cancel *c);

/** cancel_came() - has the run to end? */
bool cancel_came(const struct cancel *c);

/** cancel_take() - what came: a signal's number, CANCEL_EXECUTOR_GONE; 0: nothing. For the end of a run: it is read. */
int cancel_take(const struct cancel *c);

#endif
