/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a failed request means, whether it is tried again, and when. Pure: no clock, no waiting, no random source of its
 * own. Process: agent. Privilege: none.
 *
 * A caller does: fault_of_*() after each failed attempt, retry_hint_from() on its headers, retry_next(), http_pause().
 * An attempt from which a tool was run must never be repeated; that is the caller's to know.
 */
#ifndef AK_AGENT_RETRY_H
#define AK_AGENT_RETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/http.h"

/* What went wrong, whoever reports it: status, body, event in a stream, transport. Properties: fault_info(). */
enum fault {
	FAULT_NONE,
	FAULT_AUTH,		/* 401, 403: the key is wrong or may not do this */
	FAULT_BILLING,		/* no credit, quota used up, spend limit: 402, some 429 and 400 */
	FAULT_REQUEST,		/* 400, 404, 405, 422 and other 4xx: the same request fails again */
	FAULT_CONTEXT,		/* the prompt does not fit the model: to be compacted, not repeated */
	FAULT_TOO_LARGE,	/* 413: the body is over the provider's maximum */
	FAULT_CONFLICT,		/* 409, 408, 425 */
	FAULT_RATE,		/* 429: too many requests or tokens */
	FAULT_OVERLOADED,	/* 529, 503, overloaded_error */
	FAULT_SERVER,		/* 500 and other 5xx, api_error, server_error */
	FAULT_REDIRECT,		/* 3xx: not followed */
	FAULT_NETWORK,		/* no connection, no name */
	FAULT_TLS,		/* certificate or handshake */
	FAULT_STALLED,		/* nothing came for too long, before or after the headers */
	FAULT_CUT,		/* the answer ended before its end mark */
	FAULT_PROTOCOL,		/* an answer that is not what was asked for: HTML, not JSON, not UTF-8, empty, over a maximum */
	FAULT_REFUSAL,		/* the provider's filter ended the answer: not repeated */
	FAULT_CANCELLED,	/* by the user */
	FAULT_OVERTIME,		/* the run's own time is over */
	FAULT_INTERNAL,		/* ours: memory, a bad URL, a refused permission */
	FAULT_COUNT
};

/* Exit codes of CLI.md that a fault leads to when it is final */
enum { FAULT_EXIT_ERROR = 1, FAULT_EXIT_USAGE = 2, FAULT_EXIT_AUTH = 3, FAULT_EXIT_PROVIDER = 4, FAULT_EXIT_TIME = 13,
       FAULT_EXIT_REFUSAL = 14, FAULT_EXIT_CONTEXT = 15, FAULT_EXIT_INTERRUPTED = 130 };

struct fault_info {
	const char *name;	/* stable word for reports and traces: "rate_limited" */
	bool retry;		/* may be tried again */
	bool rotate;		/* another key may help: FAULT_RATE, FAULT_AUTH, FAULT_BILLING */
	int exit_code;		/* see above */
};

/** fault_info() - the row of a fault. Return: never NULL. */
const struct fault_info *fault_info(enum fault f);

/** fault_of_end() - of a transfer that did not end with HTTP_DONE (HTTP_DONE: FAULT_NONE; HTTP_STOPPED: FAULT_PROTOCOL) */
enum fault fault_of_end(enum http_end end);

/**
 * fault_of_status() - of an answer with an error status
 * @status:	HTTP status; 200 to 299 without @type: FAULT_NONE
 * @type:	error.type or error.code of the body, whichever says more; may be NULL or ""
 * @message:	error.message of the body; may be NULL. Looked at only where no code tells cases apart: "prompt is too
 *		long", "maximum context length", "credit balance"
 */
enum fault fault_of_status(int status, const char *type, const char *message);

/** fault_of_stream() - of an error object inside a stream with status 200; unknown types are FAULT_SERVER */
enum fault fault_of_stream(const char *type, const char *message);

/* What headers say about trying again */
struct retry_hint {
	bool has_wait;
	uint64_t wait_ms;	/* if has_wait */
	int should_retry;	/* x-should-retry: 1 true, 0 false, -1 not given */
};

