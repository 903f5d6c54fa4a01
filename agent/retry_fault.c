/* SPDX-License-Identifier: Apache-2.0 */
/* What a failure means: tables from status, error type and transport to a fault. Pure. Process: agent. Privilege: none. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "agent/retry.h"

static const struct fault_info infos[FAULT_COUNT] = {
	[FAULT_NONE] = {"none", false, false, 0},
	[FAULT_AUTH] = {"authentication", false, true, FAULT_EXIT_AUTH},
	[FAULT_BILLING] = {"billing", false, true, FAULT_EXIT_PROVIDER},
	[FAULT_REQUEST] = {"bad_request", false, false, FAULT_EXIT_PROVIDER},
	[FAULT_CONTEXT] = {"context_exhausted", false, false, FAULT_EXIT_CONTEXT},
	[FAULT_TOO_LARGE] = {"request_too_large", false, false, FAULT_EXIT_PROVIDER},
	[FAULT_CONFLICT] = {"conflict", true, false, FAULT_EXIT_PROVIDER},
	[FAULT_RATE] = {"rate_limited", true, true, FAULT_EXIT_PROVIDER},
	[FAULT_OVERLOADED] = {"overloaded", true, false, FAULT_EXIT_PROVIDER},
	[FAULT_SERVER] = {"server_error", true, false, FAULT_EXIT_PROVIDER},
	[FAULT_REDIRECT] = {"redirect", false, false, FAULT_EXIT_PROVIDER},
	[FAULT_NETWORK] = {"unreachable", true, false, FAULT_EXIT_PROVIDER},
	[FAULT_TLS] = {"tls", false, false, FAULT_EXIT_PROVIDER},
	[FAULT_STALLED] = {"stalled", true, false, FAULT_EXIT_PROVIDER},
	[FAULT_CUT] = {"cut", true, false, FAULT_EXIT_PROVIDER},
	/* mostly a wrong URL, which stays wrong */
	[FAULT_PROTOCOL] = {"bad_answer", false, false, FAULT_EXIT_PROVIDER},
	[FAULT_REFUSAL] = {"refusal", false, false, FAULT_EXIT_REFUSAL},
	[FAULT_CANCELLED] = {"cancelled", false, false, FAULT_EXIT_INTERRUPTED},
	[FAULT_OVERTIME] = {"overtime", false, false, FAULT_EXIT_TIME},
	[FAULT_INTERNAL] = {"internal", false, false, FAULT_EXIT_ERROR},
};

const struct fault_info *fault_info(enum fault f)
{
	assert(f < FAULT_COUNT);
	return &infos[f];
}

enum fault fault_of_end(enum http_end end)
{
	static const enum fault faults[HTTP_END_COUNT] = {
		[HTTP_DONE] = FAULT_NONE,	      [HTTP_BAD_REQUEST] = FAULT_INTERNAL,
		[HTTP_NO_NAME] = FAULT_NETWORK,	      [HTTP_UNREACHABLE] = FAULT_NETWORK,
		[HTTP_TLS] = FAULT_TLS,		      [HTTP_STALLED_HEAD] = FAULT_STALLED,
		[HTTP_STALLED_BODY] = FAULT_STALLED,  [HTTP_CUT] = FAULT_CUT,
		[HTTP_TOO_LARGE] = FAULT_PROTOCOL,    [HTTP_OVERTIME] = FAULT_OVERTIME,
		[HTTP_CANCELLED] = FAULT_CANCELLED,   [HTTP_BAD_ANSWER] = FAULT_PROTOCOL,
		[HTTP_STOPPED] = FAULT_PROTOCOL,      [HTTP_INTERNAL] = FAULT_INTERNAL,
	};

	assert(end < HTTP_END_COUNT);
	return faults[end];
}

struct word {
	const char *text;
	enum fault fault;
};

/*
 * error.type and error.code as the providers send them. Source: the error references of Anthropic (Messages API, "Errors")
 * and OpenAI ("Error codes", Responses "response.failed"), and what llama.cpp, vLLM, OpenRouter and Gemini send.
 */
