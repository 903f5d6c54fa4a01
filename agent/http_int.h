/* SPDX-License-Identifier: Apache-2.0 */
/* What the HTTP files share: one transfer in progress. Process: agent. Privilege: none. */
#ifndef AK_AGENT_HTTP_INT_H
#define AK_AGENT_HTTP_INT_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/http.h"

#define HTTP_HOST_MAX 300u

struct transfer {
	const struct http_request *rq; /* borrowed */
	struct http_reply *reply;      /* borrowed; filled as bytes come */
	struct ak_err *err;	       /* borrowed; may be NULL */
	CURL *easy;
	char where[HTTP_HOST_MAX];	 /* "host:port", for messages */
	char detail[CURL_ERROR_SIZE];	 /* libcurl's words */
	uint64_t start_ms;
	uint64_t last_ms;	/* when something was sent or came last */
	uint64_t sent;		/* bytes of the body sent so far */
	size_t head_bytes;
	bool connected;		/* name, connection, proxy and TLS are done */
	bool answered;		/* a byte of the answer came */
	bool head_done;
	bool enough;		/* of an error body: the transfer may end here */
	bool ended;		/* @end is set: by a callback or the loop */
	enum http_body_use use;
	enum http_end end;
};

static inline bool http_is_error(int status)
{
	return status < 200 || status >= 300;
}

/** http_host_of() - "host:port" of a checked URL, for messages; is the host loopback? Return: as http_check_url(). */
int http_host_of(const char *url, bool plain_ok, char where[HTTP_HOST_MAX], bool *ret_loopback, struct ak_err *err);

/** http_on_header(), http_on_body() - libcurl's callbacks; @ctx is the transfer */
size_t http_on_header(char *p, size_t size, size_t n, void *ctx);
size_t http_on_body(char *p, size_t size, size_t n, void *ctx);

/** http_end_of() - the end of a transfer that libcurl has finished with @rc, with its message in t->err */
enum http_end http_end_of(struct transfer *t, CURLcode rc);
/** http_end_stalled() - nothing came for as long as is allowed */
enum http_end http_end_stalled(struct transfer *t);
/** http_end_set() - end with a message of our own: "WHERE: ..." */
enum http_end http_end_set(struct transfer *t, enum http_end end, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/** http_memory_init() - curl_global_init() with memory that is wiped when freed. Return: 0, or libcurl's code. */
CURLcode http_memory_init(void);

#endif
