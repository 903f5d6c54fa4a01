/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the strict JSON parser, its tree, its printer. */
#include "agent/json.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static struct cJSON *parsed(const char *text, unsigned flags)
{
	struct cJSON *item = NULL;
	struct ak_err err = {0};
	int rc = json_parse(text, strlen(text), flags, NULL, &item, &err);

	ck_assert_msg(rc == 0, "%s: %s", text, err.msg);
	ck_assert_ptr_nonnull(item);
	return item;
}

static void is_printed(const struct cJSON *item, unsigned flags, const char *want)
{
	struct ak_buf b = {0};

	json_print(item, flags, &b);
	ck_assert(!b.failed);
	ck_assert_str_eq(b.data, want);
	ak_buf_release(&b);
}

struct refusal {
	const char *text;
	size_t len; /* 0: strlen */
	int code;
	const char *says;
};

static const struct refusal refusals[] = {
	/* no value, or not a whole one */
	{"", 0, EBADMSG, "byte 0: the text ends"},
	{" \n\t ", 0, EBADMSG, "byte 4: the text ends"},
	{"{", 0, EBADMSG, "expected a name"},
	{"[", 0, EBADMSG, "the text ends"},
	{"[1", 0, EBADMSG, "expected , or ]"},
	{"[1,", 0, EBADMSG, "the text ends"},
	{"[1,]", 0, EBADMSG, "expected a value"},
	{"[,1]", 0, EBADMSG, "expected a value"},
	{"[1 2]", 0, EBADMSG, "expected , or ]"},
	{"[1}", 0, EBADMSG, "expected , or ]"},
	{"{\"a\"", 0, EBADMSG, "expected :"},
	{"{\"a\":", 0, EBADMSG, "the text ends"},
	{"{\"a\":1", 0, EBADMSG, "expected , or }"},
	{"{\"a\":1,}", 0, EBADMSG, "expected a name"},
	{"{a:1}", 0, EBADMSG, "expected a name"},
	{"{'a':1}", 0, EBADMSG, "expected a name"},
	{"{1:1}", 0, EBADMSG, "expected a name"},
	{"{\"a\" 1}", 0, EBADMSG, "expected :"},
	{"{\"command\": \"rm -rf", 0, EBADMSG, "a string has no end"},
	/* words */
	{"nul", 0, EBADMSG, "expected a value"},
	{"True", 0, EBADMSG, "expected a value"},
	{"NaN", 0, EBADMSG, "expected a value"},
	{"Infinity", 0, EBADMSG, "expected a value"},
	{"-Infinity", 0, EBADMSG, "bad number"},
	{"nullx", 0, EBADMSG, "text behind the end"},
	/* behind the end */
	{"{\"a\":1} junk", 0, EBADMSG, "byte 8: text behind the end"},
	{"1 2", 0, EBADMSG, "text behind the end"},
	{"{}{}", 0, EBADMSG, "text behind the end"},
	{"{}\0", 3, EBADMSG, "text behind the end"},
	{"\0{}", 3, EBADMSG, "expected a value"},
	{"1\0", 2, EBADMSG, "text behind the end"},
	/* comments, space that JSON does not know */
	{"/* c */ 1", 0, EBADMSG, "expected a value"},
	{"[1 // c\n]", 0, EBADMSG, "expected , or ]"},
	{"\f1", 0, EBADMSG, "expected a value"},
	{"\xc2\xa0"
	 "1",
	 0, EBADMSG, "expected a value"},
	{"\xef\xbb\xbf{}", 0, EBADMSG, "byte order mark"},
	/* numbers */
	{"01", 0, EBADMSG, "bad number"},
	{"-01", 0, EBADMSG, "bad number"},
	{"-", 0, EBADMSG, "bad number"},
	{"+1", 0, EBADMSG, "expected a value"},
	{".5", 0, EBADMSG, "expected a value"},
	{"1.", 0, EBADMSG, "bad number"},
	{"1.e5", 0, EBADMSG, "bad number"},
	{"1e", 0, EBADMSG, "bad number"},
	{"1e+", 0, EBADMSG, "bad number"},
	{"0x10", 0, EBADMSG, "text behind the end"},
	{"1_000", 0, EBADMSG, "text behind the end"},
	{"1e400", 0, ERANGE, "out of range"},
	{"[-1e400]", 0, ERANGE, "out of range"},
	/* strings */
	{"\"", 0, EBADMSG, "a string has no end"},
	{"\"\\\"", 0, EBADMSG, "a string has no end"},
	{"\"abc\\", 0, EBADMSG, "a string has no end"},
	{"\"a\nb\"", 0, EBADMSG, "control character"},
	{"\"a\0b\"", 5, EBADMSG, "control character"},
	{"\"\x1f\"", 0, EBADMSG, "control character"},
	{"\"\\x41\"", 0, EBADMSG, "unknown escape"},
	{"\"\\'\"", 0, EBADMSG, "unknown escape"},
	{"\"\\\0\"", 4, EBADMSG, "unknown escape"},
	{"\"\\U0041\"", 0, EBADMSG, "unknown escape"},
	{"\"\\u\"", 0, EBADMSG, "bad \\u"},
	{"\"\\u12\"", 0, EBADMSG, "bad \\u"},
	{"\"\\u12g4\"", 0, EBADMSG, "bad \\u"},
	{"\"\\u 123\"", 0, EBADMSG, "bad \\u"},
	{"\"x\\u0000y\"", 0, EILSEQ, "NUL"},
	{"{\"\\u0000\":1}", 0, EILSEQ, "NUL"},
	{"\"\\ud83d\"", 0, EILSEQ, "surrogate"},
	{"\"\\ude00\"", 0, EILSEQ, "surrogate"},
	{"\"\\ud83d\\ud83d\"", 0, EILSEQ, "surrogate"},
	{"\"\\ud83dx\\ude00\"", 0, EILSEQ, "surrogate"},
	{"\"\\ude00\\ud83d\"", 0, EILSEQ, "surrogate"},
	/* bytes that are not UTF-8 */
	{"\"\xff\"", 0, EILSEQ, "not UTF-8"},
	{"\"\x80\"", 0, EILSEQ, "not UTF-8"},
	{"\"\xc3\"", 0, EILSEQ, "not UTF-8"},
	{"\"\xc0\xaf\"", 0, EILSEQ, "not UTF-8"},
	{"\"\xed\xa0\xbd\"", 0, EILSEQ, "not UTF-8"},
	{"\"\xf4\x90\x80\x80\"", 0, EILSEQ, "not UTF-8"},
	{"\"\xf0\x9f\x98\"", 0, EILSEQ, "not UTF-8"},
	/* names */
	{"{\"a\":1,\"a\":2}", 0, EEXIST, "same name"},
	{"{\"a\":1,\"b\":2,\"\\u0061\":2}", 0, EEXIST, "same name"},
	{"{\"\":1,\"\":2}", 0, EEXIST, "same name"},
	{"[{\"a\":{\"x\":1,\"x\":1}}]", 0, EEXIST, "same name"},
};

