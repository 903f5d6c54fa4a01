/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of agent/http that need no server: where a request may go, what an answer says. The rest is the suite "http". */
#include "agent/http.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *url;
	int rc;
} urls[] = {
	{"https://api.anthropic.com/v1/messages", 0},
	{"https://api.anthropic.com", 0},
	{"HTTPS://api.anthropic.com:8443/x?y=z", 0},
	{"https://[2001:db8::1]/", 0},
	{"http://127.0.0.1:11434/v1", 0},
	{"http://127.1.2.3/", 0},
	{"http://localhost:8080/", 0},
	{"http://LocalHost/", 0},
	{"http://[::1]:8080/", 0},
	{"http://127.1/", 0},	     /* libcurl goes to 127.0.0.1 */
	{"http://2130706433/", 0},   /* there, too */
	{"http://api.anthropic.com/", -EPERM},
	{"http://10.0.0.1/", -EPERM},
	{"http://0.0.0.0/", -EPERM},
	{"http://128.0.0.1/", -EPERM},
	{"http://[::2]/", -EPERM},
	{"http://[::ffff:127.0.0.1]/", -EPERM},
	{"http://127.0.0.1.example.com/", -EPERM},
	{"http://localhost.example.com/", -EPERM},
	{"http://localhost./", -EPERM},
	{"http://xlocalhost/", -EPERM},
	{"http://127.0.0.1@evil.example/", -EINVAL},
	{"https://user@api.anthropic.com/", -EINVAL},
	{"https://user:pw@api.anthropic.com/", -EINVAL},
	{"https://@api.anthropic.com/", -EINVAL},
	{"https://api.anthropic.com/#x", -EINVAL},
	{"https://api.anthropic.com/a b", -EINVAL},
	{"https://api.anthropic.com/\n", -EINVAL},
	{"https://api.anthropic.com\\@evil.example/", -EINVAL},
	{"https://\xc3\xa4.example/", -EINVAL},
	{"https://", -EINVAL},
	{"https:///x", 0}, /* libcurl takes x for the host, and so do we */
	{"https://:443/", -EINVAL},
	{"https://host:99999/", -EINVAL},
	{"https://host:x/", -EINVAL},
	{"api.anthropic.com", -EINVAL},
	{"//api.anthropic.com/", -EINVAL},
	{"", -EINVAL},
	{"ftp://127.0.0.1/", -EINVAL},
	{"file:///etc/passwd", -EINVAL},
	{"gopher://127.0.0.1/", -EINVAL},
};

START_TEST(requests_go_to_https_or_loopback_only)
{
	struct ak_err err = {0};
	const char *url = urls[_i].url;
	int rc = http_check_url(url, false, &err);

	ck_assert_msg(rc == urls[_i].rc, "%s: %d %s", url, rc, err.msg);
	ck_assert_int_eq(err.code, -rc);
	ck_assert_int_eq(http_check_url(url, true, NULL), rc == -EPERM ? 0 : rc);
}
END_TEST

START_TEST(a_long_url_is_refused)
{
	char url[5000] = "https://example.com/";

	memset(url + 20, 'x', 4096 - 20);
	ck_assert_int_eq(http_check_url(url, false, NULL), 0);
	url[4096] = 'x';
	ck_assert_int_eq(http_check_url(url, false, NULL), -EINVAL);
}
END_TEST

START_TEST(an_excerpt_is_one_safe_line)
{
	static const struct {
		const char *body;
		size_t len;
		const char *want;
	} rows[] = {
		{"", 0, ""},
		{" \r\n\t ", 0, ""},
		{"plain", 0, "plain"},
		{"  two\r\n\n lines\0end ", 19, "two lines end"},
		{"<html><head><title>502 Bad\n  Gateway</title>", 0, "502 Bad Gateway"},
		{"<HTML><TITLE lang=\"en\">Log in</TITLE>", 0, "Log in"},
		{"<title>no end", 0, "<title>no end"},
		{"<title", 0, "<title"},
		{"<titl", 0, "<titl"},
		{"<title></title>", 0, ""},
		{"\x1b]0;x\x07\xff\x9b", 0, "?]0;x???"},
		{"\xc2\x9b", 0, "??"},
		{"\xf0\x9f\x98\x80", 0, "\xf0\x9f\x98\x80"},
	};
	char text[HTTP_EXCERPT_MAX];

	for (size_t i = 0; i < N(rows); i++) {
		http_excerpt(rows[i].body, rows[i].len ? rows[i].len : strlen(rows[i].body), text);
		ck_assert_str_eq(text, rows[i].want);
	}
}
END_TEST

START_TEST(an_excerpt_ends_at_the_edge_of_a_character)
{
	char body[600];
	char text[HTTP_EXCERPT_MAX];

	for (size_t shift = 0; shift < 4; shift++) {
		memset(body, 'x', shift);
		for (size_t i = shift; i + 4 < sizeof(body); i += 4)
			memcpy(body + i, "\xf0\x9f\x98\x80", 4);
		http_excerpt(body, sizeof(body) - 8, text);
		ck_assert(ak_utf8_valid(text, strlen(text)));
		ck_assert_uint_gt(strlen(text), 190);
		ck_assert_ptr_null(strchr(text, '?'));
	}
	memset(body, 'a', sizeof(body));
	for (size_t i = 1; i < sizeof(body); i += 2)
		body[i] = ' ';
	http_excerpt(body, sizeof(body), text);
	ck_assert_uint_le(strlen(text), 201);
}
END_TEST

