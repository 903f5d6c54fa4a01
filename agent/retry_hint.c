/* SPDX-License-Identifier: Apache-2.0 */
/* What the headers of an answer say about trying again. Pure. Process: agent. Privilege: none. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "agent/retry.h"
#include "agent/retry_time.h"

#define SECONDS_SINCE_1970 1000000000u	       /* larger: seconds since 1970, not seconds to go */
#define MS_SINCE_1970 (1000u * (uint64_t)SECONDS_SINCE_1970) /* larger: milliseconds since 1970 */

static uint64_t until(uint64_t then_ms, uint64_t now_ms)
{
	return then_ms > now_ms ? then_ms - now_ms : 0;
}

static bool ask_retry_after(const struct http_reply *reply, uint64_t now_ms, uint64_t *ret)
{
	const char *ms = http_header_get(reply, "retry-after-ms");
	const char *s = http_header_get(reply, "retry-after");
	uint64_t date;

	if (ms && retry_parse_amount(ms, 1, ret) == 0)
		return true;
	if (!s)
		return false;
	if (retry_parse_amount(s, 1000, ret) == 0)
		return true;
	if (retry_parse_date(s, &date) < 0)
		return false;
	*ret = until(date, now_ms);
	return true;
}

/* A number that may be a span or a moment, or one of the written forms */
static bool reset_ms(const char *s, uint64_t now_ms, uint64_t *ret)
{
	uint64_t v;

	if (retry_parse_amount(s, 1, &v) == 0) {
		if (v >= MS_SINCE_1970)
			*ret = until(v, now_ms);
		else if (v >= SECONDS_SINCE_1970)
			*ret = until(v * 1000, now_ms);
		else
			return retry_parse_amount(s, 1000, ret) == 0;
		return true;
	}
	if (retry_parse_rfc3339(s, &v) == 0) {
		*ret = until(v, now_ms);
		return true;
	}
	return retry_parse_span(s, ret) == 0;
}

/* Groups of limits; %s is "remaining" or "reset" */
static const char *const groups[] = {
	"x-ratelimit-%s-requests",
	"x-ratelimit-%s-tokens",
	"anthropic-ratelimit-requests-%s",
	"anthropic-ratelimit-tokens-%s",
	"anthropic-ratelimit-input-tokens-%s",
	"anthropic-ratelimit-output-tokens-%s",
	"x-ratelimit-%s",
};

static const char *group_header(const struct http_reply *reply, size_t group, const char *what)
{
	const char *mark = strstr(groups[group], "%s");
	char name[64];

	(void)snprintf(name, sizeof(name), "%.*s%s%s", (int)(mark - groups[group]), groups[group], what, mark + 2);
	return http_header_get(reply, name);
}

static bool ask_groups(const struct http_reply *reply, uint64_t now_ms, uint64_t *ret)
{
	bool found = false;
	uint64_t longest = 0;

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		const char *left = group_header(reply, i, "remaining");
		const char *reset = group_header(reply, i, "reset");
		uint64_t ms;

		if (!left || strcmp(left, "0") != 0 || !reset || !reset_ms(reset, now_ms, &ms))
			continue;
		found = true;
		longest = ms > longest ? ms : longest;
	}
	if (found)
		*ret = longest;
	return found;
}

void retry_hint_from(const struct http_reply *reply, uint64_t now_ms, struct retry_hint *ret)
{
	const char *should = http_header_get(reply, "x-should-retry");
	struct retry_hint hint = {.should_retry = -1};

	if (should && strcasecmp(should, "true") == 0)
		hint.should_retry = 1;
	else if (should && strcasecmp(should, "false") == 0)
		hint.should_retry = 0;
	hint.has_wait = ask_retry_after(reply, now_ms, &hint.wait_ms);
	if (!hint.has_wait && (reply->status == 429 || reply->status == 503))
		hint.has_wait = ask_groups(reply, now_ms, &hint.wait_ms);
	if (hint.wait_ms > RETRY_WAIT_MAX_MS)
		hint.wait_ms = RETRY_WAIT_MAX_MS;
	*ret = hint;
}
