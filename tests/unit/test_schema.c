/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of the JSON Schema validator: rows of our own, and Debian's json-schema-test-suite (draft-07, whose keywords that are
 * claimed mean the same in 2020-12; what differs is a row here).
 */
#include "agent/schema.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_parse.h"

#define SUITE "/usr/share/json-schema-test-suite/tests/draft7"

static struct cJSON *parse(const char *text)
{
	struct cJSON *doc = NULL;
	struct ak_err err = { 0 };

	ck_assert_msg(json_parse(text, strlen(text), 0, NULL, &doc, &err) == 0, "%s: %s", text, err.msg);
	return doc;
}

/* NULL: @value matches; else the whole text of the error */
static void expect(const char *schema, const char *value, const char *want)
{
	struct cJSON *v = parse(value);
	struct ak_err err = { 0 };
	struct schema *s = NULL;
	int rc;

	ck_assert_msg(schema_parse(schema, strlen(schema), &s, &err) == 0, "%s: %s", schema, err.msg);
	rc = schema_check(s, v, &err);
	if (want) {
		ck_assert_msg(rc == -EBADMSG, "%s takes %s (%d)", schema, value, rc);
		ck_assert_str_eq(err.msg, want);
	} else {
		ck_assert_msg(rc == 0, "%s does not take %s: %s", schema, value, err.msg);
	}
	schema_free(s);
	json_free(v);
}

static void refused(const char *schema, int code, const char *want)
{
	struct schema *s = (struct schema *)&code;
	struct ak_err err = { 0 };

	ck_assert_msg(schema_parse(schema, strlen(schema), &s, &err) == -code, "%s: %s", schema, err.msg);
	ck_assert_ptr_eq(s, &code);
	ck_assert_str_eq(err.msg, want);
}

START_TEST(types_are_checked_and_whole_numbers_are_integers_however_they_are_written)
{
	expect("{\"type\":\"integer\"}", "1.0", NULL);
	expect("{\"type\":\"integer\"}", "1e3", NULL);
	expect("{\"type\":\"integer\"}", "-0.0", NULL);
	expect("{\"type\":\"integer\"}", "123456789012345678901234567890", NULL);
	expect("{\"type\":\"integer\"}", "1.5", "(top): expected an integer, got 1.5");
	expect("{\"type\":\"integer\"}", "1e-1", "(top): expected an integer, got 1e-1");
	expect("{\"type\":\"number\"}", "1", NULL);
	expect("{\"type\":\"string\"}", "1", "(top): expected a string, got 1");
	expect("{\"type\":[\"string\",\"null\"]}", "null", NULL);
	expect("{\"type\":[\"string\",\"null\"]}", "[]", "(top): expected null or a string, got an array");
	expect("{\"type\":\"boolean\"}", "false", NULL);
	expect("true", "1", NULL);
	expect("false", "1", "(top): nothing is allowed here");
	expect("{}", "{\"a\":[1]}", NULL);
}
END_TEST

START_TEST(errors_name_the_place)
{
	static const char s[] = "{\"type\":\"object\",\"properties\":{\"files\":{\"type\":\"array\",\"items\":{\"properties\":{\"name\":{\"type\":"
				"\"string\"}},\"required\":[\"name\"],\"additionalProperties\":false}}},\"additionalProperties\":false}";

	expect(s, "{\"files\":[{\"name\":\"a\"}]}", NULL);
	expect(s, "{\"files\":[{\"name\":\"a\"},{\"name\":7}]}", "files[1].name: expected a string, got 7");
	expect(s, "{\"files\":[{}]}", "files[0]: missing property \"name\"");
	expect(s, "{\"files\":[{\"name\":\"a\",\"x\":1}]}", "files[0]: unknown property \"x\"");
	expect(s, "{\"dangerously_disable_sandbox\":true}", "(top): unknown property \"dangerously_disable_sandbox\"");
	expect(s, "[]", "(top): expected an object, got an array");
}
END_TEST

