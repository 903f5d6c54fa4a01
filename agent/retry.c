/* SPDX-License-Identifier: Apache-2.0 */
/* Whether and when a failed request is tried again. Pure. Process: agent. Privilege: none. */
#include "agent/retry.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>

#include "executor/shared/ak_err.h"

void retry_init(struct retry *r, const struct retry_policy *policy, uint64_t seed)
{
	struct retry_policy p = {0};

	if (policy)
		p = *policy;
	*r = (struct retry){
		.policy = {
			.tries = p.tries ? p.tries : RETRY_TRIES,
			.base_ms = p.base_ms ? p.base_ms : RETRY_BASE_MS,
			.cap_ms = p.cap_ms ? p.cap_ms : RETRY_CAP_MS,
			.budget_ms = p.budget_ms ? p.budget_ms : RETRY_BUDGET_MS,
		},
		.random = seed,
	};
}

/* splitmix64: every seed is good. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014) */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* min(base * 2^n, cap), less up to a quarter, so that many clients do not come back in the same moment */
static uint64_t backoff(struct retry *r)
{
	uint64_t wait = r->policy.base_ms;

	for (unsigned n = 1; n < r->attempts && wait < r->policy.cap_ms; n++)
		wait *= 2;
	if (wait > r->policy.cap_ms)
		wait = r->policy.cap_ms;
	return wait - next_random(&r->random) % (wait / 4 + 1);
}

static bool never(enum fault f)
{
	switch (f) {
	case FAULT_NONE:
	case FAULT_AUTH:
	case FAULT_BILLING:
	case FAULT_REQUEST:
	case FAULT_CONTEXT:
	case FAULT_TOO_LARGE:
	case FAULT_REDIRECT:
	case FAULT_TLS:
	case FAULT_REFUSAL:
	case FAULT_CANCELLED:
	case FAULT_OVERTIME:
	case FAULT_INTERNAL:
		return true;
	default:
		return false;
	}
}

/* May @f be tried again, leaving counts and times aside? */
static bool may_retry(enum fault f, const struct retry_hint *hint, bool free_key)
{
	if (free_key && fault_info(f)->rotate)
		return true;
	if (never(f) || hint->should_retry == 0)
		return false;
	return hint->should_retry == 1 || fault_info(f)->retry;
}

static void say(struct ak_err *err, const char *text)
{
	if (err) {
		(void)ak_err_set(err, EAGAIN, "%s", text);
		if (!*text)
			err->code = 0;
	}
}

bool retry_next(struct retry *r, enum fault f, const struct retry_hint *hint, uint64_t elapsed_ms, bool free_key,
		uint64_t *ret_wait_ms, struct ak_err *err)
{
	const struct retry_hint none = {.should_retry = -1};
	uint64_t left = r->policy.budget_ms > elapsed_ms ? r->policy.budget_ms - elapsed_ms : 0;
	uint64_t wait = 0;

	assert(f < FAULT_COUNT);
	hint = hint ? hint : &none;
	r->attempts++;
	if (!may_retry(f, hint, free_key)) {
		say(err, hint->should_retry == 0 && fault_info(f)->retry ? "the provider asks not to try again" : "");
		return false;
	}
	if (r->attempts >= r->policy.tries) {
		(void)ak_err_set(err, EAGAIN, "gave up after %u attempt%s", r->attempts, r->attempts == 1 ? "" : "s");
		return false;
	}
	if (!free_key)
		wait = hint->has_wait ? hint->wait_ms : backoff(r);
	if (wait > left || left == 0) {
		if (hint->has_wait && !free_key && left > 0)
			(void)ak_err_set(err, EAGAIN,
					 "the provider asks to wait %" PRIu64 " s, and %" PRIu64 " s are left",
					 (wait + 999) / 1000, left / 1000);
		else
			(void)ak_err_set(err, EAGAIN, "gave up after %u attempt%s: the time for retries is over",
					 r->attempts, r->attempts == 1 ? "" : "s");
		return false;
	}
	*ret_wait_ms = wait;
	return true;
}
