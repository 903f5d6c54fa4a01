/* SPDX-License-Identifier: Apache-2.0 */
/* Head and tail of a stream: what is kept, what is counted, and where it is cut. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "executor/capture.h"
#include "executor/relay.h"

static uint8_t byte_at(uint64_t i)
{
	return (uint8_t)('a' + (i * 7 + i / 251) % 26);
}

static void feed(struct capture_buf *c, uint64_t total, size_t block)
{
	uint8_t buf[8192];

	for (uint64_t at = 0; at < total;) {
		size_t n = total - at < block ? (size_t)(total - at) : block;

		for (size_t i = 0; i < n; i++)
			buf[i] = byte_at(at + i);
		capture_add(c, buf, n);
		at += n;
	}
}

static void expect(uint64_t max, uint64_t total, size_t block)
{
	struct capture_buf c;
	struct capture r;
	uint64_t keep = total < max ? total : max;
	size_t wrong = 0;
	uint64_t head = total < max - max / 2 ? total : max - max / 2;

	capture_init(&c, max);
	feed(&c, total, block);
	capture_finish(&c, &r);
	ck_assert_uint_eq(r.total, total);
	ck_assert_uint_eq(r.dropped, total - keep);
	ck_assert_uint_eq(r.head_len, head);
	ck_assert_uint_eq(r.tail_len, keep - head);
	for (size_t i = 0; i < r.head_len; i++)
		wrong += r.head[i] != byte_at(i);
	for (size_t i = 0; i < r.tail_len; i++)
		wrong += r.tail[i] != byte_at(total - r.tail_len + i);
	ck_assert_uint_eq(wrong, 0);
	free(r.head);
	free(r.tail);
	capture_release(&c);
}

START_TEST(keeps_head_and_tail_for_every_size_and_block)
{
	static const uint64_t maxima[] = { 0, 1, 2, 3, 100, 101, 4096, 4097, 20000 };
	static const size_t blocks[] = { 1, 3, 50, 4096, 8192 };

	for (size_t m = 0; m < sizeof(maxima) / sizeof(maxima[0]); m++)
		for (size_t b = 0; b < sizeof(blocks) / sizeof(blocks[0]); b++)
			for (uint64_t d = 0; d < 5; d++) {
				expect(maxima[m], maxima[m] + d, blocks[b]);
				expect(maxima[m], maxima[m] / 2 + d, blocks[b]);
				expect(maxima[m], maxima[m] * 3 + d, blocks[b]);
			}
}
END_TEST

START_TEST(no_maximum_is_the_default_maximum)
{
	struct capture_buf c;

	capture_init(&c, UINT64_MAX);
	ck_assert_uint_eq(c.head_max + c.tail_max, CAPTURE_DEFAULT_BYTES);
	capture_release(&c);
}
END_TEST

START_TEST(memory_grows_with_the_bytes)
{
	struct capture_buf c;

	capture_init(&c, 1u << 30);
	feed(&c, 100, 10);
	ck_assert_uint_le(c.head_cap + c.tail_cap, 8192);
	capture_release(&c);
	capture_release(&c);
}
END_TEST

/* 200 times the euro sign is 600 bytes; every maximum cuts at another place in it */
START_TEST(gap_does_not_cut_a_character)
{
	static const char sign[] = "\xe2\x82\xac";

	for (uint64_t max = 1; max < 600; max++) {
		struct capture_buf c;
		struct capture r;

		capture_init(&c, max);
		for (int i = 0; i < 200; i++)
			capture_add(&c, (const uint8_t *)sign, 3);
		capture_finish(&c, &r);
		ck_assert_uint_eq(r.total, 600);
		ck_assert_uint_eq(r.head_len + r.tail_len + r.dropped, 600);
		ck_assert_uint_le(r.head_len + r.tail_len, max);
		ck_assert_uint_eq(r.head_len % 3, 0);
		ck_assert_uint_eq(r.tail_len % 3, 0);
		ck_assert(r.tail_len == 0 || memcmp(r.tail, sign, 3) == 0);
		ck_assert_uint_ge(r.head_len + r.tail_len + 4, max);
		free(r.head);
		free(r.tail);
	}
}
END_TEST

START_TEST(whole_stream_is_not_trimmed)
{
	struct capture_buf c;
	struct capture r;

	capture_init(&c, 8);
	capture_add(&c, (const uint8_t *)"\x80\x81" "ab\xe2", 5);
	capture_finish(&c, &r);
	ck_assert_uint_eq(r.head_len + r.tail_len, 5);
	ck_assert_uint_eq(r.dropped, 0);
	free(r.head);
	free(r.tail);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("capture");
	TCase *t = tcase_create("capture");
	SRunner *sr;
	int failed;

	tcase_add_test(t, keeps_head_and_tail_for_every_size_and_block);
	tcase_add_test(t, no_maximum_is_the_default_maximum);
	tcase_add_test(t, memory_grows_with_the_bytes);
	tcase_add_test(t, gap_does_not_cut_a_character);
	tcase_add_test(t, whole_stream_is_not_trimmed);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
