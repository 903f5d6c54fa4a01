/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the kernel for its Landlock ABI. Process: executor. Privilege: none. */
#include "executor/ns/landlock.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "executor/ns/kabi.h"

int landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi < 0 ? 0 : (int)abi;
}