START_TEST(what_is_not_strict_json_is_refused_with_its_place)
{
	const struct refusal *r = &refusals[_i];
	struct cJSON *item = (struct cJSON *)&refusals;
	struct ak_err err = {0};
	size_t len = r->len ? r->len : strlen(r->text);
	char *copy = malloc(len ? len : 1); /* no byte behind the end */
	int rc;

	memcpy(copy, r->text, len);
	rc = json_parse(copy, len, 0, NULL, &item, &err);
	free(copy);
	ck_assert_msg(rc == -r->code, "%s: %d, %s", r->text, rc, err.msg);
	ck_assert_int_eq(err.code, r->code);
	ck_assert_msg(strstr(err.msg, r->says) != NULL, "%s: %s", r->text, err.msg);
	ck_assert_ptr_eq(item, &refusals);
}
END_TEST

/* Strings put elsewhere: the same texts are refused in the same words */
START_TEST(a_refusal_does_not_depend_on_where_strings_go)
{
	const struct refusal *r = &refusals[_i];
	struct cJSON *item = (struct cJSON *)&refusals;
	struct ak_err err = {0};
	size_t len = r->len ? r->len : strlen(r->text);
	char *copy = malloc(len ? len : 1);

	memcpy(copy, r->text, len);
	ck_assert_int_eq(json_parse(copy, len, JSON_NO_TEXT, NULL, &item, &err), -r->code);
	ck_assert_msg(strstr(err.msg, r->says) != NULL, "%s: %s", r->text, err.msg);
	ck_assert_int_eq(json_parse_in_place(copy, len, 0, NULL, &item, &err), -r->code);
	ck_assert_msg(strstr(err.msg, r->says) != NULL, "%s: %s", r->text, err.msg);
	ck_assert_ptr_eq(item, &refusals);
	free(copy);
}
END_TEST

