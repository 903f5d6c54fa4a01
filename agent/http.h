/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One HTTP request at a time over libcurl. Process: agent. Privilege: none.
 *
 * TLS certificates are always verified and redirects never followed: a redirect must not carry a key elsewhere. HTTP/1.1
 * only. Proxies come from the usual variables (https_proxy, http_proxy, all_proxy, no_proxy), but never for http:// to
 * loopback. Keys are held in our header list and in libcurl's memory only, and both are wiped when freed (OpenSSL's own
 * buffers are not ours to wipe). No function here writes to standard output or error.
 */
#ifndef AK_AGENT_HTTP_H
#define AK_AGENT_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/shared/ak_buf.h"

struct ak_err;
struct http;

#define HTTP_HEAD_MAX (64u << 10)	/* bytes of all response headers */
#define HTTP_BODY_MAX (256u << 20)	/* bytes of a streamed body */
#define HTTP_COLLECT_MAX (16u << 20)	/* bytes of a body that is collected */
#define HTTP_ERROR_MAX (64u << 10)	/* bytes kept of the body of an error status; the rest is dropped */
#define HTTP_HEADERS_MAX 128u

#define HTTP_CONNECT_MS 30000u
#define HTTP_IDLE_MS 300000u

/* How a transfer ended. http_do() gives one of these; the texts of http_end_text() say it in words. */
enum http_end {
	HTTP_DONE,		/* the whole answer came, whatever its status */
	HTTP_BAD_REQUEST,	/* the request itself: URL, header or permission; nothing was sent */
	HTTP_NO_NAME,		/* the host's (or proxy's) name could not be resolved */
	HTTP_UNREACHABLE,	/* no connection, or not in time */
	HTTP_TLS,		/* certificate or handshake */
	HTTP_STALLED_HEAD,	/* connected, but no answer began in time */
	HTTP_STALLED_BODY,	/* the answer stopped in its middle */
	HTTP_CUT,		/* the connection ended before the answer did */
	HTTP_TOO_LARGE,		/* headers or body over their maximum */
	HTTP_OVERTIME,		/* the total time is over */
	HTTP_CANCELLED,		/* the cancel descriptor became readable */
	HTTP_BAD_ANSWER,	/* not HTTP, or an encoding that cannot be undone */
	HTTP_STOPPED,		/* a callback returned an error */
	HTTP_INTERNAL,		/* out of memory, or libcurl failed in some other way */
	HTTP_END_COUNT
};

struct http_header {
	const char *name;
	const char *value;
	bool secret;	/* requests: a key; never part of a message, wiped after use */
};

enum http_body_use {
	HTTP_STREAM,	/* give it to on_body */
	HTTP_COLLECT,	/* keep it in the reply's body */
};

/* What came back. Owned; http_reply_release(). */
struct http_reply {
	int status;			/* 0: no answer began */
	struct http_header *headers;	/* names in lower case; in their order */
	size_t nheaders;
	struct ak_buf body;		/* collected body; of an error status the first HTTP_ERROR_MAX bytes */
	bool body_cut;			/* more came than was kept */
	uint64_t body_bytes;		/* of the body, after decoding, streamed or collected */
	uint64_t ttfb_ms;		/* from the start to the first byte of the answer */
	uint64_t total_ms;
};

/**
 * struct http_request - what to send, within which limits
 * All pointers are borrowed for the time of http_do(). Times are milliseconds; 0 stands for the default in parentheses.
 */