static const struct word types[] = {
	/* money before rates: both come with status 429 */
	{"insufficient_quota", FAULT_BILLING},
	{"billing_error", FAULT_BILLING},
	{"billing_hard_limit_reached", FAULT_BILLING},
	{"billing_not_active", FAULT_BILLING},
	{"enforced_spend_limit_reached", FAULT_BILLING},
	{"insufficient_balance", FAULT_BILLING},
	{"authentication_error", FAULT_AUTH},
	{"permission_error", FAULT_AUTH},
	{"permission_denied", FAULT_AUTH},
	{"invalid_api_key", FAULT_AUTH},
	{"UNAUTHENTICATED", FAULT_AUTH},
	{"PERMISSION_DENIED", FAULT_AUTH},
	{"context_length_exceeded", FAULT_CONTEXT},
	{"exceed_context_size_error", FAULT_CONTEXT},
	{"model_context_window_exceeded", FAULT_CONTEXT},
	{"request_too_large", FAULT_TOO_LARGE},
	{"rate_limit_error", FAULT_RATE},
	{"rate_limit_exceeded", FAULT_RATE},
	{"too_many_requests", FAULT_RATE},
	{"RESOURCE_EXHAUSTED", FAULT_RATE},
	{"overloaded_error", FAULT_OVERLOADED},
	{"server_is_overloaded", FAULT_OVERLOADED},
	{"slow_down", FAULT_OVERLOADED},
	{"service_unavailable", FAULT_OVERLOADED},
	{"UNAVAILABLE", FAULT_OVERLOADED},
	{"api_error", FAULT_SERVER},
	{"server_error", FAULT_SERVER},
	{"internal_error", FAULT_SERVER},
	{"internal_server_error", FAULT_SERVER},
	{"INTERNAL", FAULT_SERVER},
	{"timeout_error", FAULT_SERVER},
	{"conflict_error", FAULT_CONFLICT},
	{"content_filter", FAULT_REFUSAL},
	{"content_policy_violation", FAULT_REFUSAL},
	{"invalid_request_error", FAULT_REQUEST},
	{"invalid_prompt", FAULT_REQUEST},
	{"not_found_error", FAULT_REQUEST},
	{"model_not_found", FAULT_REQUEST},
	{"INVALID_ARGUMENT", FAULT_REQUEST},
	{"NOT_FOUND", FAULT_REQUEST},
};

/* Texts that tell apart what a provider's codes do not, in any case */
static const struct word messages[] = {
	{"prompt is too long", FAULT_CONTEXT},
	{"maximum context length", FAULT_CONTEXT},
	{"context length exceeded", FAULT_CONTEXT},
	{"exceeds the available context size", FAULT_CONTEXT},
	{"input is too long", FAULT_CONTEXT},
	{"credit balance is too low", FAULT_BILLING},
	{"insufficient balance", FAULT_BILLING},
	{"usage limits", FAULT_BILLING},
	{"spend limit", FAULT_BILLING},
	{"exceeded your current quota", FAULT_BILLING},
	{"loading model", FAULT_OVERLOADED},
};

static enum fault by_type(const char *type)
{
	for (size_t i = 0; type && i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(types[i].text, type) == 0)
			return types[i].fault;
	}
	return FAULT_NONE;
}

static enum fault by_message(const char *message)
{
	for (size_t i = 0; message && i < sizeof(messages) / sizeof(messages[0]); i++) {
		if (strcasestr(message, messages[i].text))
			return messages[i].fault;
	}
	return FAULT_NONE;
}

static enum fault by_status(int status)
{
	switch (status) {
	case 401:
	case 403:
	case 407:
		return FAULT_AUTH;
	case 402:
		return FAULT_BILLING;
	case 408:
	case 409:
	case 425:
		return FAULT_CONFLICT;
	case 413:
		return FAULT_TOO_LARGE;
	case 429:
		return FAULT_RATE;
	case 503:
	case 529:
		return FAULT_OVERLOADED;
	default:
		break;
	}
	if (status >= 500)
		return FAULT_SERVER;
	if (status >= 400)
		return FAULT_REQUEST;
	if (status >= 300)
		return FAULT_REDIRECT;
	return status >= 200 ? FAULT_NONE : FAULT_PROTOCOL;
}

/*
 * The status says most. Words refine it only where it leaves a choice: money and the context behind 400, 403, 413 and 429,
 * a model that is being loaded behind 503. An error type with a status of 200 is all there is.
 */
enum fault fault_of_status(int status, const char *type, const char *message)
{
	enum fault coarse = by_status(status);
	enum fault fine = by_type(type);
	enum fault text = by_message(message);

	if (coarse == FAULT_NONE)
		return type && *type ? fault_of_stream(type, message) : FAULT_NONE;
	if (coarse == FAULT_REDIRECT || coarse == FAULT_AUTH || coarse == FAULT_BILLING)
		return fine == FAULT_BILLING || text == FAULT_BILLING ? FAULT_BILLING : coarse;
	if (fine == FAULT_BILLING || fine == FAULT_CONTEXT)
		return fine;
	if (coarse == FAULT_RATE)
		return text == FAULT_BILLING ? text : coarse;
	if (coarse != FAULT_REQUEST && coarse != FAULT_TOO_LARGE)
		return coarse;
	if (text == FAULT_CONTEXT || text == FAULT_BILLING)
		return text;
	/* 400 with a word of its own: a wrong key at Gemini, a filter at Azure */
	return fine == FAULT_AUTH || fine == FAULT_REFUSAL || fine == FAULT_TOO_LARGE ? fine : coarse;
}

enum fault fault_of_stream(const char *type, const char *message)
{
	enum fault fine = by_type(type);
	enum fault text = by_message(message);

	if (fine == FAULT_BILLING || fine == FAULT_CONTEXT)
		return fine;
	if (text == FAULT_CONTEXT || text == FAULT_BILLING)
		return text;
	return fine == FAULT_NONE ? FAULT_SERVER : fine;
}
