/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request at a time over libcurl's multi interface. Process: agent. Privilege: none. */
#include "agent/http.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/http_int.h"
#include "agent/http_weaken.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_err.h"

#define POLL_MAX_MS 60000
#define CONNECTIONS 4L /* kept open between requests */

struct http {
	CURLM *multi;
};

static uint64_t now_ms(void)
{
	return ak_now_ns() / 1000000;
}

int http_new(struct http **ret, struct ak_err *err)
{
	struct http *h = calloc(1, sizeof(*h));

	if (!h)
		return ak_err_set(err, ENOMEM, "out of memory");
	if (http_memory_init() != CURLE_OK) {
		free(h);
		return ak_err_set(err, EIO, "libcurl cannot be set up");
	}
	h->multi = curl_multi_init();
	if (!h->multi) {
		curl_global_cleanup();
		free(h);
		return ak_err_set(err, ENOMEM, "out of memory");
	}
	(void)curl_multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, CONNECTIONS);
	(void)signal(SIGPIPE, SIG_IGN);
	*ret = h;
	return 0;
}

void http_free(struct http *h)
{
	if (!h)
		return;
	(void)curl_multi_cleanup(h->multi);
	curl_global_cleanup();
	free(h);
}

/* --- the request -------------------------------------------------------------------------------------------------------- */

