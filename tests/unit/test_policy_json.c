/* SPDX-License-Identifier: Apache-2.0 */
/* The strict JSON reader of ak-policy. Process: unit tests. Privilege: none. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seccomp/json_read.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct json_doc doc;
static struct json_error err;

static int rd(const char *s, unsigned flags)
{
	json_release(&doc);
	return json_read(s, strlen(s), flags, &doc, &err);
}

START_TEST(values_keep_kind_text_and_place)
{
	const struct json_node *o, *a, *n;
	uint64_t v = 0;

	ck_assert_int_eq(rd("{\n \"a\": [1, true, null, \"x\\u20ac\\n\"],\n\t\"b\":-2.5e3}", 0), 0);
	o = &doc.nodes[0];
	ck_assert_int_eq(o->kind, JSON_OBJECT);
	ck_assert_uint_eq(o->count, 2);
	a = json_get(&doc, o, "a");
	ck_assert_int_eq(a->kind, JSON_ARRAY);
	ck_assert_uint_eq(a->count, 4);
	ck_assert_uint_eq(a->line, 2);
	ck_assert_uint_eq(a->col, 7);
	n = json_first(&doc, a);
	ck_assert_int_eq(json_u64(n, &v), 0);
	ck_assert_uint_eq(v, 1);
	n = json_next(&doc, n);
	ck_assert_int_eq(n->kind, JSON_TRUE);
	n = json_next(&doc, n);
	ck_assert_int_eq(n->kind, JSON_NULL);
	n = json_next(&doc, n);
	ck_assert_str_eq(n->text, "x\xe2\x82\xac\n");
	ck_assert_ptr_null(json_next(&doc, n));
	n = json_get(&doc, o, "b");
	ck_assert_str_eq(n->text, "-2.5e3");
	ck_assert_uint_eq(n->line, 3);
	ck_assert_int_eq(json_u64(n, &v), -EINVAL);
	ck_assert_ptr_null(json_get(&doc, o, "c"));
	ck_assert_ptr_null(json_get(&doc, a, "a"));
}
END_TEST

START_TEST(numbers_are_exact_to_64_bits)
{
	uint64_t v = 7;

	ck_assert_int_eq(rd("18446744073709551615", 0), 0);
	ck_assert_int_eq(json_u64(&doc.nodes[0], &v), 0);
	ck_assert(v == UINT64_MAX);
	ck_assert_int_eq(rd("9007199254740993", 0), 0);
	ck_assert_int_eq(json_u64(&doc.nodes[0], &v), 0);
	ck_assert(v == 9007199254740993u);
	v = 7;
	ck_assert_int_eq(rd("18446744073709551616", 0), 0);
	ck_assert_int_eq(json_u64(&doc.nodes[0], &v), -ERANGE);
	ck_assert_uint_eq(v, 7);
	ck_assert_int_eq(rd("\"1\"", 0), 0);
	ck_assert_int_eq(json_u64(&doc.nodes[0], &v), -EINVAL);
}
END_TEST

START_TEST(refuses_what_is_no_json)
{
	static const struct { const char *s; uint32_t line, col; } rows[] = {
		{ "", 1, 1 }, { "{", 1, 2 }, { "[1,]", 1, 4 }, { "[1 2]", 1, 4 }, { "{\"a\":1,\"a\":2}", 1, 11 },
		{ "{\"a\" 1}", 1, 6 }, { "{a:1}", 1, 2 }, { "[01]", 1, 3 }, { "[1.]", 1, 4 }, { "[-]", 1, 3 }, { "[1e]", 1, 4 },
		{ "[+1]", 1, 2 }, { "nul", 1, 1 }, { "1 2", 1, 3 }, { "\"a", 1, 3 }, { "\"\\q\"", 1, 3 }, { "\"\\u12g4\"", 1, 6 },
		{ "\"\\u0000\"", 1, 8 }, { "\"\\ud800\"", 1, 8 }, { "\"\\udc00\"", 1, 8 }, { "\"\\ud800\\u0041\"", 1, 14 },
		{ "\"\x01\"", 1, 2 }, { "\"a\nb\"", 1, 3 }, { "\"\xc0\x80\"", 1, 2 }, { "\"\xed\xa0\x80\"", 1, 2 },
		{ "\"\xf5\x80\x80\x80\"", 1, 2 }, { "\"\xe2\x82\"", 1, 2 }, { "\xef\xbb\xbf{}", 1, 1 }, { "[\n1,\n  x]", 3, 3 },
		{ "// c\n1", 1, 1 }, { "[1/**/]", 1, 3 }, { "[1,,2]", 1, 4 }, { "NaN", 1, 1 }, { "'a'", 1, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		ck_assert_msg(rd(rows[i].s, 0) == -EINVAL, "row %zu: %s", i, rows[i].s);
		ck_assert_msg(err.text[0] && err.line == rows[i].line && err.col == rows[i].col, "row %zu: %u:%u %s", i, err.line, err.col, err.text);
	}
}
END_TEST

