/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of trees, their bytes, and what differs between two. */
#include "executor/workspace/ckpt_tree.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_buf.h"
#include "executor/workspace/ckpt_compare.h"

static struct ckpt_tree tree;

static struct ckpt_entry *put(struct ckpt_tree *t, const char *path, uint32_t mode)
{
	struct ckpt_entry e = {.path = path, .id = {.mode = mode, .ino = t->n + 10, .mtime_ns = 5}, .same_as = CKPT_NO_LINK,
			       .link = S_ISLNK(mode) ? "target" : NULL};
	struct ckpt_entry *added = ckpt_tree_add(t, &e);

	ck_assert_ptr_nonnull(added);
	return added;
}

static void usual(struct ckpt_tree *t)
{
	struct ak_buf x = {0};
	struct ckpt_entry e = {.path = "b/f", .id = {.mode = S_IFREG | 0644, .ino = 99, .size = 3}, .same_as = CKPT_NO_LINK};

	put(t, "", S_IFDIR | 0755);
	put(t, "a", S_IFREG | 0600);
	put(t, "b", S_IFDIR | 0755);
	ckpt_xattr_add(&x, "user.k", "v\0w", 3);
	ckpt_xattr_add(&x, "user.empty", "", 0);
	e.xattrs = (const unsigned char *)x.data;
	e.xattrs_len = (uint32_t)x.len;
	ck_assert_ptr_nonnull(ckpt_tree_add(t, &e));
	ak_buf_release(&x);
	put(t, "b/l", S_IFLNK | 0777);
	put(t, "b/same", S_IFREG | 0600)->same_as = 1;
	(void)snprintf(t->note, sizeof(t->note), "a note");
	t->made_ns = 77;
	ck_assert_int_eq(ckpt_tree_index(t), 0);
}

static void setup(void)
{
	tree = (struct ckpt_tree){0};
	usual(&tree);
}

static void teardown(void)
{
	ckpt_tree_release(&tree);
}

/* malloc'ed bytes of a tree */
static char *bytes(const struct ckpt_tree *t, size_t *ret_len)
{
	struct ak_buf b = {0};

	ckpt_tree_encode(t, &b);
	ck_assert(!b.failed);
	*ret_len = b.len;
	return b.data;
}

static int decode(const char *p, size_t n, struct ckpt_tree *ret)
{
	char *copy = malloc(n + 1);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, p, n);
	return ckpt_tree_decode(copy, n, ret);
}

START_TEST(what_is_encoded_decodes_to_the_same)
{
	struct ckpt_tree t = {0};
	struct ckpt_xattr x;
	uint32_t pos = 0;
	size_t n;
	char *p = bytes(&tree, &n);

	ck_assert_int_eq(ckpt_tree_decode(p, n, &t), 0);
	ck_assert_int_eq(ckpt_tree_check(&t), 0);
	ck_assert_uint_eq(t.n, tree.n);
	ck_assert_str_eq(t.note, "a note");
	ck_assert_uint_eq(t.made_ns, 77);
	for (size_t i = 0; i < t.n; i++) {
		ck_assert_str_eq(t.e[i].path, tree.e[i].path);
		ck_assert_int_eq(ckpt_op_of(&t.e[i], &tree.e[i]), CKPT_SAME);
	}
	ck_assert(ckpt_xattr_next(&t.e[3], &pos, &x));
	ck_assert_str_eq(x.name, "user.k");
	ck_assert_mem_eq(x.value, "v\0w", 3);
	ck_assert(ckpt_xattr_next(&t.e[3], &pos, &x));
	ck_assert_uint_eq(x.len, 0);
	ck_assert(!ckpt_xattr_next(&t.e[3], &pos, &x));
	ckpt_tree_release(&t);
}
END_TEST

START_TEST(what_is_written_is_what_is_encoded)
{
	struct ckpt_entry e = {.same_as = CKPT_NO_LINK, .id.mode = S_IFREG | 0644};
	int fd = memfd_create("tree", MFD_CLOEXEC), full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	size_t n;
	char *p, *got, path[16];

	for (unsigned i = 0; i < 2000; i++) {	/* more than one block */
		(void)snprintf(path, sizeof(path), "more%u", i);
		e.path = path;
		ck_assert_ptr_nonnull(ckpt_tree_add(&tree, &e));
	}
	p = bytes(&tree, &n);
	ck_assert_int_eq(ckpt_tree_write(&tree, fd), 0);
	got = malloc(n + 1);
	ck_assert_int_eq(pread(fd, got, n + 1, 0), (ssize_t)n);
	ck_assert_mem_eq(got, p, n);
	ck_assert_int_eq(ckpt_tree_write(&tree, full), -ENOSPC);
	(void)close(full);
	(void)close(fd);
	free(got);
	free(p);
}
END_TEST

START_TEST(every_truncation_and_every_flip_is_refused)
{
	struct ckpt_tree t = {0};
	size_t n;
	char *p = bytes(&tree, &n);

	for (size_t i = 0; i < n; i++) {
		ck_assert_int_lt(decode(p, i, &t), 0);
		p[i] ^= 0x20;
		ck_assert_int_lt(decode(p, n, &t), 0);
		p[i] ^= 0x20;
	}
	ck_assert_ptr_null(t.e);
	free(p);
}
END_TEST