/* text in, text out: compact, order and numbers kept */
static const char *const same[][2] = {
	{"null", NULL},
	{" true ", "true"},
	{"\r\n[ 1 , 2 ]\t", "[1,2]"},
	{"{\"b\":1,\"a\":{\"z\":[],\"y\":{}}}", NULL},
	{"9007199254740993", NULL},
	{"123456789012345678901234567890", NULL},
	{"-0", NULL},
	{"-0.0", NULL},
	{"1.10", NULL},
	{"1E+2", NULL},
	{"1e-400", NULL},
	{"3e-06", NULL},
	{"\"\"", NULL},
	{"\"\\/\\b\\f\\n\\r\\t\\\"\\\\\"", "\"/\\b\\f\\n\\r\\t\\\"\\\\\""},
	{"\"\\u0041\\u00e4\\u20ac\"", "\"A\xc3\xa4\xe2\x82\xac\""},
	{"\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\""},
	{"\"\\uD83D\\uDE00\"", "\"\xf0\x9f\x98\x80\""},
	{"\"\\u0001\\u001F\\u007f\"", "\"\\u0001\\u001f\x7f\""},
	{"\"\xf4\x8f\xbf\xbf\"", NULL},
	{"{\"a\":1,\"A\":2}", NULL},
	{"{\"\":0}", NULL},
};

START_TEST(what_is_parsed_prints_again_with_order_and_numbers_kept)
{
	struct cJSON *item = parsed(same[_i][0], 0);

	is_printed(item, 0, same[_i][1] ? same[_i][1] : same[_i][0]);
	json_free(item);
}
END_TEST

START_TEST(strings_stay_in_the_text_or_nowhere)
{
	const char *want = same[_i][1] ? same[_i][1] : same[_i][0];
	char *copy = strdup(same[_i][0]);
	struct cJSON *item = NULL;
	struct cJSON *own;

	ck_assert_int_eq(json_parse_in_place(copy, strlen(copy), 0, NULL, &item, NULL), 0);
	is_printed(item, 0, want);
	if (json_str(item))
		ck_assert(json_str(item) >= copy && json_str(item) < copy + strlen(same[_i][0]));
	own = json_dup(item);
	json_free(item);
	memset(copy, 'Z', strlen(same[_i][0]));
	is_printed(own, 0, want);
	json_free(own);
	free(copy);

	item = parsed(same[_i][0], JSON_NO_TEXT);
	if (json_str(item))
		ck_assert_str_eq(json_str(item), "");
	else
		is_printed(item, 0, want); /* none of these lists has a string in it */
	json_free(item);
}
END_TEST

