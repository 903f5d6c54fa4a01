/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/compact.h"
#include "agent/context.h"
#include "agent/msg.h"
#include "agent/prices.h"
#include "agent/transcript.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

/* a generator of our own: the same histories everywhere */
static unsigned rnd(uint32_t *seed, unsigned n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 16) % n;
}

static void add_text(struct history *h, enum msg_role role, const char *text)
{
	struct msg m = { .role = role };

	ck_assert_int_eq(msg_set_text(&m, text, strlen(text)), 0);
	ck_assert_int_eq(history_join(h, &m), 0);
	msg_release(&m);
}

/* a turn with @n calls, and the turn with their results and @more of the user's behind them */
static void add_calls(struct history *h, unsigned id, unsigned n, const char *result, const char *more)
{
	struct msg a = { .role = MSG_ASSISTANT }, u = { .role = MSG_USER };

	for (unsigned i = 0; i < n; i++) {
		char name[32];
		struct tool_call c = { 0 };

		(void)snprintf(name, sizeof(name), "c%u-%u", id, i);
		c = (struct tool_call){ strdup(name), strdup("bash"), strdup("{\"command\":\"true\"}"), 18, NULL };
		ck_assert_int_eq(msg_take_call(&a, &c), 0);
		ck_assert_int_eq(msg_add_result(&u, name, result, strlen(result), i % 2), 0);
	}
	if (more)
		ck_assert_int_eq(msg_set_text(&u, more, strlen(more)), 0);
	ck_assert_int_eq(history_take(h, &a), 0);
	ck_assert_int_eq(history_take(h, &u), 0);
}

static size_t groups(const struct history *h)
{
	size_t n = 0;

	for (size_t i = 1; i < h->n; i++)
		n += h->v[i].role == MSG_ASSISTANT && h->v[i - 1].role == MSG_USER;
	return n;
}

static void random_history(struct history *h, uint32_t *seed)
{
	unsigned n = rnd(seed, 40);
	char text[64];

	(void)snprintf(text, sizeof(text), "task %u", rnd(seed, 1000));
	add_text(h, MSG_USER, text);
	for (unsigned i = 0; i < n; i++) {
		(void)snprintf(text, sizeof(text), "text %u", i);
		switch (rnd(seed, 4)) {
		case 0: /* a final answer, and the next request */
			add_text(h, MSG_ASSISTANT, text);
			add_text(h, MSG_USER, text);
			break;
		case 1: /* a paused reply and its continuation */
			add_text(h, MSG_ASSISTANT, "paused");
			add_calls(h, i, 1, "ok", NULL);
			break;
		default:
			add_calls(h, i, 1 + rnd(seed, 4), "some result", rnd(seed, 5) ? NULL : "and a word of the user's");
		}
	}
	if (rnd(seed, 3) == 0)
		add_text(h, MSG_ASSISTANT, "last");
}

START_TEST(what_could_be_sent_can_be_sent_afterwards)
{
	uint32_t seed = 7;
	unsigned compacted = 0;

	for (unsigned round = 0; round < 3000; round++) {
		struct history h = { 0 };
		struct ak_err err = { 0 };
		char task[64];
		size_t turns, n, had;

		random_history(&h, &seed);
		ck_assert_int_eq(history_check(&h, &err), 0);
		(void)snprintf(task, sizeof(task), "%.60s", h.v[0].text);
		turns = compact_plan(&h);
		had = groups(&h);
		ck_assert_int_eq(turns > 0, had > COMPACT_KEEP);
		n = h.n;
		for (unsigned again = 0; turns && again < 2; again++) {
			char summary[32];
			size_t before = h.n;

			(void)snprintf(summary, sizeof(summary), "summary %u", again);
			ck_assert_int_eq(compact_apply(&h, turns, summary, &err), 0);
			ck_assert_uint_eq(h.n, before - turns);
			ck_assert_int_eq(history_check(&h, &err), 0);
			ck_assert_uint_eq(groups(&h), COMPACT_KEEP);
			ck_assert_ptr_eq(strstr(h.v[0].text, task), h.v[0].text);
			ck_assert_uint_lt(h.task_len, h.v[0].text_len);
			ck_assert_ptr_nonnull(strstr(h.v[0].text + h.task_len, summary));
			ck_assert_uint_eq(compact_plan(&h), 0);
			if (again == 0) {
				if (h.v[h.n - 1].role == MSG_ASSISTANT)
					add_text(&h, MSG_USER, "more");
				add_calls(&h, 1000, 2, "r", NULL);
				turns = compact_plan(&h);
				ck_assert_uint_gt(turns, 0);
			} else {
				ck_assert_ptr_null(strstr(h.v[0].text, "summary 0"));
			}
		}
		compacted += n != h.n;
		history_release(&h);
	}
	ck_assert_uint_gt(compacted, 1000);
}
END_TEST