START_TEST(numbers_are_compared_exactly)
{
	expect("{\"maximum\":9007199254740992}", "9007199254740993", "(top): 9007199254740993 is more than the maximum of 9007199254740992");
	expect("{\"maximum\":9007199254740993}", "9007199254740993", NULL);
	expect("{\"const\":9007199254740992}", "9007199254740993", "(top): expected 9007199254740992");
	expect("{\"const\":1.0}", "1", NULL);
	expect("{\"const\":100}", "1e2", NULL);
	expect("{\"const\":0}", "-0", NULL);
	expect("{\"exclusiveMaximum\":3}", "2.9999999999999999999999", NULL);
	expect("{\"exclusiveMaximum\":3}", "3.0", "(top): 3.0 is not less than 3");
	expect("{\"minimum\":-1.5}", "-1.5000000000000000000001", "(top): -1.5000000000000000000001 is less than the minimum of -1.5");
	expect("{\"exclusiveMinimum\":0}", "1e-300", NULL);
	expect("{\"exclusiveMinimum\":0}", "0e5", "(top): 0e5 is not more than 0");
	expect("{\"multipleOf\":0.01}", "19.99", NULL);
	expect("{\"multipleOf\":0.01}", "0.075", "(top): 0.075 is no multiple of 0.01");
	expect("{\"multipleOf\":0.0001}", "1e300", NULL);
	expect("{\"multipleOf\":7}", "700000000000000000000000000000000000000000000", NULL);
	expect("{\"multipleOf\":7}", "700000000000000000000000000000000000000000001",
	       "(top): 7000000000000000000000000000000000000000 is no multiple of 7");
	expect("{\"multipleOf\":100}", "50", "(top): 50 is no multiple of 100");
	expect("{\"multipleOf\":2.5}", "0", NULL);
}
END_TEST

START_TEST(strings_are_counted_in_characters)
{
	expect("{\"maxLength\":2}", "\"\xf0\x9f\x98\x80\xe2\x82\xac\"", NULL);
	expect("{\"maxLength\":1}", "\"ab\"", "(top): has 2 characters, at most 1 are allowed");
	expect("{\"minLength\":2.0}", "\"a\"", "(top): has 1 characters, at least 2 are needed");
	expect("{\"maxLength\":99999999999999999999999}", "\"a\"", NULL);
}
END_TEST

START_TEST(arrays_of_2020_12)
{
	expect("{\"prefixItems\":[{\"type\":\"integer\"},{\"type\":\"string\"}],\"items\":false}", "[1,\"a\"]", NULL);
	expect("{\"prefixItems\":[{\"type\":\"integer\"},{\"type\":\"string\"}],\"items\":false}", "[1]", NULL);
	expect("{\"prefixItems\":[{\"type\":\"integer\"}],\"items\":false}", "[1,2]", "[1]: nothing is allowed here");
	expect("{\"prefixItems\":[{\"type\":\"integer\"}],\"items\":{\"type\":\"string\"}}", "[1,\"a\",2]", "[2]: expected a string, got 2");
	expect("{\"contains\":{\"const\":1},\"minContains\":2,\"maxContains\":3}", "[1,1,2]", NULL);
	expect("{\"contains\":{\"const\":1},\"minContains\":2}", "[1,2]", "(top): has 1 of the elements looked for, at least 2 are needed");
	expect("{\"contains\":{\"const\":1},\"maxContains\":1}", "[1,1]", "(top): has 2 of the elements looked for, at most 1 are allowed");
	expect("{\"contains\":{\"const\":1},\"minContains\":0}", "[]", NULL);
	expect("{\"minContains\":2}", "[]", NULL);
	expect("{\"uniqueItems\":true}", "[{\"a\":1,\"b\":[1.0]},{\"b\":[1],\"a\":1.0}]", "(top): elements 0 and 1 are equal");
	expect("{\"uniqueItems\":true}", "[1,true,\"1\",[1],{\"1\":1},null,0,false,[],{}]", NULL);
}
END_TEST

START_TEST(objects_of_2020_12)
{
	expect("{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1,\"b\":1}", NULL);
	expect("{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"b\":1}", NULL);
	expect("{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}", "(top): missing property \"b\"");
	expect("{\"dependentSchemas\":{\"a\":{\"maxProperties\":1}}}", "{\"a\":1,\"b\":1}", "(top): has 2 properties, at most 1 are allowed");
	expect("{\"propertyNames\":{\"maxLength\":1}}", "{\"ab\":1}", "(top): \"ab\" is no allowed name of a property");
	expect("{\"patternProperties\":{\"^x-\":{\"type\":\"string\"}},\"additionalProperties\":false}", "{\"x-a\":\"1\"}", NULL);
	expect("{\"patternProperties\":{\"^x-\":{\"type\":\"string\"}},\"additionalProperties\":false}", "{\"x-a\":1}",
	       "x-a: expected a string, got 1");
}
END_TEST