START_TEST(what_is_not_unicode_in_a_stream_is_repaired_or_kept_as_it_was)
{
	static const char *const rows[][2] = {
		{"\"x\\u0000y\"", "\"x\xef\xbf\xbdy\""},
		{"\"\\ud83d\"", "\"\\ud83d\""},
		{"\"a\\ude00b\"", "\"a\\ude00b\""},
		{"\"\\ud83d\\ud83d\\ude00\"", "\"\\ud83d\xf0\x9f\x98\x80\""},
		{"{\"\\udfff\":1}", "{\"\\udfff\":1}"},
		{"\"\\ude00\\ud83d\"", "\"\\ude00\\ud83d\""},
	};

	for (size_t i = 0; i < N(rows); i++) {
		struct cJSON *item = parsed(rows[i][0], JSON_REPAIR);

		is_printed(item, 0, rows[i][1]);
		json_free(item);
	}

	struct cJSON *item = NULL;

	ck_assert_int_eq(json_parse("\"\xff\"", 3, JSON_REPAIR, NULL, &item, NULL), -EILSEQ);
	ck_assert_ptr_null(item);
}
END_TEST

/* @n times @piece between @head and @tail */
static char *repeated(const char *head, const char *piece, size_t n, const char *tail)
{
	size_t len = strlen(piece);
	size_t all = n * len;
	char *text = malloc(strlen(head) + all + strlen(tail) + 1);
	char *p = text + strlen(head);

	ck_assert_ptr_nonnull(text);
	memcpy(text, head, strlen(head));
	memcpy(p, piece, len);
	for (size_t done = len; done < all;) {
		size_t more = done < all - done ? done : all - done;

		memcpy(p + done, p, more);
		done += more;
	}
	memcpy(p + all, tail, strlen(tail) + 1);
	return text;
}

static int result(const char *text, const struct json_limits *limits)
{
	struct cJSON *item = NULL;
	int rc = json_parse(text, strlen(text), 0, limits, &item, NULL);

	ck_assert(rc == 0 ? item != NULL : item == NULL);
	json_free(item);
	return rc;
}

START_TEST(each_limit_is_exact)
{
	const struct json_limits bytes = {.bytes = 4};
	const struct json_limits depth = {.depth = 2};
	const struct json_limits items = {.items = 3};

	ck_assert_int_eq(result("[10]", &bytes), 0);
	ck_assert_int_eq(result("[100]", &bytes), -E2BIG);
	ck_assert_int_eq(result("[{}]", &depth), 0);
	ck_assert_int_eq(result("[{\"a\":1}]", &depth), 0);
	ck_assert_int_eq(result("[{\"a\":[]}]", &depth), -E2BIG);
	ck_assert_int_eq(result("[1,2]", &items), 0);
	ck_assert_int_eq(result("[1,2,3]", &items), -E2BIG);
}
END_TEST

START_TEST(the_maxima_hold_whatever_limits_are_asked_for)
{
	const struct json_limits wide = {.bytes = SIZE_MAX, .depth = 1u << 30, .items = SIZE_MAX};
	char *deep = repeated("", "[", JSON_DEPTH_MAX, "");
	char *text = repeated(deep, "]", JSON_DEPTH_MAX, "");

	ck_assert_int_eq(result(text, &wide), 0);
	free(text);
	text = repeated("[", "[", 10000, "");
	ck_assert_int_eq(result(text, &wide), -E2BIG);
	free(text);
	free(deep);
	text = repeated("[1", ",1", JSON_ITEMS_MAX - 2, "]");
	ck_assert_int_eq(result(text, &wide), 0);
	free(text);
	text = repeated("[1", ",1", JSON_ITEMS_MAX - 1, "]");
	ck_assert_int_eq(result(text, &wide), -E2BIG);
	free(text);
	text = repeated("\"", "x", JSON_BYTES_MAX - 2, "\"");
	ck_assert_int_eq(result(text, &wide), 0);
	free(text);
	text = repeated("\"", "x", JSON_BYTES_MAX - 1, "\"");
	ck_assert_int_eq(result(text, &wide), -E2BIG);
	free(text);
	text = repeated("1", "0", JSON_NUMBER_MAX, "");
	ck_assert_int_eq(result(text, &wide), -ERANGE);
	free(text);
	text = repeated("0.", "1", JSON_NUMBER_MAX - 2, "");
	ck_assert_int_eq(result(text, &wide), 0);
	free(text);
}
END_TEST

