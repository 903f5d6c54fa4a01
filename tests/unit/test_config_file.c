/* SPDX-License-Identifier: Apache-2.0 */
/* The wire form of config files: what goes in comes out, and nothing else is accepted. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_config_file.h"
#include "executor/shared/ak_filter_file.h"

static struct ak_cfg_file f, back;
static uint8_t buf[AK_CFG_FILE_MAX];

static void add(const char *key, enum ak_cfg_op op, const char *value, uint32_t profile)
{
	enum ak_cfg_section section = strncmp(key, "run.", 4) == 0 ? AK_CFG_RUN : AK_CFG_EXEC;

	f.items[f.n_items] = (struct ak_cfg_item){ .key = ak_cfg_find(section, section == AK_CFG_RUN ? key + 4 : key), .section = section, .op = op, .value = value, .profile = profile,
						   .line = f.n_items + 1, .col = 7 };
	f.n_items++;
}

static void setup(void)
{
	f = (struct ak_cfg_file){ .maker = "1.2.3", .layer = AK_CFG_USER, .source = "{}", .source_len = 2,
				  .profiles = { "ci", "fast" }, .n_profiles = 2 };
	add("memory", AK_CFG_IS, "1g", 0);
	add("hide", AK_CFG_IS, "/a b", 0);
	add("raw", AK_CFG_IS_TRUE, NULL, 1);
	add("quiet", AK_CFG_IS_FALSE, NULL, 2);
	add("rw", AK_CFG_IS_EMPTY, NULL, 2);
	add("run.memory", AK_CFG_IS, "2g", 0);
	add("run.timeout", AK_CFG_IS, "1h", 1);
	add("run.providers", AK_CFG_IS, "corp.base_url=https://h", 0);
}

static int roundtrip(void)
{
	long n = ak_cfg_file_encode(&f, buf, sizeof(buf));

	return n < 0 ? (int)n : ak_cfg_file_decode(buf, (size_t)n, &back);
}

START_TEST(what_goes_in_comes_out)
{
	ck_assert_int_eq(roundtrip(), 0);
	ck_assert_str_eq(back.maker, "1.2.3");
	ck_assert_int_eq(back.layer, AK_CFG_USER);
	ck_assert_uint_eq(back.source_len, 2);
	ck_assert_uint_eq(back.n_profiles, 2);
	ck_assert_str_eq(back.profiles[1], "fast");
	ck_assert_uint_eq(back.n_items, f.n_items);
	for (uint32_t i = 0; i < f.n_items; i++) {
		ck_assert_ptr_eq(back.items[i].key, f.items[i].key);
		ck_assert_int_eq(back.items[i].op, f.items[i].op);
		ck_assert_uint_eq(back.items[i].profile, f.items[i].profile);
		ck_assert_uint_eq(back.items[i].line, i + 1);
		ck_assert_uint_eq(back.items[i].col, 7);
		ck_assert((back.items[i].value == NULL) == (f.items[i].value == NULL));
		ck_assert(!f.items[i].value || strcmp(back.items[i].value, f.items[i].value) == 0);
	}
}
END_TEST

START_TEST(decode_rejects_every_truncation)
{
	long n = ak_cfg_file_encode(&f, buf, sizeof(buf));

	ck_assert_int_gt(n, 0);
	for (size_t i = 0; i < (size_t)n; i++)
		ck_assert_int_eq(ak_cfg_file_decode(buf, i, &back), -EBADMSG);
	buf[n] = 0;
	ck_assert_int_eq(ak_cfg_file_decode(buf, (size_t)n + 1, &back), -EBADMSG);
}
END_TEST

START_TEST(decode_rejects_every_changed_byte)
{
	long n = ak_cfg_file_encode(&f, buf, sizeof(buf));

	for (size_t i = 0; i < (size_t)n; i++) {
		buf[i] ^= 0x20;
		ck_assert_int_eq(ak_cfg_file_decode(buf, (size_t)n, &back), -EBADMSG);
		buf[i] ^= 0x20;
	}
	ck_assert_int_eq(ak_cfg_file_decode(buf, (size_t)n, &back), 0);
}
END_TEST

START_TEST(encode_needs_the_room)
{
	long n = ak_cfg_file_encode(&f, buf, sizeof(buf));

	ck_assert_int_eq(ak_cfg_file_encode(&f, buf, (size_t)n), n);
	ck_assert_int_eq(ak_cfg_file_encode(&f, buf, (size_t)n - 1), -ENOBUFS);
}
END_TEST

/* a reader that was taken over says what its file may not say: with a good check sum, as it would */
static int forged(long n)
{
	uint64_t sum = ak_fnv64(buf, (size_t)n - 8);

	for (int i = 0; i < 8; i++)
		buf[n - 8 + i] = (uint8_t)(sum >> (8 * i));
	return ak_cfg_file_decode(buf, (size_t)n, &back);
}

