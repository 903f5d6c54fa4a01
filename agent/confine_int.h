/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the agent's confinement. Process: agent. Privilege: none. */
#ifndef AK_AGENT_CONFINE_INT_H
#define AK_AGENT_CONFINE_INT_H

#include <stdbool.h>

struct ak_err;

/** confine_seccomp() - load the list of calls; @terminal: as in struct confine. Return: 0 or the negative errno of seccomp(2). */
int confine_seccomp(bool terminal, struct ak_err *err);

#endif
