/* SPDX-License-Identifier: Apache-2.0 */
/* Why a transfer ended, in one line. Process: agent. Privilege: none. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agent/http_int.h"
#include "executor/shared/ak_err.h"

enum http_end http_end_set(struct transfer *t, enum http_end end, int code, const char *fmt, ...)
{
	char text[AK_ERR_MSG_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)ak_err_set(t->err, code, "%s: %s", t->where, text);
	return end;
}

static uint32_t or_default(uint32_t v, uint32_t fallback)
{
	return v ? v : fallback;
}

enum http_end http_end_stalled(struct transfer *t)
{
	uint32_t head_ms = or_default(t->rq->head_ms, HTTP_IDLE_MS);
	uint32_t idle_ms = or_default(t->rq->idle_ms, HTTP_IDLE_MS);

	if (!t->answered && t->sent < t->rq->body_len)
		return http_end_set(t, HTTP_STALLED_HEAD, ETIMEDOUT,
				    "stalled before headers: the request was not taken for %.1f s", head_ms / 1e3);
	if (!t->answered)
		return http_end_set(t, HTTP_STALLED_HEAD, ETIMEDOUT, "stalled before headers: no answer within %.1f s",
				    head_ms / 1e3);
	return http_end_set(t, HTTP_STALLED_BODY, ETIMEDOUT,
			    "stalled in the middle: nothing for %.1f s after %" PRIu64 " bytes of the answer", idle_ms / 1e3,
			    t->reply->body_bytes);
}

/* libcurl's words, if there are some and no key is in them */
static const char *detail(const struct transfer *t)
{
	if (!t->detail[0])
		return "";
	for (size_t i = 0; i < t->rq->nheaders; i++) {
		const struct http_header *h = &t->rq->headers[i];

		if (h->secret && *h->value && strstr(t->detail, h->value))
			return "";
	}
	return t->detail;
}

static enum http_end unreachable(struct transfer *t)
{
	const char *words = detail(t);
	long code = 0;
	long proxy = 0;
	const char *why;

	(void)curl_easy_getinfo(t->easy, CURLINFO_HTTP_CONNECTCODE, &proxy);
	if (proxy != 0 && proxy != 200)
		return http_end_set(t, HTTP_UNREACHABLE, ECONNREFUSED, "unreachable: the proxy answered %ld", proxy);
	(void)curl_easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &code);
	why = code > 0 ? strerrordesc_np((int)code) : NULL;
	/* libcurl's words name the address that was tried, which may be a proxy's */
	return http_end_set(t, HTTP_UNREACHABLE, ECONNREFUSED, "unreachable: %s%s%s%s",
			    why ? why : "the connection was closed before it stood", *words ? " (" : "", words,
			    *words ? ")" : "");
}

static enum http_end timed_out(struct transfer *t)
{
	uint32_t ms = or_default(t->rq->connect_ms, HTTP_CONNECT_MS);
	curl_off_t looked_up = 0;

	(void)curl_easy_getinfo(t->easy, CURLINFO_NAMELOOKUP_TIME_T, &looked_up);
	if (looked_up == 0)
		return http_end_set(t, HTTP_NO_NAME, ENXIO, "name not resolved within %.1f s", ms / 1e3);
	return http_end_set(t, HTTP_UNREACHABLE, ECONNREFUSED, "unreachable: no connection within %.1f s", ms / 1e3);
}

static enum http_end tls_failed(struct transfer *t)
{
	const char *why = detail(t);

	/* the other side went away during the handshake: nothing is wrong with a certificate */
	if (strstr(why, "SSL_ERROR_SYSCALL") || strstr(why, "reset by peer") || strstr(why, "unexpected eof"))
		return http_end_set(t, HTTP_UNREACHABLE, ECONNREFUSED,
				    "unreachable: the connection was closed during the TLS handshake");
	return http_end_set(t, HTTP_TLS, EKEYREJECTED, "TLS failed: %s", *why ? why : "no reason known");
}

static enum http_end cut(struct transfer *t)
{
	if (!t->connected)
		return unreachable(t);
	if (!t->answered)
		return http_end_set(t, HTTP_CUT, ECONNRESET, "connection cut: closed without an answer");
	if (!t->head_done)
		return http_end_set(t, HTTP_CUT, ECONNRESET, "connection cut in the headers");
	return http_end_set(t, HTTP_CUT, ECONNRESET, "connection cut after %" PRIu64 " bytes of the answer",
			    t->reply->body_bytes);
}

static enum http_end end_of_code(struct transfer *t, CURLcode rc)
{
	switch (rc) {
	case CURLE_OK:
		/* libcurl takes an end in the middle of the headers for an answer without a body */
		return t->head_done ? HTTP_DONE : cut(t);
	case CURLE_COULDNT_RESOLVE_HOST:
		return http_end_set(t, HTTP_NO_NAME, ENXIO, "name not resolved");
	case CURLE_COULDNT_RESOLVE_PROXY:
		return http_end_set(t, HTTP_NO_NAME, ENXIO, "name of the proxy not resolved");
	case CURLE_COULDNT_CONNECT:
	case CURLE_PROXY:
		return unreachable(t);
	case CURLE_OPERATION_TIMEDOUT:
		return timed_out(t);
	case CURLE_SSL_CACERT_BADFILE:
		return http_end_set(t, HTTP_TLS, EKEYREJECTED, "TLS failed: the file of trusted certificates is unusable");
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_INVALIDCERTSTATUS:
	case CURLE_USE_SSL_FAILED:
		return tls_failed(t);
	case CURLE_PARTIAL_FILE:
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_SEND_FAIL_REWIND:
		return cut(t);
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
		return http_end_set(t, HTTP_BAD_ANSWER, EPROTO, "not an HTTP answer");
	case CURLE_BAD_CONTENT_ENCODING:
		return http_end_set(t, HTTP_BAD_ANSWER, EPROTO, "the answer's encoding cannot be undone");
	case CURLE_OUT_OF_MEMORY:
		/* libcurl 7.88 says so of a header line over its own maximum of 100 kB as well */
		if (t->connected && !t->head_done)
			return http_end_set(t, HTTP_TOO_LARGE, EMSGSIZE, "a header line of more than 100 kB");
		return http_end_set(t, HTTP_INTERNAL, EIO, "out of memory");
	case CURLE_URL_MALFORMAT:
		return http_end_set(t, HTTP_BAD_REQUEST, EINVAL, "the URL cannot be used");
	default:
		return http_end_set(t, HTTP_INTERNAL, EIO, "%s", curl_easy_strerror(rc));
	}
}

enum http_end http_end_of(struct transfer *t, CURLcode rc)
{
	if (t->ended)
		return t->end;
	/* the status is the answer; that its body could not be read to the end changes nothing */
	if (t->head_done && http_is_error(t->reply->status)) {
		t->reply->body_cut = t->reply->body_cut || rc != CURLE_OK;
		return HTTP_DONE;
	}
	return end_of_code(t, rc);
}
