/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of telemetry: what a record holds and what it never holds, whole lines, modes, full disks. */
#include "agent/trace.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/json.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_parse.h"

#define NOW UINT64_C(1796079541123) /* 2026-11-30T22:59:01.123Z */
#define SECRET "ghp_" "a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8i9J0"

static char place[] = "/tmp/ak-trace-XXXXXX";
static int session = -1;

static void make_place(void)
{
	memcpy(place + sizeof(place) - 7, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(place));
	session = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(session, 0);
}

static void remove_place(void)
{
	(void)unlinkat(session, TRACE_FILE, 0);
	(void)unlinkat(session, "other", 0);
	(void)close(session);
	(void)rmdir(place);
}

static char *content(size_t *len)
{
	char path[64];
	char *text = NULL;

	(void)snprintf(path, sizeof(path), "%s/%s", place, TRACE_FILE);
	ck_assert_int_eq(ak_read_file(path, 64 << 20, &text, len), 0);
	return text;
}

static void write_file(const char *text)
{
	int fd = openat(session, TRACE_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	(void)close(fd);
}

static const struct usage usage = { .input_uncached = 4, .cache_read = 2455, .cache_write_5m = 1, .cache_write_1h = 2, .output = 23,
				    .prompt_total = 2462, .cost_source = COST_TABLE, .cost_picousd = 1093500000 };

static struct trace_turn a_turn(void)
{
	return (struct trace_turn){ .iteration = 3, .model = "m-1", .provider = "anthropic", .usage = &usage, .stop = "tool_use", .attempts = 1 };
}

static struct trace opened(bool verbose)
{
	struct trace t;
	struct ak_err err = { 0 };

	ck_assert_msg(trace_open(&t, session, "s-1", verbose, &err) == 0, "%s", err.msg);
	return t;
}

START_TEST(a_record_has_the_fields_of_the_contract)
{
	static const char args[] = "{\"timeout\": 5, \"command\": \"ls\"}";
	const struct trace_call calls[] = {
		{ .name = "bash", .approved = TRACE_APPROVED, .args = args, .args_len = sizeof(args) - 1, .exit_code = 0, .duration_ms = 12 },
		{ .name = "read_file", .approved = TRACE_NOT_GATED, .is_error = true, .args = "{}", .args_len = 2, .exit_code = -1 },
		{ .name = "write_file", .approved = TRACE_DENIED, .is_error = true, .args = "{}", .args_len = 2, .exit_code = -1 },
	};
	static const char *const hit[] = { "memory" };
	const struct trace_sandbox sb = { .backend = "native", .network = "none", .workspace = "cow", .seccomp = "default", .landlock_abi = 7,
					  .denied_syscalls = 2, .denied_hosts = -1, .limits_hit = hit, .nlimits = 1 };
	struct trace t = opened(false);
	struct trace_turn turn = a_turn();
	size_t len;
	char *text;

	turn.calls = calls;
	turn.ncalls = 3;
	turn.sandbox = &sb;
	turn.compacted = true;
	turn.turns_collapsed = 4;
	turn.tokens_before = 1000;
	turn.tokens_after = 100;
	turn.request_ms = 77;
	turn.request_id = "req_1";
	turn.text = "not for here";
	turn.text_len = 12;
	ck_assert_int_eq(trace_turn(&t, &turn, NOW, NULL), 0);
	trace_close(&t);
	text = content(&len);
	/* the hash is that of {"command":"ls","timeout":5} */
	ck_assert_str_eq(text, "{\"ts\":\"2026-11-30T22:59:01.123Z\",\"session_id\":\"s-1\",\"iteration\":3,\"model\":\"m-1\",\"input_tokens\":4,"
			       "\"output_tokens\":23,\"cache_read_tokens\":2455,\"cache_write_tokens\":3,\"estimated_cost_usd\":0.0010935,"
			       "\"tool_calls\":[{\"name\":\"bash\",\"approved\":true,\"is_error\":false,\"args_sha256\":\"4111dd78f52e\","
			       "\"args_len\":28,\"exit_code\":0,\"duration_ms\":12},{\"name\":\"read_file\",\"approved\":null,\"is_error\":true,"
			       "\"args_sha256\":\"44136fa355b3\",\"args_len\":2},{\"name\":\"write_file\",\"approved\":false,\"is_error\":true,"
			       "\"args_sha256\":\"44136fa355b3\",\"args_len\":2}],\"stop_reason\":\"tool_use\",\"compaction\":{\"turns_collapsed\":4,"
			       "\"tokens_before\":1000,\"tokens_after\":100},\"kind\":\"turn\",\"provider\":\"anthropic\",\"cost_source\":\"table\","
			       "\"attempts\":1,\"request_ms\":77,\"request_id\":\"req_1\",\"sandbox\":{\"backend\":\"native\",\"network\":\"none\","
			       "\"workspace\":\"cow\",\"seccomp\":\"default\",\"landlock_abi\":7,\"denied_syscalls\":2,\"denied_hosts\":null,"
			       "\"limits_hit\":[\"memory\"]}}\n");
	free(text);
}
END_TEST

START_TEST(an_unknown_cost_is_null_and_none_is_0)
{
	struct trace t = opened(false);
	struct trace_turn turn = a_turn();
	struct usage u = usage;
	size_t len;
	char *text;

	u.cost_source = COST_NONE;
	turn.usage = &u;
	ck_assert_int_eq(trace_turn(&t, &turn, NOW, NULL), 0);
	turn.usage = NULL;
	turn.stop = NULL;
	ck_assert_int_eq(trace_turn(&t, &turn, NOW, NULL), 0);
	trace_close(&t);
	text = content(&len);
	ck_assert_ptr_nonnull(strstr(text, "\"estimated_cost_usd\":null"));
	ck_assert_ptr_nonnull(strstr(text, "\"estimated_cost_usd\":0.00,"));
	ck_assert_ptr_nonnull(strstr(text, "\"stop_reason\":null,\"compaction\":null,"));
	free(text);
}
END_TEST

START_TEST(equal_arguments_have_equal_hashes_in_any_order)
{
	char a[TRACE_SHA], b[TRACE_SHA];

	static const char one[] = "{\"b\":1,\"a\":{\"d\":2,\"c\":3}}";
	static const char two[] = " {\"a\": {\"c\":3, \"d\":2}, \"b\":1}";

	ck_assert_str_eq(trace_args_sha(one, sizeof(one) - 1, a), trace_args_sha(two, sizeof(two) - 1, b));
	ck_assert_str_ne(trace_args_sha("{\"a\":1}", 7, a), trace_args_sha("{\"a\":2}", 7, b));
	ck_assert_str_eq(trace_args_sha("", 0, a), "e3b0c44298fc");
	ck_assert_str_eq(trace_args_sha("abc", 3, a), "ba7816bf8f01");
}
END_TEST

START_TEST(LOG_03_arguments_and_texts_are_in_it_only_when_asked_for_and_then_redacted)
{
	static const char args[] = "{\"command\":\"curl -H 'Authorization: Bearer " SECRET "' x\",\"password\":\"abcdefghijkl\"}";
	static const char result[] = "API_KEY=abcdefghijkl\n" SECRET;
	const struct trace_call call = { .name = "bash", .args = args, .args_len = sizeof(args) - 1, .result = result,
					 .result_len = sizeof(result) - 1, .exit_code = -1 };
	struct trace_turn turn = a_turn();
	size_t len;
	char *text;

	turn.calls = &call;
	turn.ncalls = 1;
	turn.text = "I found " SECRET " there";
	turn.text_len = strlen(turn.text);
	for (int verbose = 0; verbose < 2; verbose++) {
		struct trace t = opened(verbose);
		struct cJSON *doc = NULL;

		ck_assert_int_eq(trace_turn(&t, &turn, NOW, NULL), 0);
		trace_close(&t);
		text = content(&len);
		ck_assert_ptr_null(strstr(text, SECRET));
		ck_assert_ptr_null(strstr(text, "abcdefghijkl"));
		ck_assert_int_eq(strstr(text, "curl -H") != NULL, verbose);
		ck_assert_int_eq(strstr(text, "I found [REDACTED] there") != NULL, verbose);
		ck_assert_int_eq(strstr(text, "API_KEY=[REDACTED]") != NULL, verbose);
		ck_assert_int_eq(json_parse(text, len, 0, NULL, &doc, NULL), 0);
		json_free(doc);
		free(text);
		(void)unlinkat(session, TRACE_FILE, 0);
	}
}
END_TEST

START_TEST(LOG_01_the_file_is_0600_whatever_the_umask_and_whatever_it_was)
{
	mode_t old = umask(0);
	struct trace t = opened(false);
	struct stat st;

	trace_close(&t);
	(void)umask(old);
	ck_assert_int_eq(fstatat(session, TRACE_FILE, &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(fchmodat(session, TRACE_FILE, 0666, 0), 0);
	t = opened(false);
	trace_close(&t);
	ck_assert_int_eq(fstatat(session, TRACE_FILE, &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
}
END_TEST

START_TEST(a_torn_last_line_is_cut_off)
{
	static const struct {
		const char *was;
		const char *is;
	} rows[] = {
		{ "{\"a\":1}\n{\"b\":", "{\"a\":1}\n" }, { "{\"a\":", "" }, { "", "" }, { "{\"a\":1}\n", "{\"a\":1}\n" }, { "\n\nx", "\n\n" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trace t;
		size_t len;
		char *text;

		write_file(rows[i].was);
		t = opened(false);
		trace_close(&t);
		text = content(&len);
		ck_assert_str_eq(text, rows[i].is);
		free(text);
	}
}
END_TEST

START_TEST(a_long_torn_line_too)
{
	char *long_line = malloc(200001);
	struct trace t;
	size_t len;
	char *text;

	ck_assert_ptr_nonnull(long_line);
	memset(long_line, 'x', 200000);
	long_line[200000] = '\0';
	long_line[0] = '\n';
	write_file(long_line);
	free(long_line);
	t = opened(false);
	trace_close(&t);
	text = content(&len);
	ck_assert_str_eq(text, "\n");
	free(text);
}
END_TEST

START_TEST(links_and_other_files_are_refused)
{
	struct trace t = { .fd = 77 };
	struct ak_err err = { 0 };

	ck_assert_int_eq(symlinkat("/etc/passwd", session, TRACE_FILE), 0);
	ck_assert_int_eq(trace_open(&t, session, "s", false, &err), -ELOOP);
	ck_assert_int_eq(unlinkat(session, TRACE_FILE, 0), 0);
	ck_assert_int_eq(mkfifoat(session, TRACE_FILE, 0600), 0);
	ck_assert_int_eq(trace_open(&t, session, "s", false, &err), -EINVAL);
	ck_assert_int_eq(unlinkat(session, TRACE_FILE, 0), 0);
	write_file("x\n");
	ck_assert_int_eq(linkat(session, TRACE_FILE, session, "other", 0), 0);
	ck_assert_int_eq(trace_open(&t, session, "s", false, &err), -EINVAL);
	ck_assert_int_eq(t.fd, 77);
}
END_TEST

START_TEST(a_full_disk_costs_records_and_one_warning)
{
	struct trace t = opened(false);
	struct trace_turn turn = a_turn();
	struct rlimit old, small;
	struct ak_err err = { 0 };
	size_t len, before;
	char *text;

	ck_assert_int_eq(trace_turn(&t, &turn, NOW, NULL), 0);
	text = content(&before);
	free(text);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = before + 100; /* part of a record */
	(void)signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	ck_assert_int_lt(trace_turn(&t, &turn, NOW, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "the run goes on"));
	ck_assert_int_eq(trace_turn(&t, &turn, NOW, &err), 0);
	ck_assert_uint_eq(t.lost, 2);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	text = content(&len);
	ck_assert_uint_eq(len, before);
	free(text);
	/* there is room again */
	ck_assert_int_eq(trace_turn(&t, &turn, NOW, &err), 0);
	ck_assert_uint_eq(t.lost, 2);
	trace_close(&t);
	text = content(&len);
	ck_assert_uint_eq(len, 2 * before);
	free(text);
}
END_TEST

START_TEST(without_a_folder_nothing_is_written)
{
	struct trace t;
	struct trace_turn turn = a_turn();

	ck_assert_int_eq(trace_open(&t, -1, "s", false, NULL), 0);
	ck_assert_int_eq(trace_turn(&t, &turn, NOW, NULL), 0);
	ck_assert_uint_eq(t.lost, 0);
	trace_close(&t);
}
END_TEST

START_TEST(hostile_names_stay_within_their_record)
{
	struct trace_call call = { .args = "{", .args_len = 1, .exit_code = -1 };
	struct trace t = opened(false);
	struct trace_turn turn = a_turn();
	char *name = malloc(100001);
	struct cJSON *doc = NULL;
	size_t len;
	char *text;

	ck_assert_ptr_nonnull(name);
	memset(name, 'n', 100000);
	name[100000] = '\0';
	memcpy(name, "a\"\n\xff\x1b]0;x\a", 10);
	call.name = name;
	turn.calls = &call;
	turn.ncalls = 1;
	turn.stop = "x\ny";
	ck_assert_int_eq(trace_turn(&t, &turn, NOW, NULL), 0);
	trace_close(&t);
	free(name);
	text = content(&len);
	ck_assert_uint_lt(len, 2000);
	ck_assert_ptr_eq(strchr(text, '\n'), text + len - 1);
	ck_assert_int_eq(json_parse(text, len, 0, NULL, &doc, NULL), 0);
	json_free(doc);
	free(text);
}
END_TEST

/* LOG-05: two processes, a thousand records of 8 KiB each */
START_TEST(LOG_05_lines_of_two_writers_do_not_mix)
{
	static char big[8192];
	struct trace_turn turn = a_turn();
	size_t len;
	char *text;
	unsigned lines = 0;

	memset(big, 'x', sizeof(big));
	turn.text = big;
	turn.text_len = sizeof(big);
	struct trace first = opened(true);

	for (unsigned p = 0; p < 2; p++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			struct trace t;

			if (trace_open(&t, session, p ? "one" : "two", true, NULL) < 0)
				_exit(1);
			for (unsigned i = 0; i < 1000; i++) {
				if (trace_turn(&t, &turn, NOW, NULL) < 0)
					_exit(1);
			}
			_exit(0);
		}
	}
	for (unsigned p = 0; p < 2; p++) {
		int status;

		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	trace_close(&first);
	text = content(&len);
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1, lines++) {
		struct cJSON *doc = NULL;

		ck_assert_int_eq(json_parse(line, (size_t)(end - line), 0, NULL, &doc, NULL), 0);
		json_free(doc);
	}
	ck_assert_uint_eq(lines, 2000);
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trace");
	TCase *t = tcase_create("trace");
	SRunner *r;
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, make_place, remove_place);
	tcase_add_test(t, a_record_has_the_fields_of_the_contract);
	tcase_add_test(t, an_unknown_cost_is_null_and_none_is_0);
	tcase_add_test(t, equal_arguments_have_equal_hashes_in_any_order);
	tcase_add_test(t, LOG_03_arguments_and_texts_are_in_it_only_when_asked_for_and_then_redacted);
	tcase_add_test(t, LOG_01_the_file_is_0600_whatever_the_umask_and_whatever_it_was);
	tcase_add_test(t, a_torn_last_line_is_cut_off);
	tcase_add_test(t, a_long_torn_line_too);
	tcase_add_test(t, links_and_other_files_are_refused);
	tcase_add_test(t, a_full_disk_costs_records_and_one_warning);
	tcase_add_test(t, without_a_folder_nothing_is_written);
	tcase_add_test(t, hostile_names_stay_within_their_record);
	tcase_add_test(t, LOG_05_lines_of_two_writers_do_not_mix);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