START_TEST(many_names_are_compared_too)
{
	struct ak_buf b = {0};

	for (unsigned i = 0; i < 200; i++)
		ak_buf_printf(&b, "%s\"k%u\":%u", i ? "," : "{", i * 7919 % 200, i);
	ak_buf_str(&b, "}");
	ck_assert_int_eq(result(b.data, NULL), 0);
	b.len--;
	ak_buf_str(&b, ",\"k100\":0}");
	ck_assert_int_eq(result(b.data, NULL), -EEXIST);
	ak_buf_release(&b);
}
END_TEST

START_TEST(looking_is_exact_and_takes_nothing_for_an_answer)
{
	struct cJSON *d = parsed("{\"Command\":\"x\",\"a\":{\"b\":{\"c\":[1,true]}},\"ab\":2,\"n\":null}", 0);

	ck_assert_ptr_null(json_get(d, "command"));
	ck_assert_str_eq(json_str(json_get(d, "Command")), "x");
	ck_assert_str_eq(json_num(json_get(d, "ab")), "2");
	ck_assert_ptr_null(json_get(d, "Comman"));
	ck_assert_ptr_null(json_get(d, "Command "));
	ck_assert_int_eq(json_kind(json_at(d, "a.b.c")), JSON_ARRAY);
	ck_assert_uint_eq(json_count(json_at(d, "a.b.c")), 2);
	ck_assert_ptr_null(json_at(d, "a.x.c"));
	ck_assert_ptr_null(json_at(d, "a."));
	ck_assert_ptr_null(json_at(d, "ab.c"));
	ck_assert(json_true(json_next(json_first(json_at(d, "a.b.c")))));
	ck_assert_str_eq(json_name(json_first(d)), "Command");
	ck_assert(json_is_str(json_get(d, "Command"), "x"));
	ck_assert(!json_is_str(json_get(d, "ab"), "2"));
	ck_assert_int_eq(json_kind(json_get(d, "n")), JSON_NULL);
	ck_assert_int_eq(json_kind(json_get(d, "zz")), JSON_ABSENT);
	ck_assert_ptr_null(json_get(NULL, "x"));
	ck_assert_ptr_null(json_at(NULL, "x.y"));
	ck_assert_ptr_null(json_str(NULL));
	ck_assert_ptr_null(json_num(NULL));
	ck_assert_ptr_null(json_first(NULL));
	ck_assert_ptr_null(json_first(json_get(d, "Command")));
	ck_assert_ptr_null(json_next(NULL));
	ck_assert_ptr_null(json_name(NULL));
	ck_assert(!json_true(NULL) && !json_is_str(NULL, ""));
	ck_assert_uint_eq(json_count(NULL), 0);
	json_free(d);
	json_free(NULL);
}
END_TEST

