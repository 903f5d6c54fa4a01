/* SPDX-License-Identifier: Apache-2.0 */
/* Images that are attached: what is one, and how they are named. Files: tests/integration/run.sh. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/attach.h"
#include "agent/msg.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

static const struct {
	const char *bytes;
	size_t n;
	const char *type;
} rows[] = {
	{ "\x89PNG\r\n\x1a\n....", 12, "image/png" },
	{ "\x89PNG\r\n\x1a\n", 8, "image/png" },
	{ "\x89PNG\n\x1a\n.", 8, NULL }, /* through a conversion of line ends */
	{ "\x89PNG\r\n\x1a", 7, NULL },
	{ "\xff\xd8\xff\xe0", 4, "image/jpeg" },
	{ "\xff\xd8", 2, NULL },
	{ "GIF87a", 6, "image/gif" },
	{ "GIF89a..", 8, "image/gif" },
	{ "GIF88a", 6, NULL },
	{ "RIFF\x24\0\0\0WEBPVP8 ", 16, "image/webp" },
	{ "RIFF\x24\0\0\0WAVEfmt ", 16, NULL },
	{ "....\x24\0\0\0WEBPVP8 ", 16, NULL },
	{ "RIFF\x24\0\0\0WEB", 11, NULL },
	{ "<svg xmlns=", 11, NULL },
	{ "%PDF-1.7", 8, NULL },
	{ "BM", 2, NULL },
	{ "", 0, NULL },
};

START_TEST(types_are_told_by_the_first_bytes)
{
	/* exactly as many bytes as there are: one more that is read is seen by the sanitizers */
	char *p = malloc(rows[_i].n + 1);
	const char *type;

	ck_assert_ptr_nonnull(p);
	memcpy(p, rows[_i].bytes, rows[_i].n);
	p = realloc(p, rows[_i].n ? rows[_i].n : 1);
	type = attach_type(p, rows[_i].n);
	ck_assert_msg((type == NULL) == (rows[_i].type == NULL), "row %d: %s", _i, type ? type : "none");
	if (type)
		ck_assert_str_eq(type, rows[_i].type);
	free(p);
}
END_TEST

START_TEST(a_prompt_takes_so_many)
{
	const char *paths[ATTACH_FILES_MAX + 1];
	struct msg m = { 0 };
	struct ak_err err = { 0 };

	for (size_t i = 0; i <= ATTACH_FILES_MAX; i++)
		paths[i] = "x";
	ck_assert_int_eq(attach_files(paths, ATTACH_FILES_MAX + 1, &m, &err), -E2BIG);
	ck_assert_ptr_nonnull(strstr(err.msg, "given 21 times"));
	ck_assert_int_eq(attach_files(paths, 0, &m, &err), 0);
	ck_assert_uint_eq(m.nimages, 0);
}
END_TEST

START_TEST(the_note_names_them_on_one_line)
{
	const char *const paths[] = { "/a/b/shot.png", "c.gif", "x\n\x1b[2Jy.png" };
	struct ak_buf b = { 0 };

	attach_note(paths, 0, &b);
	ck_assert_uint_eq(b.len, 0);
	attach_note(paths, 3, &b);
	ck_assert_str_eq(b.data, "\n\n(Attached images, in this order: shot.png, c.gif, x??[2Jy.png)");
	ak_buf_release(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attach");
	TCase *c = tcase_create("attach");
	SRunner *sr;
	int failed;

	tcase_add_loop_test(c, types_are_told_by_the_first_bytes, 0, (int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_test(c, a_prompt_takes_so_many);
	tcase_add_test(c, the_note_names_them_on_one_line);
	suite_add_tcase(s, c);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