START_TEST(relaxed_takes_comments_and_a_last_comma_only_when_asked)
{
	static const char s[] = "// head\n{ /* a\n b */ \"a\": [1, 2,], // tail\n}\n/* end */";

	ck_assert_int_eq(rd(s, JSON_RELAXED), 0);
	ck_assert_uint_eq(json_get(&doc, &doc.nodes[0], "a")->count, 2);
	ck_assert_uint_eq(json_get(&doc, &doc.nodes[0], "a")->line, 3);
	ck_assert_int_eq(rd(s, 0), -EINVAL);
	ck_assert_int_eq(rd("[,]", JSON_RELAXED), -EINVAL);
	ck_assert_int_eq(rd("[1,,]", JSON_RELAXED), -EINVAL);
	ck_assert_int_eq(rd("1 /* x", JSON_RELAXED), -EINVAL);
}
END_TEST

START_TEST(maxima_have_names)
{
	size_t n = JSON_BYTES_MAX + 1;
	char *big = malloc(n + 1);

	memset(big, ' ', n);
	big[n - 1] = '1';
	big[n] = 0;
	ck_assert_int_eq(rd(big, 0), -E2BIG);
	ck_assert_int_eq(rd(big + 1, 0), 0);
	for (size_t i = 0; i < JSON_NODES_MAX; i++) {
		big[2 * i] = i ? ',' : '[';
		big[2 * i + 1] = '1';
	}
	memcpy(big + (size_t)2 * JSON_NODES_MAX, "]", 2);
	ck_assert_int_eq(rd(big, 0), -E2BIG);
	ck_assert_int_eq(rd("[[[[[[[[1]]]]]]]]", 0), 0);
	ck_assert_int_eq(rd("[[[[[[[[[1]]]]]]]]]", 0), -E2BIG);
	big[0] = '{';
	n = 1;
	for (unsigned i = 0; i <= JSON_KEYS_MAX; i++)
		n += (size_t)snprintf(big + n, 32, "%s\"%u\":1", i ? "," : "", i);
	memcpy(big + n, "}", 2);
	ck_assert_int_eq(rd(big, 0), -E2BIG);
	free(big);
}
END_TEST

START_TEST(versions_have_two_numbers)
{
	unsigned a = 7, c = 7;

	ck_assert_int_eq(json_version("6.1.0-57-amd64", false, &a, &c), 0);
	ck_assert(a == 6 && c == 1);
	ck_assert_int_eq(json_version("4.8", true, &a, &c), 0);
	ck_assert(a == 4 && c == 8);
	ck_assert_int_eq(json_version("4.8.1", true, &a, &c), -EINVAL);
	ck_assert_int_eq(json_version("4", false, &a, &c), -EINVAL);
	ck_assert_int_eq(json_version("4.", false, &a, &c), -EINVAL);
	ck_assert_int_eq(json_version("x.1", false, &a, &c), -EINVAL);
	ck_assert_int_eq(json_version("10000.1", false, &a, &c), -EINVAL);
	ck_assert(a == 4 && c == 8);
}
END_TEST

START_TEST(every_truncation_is_refused)
{
	static const char s[] = "{\"a\":[1,{\"b\":\"c\\u0041\"},true,false,null],\"d\":-1.5e+7}";

	for (size_t i = 0; i + 1 < sizeof(s); i++) {
		json_release(&doc);
		ck_assert_msg(json_read(s, i, 0, &doc, &err) == -EINVAL, "%zu bytes", i);
	}
	ck_assert_int_eq(rd(s, 0), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_json");
	TCase *t = tcase_create("all");
	SRunner *r = srunner_create(s);
	int bad;

	tcase_add_test(t, values_keep_kind_text_and_place);
	tcase_add_test(t, numbers_are_exact_to_64_bits);
	tcase_add_test(t, refuses_what_is_no_json);
	tcase_add_test(t, relaxed_takes_comments_and_a_last_comma_only_when_asked);
	tcase_add_test(t, maxima_have_names);
	tcase_add_test(t, versions_have_two_numbers);
	tcase_add_test(t, every_truncation_is_refused);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	bad = srunner_ntests_failed(r);
	srunner_free(r);
	return bad != 0;
}
