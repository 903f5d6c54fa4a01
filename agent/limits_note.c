/* SPDX-License-Identifier: Apache-2.0 */
/* Limits in words; see limits_note.h. Pure. Process: agent. Privilege: none. */
#include "agent/limits_note.h"

#include <inttypes.h>
#include <stdio.h>

#include "executor/shared/ak_json_out.h"
#include "executor/shared/ak_msg.h"
#include "executor/shared/ak_proto.h"

enum unit { BYTES, COUNT, SECONDS };

/* One row a limit: its name, and what is said; NULL: elsewhere, or nothing */
static const struct {
	const char *name;
	const char *text;
	enum unit unit;
} rows[AK_LIMITS] = {
	[AK_LIMIT_MEMORY] = { "memory", "killed: out of memory, the limit is", BYTES },
	[AK_LIMIT_PIDS] = { "pids", "no more processes could be started: the limit (--pids) is", COUNT },
	[AK_LIMIT_CPUS] = { "cpus", NULL, COUNT },
	[AK_LIMIT_TIMEOUT] = { "timeout", NULL, SECONDS },
	[AK_LIMIT_CPU_TIME] = { "cpu_time", "killed: its processor time is used up, the limit (--cpu-time) is", SECONDS },
	[AK_LIMIT_NOFILE] = { "nofile", NULL, COUNT },
	[AK_LIMIT_FSIZE] = { "fsize", "a file became too large: the limit (--fsize) is", BYTES },
	[AK_LIMIT_OUTPUT] = { "output", NULL, BYTES },
	[AK_LIMIT_DISK] = { "disk", "too much was written: the limit (--disk), of which private file systems have a part, is", BYTES },
};

static void put_value(char *text, size_t size, uint64_t value, enum unit unit)
{
	if (unit == SECONDS)
		(void)snprintf(text, size, "%" PRIu64 ".%" PRIu64 " s", value / 1000, value % 1000 / 100);
	else if (unit == COUNT)
		(void)snprintf(text, size, "%" PRIu64, value);
	else if (value >= 1u << 20 && value % (1u << 20) == 0)
		(void)snprintf(text, size, "%" PRIu64 " MiB", value >> 20);
	else
		(void)snprintf(text, size, "%" PRIu64 " bytes", value);
}

static bool is_hit(const struct ak_result *res, unsigned kind)
{
	const struct ak_limit *l = &res->limit[kind];

	if (kind == AK_LIMIT_MEMORY && res->status == AK_STATUS_OOM_KILLED)
		return true;
	/* a refused fork leaves no trace without a group; that all were there once does */
	if (kind == AK_LIMIT_PIDS && l->hit == AK_HIT_UNKNOWN)
		return l->value > 0 && res->exit_code != 0 && res->pids_peak >= l->value;
	return l->by != AK_BY_UNSET && l->hit == AK_HIT_YES;
}

uint32_t limits_note(const struct ak_result *res, char *text, size_t size)
{
	uint32_t hit = 0;
	size_t at = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < AK_LIMITS; i++) {
		char value[40];

		if (!is_hit(res, i))
			continue;
		hit |= 1u << i;
		if (!rows[i].text || at >= size)
			continue;
		put_value(value, sizeof(value), res->limit[i].value, rows[i].unit);
		at += (size_t)snprintf(text + at, size - at, "%s[%s %s]", at ? "\n" : "", rows[i].text, value);
	}
	return hit;
}

void limits_note_json(struct ak_json *j, uint32_t hit)
{
	ak_json_arr(j, "limits_hit");
	for (unsigned i = 0; i < AK_LIMITS; i++)
		if (hit & (1u << i))
			ak_json_str(j, NULL, rows[i].name);
	ak_json_arr_end(j);
}