START_TEST(typed_access_names_the_path)
{
	struct cJSON *d = parsed("{\"s\":\"t\",\"u\":{\"n\":12,\"z\":null},\"b\":false,\"l\":[],\"o\":{}}", 0);
	struct ak_err err = {0};
	const struct cJSON *item = d;
	const char *s = "old";
	uint64_t n = 77;
	bool b = true;

	ck_assert_int_eq(json_need_str(d, "s", &s, &err), 0);
	ck_assert_str_eq(s, "t");
	ck_assert_int_eq(json_need_u64(d, "u.n", &n, &err), 0);
	ck_assert_uint_eq(n, 12);
	ck_assert_int_eq(json_need_bool(d, "b", &b, &err), 0);
	ck_assert(!b);
	ck_assert_int_eq(json_need_arr(d, "l", &item, &err), 0);
	ck_assert_int_eq(json_kind(item), JSON_ARRAY);
	ck_assert_int_eq(json_need_obj(d, "o", &item, &err), 0);
	ck_assert_int_eq(json_kind(item), JSON_OBJECT);

	ck_assert_int_eq(json_need_u64(d, "u.x", &n, &err), -ENOENT);
	ck_assert_str_eq(err.msg, "u.x: expected a number, got nothing");
	ck_assert_int_eq(json_need_str(d, "u.z", &s, &err), -ENOENT);
	ck_assert_str_eq(err.msg, "u.z: expected a string, got null");
	ck_assert_int_eq(json_need_u64(d, "s", &n, &err), -EBADMSG);
	ck_assert_str_eq(err.msg, "s: expected a number, got a string");
	ck_assert_int_eq(json_need_str(d, "u", &s, &err), -EBADMSG);
	ck_assert_int_eq(json_need_bool(d, "s", &b, &err), -EBADMSG);
	ck_assert_int_eq(json_need_arr(d, "o", &item, &err), -EBADMSG);
	ck_assert_int_eq(json_need_obj(d, "l", &item, NULL), -EBADMSG);

	ck_assert_int_eq(json_opt_u64(d, "u.x", &n, &err), 0);
	ck_assert_int_eq(json_opt_u64(d, "u.z", &n, &err), 0);
	ck_assert_int_eq(json_opt_str(d, "q", &s, &err), 0);
	ck_assert_int_eq(json_opt_bool(d, "q", &b, &err), 0);
	ck_assert_int_eq(json_opt_arr(d, "q", &item, &err), 0);
	ck_assert_int_eq(json_opt_obj(d, "q", &item, &err), 0);
	ck_assert_int_eq(json_opt_str(d, "o", &s, &err), -EBADMSG);
	ck_assert_int_eq(json_opt_obj(d, "s", &item, &err), -EBADMSG);
	ck_assert_uint_eq(n, 12);
	ck_assert_str_eq(s, "t");
	ck_assert_int_eq(json_kind(item), JSON_OBJECT);
	json_free(d);
}
END_TEST

START_TEST(numbers_are_exact)
{
	static const struct {
		const char *text;
		unsigned places;
		int rc;
		uint64_t value;
	} rows[] = {
		{"0", 0, 0, 0},
		{"-0", 0, 0, 0},
		{"-0.000", 3, 0, 0},
		{"12.0", 0, 0, 12},
		{"1.2e1", 0, 0, 12},
		{"120e-1", 0, 0, 12},
		{"18446744073709551615", 0, 0, UINT64_MAX},
		{"18446744073709551616", 0, -ERANGE, 0},
		{"1e19", 0, 0, 10000000000000000000u},
		{"1e20", 0, -ERANGE, 0},
		{"0e300", 0, 0, 0},
		{"0.0e999999999999999999", 0, 0, 0},
		{"-1", 0, -ERANGE, 0},
		{"3e-06", 12, 0, 3000000},
		{"0.000003", 12, 0, 3000000},
		{"0.00000000000049", 12, 0, 1}, /* up, never down */
		{"1.0000000000001", 12, 0, 1000000000001},
		{"1e-300", 12, 0, 1},
		{"2.5", 6, 0, 2500000},
		{"1844674407370955161.55", 1, -ERANGE, 0},
		{"1844674407370955161.45", 1, 0, 18446744073709551615u},
		{"-1e-300", 12, -ERANGE, 0},
	};
	uint64_t v = 77;
	struct ak_err err = {0};
	struct cJSON *d = parsed("{\"n\":12.5,\"m\":-3,\"h\":123456789012345678901}", 0);

	ck_assert_int_eq(json_need_u64(d, "n", &v, &err), -EBADMSG);
	ck_assert_str_eq(err.msg, "n: expected a whole number");
	ck_assert_int_eq(json_need_u64(d, "m", &v, &err), -ERANGE);
	ck_assert_str_eq(err.msg, "m: the number is negative");
	ck_assert_int_eq(json_opt_u64(d, "h", &v, &err), -ERANGE);
	ck_assert_str_eq(err.msg, "h: the number is too large");
	ck_assert_uint_eq(v, 77);
	json_free(d);
	for (size_t i = 0; i < N(rows); i++) {
		char text[100];

		(void)snprintf(text, sizeof(text), "{\"v\":%s}", rows[i].text);
		d = parsed(text, 0);
		v = 77;
		ck_assert_msg(json_need_scaled(d, "v", rows[i].places, &v, &err) == rows[i].rc, "%s", text);
		ck_assert_msg(v == (rows[i].rc ? 77 : rows[i].value), "%s: %llu", text, (unsigned long long)v);
		json_free(d);
	}
}
END_TEST