/* a tree that no walk gives is refused, whatever its sum says */
static int try(const char *first, const char *second, uint32_t second_mode, uint32_t same_as)
{
	struct ckpt_tree t = {0}, got = {0};
	size_t n;
	char *p;
	int r;

	put(&t, "", S_IFDIR | 0755);
	put(&t, first, S_IFREG | 0644);
	put(&t, second, second_mode)->same_as = same_as;
	p = bytes(&t, &n);
	r = ckpt_tree_decode(p, n, &got);
	if (r == 0)
		r = ckpt_tree_check(&got);
	ckpt_tree_release(&got);
	ckpt_tree_release(&t);
	return r;
}

START_TEST(what_leads_out_or_makes_no_sense_is_refused)
{
	ck_assert_int_eq(try("a", "b", S_IFREG, CKPT_NO_LINK), 0);
	ck_assert_int_eq(try("a", "b", S_IFREG, 1), 0);
	ck_assert_int_eq(try("a", "../b", S_IFREG, CKPT_NO_LINK), -EBADMSG);
	ck_assert_int_eq(try("a", "/b", S_IFREG, CKPT_NO_LINK), -EBADMSG);
	ck_assert_int_eq(try("a", "b/./c", S_IFREG, CKPT_NO_LINK), -EBADMSG);
	ck_assert_int_eq(try("a", "", S_IFREG, CKPT_NO_LINK), -EBADMSG);
	ck_assert_int_eq(try("a", "a", S_IFREG, CKPT_NO_LINK), -EBADMSG);	/* twice */
	ck_assert_int_eq(try("a", "a/b", S_IFREG, CKPT_NO_LINK), -EBADMSG);	/* below a file */
	ck_assert_int_eq(try("a", "d/b", S_IFREG, CKPT_NO_LINK), -EBADMSG);	/* without its folder */
	ck_assert_int_eq(try("a", "b", S_IFREG, 2), -EBADMSG);			/* itself */
	ck_assert_int_eq(try("a", "b", S_IFREG, 0), -EBADMSG);			/* a folder */
	ck_assert_int_eq(try("a", "b", S_IFDIR, 1), -EBADMSG);
}
END_TEST

START_TEST(entries_are_found)
{
	char path[32];

	for (unsigned i = 0; i < 5000; i++) {
		(void)snprintf(path, sizeof(path), "n%u", i);
		put(&tree, path, S_IFREG | 0644);
		ck_assert_int_eq(ckpt_tree_index_last(&tree), 0);
	}
	for (size_t i = 0; i < tree.n; i++)
		ck_assert_ptr_eq(ckpt_tree_find(&tree, tree.e[i].path), &tree.e[i]);
	ck_assert_ptr_null(ckpt_tree_find(&tree, "nothing"));
	ck_assert_ptr_eq(ckpt_tree_find_ino(&tree, 0, 99), ckpt_tree_find(&tree, "b/f"));
	ck_assert_ptr_null(ckpt_tree_find_ino(&tree, 1, 99));
}
END_TEST

START_TEST(differences_have_their_names)
{
	struct ckpt_tree t = {0};
	struct ckpt_difference *d = NULL;

	usual(&t);
	t.e[1].id.mode = S_IFREG | 0755;
	t.e[3].hash[0] ^= 1;
	t.e[4].path = "b/other";
	t.e[5].id.mtime_ns = 6;
	t.e[2].id.mtime_ns = 6;
	ck_assert_int_eq(ckpt_tree_index(&t), 0);
	ck_assert_int_eq(ckpt_compare(&tree, &t, &d), 4);
	ck_assert_str_eq(d[0].path, "a");
	ck_assert_str_eq(ckpt_op_name(d[0].op), "mode");
	ck_assert_str_eq(d[1].path, "b/f");
	ck_assert_str_eq(ckpt_op_name(d[1].op), "modified");
	ck_assert_str_eq(d[2].path, "b/l");
	ck_assert_str_eq(ckpt_op_name(d[2].op), "deleted");
	ck_assert_str_eq(d[3].path, "b/other");
	ck_assert_str_eq(ckpt_op_name(d[3].op), "added");
	free(d);
	ck_assert_int_eq(ckpt_op_of(&tree.e[5], &t.e[5]), CKPT_META);	/* a file's time is restored, but is no change to be told */
	t.e[1].id.mode = S_IFLNK | 0777;
	ck_assert_int_eq(ckpt_op_of(&tree.e[1], &t.e[1]), CKPT_TYPE);
	ckpt_tree_release(&t);
}
END_TEST

START_TEST(scope_is_by_components)
{
	const char *const paths[] = {"a/b", "c", NULL}, *const all[] = {"", NULL};

	ck_assert(ckpt_in_scope(paths, "a/b"));
	ck_assert(ckpt_in_scope(paths, "a/b/d"));
	ck_assert(ckpt_in_scope(paths, "c"));
	ck_assert(!ckpt_in_scope(paths, "a"));
	ck_assert(!ckpt_in_scope(paths, "a/bc"));
	ck_assert(!ckpt_in_scope(paths, ""));
	ck_assert(ckpt_in_scope(NULL, "x"));
	ck_assert(ckpt_in_scope(all, "x"));
	ck_assert(ckpt_in_scope(all, ""));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ckpt_tree");
	TCase *t = tcase_create("ckpt_tree");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, what_is_encoded_decodes_to_the_same);
	tcase_add_test(t, what_is_written_is_what_is_encoded);
	tcase_add_test(t, every_truncation_and_every_flip_is_refused);
	tcase_add_test(t, what_leads_out_or_makes_no_sense_is_refused);
	tcase_add_test(t, entries_are_found);
	tcase_add_test(t, differences_have_their_names);
	tcase_add_test(t, scope_is_by_components);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