START_TEST(alternatives)
{
	expect("{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "1", "(top): matches none of 2 alternatives");
	expect("{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":2}]}", "3", "(top): matches 2 of 2 alternatives, not exactly one");
	expect("{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":2}]}", "2.5", NULL);
	expect("{\"allOf\":[{\"minimum\":2},{\"maximum\":3}]}", "4", "(top): 4 is more than the maximum of 3");
	expect("{\"not\":{\"type\":\"integer\"}}", "4", "(top): matches what it must not match");
	expect("{\"if\":{\"minimum\":10},\"then\":{\"multipleOf\":10},\"else\":{\"maximum\":5}}", "12", "(top): 12 is no multiple of 10");
	expect("{\"if\":{\"minimum\":10},\"then\":{\"multipleOf\":10},\"else\":{\"maximum\":5}}", "7", "(top): 7 is more than the maximum of 5");
	expect("{\"then\":false}", "7", NULL);
	expect("{\"enum\":[\"a\",1,null]}", "1.0", NULL);
	expect("{\"enum\":[\"a\",1]}", "\"b\"", "(top): expected one of [\"a\",1]");
	expect("{\"enum\":[]}", "1", "(top): expected one of []");
}
END_TEST

START_TEST(references_are_local_and_may_lead_back)
{
	static const char tree[] = "{\"$defs\":{\"node\":{\"properties\":{\"kids\":{\"items\":{\"$ref\":\"#/$defs/node\"}},\"n\":{\"type\":\"integer\"}},"
				   "\"required\":[\"n\"]}},\"$ref\":\"#/$defs/node\"}";

	expect(tree, "{\"n\":1,\"kids\":[{\"n\":2,\"kids\":[{\"n\":3}]}]}", NULL);
	expect(tree, "{\"n\":1,\"kids\":[{\"n\":2,\"kids\":[{\"m\":3}]}]}", "kids[0].kids[0]: missing property \"n\"");
	expect("{\"properties\":{\"a\":{\"$ref\":\"#\"}},\"additionalProperties\":false}", "{\"a\":{\"a\":{}}}", NULL);
	expect("{\"properties\":{\"a\":{\"$ref\":\"#\"}},\"additionalProperties\":false}", "{\"a\":{\"b\":{}}}", "a: unknown property \"b\"");
	expect("{\"$defs\":{\"a/b~c%d\":{\"type\":\"string\"}},\"$ref\":\"#/$defs/a~1b~0c%25d\"}", "1", "(top): expected a string, got 1");
	/* beside a reference others count, too: not so in draft-07 */
	expect("{\"$defs\":{\"s\":{\"type\":\"string\"}},\"$ref\":\"#/$defs/s\",\"maxLength\":1}", "\"ab\"",
	       "(top): has 2 characters, at most 1 are allowed");
	refused("{\"$ref\":\"#/$defs/x\"}", EBADMSG, "schema #: $ref \"#/$defs/x\" leads nowhere");
	refused("{\"$ref\":\"other.json\"}", EOPNOTSUPP, "schema #: $ref \"other.json\" is not supported; only \"#\" and \"#/...\" are");
	refused("{\"$ref\":\"#anchor\"}", EOPNOTSUPP, "schema #: $ref \"#anchor\" is not supported; only \"#\" and \"#/...\" are");
	refused("{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"allOf\":[{\"$ref\":\"#\",\"type\":\"string\"}]}", EOPNOTSUPP,
		"schema #/allOf/0: keywords beside $ref are not supported with this $schema, which ignores them");
}
END_TEST

