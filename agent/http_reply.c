/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of a request: its headers, what an unexpected body says, words for each end. Process: agent. Privilege: none. */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/http.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"

#define EXCERPT_BYTES 200u

const char *http_end_text(enum http_end end)
{
	static const char *const texts[HTTP_END_COUNT] = {
		[HTTP_DONE] = "done",
		[HTTP_BAD_REQUEST] = "not sent",
		[HTTP_NO_NAME] = "name not resolved",
		[HTTP_UNREACHABLE] = "unreachable",
		[HTTP_TLS] = "TLS failed",
		[HTTP_STALLED_HEAD] = "stalled before headers",
		[HTTP_STALLED_BODY] = "stalled in the middle",
		[HTTP_CUT] = "connection cut",
		[HTTP_TOO_LARGE] = "answer too large",
		[HTTP_OVERTIME] = "time over",
		[HTTP_CANCELLED] = "cancelled",
		[HTTP_BAD_ANSWER] = "not an HTTP answer",
		[HTTP_STOPPED] = "answer refused",
		[HTTP_INTERNAL] = "internal error",
	};

	assert(end < HTTP_END_COUNT);
	return texts[end];
}

void http_reply_release(struct http_reply *reply)
{
	for (size_t i = 0; i < reply->nheaders; i++) {
		free((char *)reply->headers[i].name);
		free((char *)reply->headers[i].value);
	}
	free(reply->headers);
	ak_buf_release(&reply->body);
	*reply = (struct http_reply){0};
}

const char *http_header_get(const struct http_reply *reply, const char *name)
{
	for (size_t i = 0; i < reply->nheaders; i++) {
		if (strcmp(reply->headers[i].name, name) == 0)
			return reply->headers[i].value;
	}
	return NULL;
}

bool http_type_is(const struct http_reply *reply, const char *type)
{
	const char *got = http_header_get(reply, "content-type");
	size_t n = strlen(type);

	return got && strncasecmp(got, type, n) == 0 && strchr("; \t", got[n]);
}

/* The text between <title> and the next tag; NULL when the body has none */
static const char *title_of(const char *body, size_t len, size_t *ret_len)
{
	static const char tag[] = "<title";

	for (size_t i = 0; i + sizeof(tag) <= len; i++) {
		const char *from;
		const char *to;

		if (strncasecmp(body + i, tag, sizeof(tag) - 1) != 0)
			continue;
		from = memchr(body + i, '>', len - i);
		to = from ? memchr(from, '<', len - (size_t)(from - body)) : NULL;
		if (!to)
			return NULL;
		*ret_len = (size_t)(to - from) - 1;
		return from + 1;
	}
	return NULL;
}

void http_excerpt(const char *body, size_t len, char ret[HTTP_EXCERPT_MAX])
{
	size_t title_len = 0;
	const char *title = title_of(body, len, &title_len);
	size_t n = 0;
	bool space = false;

	if (title) {
		body = title;
		len = title_len;
	}
	for (size_t i = 0; i < len && n < EXCERPT_BYTES; i++) {
		unsigned char c = (unsigned char)body[i];

		if (c == 0 || isspace(c)) {
			space = n > 0;
			continue;
		}
		if (space)
			ret[n++] = ' ';
		space = false;
		ret[n++] = (char)c;
	}
	ret[n - ak_utf8_partial(ret, n)] = '\0';
	ak_text_clean(ret);
}