START_TEST(sorted_printing_makes_equal_values_equal_bytes)
{
	struct cJSON *a = parsed("{\"b\":1,\"a\":[{\"z\":1,\"\xc3\xa4\":2,\"A\":3}],\"B\":{}}", 0);

	is_printed(a, JSON_SORTED, "{\"B\":{},\"a\":[{\"A\":3,\"z\":1,\"\xc3\xa4\":2}],\"b\":1}");
	is_printed(a, 0, "{\"b\":1,\"a\":[{\"z\":1,\"\xc3\xa4\":2,\"A\":3}],\"B\":{}}");
	is_printed(NULL, 0, "null");
	json_free(a);
}
END_TEST

START_TEST(trees_are_made_and_changed_in_place)
{
	struct cJSON *o = json_new_obj();
	struct cJSON *a = json_new_arr();
	struct cJSON *copy;

	ck_assert_int_eq(json_set(o, "s", json_new_str("a\0b", 3)), 0);
	ck_assert_int_eq(json_set(o, "n", json_new_u64(UINT64_MAX)), 0);
	ck_assert_int_eq(json_set(o, "l", a), 0);
	ck_assert_int_eq(json_add(a, json_new_bool(true)), 0);
	ck_assert_int_eq(json_add(a, json_new_str("\xed\xa0\xbd\xff", 4)), 0);
	is_printed(o, 0, "{\"s\":\"a\xef\xbf\xbd"
			 "b\",\"n\":18446744073709551615,\"l\":[true,\"\\ud83d\\ufffd\"]}");
	ck_assert_int_eq(json_set(o, "n", json_new_u64(1)), 0);
	copy = json_dup(o);
	json_drop(o, "s");
	json_drop(o, "none");
	is_printed(o, 0, "{\"n\":1,\"l\":[true,\"\\ud83d\\ufffd\"]}");
	ck_assert_int_eq(json_set(o, "t", json_dup(json_get(o, "l"))), 0);
	ck_assert_int_eq(json_set(o, "t", json_dup(json_first(o))), 0); /* a member's copy under another name */
	is_printed(o, 0, "{\"n\":1,\"l\":[true,\"\\ud83d\\ufffd\"],\"t\":1}");
	json_free(o);
	ck_assert_str_eq(json_num(json_get(copy, "n")), "1");
	ck_assert_int_eq(json_set(copy, "x", NULL), -ENOMEM);
	ck_assert_ptr_null(json_get(copy, "x"));
	ck_assert_int_eq(json_add(json_get(copy, "l"), NULL), -ENOMEM);
	json_free(copy);
	ck_assert_ptr_null(json_dup(NULL));
}
END_TEST

START_TEST(a_tree_is_a_value_of_the_writer)
{
	struct cJSON *d = parsed("[1.50,{\"a\":null}]", 0);
	struct ak_buf b = {0};
	struct ak_json j;

	ak_json_init(&j, &b);
	ak_json_obj(&j, NULL);
	ak_json_u64(&j, "a", 1);
	json_put(&j, "d", d);
	ak_json_raw(&j, "r", "{\"x\": 1}", 8);
	json_put(&j, "n", NULL);
	ak_json_obj_end(&j);
	ck_assert_str_eq(b.data, "{\"a\":1,\"d\":[1.50,{\"a\":null}],\"r\":{\"x\": 1},\"n\":null}");
	ak_buf_release(&b);
	json_free(d);
}
END_TEST

START_TEST(printing_into_a_full_buffer_fails_and_says_so)
{
	struct cJSON *d = parsed("[\"0123456789\"]", 0);
	struct ak_buf b = {.max = 8};

	json_print(d, 0, &b);
	ck_assert(b.failed);
	ak_buf_release(&b);
	json_free(d);
}
END_TEST