/* @from in the encoded bytes becomes @to, of the same length */
static int forge(const char *from, const char *to)
{
	long n = ak_cfg_file_encode(&f, buf, sizeof(buf));
	uint8_t *at = memmem(buf, (size_t)n, from, strlen(from));

	ck_assert_ptr_nonnull(at);
	memcpy(at, to, strlen(to));
	return forged(n);
}

START_TEST(a_forged_answer_stays_within_its_file)
{
	f.layer = AK_CFG_WORKSPACE;
	f.n_profiles = 0;
	f.n_items = 2;
	ck_assert_int_eq(forge("memory", "memory"), 0);	/* the control: forging works */
	ck_assert_int_eq(forge("memory", "workdi"), -EBADMSG);	/* no key */
	ck_assert_int_eq(forge("hide", "user"), -EBADMSG);	/* not for the workspace */
	f.layer = AK_CFG_USER;
	ck_assert_int_eq(forge("hide", "user"), 0);
}
END_TEST

START_TEST(nothing_invalid_is_encoded)
{
	struct ak_cfg_item good = f.items[0];

	ck_assert_int_eq(roundtrip(), 0);
	f.items[0].key = NULL;
	ck_assert_int_eq(roundtrip(), -EINVAL);
	f.items[0] = good;
	f.items[0].op = AK_CFG_IS_TRUE;
	ck_assert_int_eq(roundtrip(), -EINVAL);
	f.items[0] = good;
	f.items[0].value = NULL;
	ck_assert_int_eq(roundtrip(), -EINVAL);
	f.items[0] = good;
	f.items[0].profile = 3;
	ck_assert_int_eq(roundtrip(), -EINVAL);
	f.items[0] = good;
	f.items[0].line = 0;
	ck_assert_int_eq(roundtrip(), -EINVAL);
	f.items[0] = good;
	f.profiles[0] = "no name";
	ck_assert_int_eq(roundtrip(), -EINVAL);
	f.profiles[0] = "ci";
	f.layer = AK_CFG_POLICY;	/* has no profiles */
	ck_assert_int_eq(roundtrip(), -EINVAL);
	f.n_profiles = 0;
	f.n_items = 2;
	ck_assert_int_eq(roundtrip(), 0);
	f.layer = AK_CFG_VARIABLE;
	ck_assert_int_eq(roundtrip(), -EINVAL);
	f.layer = AK_CFG_USER;
	f.n_items = AK_CFG_ITEMS_MAX + 1;
	ck_assert_int_eq(roundtrip(), -EINVAL);
	f.n_items = 0;
	f.source_len = AK_CFG_SOURCE_MAX + 1;
	ck_assert_int_eq(roundtrip(), -EINVAL);
}
END_TEST

START_TEST(the_largest_file_fits)
{
	char *source = calloc(1, AK_CFG_SOURCE_MAX);
	char *value = malloc(AK_CFG_SOURCE_MAX);

	ck_assert(source && value);
	memset(value, 'x', AK_CFG_SOURCE_MAX - 1);
	value[AK_CFG_SOURCE_MAX - 1] = '\0';
	f.source = source;
	f.source_len = AK_CFG_SOURCE_MAX;
	f.n_items = 0;
	while (f.n_items < AK_CFG_ITEMS_MAX)
		add("allow_protected", AK_CFG_IS, f.n_items ? "x" : value, 2);
	f.n_profiles = 0;
	while (f.n_profiles < AK_CFG_PROFILES_MAX)
		f.profiles[f.n_profiles++] = "0123456789012345678901234567890123456789012345678901234567890123";
	ck_assert_int_eq(roundtrip(), 0);
	free(source);
	free(value);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("config_file");
	TCase *tc = tcase_create("all");
	SRunner *r = srunner_create(s);
	int bad;

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, what_goes_in_comes_out);
	tcase_add_test(tc, decode_rejects_every_truncation);
	tcase_add_test(tc, decode_rejects_every_changed_byte);
	tcase_add_test(tc, encode_needs_the_room);
	tcase_add_test(tc, a_forged_answer_stays_within_its_file);
	tcase_add_test(tc, nothing_invalid_is_encoded);
	tcase_add_test(tc, the_largest_file_fits);
	suite_add_tcase(s, tc);
	srunner_run_all(r, CK_NORMAL);
	bad = srunner_ntests_failed(r);
	srunner_free(r);
	return bad != 0;
}
