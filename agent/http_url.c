/* SPDX-License-Identifier: Apache-2.0 */
/* Where a request may go; decided with the parser that libcurl itself uses. Process: agent. Privilege: none. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "agent/http_int.h"
#include "executor/shared/ak_err.h"

/* Strings of a URL; free with parts_release() */
struct parts {
	CURLU *u;
	char *scheme;
	char *host;
	char *port;
	char *user;
	char *fragment;
};

static void parts_release(struct parts *p)
{
	curl_free(p->scheme);
	curl_free(p->host);
	curl_free(p->port);
	curl_free(p->user);
	curl_free(p->fragment);
	curl_url_cleanup(p->u);
}

static bool plain_text(const char *s)
{
	for (; *s; s++) {
		if (*s < 0x21 || *s > 0x7e || *s == '\\')
			return false;
	}
	return true;
}

static int split(const char *url, struct parts *p, struct ak_err *err)
{
	if (strlen(url) > 4096 || !plain_text(url))
		return ak_err_set(err, EINVAL, "the URL is too long, or has spaces, control or other characters than ASCII");
	p->u = curl_url();
	if (!p->u)
		return ak_err_set(err, ENOMEM, "out of memory");
	if (curl_url_set(p->u, CURLUPART_URL, url, 0) != CURLUE_OK)
		return ak_err_set(err, EINVAL, "the URL is none that starts with https:// and has a host");
	(void)curl_url_get(p->u, CURLUPART_USER, &p->user, 0);
	(void)curl_url_get(p->u, CURLUPART_FRAGMENT, &p->fragment, 0);
	(void)curl_url_get(p->u, CURLUPART_SCHEME, &p->scheme, 0);
	(void)curl_url_get(p->u, CURLUPART_HOST, &p->host, 0);
	(void)curl_url_get(p->u, CURLUPART_PORT, &p->port, CURLU_DEFAULT_PORT);
	return 0;
}

/* libcurl resolves localhost itself, to loopback; numbers it has written in their usual form by now */
static bool is_loopback(const char *host)
{
	static const struct in6_addr one = IN6ADDR_LOOPBACK_INIT;
	struct in_addr v4;
	struct in6_addr v6;
	char inner[INET6_ADDRSTRLEN];
	size_t n = strlen(host);

	if (strcasecmp(host, "localhost") == 0)
		return true;
	if (inet_pton(AF_INET, host, &v4) == 1)
		return ntohl(v4.s_addr) >> 24 == 127;
	if (n < 3 || n - 2 >= sizeof(inner) || host[0] != '[')
		return false;
	memcpy(inner, host + 1, n - 2);
	inner[n - 2] = '\0';
	return inet_pton(AF_INET6, inner, &v6) == 1 && memcmp(&v6, &one, sizeof(one)) == 0;
}

static int check(const struct parts *p, bool plain_ok, char where[HTTP_HOST_MAX], bool *ret_loopback, struct ak_err *err)
{
	bool plain;
	bool loopback;

	if (!p->scheme || !p->host || !p->port)
		return ak_err_set(err, EINVAL, "the URL is none that starts with https:// and has a host");
	plain = strcasecmp(p->scheme, "http") == 0;
	loopback = is_loopback(p->host);
	if (!plain && strcasecmp(p->scheme, "https") != 0)
		return ak_err_set(err, EINVAL, "the URL starts neither with https:// nor with http://");
	if (p->user)
		return ak_err_set(err, EINVAL, "the URL holds a user name; keys come from the environment");
	if (p->fragment)
		return ak_err_set(err, EINVAL, "the URL has a part behind #, which is never sent");
	if (plain && !loopback && !plain_ok) {
		(void)ak_err_set(err, EPERM, "http:// would send the key and the prompt to %.200s in the clear", p->host);
		ak_err_hint(err, "use https://");
		return -EPERM;
	}
	(void)snprintf(where, HTTP_HOST_MAX, "%.280s:%.8s", p->host, p->port);
	*ret_loopback = loopback;
	return 0;
}

int http_host_of(const char *url, bool plain_ok, char where[HTTP_HOST_MAX], bool *ret_loopback, struct ak_err *err)
{
	struct parts p = {0};
	int rc = split(url, &p, err);

	if (rc == 0)
		rc = check(&p, plain_ok, where, ret_loopback, err);
	parts_release(&p);
	return rc;
}

int http_check_url(const char *url, bool plain_ok, struct ak_err *err)
{
	char where[HTTP_HOST_MAX];
	bool loopback;

	return http_host_of(url, plain_ok, where, &loopback, err);
}