START_TEST(what_is_not_supported_is_named)
{
	refused("{\"unevaluatedProperties\":false}", EOPNOTSUPP, "schema #: keyword \"unevaluatedProperties\" is not supported");
	refused("{\"properties\":{\"a\":{\"minLenght\":1}}}", EOPNOTSUPP, "schema #/properties/a: keyword \"minLenght\" is not supported");
	refused("{\"items\":[{}]}", EOPNOTSUPP, "schema #: \"items\" as an array is not supported; use \"prefixItems\"");
	refused("{\"allOf\":[{\"$id\":\"http://x/y\"}]}", EOPNOTSUPP, "schema #/allOf/0: keyword \"$id\" is not supported within a schema");
	refused("{\"$schema\":\"http://json-schema.org/draft-04/schema#\"}", EOPNOTSUPP,
		"schema #: this $schema is not supported; use https://json-schema.org/draft/2020-12/schema");
	refused("{\"multipleOf\":1.0000000000000000001}", EOPNOTSUPP, "schema #: \"multipleOf\" of more than 18 digits is not supported");
	expect("{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":\"https://x/y\",\"title\":\"t\",\"description\":\"d\","
	       "\"default\":1,\"examples\":[1],\"$comment\":\"c\",\"format\":\"email\",\"deprecated\":true,\"readOnly\":true}", "1", NULL);
}
END_TEST

START_TEST(what_is_no_schema_is_refused)
{
	refused("1", EBADMSG, "schema #: expected a schema, got a number");
	refused("{\"type\":\"strin\"}", EBADMSG, "schema #: \"type\" names no type");
	refused("{\"type\":[]}", EBADMSG, "schema #: \"type\" is empty");
	refused("{\"properties\":[]}", EBADMSG, "schema #/properties: is no object");
	refused("{\"properties\":{\"a\":1}}", EBADMSG, "schema #/properties/a: expected a schema, got a number");
	refused("{\"required\":[1]}", EBADMSG, "schema #: \"required\" is no array of names");
	refused("{\"maxLength\":-1}", EBADMSG, "schema #: \"maxLength\" is no count");
	refused("{\"maxLength\":1.5}", EBADMSG, "schema #: \"maxLength\" is no count");
	refused("{\"maximum\":\"1\"}", EBADMSG, "schema #: \"maximum\" is no number");
	refused("{\"multipleOf\":0}", EBADMSG, "schema #: \"multipleOf\" is not above 0");
	refused("{\"anyOf\":[]}", EBADMSG, "schema #/anyOf: is no array with schemas in it");
	refused("{\"enum\":1}", EBADMSG, "schema #: \"enum\" is no array");
	refused("{\"uniqueItems\":1}", EBADMSG, "schema #: \"uniqueItems\" is no boolean");
	refused("{\"dependentRequired\":{\"a\":1}}", EBADMSG, "schema #: \"dependentRequired\" holds what is no array of names");
}
END_TEST

START_TEST(patterns_are_those_of_ecma_262)
{
	static const struct {
		const char *pattern;
		const char *text;
		bool match;
	} rows[] = {
		{ "^a+$", "aaa", true },
		{ "^a+$", "aaa\\n", false }, /* $ is the end, not the line before it */
		{ "b", "abc", true },
		{ "^\\\\d$", "1", true },
		{ "^\\\\d$", "\xd9\xa3", false }, /* an Arabic digit */
		{ "^\\\\w$", "\xc3\xa4", false },
		{ "^\\\\s$", "\xc2\xa0", true },
		{ "^[\\\\s]$", "\xef\xbb\xbf", true },
		{ "^\\\\S$", "\xc2\xa0", false },
		{ "^.$", "\xf0\x9f\x98\x80", true },
		{ "^.$", "\xe2\x80\xa8", false },
		{ "^.$", "\\u000b", true },
		{ "^\\\\u00e4\\\\x41\\\\u{1F600}$", "\xc3\xa4" "A\xf0\x9f\x98\x80", true },
		{ "^\\\\v$", "\\u000b", true },
		{ "^\\\\v$", "\\n", false },
		{ "^\\\\p{Lu}$", "\xc3\x84", true },
		{ "^[^]$", "\\n", true },
		{ "[]", "a", false },
		{ "^[[:a]$", ":", true },
		{ "^(?:a|b){2,3}?$", "aba", true },
		{ "^(?=a).(?!c)(?<=a)$", "a", true },
		{ "^(a)?\\\\1b$", "b", true },
		{ "^[\\\\w.-]+@[\\\\w-]+\\\\.[a-z]{2,}$", "a.b@c-d.org", true },
		{ "", "anything", true },
	};
	char schema[200];
	char value[100];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)snprintf(schema, sizeof(schema), "{\"pattern\":\"%s\"}", rows[i].pattern);
		(void)snprintf(value, sizeof(value), "\"%s\"", rows[i].text);
		expect(schema, value, rows[i].match ? NULL : "(top): does not match the pattern");
	}
}
END_TEST

