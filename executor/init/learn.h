/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracing of a command, to learn which calls it makes. In init for a sandbox with INIT_LEARN, which is the one with serve mode: the
 * small one is copied at every start. No privilege.
 */
#ifndef AK_INIT_LEARN_H
#define AK_INIT_LEARN_H

#include <sys/types.h>

#include "executor/init/init.h"

/* Only the image with serve mode can learn; the other one has none of this in it */
#if defined(AK_INIT_SERVE) && !defined(AK_INIT_HELD)
#define LEARN_BUILT true
#else
#define LEARN_BUILT false
#endif
#define LEARNING(in) (LEARN_BUILT && (in)->learning)

/**
 * learn_fork() - fork the command's child and trace it; ends the process where tracing is forbidden
 * Return: as fork(2). The child calls learn_wait() before its filters are loaded.
 */
pid_t learn_fork(struct init *in);

/** learn_wait() - in the child: until init traces it; ends the process on failure */
void learn_wait(const struct init *in);

/** learn_stopped() - a traced process stopped, as waitpid(2) says: note its call, let it go on */
void learn_stopped(struct init *in, pid_t pid, int status);

/** learn_tell() - say to the executor what was learned. Return: 0 or negative errno. */
int learn_tell(const struct init *in);

#endif