/* A token of RFC 9110, section 5.6.2 */
static bool name_ok(const char *s)
{
	size_t n = strspn(s, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return n > 0 && s[n] == '\0';
}

static bool value_ok(const char *s)
{
	for (; *s; s++) {
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return false;
	}
	return true;
}

static void list_free(struct curl_slist *list)
{
	for (struct curl_slist *i = list; i; i = i->next)
		explicit_bzero(i->data, strlen(i->data));
	curl_slist_free_all(list);
}

/* Adds "name: value"; an empty value is written "name;" for libcurl. Frees the list and gives NULL without memory. */
static struct curl_slist *list_add(struct curl_slist *list, const char *name, const char *value)
{
	size_t size = strlen(name) + strlen(value) + 3;
	char *line = malloc(size);
	struct curl_slist *longer = NULL;

	if (line) {
		(void)snprintf(line, size, *value ? "%s: %s" : "%s;%s", name, value);
		longer = curl_slist_append(list, line);
		explicit_bzero(line, size);
		free(line);
	}
	if (!longer)
		list_free(list);
	return longer;
}

/* Return: 0, or -errno with @ret untouched */
static int list_of(const struct http_request *rq, struct curl_slist **ret, struct ak_err *err)
{
	/* no waiting for "100 Continue" with great bodies */
	struct curl_slist *list = curl_slist_append(NULL, "Expect:");

	for (size_t i = 0; list && i < rq->nheaders; i++) {
		const struct http_header *h = &rq->headers[i];

		if (!name_ok(h->name) || !value_ok(h->value)) {
			list_free(list);
			return ak_err_set(err, EINVAL, "the request header %s cannot be sent",
					  name_ok(h->name) ? h->name : "without a proper name");
		}
		list = list_add(list, h->name, h->value);
	}
	if (!list)
		return ak_err_set(err, ENOMEM, "out of memory");
	*ret = list;
	return 0;
}

/* true when every option was taken. An option that libcurl does not know must not be lost silently. */
struct options {
	CURL *easy;
	bool good;
};

#define SET(o, option, value) ((o)->good = curl_easy_setopt((o)->easy, option, value) == CURLE_OK && (o)->good)

static void set_safety(struct options *o, const struct http_request *rq, bool loopback)
{
	bool plain = strncasecmp(rq->url, "http:", 5) == 0;

	SET(o, CURLOPT_PROTOCOLS_STR, plain ? "http" : "https");
	SET(o, CURLOPT_FOLLOWLOCATION, http_weak("redirect") ? 1L : 0L);
	SET(o, CURLOPT_SSL_VERIFYPEER, http_weak("verify") ? 0L : 1L);
	SET(o, CURLOPT_SSL_VERIFYHOST, http_weak("verify") ? 0L : 2L);
	SET(o, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(o, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
	SET(o, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(o, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE); /* no key for the proxy */
	SET(o, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	/* what may go in the clear to this machine only must not go to a proxy elsewhere */
	if (plain && loopback && !http_weak("proxy"))
		SET(o, CURLOPT_NOPROXY, "*");
	if (rq->ca_file) {
		SET(o, CURLOPT_CAINFO, rq->ca_file);
		SET(o, CURLOPT_CAPATH, NULL);
		SET(o, CURLOPT_PROXY_CAINFO, rq->ca_file);
		SET(o, CURLOPT_PROXY_CAPATH, NULL);
	}
}

static void set_request(struct options *o, const struct http_request *rq, struct curl_slist *list)
{
	SET(o, CURLOPT_URL, rq->url);
	SET(o, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(o, CURLOPT_HTTPHEADER, list);
	SET(o, CURLOPT_USERAGENT, "ak/" AK_VERSION);
	/* asks for no encoding, and undoes one that comes all the same */
	SET(o, CURLOPT_ACCEPT_ENCODING, "identity");
	if (strcmp(rq->method, "POST") == 0) {
		SET(o, CURLOPT_POST, 1L);
		SET(o, CURLOPT_POSTFIELDS, rq->body ? rq->body : "");
		SET(o, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)rq->body_len);
	}
}

static bool set_up(struct transfer *t, struct curl_slist *list, bool loopback)
{
	const struct http_request *rq = t->rq;
	struct options o = {.easy = t->easy, .good = true};

	set_safety(&o, rq, loopback);
	set_request(&o, rq, list);
	SET(&o, CURLOPT_NOSIGNAL, 1L);
	SET(&o, CURLOPT_QUICK_EXIT, 1L); /* a cancel does not wait for the thread that looks up a name */
	SET(&o, CURLOPT_TCP_KEEPALIVE, 1L);
	SET(&o, CURLOPT_CONNECTTIMEOUT_MS, (long)(rq->connect_ms ? rq->connect_ms : HTTP_CONNECT_MS));
	SET(&o, CURLOPT_ERRORBUFFER, t->detail);
	SET(&o, CURLOPT_HEADERFUNCTION, http_on_header);
	SET(&o, CURLOPT_HEADERDATA, t);
	SET(&o, CURLOPT_WRITEFUNCTION, http_on_body);
	SET(&o, CURLOPT_WRITEDATA, t);
	return o.good;
}

/* --- the loop ----------------------------------------------------------------------------------------------------------- */

/* Is the connection there, has more been sent? */
static void look_at_progress(struct transfer *t)
{
	curl_off_t value = 0;

	if (!t->connected && curl_easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME_T, &value) == CURLE_OK && value > 0) {
		t->connected = true;
		t->last_ms = now_ms();
	}
	if (curl_easy_getinfo(t->easy, CURLINFO_SIZE_UPLOAD_T, &value) == CURLE_OK && (uint64_t)value != t->sent) {
		t->sent = (uint64_t)value;
		t->last_ms = now_ms();
	}
}

/* When the transfer is to be looked at again at the latest, in ms of the monotonic clock */
static uint64_t deadline(const struct transfer *t)
{
	const struct http_request *rq = t->rq;
	uint32_t quiet = t->answered ? rq->idle_ms : rq->head_ms;
	uint64_t at = rq->total_ms ? t->start_ms + rq->total_ms : UINT64_MAX;
	uint64_t stall = t->connected ? t->last_ms + (quiet ? quiet : HTTP_IDLE_MS) : UINT64_MAX;

	return stall < at ? stall : at;
}

static void end(struct transfer *t, enum http_end how)
{
	t->end = how;
	t->ended = true;
}

static void check_time(struct transfer *t)
{
	uint64_t now = now_ms();

	if (t->rq->total_ms && now - t->start_ms >= t->rq->total_ms) {
		end(t, http_end_set(t, HTTP_OVERTIME, ETIME, "the time of %.1f s is over", (double)t->rq->total_ms / 1e3));
	} else if (now >= deadline(t)) {
		/* an error status is an answer, whatever became of its body */
		if (t->head_done && http_is_error(t->reply->status)) {
			t->reply->body_cut = true;
			end(t, HTTP_DONE);
		} else {
			end(t, http_end_stalled(t));
		}
	}
}

static void wait_for_more(struct http *h, struct transfer *t)
{
	struct curl_waitfd extra = {.fd = t->rq->cancel_fd, .events = CURL_WAIT_POLLIN};
	uint64_t now = now_ms();
	uint64_t at = deadline(t);
	int ms = at <= now ? 0 : at - now < POLL_MAX_MS ? (int)(at - now) : POLL_MAX_MS;
	unsigned n = t->rq->cancel_fd >= 0 ? 1 : 0;

	if (curl_multi_poll(h->multi, &extra, n, ms, NULL) != CURLM_OK)
		end(t, http_end_set(t, HTTP_INTERNAL, EIO, "waiting failed"));
	else if (extra.revents)
		end(t, http_end_set(t, HTTP_CANCELLED, ECANCELED, "cancelled"));
}

/* Has libcurl finished? Then @ret is its result. */
static bool finished(struct http *h, CURLcode *ret)
{
	int left;

	for (CURLMsg *m = curl_multi_info_read(h->multi, &left); m; m = curl_multi_info_read(h->multi, &left)) {
		if (m->msg == CURLMSG_DONE) {
			*ret = m->data.result;
			return true;
		}
	}
	return false;
}

static enum http_end run(struct http *h, struct transfer *t)
{
	CURLcode rc;

	for (;;) {
		int running;

		if (curl_multi_perform(h->multi, &running) != CURLM_OK)
			return http_end_set(t, HTTP_INTERNAL, EIO, "libcurl failed");
		look_at_progress(t);
		if (finished(h, &rc))
			return http_end_of(t, rc);
		check_time(t);
		if (!t->ended)
			wait_for_more(h, t);
		if (t->ended)
			return t->end;
	}
}

static bool cancelled(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return fd >= 0 && poll(&p, 1, 0) > 0;
}

/* The handle is there; everything of it is gone afterwards */
static enum http_end transfer_run(struct http *h, struct transfer *t, struct curl_slist *list, bool loopback)
{
	enum http_end how;

	if (!set_up(t, list, loopback))
		return http_end_set(t, HTTP_INTERNAL, EIO, "libcurl lacks an option");
	if (curl_multi_add_handle(h->multi, t->easy) != CURLM_OK)
		return http_end_set(t, HTTP_INTERNAL, EIO, "libcurl failed");
	how = run(h, t);
	(void)curl_multi_remove_handle(h->multi, t->easy);
	t->reply->total_ms = now_ms() - t->start_ms;
	return how;
}

enum http_end http_do(struct http *h, const struct http_request *rq, struct http_reply *reply, struct ak_err *err)
{
	struct transfer t = {.rq = rq, .reply = reply, .err = err, .start_ms = now_ms()};
	struct curl_slist *list = NULL;
	bool loopback = false;
	enum http_end how;
	int rc;

	*reply = (struct http_reply){.body.max = rq->collect_max > HTTP_COLLECT_MAX ? rq->collect_max : HTTP_COLLECT_MAX};
	rc = http_host_of(rq->url, rq->plain_ok, t.where, &loopback, err);
	if (rc == 0 && strcmp(rq->method, "GET") != 0 && strcmp(rq->method, "POST") != 0)
		rc = ak_err_set(err, EINVAL, "the method is neither GET nor POST");
	if (rc == 0)
		rc = list_of(rq, &list, err);
	if (rc < 0)
		return rc == -ENOMEM ? HTTP_INTERNAL : HTTP_BAD_REQUEST;
	if (cancelled(rq->cancel_fd)) {
		list_free(list);
		return http_end_set(&t, HTTP_CANCELLED, ECANCELED, "cancelled");
	}
	reply->headers = calloc(HTTP_HEADERS_MAX, sizeof(*reply->headers));
	t.easy = curl_easy_init();
	how = t.easy && reply->headers ? transfer_run(h, &t, list, loopback)
				       : http_end_set(&t, HTTP_INTERNAL, EIO, "out of memory");
	curl_easy_cleanup(t.easy);
	list_free(list);
	return how;
}

int http_pause(uint64_t ms, int cancel_fd)
{
	uint64_t until = now_ms() + ms;

	for (;;) {
		struct pollfd p = {.fd = cancel_fd, .events = POLLIN};
		uint64_t now = now_ms();
		int left = now >= until ? 0 : until - now < POLL_MAX_MS ? (int)(until - now) : POLL_MAX_MS;

		/* a negative descriptor is only a wait */
		if (poll(&p, 1, left) > 0)
			return -ECANCELED;
		if (now >= until)
			return 0;
	}
}