START_TEST(patterns_of_pcre_only_are_refused)
{
	static const char *const unsupported[] = { "(?i)a", "(?<name>a)", "(?>a)", "(?R)", "(?#x)", "\\\\A", "\\\\Z", "\\\\Qa\\\\E", "\\\\K", "\\\\h",
						   "\\\\R", "\\\\p{Letter}", "a{,3}", "\\\\ud83d\\\\ude00", "[\\\\S]", "[\\\\1]", "\\\\a" };
	static const char *const broken[] = { "(", "a)", "[a", "a**", "a++", "*a", "(*UTF)", "(*COMMIT)", "\\\\u12", "\\\\x", "[b-a]", "a{2}{3}" };
	char schema[100];

	for (size_t i = 0; i < sizeof(unsupported) / sizeof(unsupported[0]); i++) {
		struct schema *s = NULL;

		(void)snprintf(schema, sizeof(schema), "{\"pattern\":\"%s\"}", unsupported[i]);
		ck_assert_msg(schema_parse(schema, strlen(schema), &s, NULL) == -EOPNOTSUPP, "%s", schema);
	}
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		struct schema *s = NULL;

		(void)snprintf(schema, sizeof(schema), "{\"pattern\":\"%s\"}", broken[i]);
		ck_assert_msg(schema_parse(schema, strlen(schema), &s, NULL) == -EBADMSG, "%s", schema);
	}
}
END_TEST

/* --- bombs --- */

static void expect_too_much(const char *schema, const char *value)
{
	struct cJSON *v = parse(value);
	struct ak_err err = { 0 };
	struct schema *s = NULL;

	ck_assert_msg(schema_parse(schema, strlen(schema), &s, &err) == 0, "%.80s: %s", schema, err.msg);
	ck_assert_msg(schema_check(s, v, &err) == -E2BIG, "%.80s: %s", schema, err.msg);
	schema_free(s);
	json_free(v);
}

START_TEST(bombs_end_with_an_error)
{
	struct ak_buf b = { 0 };
	struct schema *s = NULL;

	/* two to the power of 60 */
	ak_buf_str(&b, "{\"$defs\":{\"d0\":{\"type\":\"string\"}");
	for (unsigned i = 1; i <= 50; i++)
		ak_buf_printf(&b, ",\"d%u\":{\"anyOf\":[{\"$ref\":\"#/$defs/d%u\"},{\"$ref\":\"#/$defs/d%u\"}]}", i, i - 1, i - 1);
	ak_buf_str(&b, "},\"$ref\":\"#/$defs/d30\"}");
	expect_too_much(b.data, "1");
	b.len = 0;
	expect_too_much("{\"$ref\":\"#\"}", "1");
	expect_too_much("{\"allOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}", "1");
	expect_too_much("{\"pattern\":\"^(a+)+$\"}", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"");
	/* too deep a schema */
	for (unsigned i = 0; i < 100; i++)
		ak_buf_str(&b, "{\"not\":");
	ak_buf_str(&b, "{}");
	for (unsigned i = 0; i < 100; i++)
		ak_buf_str(&b, "}");
	ck_assert_int_eq(schema_parse(b.data, b.len, &s, NULL), -E2BIG);
	ak_buf_release(&b);
}
END_TEST

START_TEST(large_values_are_no_bombs)
{
	struct ak_buf b = { 0 };

	ak_buf_str(&b, "[0");
	for (unsigned i = 1; i < 100000; i++)
		ak_buf_printf(&b, ",%u", i);
	ak_buf_str(&b, "]");
	expect("{\"uniqueItems\":true,\"items\":{\"type\":\"integer\",\"minimum\":0}}", b.data, NULL);
	b.len--;
	ak_buf_str(&b, ",77.0]");
	expect("{\"uniqueItems\":true}", b.data, "(top): elements 77 and 100000 are equal");
	ak_buf_release(&b);
}
END_TEST

