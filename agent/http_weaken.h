/* SPDX-License-Identifier: Apache-2.0 */
/* Switches of the test build (make weak) that take protections of agent/http away, for controls. Process: agent. */
#ifndef AK_AGENT_HTTP_WEAKEN_H
#define AK_AGENT_HTTP_WEAKEN_H

#include <stdbool.h>

#ifdef AK_TEST_WEAKEN
#include <stdlib.h>
#include <string.h>

/* @name: "verify", "redirect", "proxy" or "wipe"; the variable AK_WEAKEN_HTTP holds one of them */
static inline bool http_weak(const char *name)
{
	const char *set = getenv("AK_WEAKEN_HTTP");

	return set && strcmp(set, name) == 0;
}
#else
#define http_weak(name) false
#endif

#endif