struct http_request {
	const char *method;	/* "GET" or "POST" */
	const char *url;	/* https://..., or http://... (see plain_ok); no user name in it */
	const struct http_header *headers;
	size_t nheaders;
	const void *body;	/* POST only */
	size_t body_len;
	bool plain_ok;		/* http:// to other hosts than loopback is allowed, too */
	const char *ca_file;	/* PEM file of trusted certificates instead of the system's; NULL: the system's */
	int cancel_fd;		/* readable: cancel; never read from. -1: none */
	uint32_t connect_ms;	/* name look-up, connection, TLS (HTTP_CONNECT_MS) */
	uint32_t head_ms;	/* from the request sent to the first byte of the answer (HTTP_IDLE_MS) */
	uint32_t idle_ms;	/* between two pieces of the answer (HTTP_IDLE_MS) */
	uint64_t total_ms;	/* everything (no limit) */
	size_t head_max;	/* bytes (HTTP_HEAD_MAX) */
	uint64_t body_max;	/* bytes of a streamed body (HTTP_BODY_MAX) */
	size_t collect_max;	/* bytes of a collected body (HTTP_COLLECT_MAX) */
	/**
	 * on_head() - all headers are there, no byte of the body was given out yet
	 * Return: enum http_body_use, or a negative errno, @err filled, to end the transfer. Without it (NULL) the body is
	 * streamed for status 200 to 299 if there is an on_body, else collected. It is not asked about an error status
	 * (below 200 or from 300 on): of that body up to HTTP_ERROR_MAX bytes are collected, and however it ends then, the
	 * end is HTTP_DONE, since the status is the answer (a cancel and the total time excepted).
	 */
	int (*on_head)(void *ctx, const struct http_reply *reply, struct ak_err *err);
	/** on_body() - the next bytes. Return: 0, or a negative errno, @err filled, to end the transfer. */
	int (*on_body)(void *ctx, const void *p, size_t n, struct ak_err *err);
	void *ctx;
};

/**
 * http_new() - a client; keeps connections open between requests
 * To be called before other threads exist (libcurl's global set-up). From then on SIGPIPE is ignored in this process: a
 * write of the TLS library to a closed connection must be an error and not its end. Return: 0, -ENOMEM, -EIO.
 */
int http_new(struct http **ret, struct ak_err *err);
/** http_free() - close its connections; NULL does nothing */
void http_free(struct http *h);

/**
 * http_do() - send one request and take the answer
 * @reply:	filled with what came, also on failure; release it in every case. Its former content is not looked at
 *
 * One line of @err says what failed: with the host and port, without headers, path, query or body. Ends within the times
 * set, and within 100 ms of the cancel descriptor becoming readable.
 * Return: HTTP_DONE, or another value of enum http_end with @err filled (its errno: HTTP_STOPPED: the callback's; else
 * EINVAL, ENXIO, ECONNREFUSED, EKEYREJECTED, ETIMEDOUT, ETIMEDOUT, ECONNRESET, EMSGSIZE, ETIME, ECANCELED, EPROTO, EIO).
 */
enum http_end http_do(struct http *h, const struct http_request *rq, struct http_reply *reply, struct ak_err *err);

/** http_reply_release() - free what the reply holds and empty it */
void http_reply_release(struct http_reply *reply);
/** http_header_get() - value of the first header called @name (lower case); NULL when there is none */
const char *http_header_get(const struct http_reply *reply, const char *name);
/** http_type_is() - is the reply's media type @type (lower case, such as "text/event-stream")? Parameters do not matter. */
bool http_type_is(const struct http_reply *reply, const char *type);

#define HTTP_EXCERPT_MAX 256u
/**
 * http_excerpt() - what an unexpected body says, for a message: an HTML page's title, else the first 200 bytes
 * One line, safe for a terminal, white space folded; "" for an empty body.
 */
void http_excerpt(const char *body, size_t len, char ret[HTTP_EXCERPT_MAX]);

/**
 * http_check_url() - may a request go there?
 * Wants http or https, a host, no user name, no fragment, no control characters or spaces; http only to loopback
 * (127.0.0.0/8, [::1], localhost) unless @plain_ok.
 * Return: 0; -EINVAL (not such a URL); -EPERM (http to another host).
 */
int http_check_url(const char *url, bool plain_ok, struct ak_err *err);

/** http_end_text() - a few words on each end ("stalled before headers"), for reports */
const char *http_end_text(enum http_end end);

/**
 * http_pause() - wait @ms, or until @cancel_fd (-1: none) is readable
 * Return: 0; -ECANCELED.
 */
int http_pause(uint64_t ms, int cancel_fd);

#endif