/* --- the suite --- */

struct count {
	unsigned passed, failed, groups, skipped;
	struct ak_buf why;
};

/* Groups that say in draft-07 what 2020-12 says otherwise */
static bool differs(const char *group)
{
	return strcmp(group, "ref overrides any sibling keywords") == 0;
}

static void run_group(const struct cJSON *g, const char *file, struct count *n)
{
	const char *name = json_str(json_get(g, "description"));
	struct ak_err err = { 0 };
	struct schema *s = NULL;
	int rc = schema_compile(json_get(g, "schema"), &s, &err);

	n->groups++;
	if (rc == -EOPNOTSUPP || differs(name)) {
		n->skipped++;
		ak_buf_printf(&n->why, "  %s, %s: %s\n", file, name, rc == 0 ? "differs" : err.msg);
		schema_free(s);
		return;
	}
	if (rc < 0) {
		printf("%s, %s: %s\n", file, name, err.msg);
		n->failed++;
		return;
	}
	for (const struct cJSON *t = json_first(json_get(g, "tests")); t; t = json_next(t)) {
		bool valid = json_true(json_get(t, "valid"));

		rc = schema_check(s, json_get(t, "data"), &err);
		if (rc == (valid ? 0 : -EBADMSG)) {
			n->passed++;
			continue;
		}
		printf("%s, %s, %s: %d %s\n", file, name, json_str(json_get(t, "description")), rc, err.msg);
		n->failed++;
	}
	schema_free(s);
}

START_TEST(json_schema_test_suite)
{
	static const char *const files[] = { "additionalProperties", "allOf", "anyOf", "boolean_schema", "const", "contains", "default",
		"definitions", "enum", "exclusiveMaximum", "exclusiveMinimum", "if-then-else", "items", "maxItems", "maxLength", "maxProperties",
		"maximum", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "oneOf", "pattern", "patternProperties",
		"properties", "propertyNames", "ref", "required", "type", "uniqueItems" };
	struct count n = { 0 };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct cJSON *doc = NULL;
		char path[200];
		char *text;
		size_t len;

		(void)snprintf(path, sizeof(path), SUITE "/%s.json", files[i]);
		if (ak_read_file(path, 1 << 20, &text, &len) < 0) {
			printf("skip json_schema_test_suite: no %s (scripts/deps --test installs json-schema-test-suite)\n", path);
			return;
		}
		ck_assert_int_eq(json_parse(text, len, 0, NULL, &doc, NULL), 0);
		free(text);
		for (const struct cJSON *g = json_first(doc); g; g = json_next(g))
			run_group(g, files[i], &n);
		json_free(doc);
	}
	if (getenv("AK_SHOW"))
		printf("%u passed, %u failed, %u of %u groups skipped\n%s", n.passed, n.failed, n.skipped, n.groups, n.why.data ? n.why.data : "");
	ak_buf_release(&n.why);
	ck_assert_uint_eq(n.failed, 0);
	ck_assert_uint_ge(n.passed, 349);
	ck_assert_uint_le(n.skipped, 9);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("schema");
	TCase *t = tcase_create("schema");
	SRunner *r;
	int failed;

	tcase_add_test(t, types_are_checked_and_whole_numbers_are_integers_however_they_are_written);
	tcase_add_test(t, errors_name_the_place);
	tcase_add_test(t, numbers_are_compared_exactly);
	tcase_add_test(t, strings_are_counted_in_characters);
	tcase_add_test(t, arrays_of_2020_12);
	tcase_add_test(t, objects_of_2020_12);
	tcase_add_test(t, alternatives);
	tcase_add_test(t, references_are_local_and_may_lead_back);
	tcase_add_test(t, what_is_not_supported_is_named);
	tcase_add_test(t, what_is_no_schema_is_refused);
	tcase_add_test(t, patterns_are_those_of_ecma_262);
	tcase_add_test(t, patterns_of_pcre_only_are_refused);
	tcase_add_test(t, bombs_end_with_an_error);
	tcase_add_test(t, large_values_are_no_bombs);
	tcase_add_test(t, json_schema_test_suite);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
