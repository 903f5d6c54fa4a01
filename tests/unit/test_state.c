/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the state folder: which file systems cannot hold changes, and which names are ids. */
#include "executor/workspace/state.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_err.h"
#include "executor/workspace/fsat.h"

START_TEST(file_systems_that_cannot_are_named)
{
	static const struct {
		uint32_t magic;
		const char *name;
	} rows[] = {
		{NFS_SUPER_MAGIC, "NFS"},	      {FUSE_SUPER_MAGIC, "FUSE"}, {OVERLAYFS_SUPER_MAGIC, "overlayfs"},
		{CIFS_SUPER_MAGIC, "CIFS"},	      {SMB2_SUPER_MAGIC, "SMB"},  {V9FS_MAGIC, "9p"},
		{MSDOS_SUPER_MAGIC, "FAT"},	      {CEPH_SUPER_MAGIC, "Ceph"}, {EXT4_SUPER_MAGIC, NULL},
		{TMPFS_MAGIC, NULL},		      {XFS_SUPER_MAGIC, NULL},	  {BTRFS_SUPER_MAGIC, NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *got = state_refused_fs(rows[i].magic);

		ck_assert_msg(got && rows[i].name ? strcmp(got, rows[i].name) == 0 : got == rows[i].name, "row %zu", i);
	}
}
END_TEST

START_TEST(a_refusal_says_the_way_out)
{
	struct ak_err err = {0};
	int dir = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ck_assert_int_eq(state_check_fs(dir, "/shown", &err), -EOPNOTSUPP);
	ck_assert_ptr_nonnull(strstr(err.msg, "/shown is on a file system without user attributes"));
	ck_assert_ptr_nonnull(strstr(err.hint, "XDG_STATE_HOME"));
	close(dir);
}
END_TEST

START_TEST(ids_have_one_form)
{
	ck_assert(state_id_ok("c-4f2a91", "c-"));
	ck_assert(!state_id_ok("k-4f2a91", "c-"));
	ck_assert(!state_id_ok("c-4f2a9", "c-"));
	ck_assert(!state_id_ok("c-4f2a911", "c-"));
	ck_assert(!state_id_ok("c-../../x", "c-"));
	ck_assert(!state_id_ok("c-4F2A91", "c-"));
}
END_TEST

/* what is being made has a name that no sweeper takes for a whole one, until it gets its own */
START_TEST(a_new_folder_gets_its_name_when_it_is_whole)
{
	char top[] = "/tmp/ak-state-XXXXXX", made[STATE_NEW_MAX], id[16];
	struct ak_err err = {0};
	int dir, fd;

	ck_assert_ptr_nonnull(mkdtemp(top));
	dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = state_new_dir(dir, made, &err);
	ck_assert_int_ge(fd, 0);
	ck_assert(!state_id_ok(made, "c-"));
	ck_assert(!state_new_left(dir, made, STATE_NEW_SECONDS));
	ck_assert(state_new_left(dir, made, -1));
	ck_assert_int_eq(mkdirat(fd, "in", 0700), 0);
	ck_assert_int_eq(state_name_dir(dir, made, "c-", id, sizeof(id), &err), 0);
	ck_assert(state_id_ok(id, "c-"));
	ck_assert(!state_new_left(dir, id, -1));
	ck_assert_int_eq(faccessat(fd, "in", F_OK, 0), 0);
	ck_assert(faccessat(dir, made, F_OK, 0) < 0);
	ck_assert_int_eq(state_name_dir(dir, made, "c-", id, sizeof(id), &err), -ENOENT);
	ck_assert_int_eq(state_name_dir(dir, made, "much-too-long-for-it-", id, sizeof(id), &err), -EINVAL);
	ck_assert_int_eq(unlinkat(fd, "in", AT_REMOVEDIR), 0);
	close(fd);
	close(dir);
	ck_assert_int_eq(ws_remove(AT_FDCWD, top, &err), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("state");
	TCase *t = tcase_create("state");

	tcase_add_test(t, file_systems_that_cannot_are_named);
	tcase_add_test(t, a_refusal_says_the_way_out);
	tcase_add_test(t, ids_have_one_form);
	tcase_add_test(t, a_new_folder_gets_its_name_when_it_is_whole);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