/* any number of turns but one at the end of a group: refused, and nothing has changed */
START_TEST(a_call_and_its_results_are_never_parted)
{
	struct history h = { 0 };
	unsigned refused = 0;

	add_text(&h, MSG_USER, "task");
	for (unsigned i = 0; i < 8; i++)
		add_calls(&h, i, 2, "r", NULL);
	for (size_t turns = 0; turns < 40; turns++) {
		struct ak_err err = { 0 };
		size_t n = h.n;

		if (turns > 0 && turns % 2 == 0 && turns < 16)
			continue;
		ck_assert_int_eq(compact_apply(&h, turns, "s", &err), -EINVAL);
		ck_assert_uint_eq(h.n, n);
		ck_assert_str_eq(h.v[0].text, "task");
		refused++;
	}
	ck_assert_uint_eq(refused, 40 - 7);
	ck_assert_int_eq(compact_apply(&h, SIZE_MAX, "s", NULL), -EINVAL);
	history_release(&h);
}
END_TEST

START_TEST(the_task_and_later_requests_stay_word_for_word)
{
	struct history h = { 0 };
	char *big = malloc(COMPACT_REQUESTS_MAX + 2);

	ck_assert_ptr_nonnull(big);
	memset(big, 'b', COMPACT_REQUESTS_MAX + 1);
	big[COMPACT_REQUESTS_MAX + 1] = '\0';
	add_text(&h, MSG_USER, "the task\nin two lines");
	add_calls(&h, 1, 1, "r", big); /* too long to stay */
	add_calls(&h, 2, 1, "r", "now do two");
	add_text(&h, MSG_ASSISTANT, "did it");
	add_text(&h, MSG_USER, "now do three");
	for (unsigned i = 10; i < 16; i++)
		add_calls(&h, i, 1, "r", NULL);
	ck_assert_uint_eq(compact_plan(&h), 6);
	ck_assert_int_eq(compact_apply(&h, 6, "what happened", NULL), 0);
	ck_assert_ptr_eq(strstr(h.v[0].text, "the task\nin two lines\n\nThe user said later:\nnow do two\n\nThe user said later:\nnow do three\n\n["),
			 h.v[0].text);
	ck_assert_ptr_null(strstr(h.v[0].text, "bbb"));
	ck_assert_ptr_nonnull(strstr(h.v[0].text, "\nwhat happened"));
	history_release(&h);
	free(big);
}
END_TEST

START_TEST(a_long_summary_is_cut_between_characters)
{
	struct history h = { 0 };
	char *s = malloc(COMPACT_SUMMARY_MAX + 64);
	size_t n = 1;

	ck_assert_ptr_nonnull(s);
	s[0] = 'x';
	while (n < COMPACT_SUMMARY_MAX + 32) {
		memcpy(s + n, "\xc3\xa4", 2);
		n += 2;
	}
	s[n] = '\0';
	add_text(&h, MSG_USER, "t");
	for (unsigned i = 0; i < 8; i++)
		add_calls(&h, i, 1, "r", NULL);
	ck_assert_int_eq(compact_apply(&h, compact_plan(&h), s, NULL), 0);
	ck_assert_uint_lt(h.v[0].text_len, COMPACT_SUMMARY_MAX + 512);
	ck_assert_int_eq((unsigned char)h.v[0].text[h.v[0].text_len - 1], 0xa4);
	history_release(&h);
	free(s);
}
END_TEST

