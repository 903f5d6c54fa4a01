/* SPDX-License-Identifier: Apache-2.0 */
/* The forms in which servers write times; the others are in agent/retry.h. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_RETRY_TIME_H
#define AK_AGENT_RETRY_TIME_H

#include <stdint.h>

/** retry_parse_amount() - a decimal number of units of @unit_ms, "20" or "1.5", rounded up. Return: 0; -EINVAL. */
int retry_parse_amount(const char *s, uint64_t unit_ms, uint64_t *ret_ms);

#endif