static void add(struct ak_buf *b, const char *json)
{
	struct cJSON *d = parsed(json, JSON_REPAIR);

	json_text_add(b, json_str(d));
	json_free(d);
}

START_TEST(pairs_split_over_deltas_are_joined)
{
	struct ak_buf b = {0};

	add(&b, "\"a\\ud83d\"");
	add(&b, "\"\\ude00b\"");
	add(&b, "\"\"");
	add(&b, "\"\\ud83d\"");
	add(&b, "\"\"");
	add(&b, "\"\\ude00\"");
	ck_assert_uint_eq(json_text_end(&b), 0);
	ck_assert_str_eq(b.data, "a\xf0\x9f\x98\x80"
				 "b\xf0\x9f\x98\x80");
	ak_buf_release(&b);

	add(&b, "\"\\ude00\"");
	add(&b, "\"\\ud83d\"");
	add(&b, "\"x\\ude00\"");
	ck_assert_uint_eq(json_text_end(&b), 3);
	ck_assert_str_eq(b.data, "\xef\xbf\xbd\xef\xbf\xbdx\xef\xbf\xbd");
	ck_assert_uint_eq(json_text_end(&b), 0);
	ak_buf_release(&b);
	ck_assert_uint_eq(json_text_end(&b), 0);
}
END_TEST

static double seconds(const char *text)
{
	struct timespec a;
	struct timespec b;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	(void)result(text, NULL);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
}

/* Ten times the text, and far from a hundred times the time. Sizes at which a square would take minutes. */
START_TEST(time_is_linear)
{
	static const struct {
		const char *head, *piece, *tail;
		size_t n;
	} rows[] = {
		{"[1", ",1", "]", 40000},
		{"\"", "\\u00e4", "\"", 100000},
		{"\"", "\\\\", "\"", 200000},
		{"[\"\"", ",\"abc\"", "]", 40000},
		{"[{}", ",{\"a\":[]}", "]", 20000},
	};

	for (size_t i = 0; i < N(rows); i++) {
		char *small = repeated(rows[i].head, rows[i].piece, rows[i].n, rows[i].tail);
		char *large = repeated(rows[i].head, rows[i].piece, rows[i].n * 10, rows[i].tail);
		double s = seconds(small) + seconds(small) + seconds(small);
		double l = seconds(large);

		for (int k = 0; k < 4 && l >= s / 3 * 40 + 0.05; k++)	/* other work on the machine takes its caches */
			l = seconds(large);
		ck_assert_msg(l < s / 3 * 40 + 0.05, "%s: %f s, ten times of it %f s", rows[i].piece, s / 3, l);
		free(small);
		free(large);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent_json");
	TCase *t = tcase_create("agent_json");

	tcase_add_loop_test(t, what_is_not_strict_json_is_refused_with_its_place, 0, N(refusals));
	tcase_add_loop_test(t, what_is_parsed_prints_again_with_order_and_numbers_kept, 0, N(same));
	tcase_add_loop_test(t, a_refusal_does_not_depend_on_where_strings_go, 0, N(refusals));
	tcase_add_loop_test(t, strings_stay_in_the_text_or_nowhere, 0, N(same));
	tcase_add_test(t, what_is_not_unicode_in_a_stream_is_repaired_or_kept_as_it_was);
	tcase_add_test(t, each_limit_is_exact);
	tcase_add_test(t, the_maxima_hold_whatever_limits_are_asked_for);
	tcase_add_test(t, many_names_are_compared_too);
	tcase_add_test(t, looking_is_exact_and_takes_nothing_for_an_answer);
	tcase_add_test(t, typed_access_names_the_path);
	tcase_add_test(t, numbers_are_exact);
	tcase_add_test(t, sorted_printing_makes_equal_values_equal_bytes);
	tcase_add_test(t, trees_are_made_and_changed_in_place);
	tcase_add_test(t, a_tree_is_a_value_of_the_writer);
	tcase_add_test(t, printing_into_a_full_buffer_fails_and_says_so);
	tcase_add_test(t, pairs_split_over_deltas_are_joined);
	tcase_add_test(t, time_is_linear);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