START_TEST(texts_for_the_summary_keep_to_their_maximum)
{
	struct history h = { 0 };
	struct ak_buf b = { 0 };
	char *long_result = malloc(20001);

	ck_assert_ptr_nonnull(long_result);
	memset(long_result, 'r', 20000);
	long_result[20000] = '\0';
	add_text(&h, MSG_USER, "the task");
	for (unsigned i = 0; i < 30; i++)
		add_calls(&h, i, 2, long_result, i == 3 ? "a request" : NULL);
	compact_render(&h, compact_plan(&h), 1000000, &b);
	ck_assert_int_eq(b.failed, 0);
	ck_assert_ptr_eq(strstr(b.data, "task: the task\n"), b.data);
	ck_assert_ptr_nonnull(strstr(b.data, "call bash {\"command\":\"true\"}"));
	ck_assert_ptr_nonnull(strstr(b.data, "error: rrr"));
	ck_assert_ptr_nonnull(strstr(b.data, "user: a request"));
	ck_assert_ptr_nonnull(strstr(b.data, "[... left out ...]"));
	ak_buf_release(&b);
	compact_render(&h, compact_plan(&h), 8192, &b);
	ck_assert_uint_lt(b.len, 8192);
	ak_buf_release(&b);
	compact_structural(&h, compact_plan(&h), &b);
	ck_assert_ptr_eq(strstr(b.data, "48 turns, 48 tool calls, 24 of them failed"), b.data);
	ck_assert_uint_lt(b.len, COMPACT_SUMMARY_MAX);
	ck_assert_uint_lt(b.len, compact_gain(&h, compact_plan(&h)));
	ak_buf_release(&b);
	history_release(&h);
	free(long_result);
}
END_TEST

/* what a resumed session sees is what the run saw: same texts, same bytes; the file has all turns still */
START_TEST(a_transcript_gives_the_compacted_conversation_back)
{
	char folder[] = "/tmp/ak-compact.XXXXXX";
	struct transcript_head head = { .workspace = (char *)(uintptr_t)"/w", .model = (char *)(uintptr_t)"m", .system = (char *)(uintptr_t)"s" }, again = { 0 };
	struct history h = { 0 }, back = { 0 };
	struct transcript t;
	int dir;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(transcript_create(&t, dir, &head, NULL), 0);
	add_text(&h, MSG_USER, "task");
	for (unsigned i = 0; i < 9; i++)
		add_calls(&h, i, 2, "r", i == 1 ? "said \"later\"" : NULL);
	for (size_t i = 0; i < h.n; i++)
		ck_assert_int_eq(transcript_add(&t, &h.v[i], NULL), 0);
	for (unsigned i = 0; i < 2; i++) {
		size_t turns = compact_plan(&h);

		ck_assert_uint_gt(turns, 0);
		ck_assert_int_eq(transcript_compacted(&t, turns, "short \xc3\xa4\n\"x\"", NULL), 0);
		ck_assert_int_eq(compact_apply(&h, turns, "short \xc3\xa4\n\"x\"", NULL), 0);
		add_calls(&h, 20 + i, 1, "r", NULL);
		for (size_t k = h.n - 2; k < h.n; k++)
			ck_assert_int_eq(transcript_add(&t, &h.v[k], NULL), 0);
	}
	transcript_close(&t);
	ck_assert_int_eq(transcript_load(&t, dir, &again, &back, NULL), 0);
	ck_assert_uint_eq(back.n, h.n);
	ck_assert_uint_eq(back.task_len, h.task_len);
	ck_assert_int_eq(history_check(&back, NULL), 0);
	for (size_t i = 0; i < h.n; i++) {
		ck_assert_int_eq(back.v[i].role, h.v[i].role);
		ck_assert_str_eq(back.v[i].text ? back.v[i].text : "", h.v[i].text ? h.v[i].text : "");
		ck_assert_uint_eq(back.v[i].nresults, h.v[i].nresults);
	}
	transcript_close(&t);
	transcript_head_release(&again);
	history_release(&h);
	history_release(&back);
	(void)unlinkat(dir, TRANSCRIPT_FILE, 0);
	ak_fd_close(&dir);
	(void)rmdir(folder);
}
END_TEST

