/* SPDX-License-Identifier: Apache-2.0 */
/* Where a thread or process that we have made runs. Executor, set-up child; no privilege. */
#include "executor/ns/elsewhere.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>

void elsewhere(pid_t id)
{
	cpu_set_t cpus;
	unsigned here;

	if (getcpu(&here, NULL) < 0 || here >= CPU_SETSIZE || sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		return;
	CPU_CLR(here, &cpus);
	if (CPU_COUNT(&cpus) > 0)
		(void)sched_setaffinity(id, sizeof(cpus), &cpus);
}

int anywhere(pid_t id)
{
	cpu_set_t cpus;

	/* more processors than the set has room for: elsewhere() has done nothing then */
	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		return errno == EINVAL ? 0 : -errno;
	return sched_setaffinity(id, sizeof(cpus), &cpus) < 0 ? -errno : 0;
}
