/* SPDX-License-Identifier: Apache-2.0 */
/* Looking up variables in an environment that is passed down. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_ENV_H
#define AK_AGENT_ENV_H

/** env_get() - the value of @name in "NAME=value" rows up to NULL; the first one counts. NULL: not set. Borrowed. */
const char *env_get(char *const env[], const char *name);

#endif
