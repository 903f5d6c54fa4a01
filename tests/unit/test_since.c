/* SPDX-License-Identifier: Apache-2.0 */
/* What has changed between two lists of changes: random copies, and what a plain comparison of them says. */
#include "agent/since.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/libak.h"

#define FILES 6
#define ROUNDS 3000
#define THEN 1000

/* a file of the copy: what the workspace has is content 1 or nothing (0); its size is 1 or 2 */
struct copy {
	int has[FILES], is[FILES];
	int64_t at[FILES];
};

static void put(struct ak_change_set *s, uint8_t op, uint32_t mode, uint64_t size, const char *path)
{
	struct ak_change c = {.op = op, .mode = mode, .size = size, .path = path};
	long n;

	s->data = s->data ? s->data : malloc(4096);
	n = ak_change_encode(&c, s->data + s->len, 4096 - s->len);
	ck_assert_int_gt(n, 0);
	s->len += (size_t)n;
	s->entries++;
	s->total++;
}

static struct ak_change_set list(const struct copy *c)
{
	struct ak_change_set s = {0};

	for (int i = 0; i < FILES; i++) {
		char path[8];

		(void)snprintf(path, sizeof(path), "f%d", i);
		if (!c->has[i] && c->is[i])
			put(&s, AK_CHANGE_ADDED, 0100644, (uint64_t)c->is[i] % 2 + 1, path);
		else if (c->has[i] && !c->is[i])
			put(&s, AK_CHANGE_DELETED, 0, 0, path);
		else if (c->has[i] != c->is[i])
			put(&s, AK_CHANGE_MODIFIED, 0100644, (uint64_t)c->is[i] % 2 + 1, path);
	}
	return s;
}

static int mtime(void *ctx, const char *path, int64_t *ret)
{
	*ret = ((const struct copy *)ctx)->at[strtoul(path + 1, NULL, 10)];
	return 0;
}

START_TEST(as_a_plain_comparison)
{
	srandom(7);
	for (int round = 0; round < ROUNDS; round++) {
		struct copy then, now;
		struct ak_change_set a, b;
		struct since s;
		uint64_t differ = 0;

		for (int i = 0; i < FILES; i++) {
			then.has[i] = now.has[i] = (int)(random() % 2);
			then.is[i] = now.is[i] = (int)(random() % 5);
			now.at[i] = THEN - 1;
			if (random() % 2) {
				now.is[i] = (int)(random() % 5);
				now.at[i] = now.is[i] == then.is[i] ? THEN - 1 : THEN + random() % 9;
			}
			differ += now.is[i] != then.is[i];
		}
		a = list(&then);
		b = list(&now);
		ck_assert_int_eq(since_compare(&a, THEN, &b, &(struct since_files){mtime, &now}, &s), 0);
		ck_assert_uint_eq(s.n, differ);
		ck_assert(!s.unsure);
		ck_assert_int_eq(s.names.len > 0, differ > 0);
		since_release(&s);
		free(a.data);
		free(b.data);
	}
}
END_TEST

START_TEST(what_is_not_known)
{
	struct ak_change_set a = {0}, b = {0};
	struct since_files nobody = {0};
	struct since s;

	ck_assert_int_eq(since_compare(&a, 0, &b, &nobody, &s), 0);
	ck_assert(s.n == 0 && !s.unsure);
	put(&b, AK_CHANGE_ADDED, 040755, 10, "d");
	put(&a, AK_CHANGE_ADDED, 040755, 20, "d");
	ck_assert_int_eq(since_compare(&a, 0, &b, &nobody, &s), 0);
	ck_assert_msg(s.n == 0 && !s.unsure, "a folder is no more than its mode");
	put(&a, AK_CHANGE_ADDED, 0100644, 1, "f");
	put(&b, AK_CHANGE_ADDED, 0100644, 1, "f");
	ck_assert_int_eq(since_compare(&a, 0, &b, &nobody, &s), 0);
	ck_assert(s.n == 0 && s.unsure);
	b.more = true;
	put(&b, AK_CHANGE_MODIFIED, 0100600, 1, "a");
	ck_assert_int_eq(since_compare(&a, 0, &b, &nobody, &s), 0);
	ck_assert(s.n == 1 && s.unsure);
	ck_assert_str_eq((const char *)s.names.data, "\nmodified a");
	since_release(&s);
	b.len--;
	ck_assert_int_eq(since_compare(&a, 0, &b, &nobody, &s), -EBADMSG);
	since_release(&s);
	free(a.data);
	free(b.data);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("since");
	TCase *tc = tcase_create("since");
	SRunner *sr = srunner_create(suite);
	int failed;

	tcase_add_test(tc, as_a_plain_comparison);
	tcase_add_test(tc, what_is_not_known);
	suite_add_tcase(suite, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