/**
 * retry_hint_from() - read the hints of an answer
 * @now_ms:	wall clock, milliseconds since 1970 (CLOCK_REALTIME): for dates
 *
 * The first that parses, in this order: retry-after-ms; retry-after (seconds with or without a fraction, or an HTTP date in
 * its three forms); and for status 429 and 503 the rate limit headers, whose longest reset counts among the groups that
 * have nothing left (x-ratelimit-{remaining,reset}-{requests,tokens}: "1s", "6m0s", "20ms";
 * anthropic-ratelimit-{requests,tokens,input-tokens,output-tokens}-{remaining,reset}: RFC 3339; x-ratelimit-reset: seconds
 * to go, or seconds or milliseconds since 1970, told apart by size). Dates in the past are a wait of 0. What does not parse
 * is ignored. Waits are cut to RETRY_WAIT_MAX_MS.
 */
void retry_hint_from(const struct http_reply *reply, uint64_t now_ms, struct retry_hint *ret);

#define RETRY_WAIT_MAX_MS (24u * 3600u * 1000u)
#define RETRY_TRIES 6u
#define RETRY_BASE_MS 500u
#define RETRY_CAP_MS 60000u
#define RETRY_BUDGET_MS (10u * 60u * 1000u)

struct retry_policy {
	unsigned tries;		/* attempts in all, the first one too (RETRY_TRIES); 1: never again */
	uint64_t base_ms;	/* wait before the second attempt (RETRY_BASE_MS), doubled each time */
	uint64_t cap_ms;	/* of a wait that nobody asked for (RETRY_CAP_MS) */
	uint64_t budget_ms;	/* from the start of the first attempt until the last one may start (RETRY_BUDGET_MS) */
};

/* Storage of the caller; private but for reading */
struct retry {
	struct retry_policy policy;
	unsigned attempts;	/* that have failed */
	uint64_t random;
};

/** retry_init() - for one request; @policy NULL or its zeros: the defaults above; @seed: of the jitter, any number */
void retry_init(struct retry *r, const struct retry_policy *policy, uint64_t seed);

/**
 * retry_next() - another attempt?
 * @f:		why the last one failed
 * @hint:	of its headers; NULL: none
 * @elapsed_ms:	since the start of the first attempt (monotonic)
 * @free_key:	the key was changed and the new one is not known to be limited: no wait, whatever @hint asks; faults with
 *		rotate are then tried again, even if they would be final. Counts as an attempt.
 *
 * Waits what @hint asks, else min(base * 2^n, cap) less up to a quarter of it. x-should-retry decides, but never makes
 * FAULT_AUTH to FAULT_TOO_LARGE, FAULT_TLS, FAULT_REFUSAL, FAULT_CANCELLED, FAULT_OVERTIME and FAULT_INTERNAL retryable.
 * Return: true with *@ret_wait_ms; false when it is final, with @err saying why no attempt follows ("gave up after 6
 * attempts", "the provider asks to wait 3600 s, and 540 s are left"); "" for a fault that is never retried.
 */
bool retry_next(struct retry *r, enum fault f, const struct retry_hint *hint, uint64_t elapsed_ms, bool free_key,
		uint64_t *ret_wait_ms, struct ak_err *err);

/* --- the forms of time, each tested by itself ---------------------------------------------------------------------------- */

/** retry_parse_date() - HTTP date: IMF-fixdate, RFC 850, asctime (RFC 9110, 5.6.7). Return: 0 and ms since 1970; -EINVAL. */
int retry_parse_date(const char *s, uint64_t *ret_ms);
/** retry_parse_rfc3339() - "2026-11-30T12:00:00.5Z", "...+01:00". Return: 0 and ms since 1970, -EINVAL. */
int retry_parse_rfc3339(const char *s, uint64_t *ret_ms);
/** retry_parse_span() - "1s", "6m0s", "1h2m3.5s", "20ms"; a bare number is seconds. Return: 0 and ms, rounded up; -EINVAL. */
int retry_parse_span(const char *s, uint64_t *ret_ms);

#endif
