/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What servers refuse: learnt from a 400 that names it, left out from then on, asked again once. Pure. Process: agent.
 * Privilege: none.
 */
#include <string.h>

#include "agent/provider/call_int.h"

struct quirk_row {
	enum wire_api api;
	const char *named;    /* in the message */
	const char *also;     /* in the message, too; NULL: nothing */
	enum provider_quirk quirk;
};

/* Source: the messages of OpenAI, Mistral, Groq, vLLM and Gemini's endpoint, as their users quote them */
static const struct quirk_row rows[] = {
	{ WIRE_CHAT, "/v1/responses", "tools", QUIRK_USE_RESPONSES },
	{ WIRE_CHAT, "max_completion_tokens", "max_tokens", QUIRK_MAX_COMPLETION },
	{ WIRE_CHAT, "stream_options", NULL, QUIRK_NO_STREAM_OPTIONS },
	{ WIRE_CHAT, "reasoning_content", NULL, QUIRK_NO_REASONING_ECHO },
	{ WIRE_CHAT, "reasoning_details", NULL, QUIRK_NO_REASONING_ECHO },
	{ WIRE_CHAT, "'reasoning'", NULL, QUIRK_NO_REASONING_ECHO },
	{ WIRE_CHAT, "messages", ".reasoning", QUIRK_NO_REASONING_ECHO },
	{ WIRE_RESPONSES, "ncrypted content is not supported", NULL, QUIRK_NO_ENCRYPTED },
	{ WIRE_RESPONSES, "reasoning.encrypted_content", NULL, QUIRK_NO_ENCRYPTED },
	{ WIRE_RESPONSES, "prompt_cache_key", NULL, QUIRK_NO_CACHE_KEY },
	{ WIRE_ANTHROPIC, "cache_control", NULL, QUIRK_NO_CACHE_CONTROL },
};

const struct provider_ops *provider_ops_now(const struct provider *p)
{
	if (p->target.api == WIRE_CHAT && p->quirks & QUIRK_USE_RESPONSES)
		return &provider_responses;
	return provider_ops_of(p->target.api);
}

unsigned quirks_of_host(const struct provider_target *t)
{
	/* OpenAI's own reasoning models refuse the older name */
	return t->api == WIRE_CHAT && strstr(t->base_url, "//api.openai.com") ? QUIRK_MAX_COMPLETION : 0;
}

bool quirk_learn(struct provider *p, const struct provider_fault *f)
{
	const struct provider_ops *ops = provider_ops_now(p);

	if (!ops || f->fault != FAULT_REQUEST || (f->status != 400 && f->status != 404 && f->status != 422))
		return false;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct quirk_row *r = &rows[i];

		if (r->api != ops->api || p->quirks & (unsigned)r->quirk || !strstr(f->message, r->named) ||
		    (r->also && !strstr(f->message, r->also)))
			continue;
		p->quirks |= (unsigned)r->quirk;
		return true;
	}
	return false;
}
