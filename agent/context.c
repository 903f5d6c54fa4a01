/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of models, and what fits. Pure. Process: agent. Privilege: none. */
#include "agent/context.h"

#include <string.h>

#include "agent/msg.h"
#include "agent/prices.h"
#include "agent/provider/provider.h"

#define CALL_MORE 96u /* what a format writes around a call or a result, a turn, a tool */
#define TURN_MORE 32u
#define TOOL_MORE 64u
#define MOST_BYTES_PER_TOKEN 8u

void context_init(struct context *c, uint64_t wish, const struct price *price, bool script)
{
	*c = (struct context){ .window = wish };
	if (wish || script)
		return;
	c->window = price && price->context ? price->context : CONTEXT_UNKNOWN;
	c->guessed = !(price && price->context);
}

void context_learn(struct context *c, uint64_t window)
{
	if (window == 0 || (c->window && !c->guessed && window >= c->window))
		return;
	*c = (struct context){ .window = window };
}

uint64_t context_bytes(const char *system, const struct tool_def *tools, size_t ntools, const struct history *h)
{
	uint64_t n = system ? strlen(system) : 0;

	for (size_t i = 0; i < ntools; i++)
		n += strlen(tools[i].description) + strlen(tools[i].schema) + TOOL_MORE;
	for (size_t i = 0; i < h->n; i++) {
		const struct msg *m = &h->v[i];
		uint64_t plain = m->text_len + TURN_MORE;

		for (size_t k = 0; k < m->ncalls; k++)
			plain += m->calls[k].args_len + CALL_MORE;
		for (size_t k = 0; k < m->nresults; k++)
			plain += m->results[k].text_len + CALL_MORE;
		n += m->raw_len > plain ? m->raw_len : plain;
	}
	return n;
}

uint64_t context_images(const struct history *h)
{
	uint64_t n = 0;

	for (size_t i = 0; i < h->n; i++)
		n += h->v[i].nimages;
	return n;
}

static uint64_t room_wanted(const struct context *c, uint64_t max_tokens)
{
	return max_tokens < c->window / 4 ? max_tokens : c->window / 4;
}

bool context_fits(const struct context *c, uint64_t prompt, uint64_t max_tokens)
{
	return c->window == 0 || (prompt <= c->window && c->window - prompt >= room_wanted(c, max_tokens));
}

bool context_hopeless(const struct context *c, uint64_t bytes)
{
	return c->window && !c->guessed && bytes / MOST_BYTES_PER_TOKEN >= c->window;
}

uint64_t context_reply(const struct context *c, uint64_t prompt, uint64_t max_tokens)
{
	uint64_t least = room_wanted(c, max_tokens);
	uint64_t room = prompt < c->window ? c->window - prompt : 0;

	if (c->window == 0 || c->guessed)
		return max_tokens;
	if (room < least)
		room = least;
	if (room == 0)
		room = 1;
	return room < max_tokens ? room : max_tokens;
}