START_TEST(a_compaction_that_parts_a_group_is_no_transcript)
{
	static const char text[] =
		"{\"schema\":\"ak-session/1\",\"workspace\":\"/w\",\"model\":\"m\",\"system\":\"s\"}\n{\"role\":\"user\",\"text\":\"t\"}\n"
		"{\"role\":\"assistant\",\"calls\":[{\"id\":\"a\",\"name\":\"bash\",\"args\":\"{}\"}]}\n"
		"{\"role\":\"user\",\"results\":[{\"id\":\"a\",\"text\":\"r\",\"error\":false}]}\n{\"role\":\"assistant\",\"text\":\"x\"}\n"
		"{\"compaction\":{\"turns_collapsed\":%u,\"summary\":\"s\"}}\n";

	for (unsigned turns = 0; turns < 6; turns++) {
		struct transcript_head head = { 0 };
		struct history h = { 0 };
		struct ak_err err = { 0 };
		char buf[1024];

		(void)snprintf(buf, sizeof(buf), text, turns);
		ck_assert_int_eq(transcript_parse(buf, strlen(buf), &head, &h, &err), turns == 2 ? 0 : -EBADMSG);
		if (turns != 2)
			ck_assert_ptr_nonnull(strstr(err.msg, "line 6"));
		transcript_head_release(&head);
		history_release(&h);
	}
}
END_TEST

START_TEST(windows_and_what_fits)
{
	struct price p = { .context = 200000 };
	struct context c;

	context_init(&c, 0, NULL, false);
	ck_assert_uint_eq(c.window, CONTEXT_UNKNOWN);
	ck_assert_int_eq(c.guessed, 1);
	ck_assert_int_eq(context_fits(&c, 24576, 8192), 1);
	ck_assert_int_eq(context_fits(&c, 24577, 8192), 0);
	ck_assert_int_eq(context_fits(&c, UINT64_MAX, 1), 0);
	ck_assert_int_eq(context_hopeless(&c, UINT64_MAX), 0); /* a guess refuses nothing */
	ck_assert_uint_eq(context_reply(&c, 30000, 8192), 8192);
	context_learn(&c, 131072); /* a server knows better than a guess */
	ck_assert_uint_eq(c.window, 131072);
	context_learn(&c, 200000);
	ck_assert_uint_eq(c.window, 131072);
	context_learn(&c, 0);
	context_learn(&c, 4096);
	ck_assert_uint_eq(c.window, 4096);
	context_init(&c, 0, &p, false);
	ck_assert_int_eq(context_fits(&c, 168000, 32000), 1);
	ck_assert_int_eq(context_fits(&c, 168001, 32000), 0);
	context_init(&c, 4000, &p, false);
	ck_assert_uint_eq(c.window, 4000);
	ck_assert_int_eq(context_fits(&c, 3000, 32000), 1); /* a quarter is enough */
	ck_assert_int_eq(context_fits(&c, 3001, 32000), 0);
	ck_assert_uint_eq(context_reply(&c, 1000, 32000), 3000);
	ck_assert_uint_eq(context_reply(&c, 3900, 32000), 1000);
	ck_assert_uint_eq(context_reply(&c, 9000, 100), 100);
	ck_assert_int_eq(context_hopeless(&c, 31999), 0);
	ck_assert_int_eq(context_hopeless(&c, 32000), 1);
	context_init(&c, 1, NULL, false);
	ck_assert_uint_eq(context_reply(&c, 9000, 100), 1);
	context_init(&c, 0, &p, true); /* a script has none */
	ck_assert_int_eq(context_fits(&c, UINT64_MAX, UINT64_MAX), 1);
	ck_assert_uint_eq(context_reply(&c, 9000, 100), 100);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("compact");
	TCase *tc = tcase_create("compact");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, what_could_be_sent_can_be_sent_afterwards);
	tcase_add_test(tc, a_call_and_its_results_are_never_parted);
	tcase_add_test(tc, the_task_and_later_requests_stay_word_for_word);
	tcase_add_test(tc, a_long_summary_is_cut_between_characters);
	tcase_add_test(tc, texts_for_the_summary_keep_to_their_maximum);
	tcase_add_test(tc, a_transcript_gives_the_compacted_conversation_back);
	tcase_add_test(tc, a_compaction_that_parts_a_group_is_no_transcript);
	tcase_add_test(tc, windows_and_what_fits);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