START_TEST(media_types_and_headers)
{
	struct http_header list[] = {
		{.name = "content-type", .value = "Text/Event-Stream; charset=utf-8"},
		{.name = "x", .value = "1"},
		{.name = "x", .value = "2"},
	};
	struct http_reply reply = {.headers = list, .nheaders = 3};

	ck_assert(http_type_is(&reply, "text/event-stream"));
	ck_assert(!http_type_is(&reply, "text/event"));
	ck_assert(!http_type_is(&reply, "text/event-stream2"));
	ck_assert_str_eq(http_header_get(&reply, "x"), "1");
	ck_assert_ptr_null(http_header_get(&reply, "y"));
	list[0].value = "application/json";
	ck_assert(http_type_is(&reply, "application/json"));
	reply.nheaders = 0;
	ck_assert(!http_type_is(&reply, "application/json"));
}
END_TEST

static enum http_end request(const char *method, const char *url, const char *name, const char *value, struct ak_err *err)
{
	const struct http_header header = {.name = name, .value = value, .secret = true};
	const struct http_request rq = {
		.method = method, .url = url, .headers = &header, .nheaders = name ? 1 : 0, .cancel_fd = -1};
	struct http_reply reply;
	struct http *h = NULL;
	enum http_end end;

	ck_assert_int_eq(http_new(&h, NULL), 0);
	end = http_do(h, &rq, &reply, err);
	ck_assert_int_eq(reply.status, 0);
	http_reply_release(&reply);
	http_free(h);
	return end;
}

START_TEST(a_request_that_cannot_be_sent_is_refused_before)
{
	static const char *const names[] = {"", "x y", "x:", "x\r\ny", "x\xc3\xa4"};
	static const char *const values[] = {"sec\r\nret: x", "sec\nret", "sec\x7f", "sec\x01"};
	struct ak_err err = {0};

	ck_assert_int_eq(request("PUT", "http://127.0.0.1:1/", NULL, NULL, &err), HTTP_BAD_REQUEST);
	ck_assert_int_eq(request("GET", "http://example.com/", NULL, NULL, &err), HTTP_BAD_REQUEST);
	ck_assert_int_eq(err.code, EPERM);
	for (size_t i = 0; i < N(names); i++)
		ck_assert_int_eq(request("GET", "http://127.0.0.1:1/", names[i], "v", &err), HTTP_BAD_REQUEST);
	for (size_t i = 0; i < N(values); i++) {
		ck_assert_int_eq(request("GET", "http://127.0.0.1:1/", "x-api-key", values[i], &err), HTTP_BAD_REQUEST);
		ck_assert_int_eq(err.code, EINVAL);
		ck_assert_ptr_nonnull(strstr(err.msg, "x-api-key"));
		ck_assert_ptr_null(strstr(err.msg, "sec"));
	}
	http_free(NULL);
}
END_TEST

START_TEST(a_cancel_that_came_before_ends_everything_at_once)
{
	const struct http_request rq = {.method = "GET", .url = "http://127.0.0.1:1/", .cancel_fd = 0};
	struct http_request copy = rq;
	struct http_reply reply;
	struct ak_err err = {0};
	struct http *h = NULL;
	int fds[2];
	uint64_t start;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	start = ak_now_ns();
	ck_assert_int_eq(http_pause(50, fds[0]), 0);
	ck_assert_uint_ge(ak_now_ns() - start, 49000000u);
	ck_assert_int_eq(http_pause(1, -1), 0);
	ck_assert_int_eq(http_pause(0, fds[0]), 0);
	ck_assert_int_eq(write(fds[1], "x", 1), 1);
	ck_assert_int_eq(http_pause(3600000, fds[0]), -ECANCELED);
	ck_assert_int_eq(http_pause(0, fds[0]), -ECANCELED);
	copy.cancel_fd = fds[0];
	ck_assert_int_eq(http_new(&h, NULL), 0);
	ck_assert_int_eq(http_do(h, &copy, &reply, &err), HTTP_CANCELLED);
	ck_assert_int_eq(err.code, ECANCELED);
	http_reply_release(&reply);
	http_free(h);
	(void)close(fds[0]);
	(void)close(fds[1]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("http");
	TCase *t = tcase_create("http");

	tcase_add_loop_test(t, requests_go_to_https_or_loopback_only, 0, N(urls));
	tcase_add_test(t, a_long_url_is_refused);
	tcase_add_test(t, an_excerpt_is_one_safe_line);
	tcase_add_test(t, an_excerpt_ends_at_the_edge_of_a_character);
	tcase_add_test(t, media_types_and_headers);
	tcase_add_test(t, a_request_that_cannot_be_sent_is_refused_before);
	tcase_add_test(t, a_cancel_that_came_before_ends_everything_at_once);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
