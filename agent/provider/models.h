/* SPDX-License-Identifier: Apache-2.0 */
/* What a provider offers: its list of models. Process: agent. Privilege: none. */
#ifndef AK_AGENT_PROVIDER_MODELS_H
#define AK_AGENT_PROVIDER_MODELS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/retry.h"

struct ak_err;
struct provider;

#define MODELS_MAX 10000u

/* One model. @context and @max_output in tokens; 0: the server does not say. */
struct model {
	char *id;
	uint64_t context;
	uint64_t max_output;
};

struct models {
	struct model *v;
	size_t n;
};

/** models_release() - free the list; empty afterwards */
void models_release(struct models *m);

/**
 * models_parse() - the body of GET /models
 * Knows {"data":[{"id":..}]}, a bare list, and the places where Anthropic (max_input_tokens), vLLM (max_model_len),
 * llama.cpp (meta.n_ctx, meta.n_ctx_train), OpenRouter (context_length, top_provider) and others put the context.
 * Return: 0, the list by name; -EBADMSG (not such a list); -E2BIG (over MODELS_MAX); -ENOMEM. Untouched on failure.
 */
int models_parse(const char *text, size_t len, struct models *ret, struct ak_err *err);

/**
 * models_fetch() - ask an opened provider, once
 * Return: 0; -EIO with @ret_fault and @err (one line that names the provider, with a hint); -ENOMEM.
 */
int models_fetch(struct provider *p, struct models *ret, enum fault *ret_fault, struct ak_err *err);

#endif
