/* SPDX-License-Identifier: Apache-2.0 */
/* Looking up variables in an environment that is passed down. Pure. Process: agent. Privilege: none. */
#include "agent/env.h"

#include <stddef.h>
#include <string.h>

const char *env_get(char *const env[], const char *name)
{
	size_t n = strlen(name);

	for (; *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}
