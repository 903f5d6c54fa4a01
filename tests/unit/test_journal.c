/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the journal of a changeset and of the other bytes on disk. */
#include "executor/workspace/journal.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/workspace/changeset.h"
#include "executor/workspace/path_set.h"

static void add(struct journal *j, const char *path, unsigned op)
{
	struct change c = { .path = (char *)path, .op = (uint8_t)op };

	if (op != CHANGE_ADDED)
		c.old = (struct ws_ident){ .mode = S_IFREG | 0644, .size = 5, .ino = 9, .mtime_ns = -3 };
	if (op != CHANGE_DELETED)
		c.now = (struct ws_ident){ .mode = op == CHANGE_TYPE ? S_IFDIR | 0755 : S_IFREG | 0600, .size = 6 };
	ck_assert_int_eq(journal_add(j, &c, NULL), 0);
}

static void sample(struct journal *j)
{
	add(j, "b", CHANGE_MODIFIED);
	add(j, "a/b", CHANGE_ADDED);
	add(j, "a.c", CHANGE_DELETED);
	add(j, "a", CHANGE_TYPE);
	add(j, "\xff\n\x01", CHANGE_MODE);
	add(j, "b", CHANGE_MODE);
	journal_sort(j);
}

START_TEST(a_folder_stands_before_what_is_in_it)
{
	struct journal j = { 0 };

	sample(&j);
	ck_assert_uint_eq(j.n, 5);
	ck_assert_str_eq(j.v[0].path, "a");
	ck_assert_str_eq(j.v[1].path, "a/b");
	ck_assert_str_eq(j.v[2].path, "a.c");
	ck_assert_str_eq(j.v[3].path, "b");
	ck_assert_uint_eq(j.v[3].op, CHANGE_MODIFIED);	/* the first one noted */
	ck_assert_ptr_eq(journal_find(&j, "a.c"), &j.v[2]);
	ck_assert_ptr_null(journal_find(&j, "a/c"));
	journal_release(&j);
}
END_TEST

START_TEST(what_is_written_is_read_back)
{
	struct journal j = { 0 }, k = { 0 };
	struct ak_buf b = { 0 }, again = { 0 };

	sample(&j);
	journal_find(&j, "a.c")->flags = CHANGE_LISTED;
	ck_assert_int_eq(journal_set_by(&j, 2, ".git/\xff"), 0);
	journal_encode(&j, &b);
	ck_assert(!b.failed);
	ck_assert_int_eq(journal_decode(b.data, b.len, &k), 0);
	ck_assert_uint_eq(k.n, 5);
	ck_assert_str_eq(k.v[2].by, ".git/\xff");
	ck_assert_uint_eq(k.v[2].flags, CHANGE_LISTED);
	ck_assert_ptr_null(k.v[1].by);
	ck_assert_int_eq(k.v[3].old.mtime_ns, -3);
	journal_encode(&k, &again);
	ck_assert_uint_eq(again.len, b.len);
	ck_assert_mem_eq(again.data, b.data, b.len);
	journal_release(&j);
	journal_release(&k);
	ak_buf_release(&b);
	ak_buf_release(&again);
}
END_TEST

START_TEST(by_belongs_to_what_is_protected)
{
	struct journal j = { 0 }, k = { .n = 77 };
	struct ak_buf b = { 0 };

	sample(&j);
	ck_assert_int_eq(journal_set_by(&j, 1, "../out"), 0);	/* no path: left out */
	ck_assert_int_eq(journal_set_by(&j, 1, "/out"), 0);
	ck_assert_ptr_null(j.v[1].by);
	ck_assert_int_eq(journal_set_by(&j, 1, ".envrc"), 0);
	journal_encode(&j, &b);
	ck_assert_int_eq(journal_decode(b.data, b.len, &k), -EBADMSG);	/* and not protected */
	ck_assert_uint_eq(k.n, 77);
	journal_release(&j);
	ak_buf_release(&b);
}
END_TEST

START_TEST(half_a_journal_is_none)
{
	struct journal j = { 0 }, k = { .n = 77 };
	struct ak_buf b = { 0 };

	sample(&j);
	journal_encode(&j, &b);
	for (size_t n = 0; n < b.len; n++)
		ck_assert_int_eq(journal_decode(b.data, n, &k), -EBADMSG);
	for (size_t i = 0; i < b.len; i++) {
		b.data[i] ^= 0x20;
		ck_assert_int_eq(journal_decode(b.data, b.len, &k), -EBADMSG);
		b.data[i] ^= 0x20;
	}
	ck_assert_uint_eq(k.n, 77);	/* untouched */
	journal_release(&j);
	ak_buf_release(&b);
}
END_TEST

static bool is_mode(const struct change *c, void *arg)
{
	(void)arg;
	return c->op == CHANGE_MODE;
}

START_TEST(changes_can_be_forgotten)
{
	struct journal j = { 0 };

	sample(&j);
	journal_drop(&j, is_mode, NULL);
	ck_assert_uint_eq(j.n, 4);
	ck_assert_str_eq(j.v[3].path, "b");
	journal_release(&j);
}
END_TEST

START_TEST(a_journal_has_a_maximum)
{
	struct journal j = { .n = JOURNAL_CHANGES_MAX };
	struct change c = { .path = (char *)"x", .op = CHANGE_ADDED, .now.mode = S_IFREG };
	struct ak_err err = { 0 };

	ck_assert_int_eq(journal_add(&j, &c, &err), -E2BIG);
	ck_assert_ptr_nonnull(strstr(err.msg, "1000000"));
	j = (struct journal){ .bytes = JOURNAL_BYTES_MAX };
	ck_assert_int_eq(journal_add(&j, &c, &err), -E2BIG);
}
END_TEST

START_TEST(a_set_knows_its_paths)
{
	struct path_set s = { 0 };
	char name[16];

	ck_assert(!path_set_has(&s, "x"));
	for (int i = 0; i < 1000; i++) {
		(void)snprintf(name, sizeof(name), "p/%d", i);
		ck_assert(path_set_add(&s, name));
		ck_assert(path_set_add(&s, name));
	}
	ck_assert_uint_eq(path_set_count(&s), 1000);
	ck_assert(path_set_has(&s, "p/999"));
	ck_assert(!path_set_has(&s, "p/1000"));
	path_set_release(&s);
}
END_TEST

START_TEST(meta_of_another_form_is_refused)
{
	struct changeset_meta m = { .uid = 7 };

	ck_assert_int_eq(changeset_decode_meta("", 0, &m), -EBADMSG);
	ck_assert_int_eq(changeset_decode_meta("AKCHGS1\n\1\0\0\0", 12, &m), -EBADMSG);
	ck_assert_uint_eq(m.uid, 7);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("journal");
	TCase *t = tcase_create("journal");

	tcase_add_test(t, a_folder_stands_before_what_is_in_it);
	tcase_add_test(t, what_is_written_is_read_back);
	tcase_add_test(t, by_belongs_to_what_is_protected);
	tcase_add_test(t, half_a_journal_is_none);
	tcase_add_test(t, changes_can_be_forgotten);
	tcase_add_test(t, a_journal_has_a_maximum);
	tcase_add_test(t, a_set_knows_its_paths);
	tcase_add_test(t, meta_of_another_form_is_refused);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
