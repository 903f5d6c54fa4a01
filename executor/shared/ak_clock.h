/* SPDX-License-Identifier: Apache-2.0 */
/* The monotonic clock without the vDSO: its three pages cost a fault each in a short-lived process. Any process. */
#ifndef AK_SHARED_AK_CLOCK_H
#define AK_SHARED_AK_CLOCK_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/** ak_now_ns() - CLOCK_MONOTONIC in nanoseconds; cannot fail with this clock */
static inline uint64_t ak_now_ns(void)
{
	struct timespec t = { 0 };

	(void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
