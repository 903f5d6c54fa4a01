/* SPDX-License-Identifier: Apache-2.0 */
/* Captured output as text or base64, whole or with a gap. Process: executor. Privilege: none. */
#include "executor/report_int.h"

#include <string.h>

#include "executor/relay.h"

static bool all_utf8(const struct report_output *o)
{
	for (size_t i = 0; i < sizeof(o->v) / sizeof(o->v[0]); i++) {
		if (!ak_utf8_valid(o->v[i].p, o->v[i].n))
			return false;
	}
	return true;
}

/* Bytes at the start of the tail that go on with a character whose start was dropped */
static size_t orphans(const uint8_t *p, size_t n)
{
	size_t k = 0;

	while (k < 3 && k < n && (p[k] & 0xc0) == 0x80)
		k++;
	return k;
}

/* Nothing is missing, but a character may lie across head and tail: it gets a span of its own */
static void whole(const struct capture *c, struct report_output *ret)
{
	size_t part = ak_utf8_partial(c->head, c->head_len);
	size_t rest = part > 0 ? ak_utf8_need(c->head[c->head_len - part]) - part : 0;

	if (rest > c->tail_len)
		rest = c->tail_len;
	if (part > 0)
		memcpy(ret->bridge, c->head + c->head_len - part, part);
	if (rest > 0)
		memcpy(ret->bridge + part, c->tail, rest);
	ret->v[0] = (struct ak_span){c->head, c->head_len - part};
	ret->v[1] = (struct ak_span){ret->bridge, part + rest};
	ret->v[2] = (struct ak_span){rest > 0 ? c->tail + rest : c->tail, c->tail_len - rest};
	ret->utf8 = all_utf8(ret);
}

static void with_gap(const struct capture *c, struct report_output *ret)
{
	size_t before = ak_utf8_partial(c->head, c->head_len);
	size_t after = orphans(c->tail, c->tail_len);

	ret->v[0] = (struct ak_span){c->head, c->head_len - before};
	ret->v[2] = (struct ak_span){after > 0 ? c->tail + after : c->tail, c->tail_len - after};
	ret->utf8 = all_utf8(ret);
	if (ret->utf8) {
		ret->dropped += before + after;
	} else {
		ret->v[0].n = c->head_len;
		ret->v[2] = (struct ak_span){c->tail, c->tail_len};
	}
	ret->head_len = ret->v[0].n;
}

void report_output_of(const struct capture *c, struct report_output *ret)
{
	*ret = (struct report_output){.dropped = c->dropped};
	if (c->dropped > 0)
		with_gap(c, ret);
	else
		whole(c, ret);
}
