/* SPDX-License-Identifier: Apache-2.0 */
/* `ak logs`: the output of a background job. Process: a client. Privilege: the caller's. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "executor/cmd_named.h"
#include "executor/named.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/term_filter.h"

#define FOLLOW_MS 200u		/* between two looks at a job that says nothing */
#define FILTERED_MAX (4u * AK_LOG_CHUNK + TERM_SEQ_MAX + 16u + TERM_END_MAX)

static const char usage[] = "usage: ak logs NAME JOB [-f]\n"
			    "Show the output of a background job. -f, --follow: go on until the job ends.\n";

/* Bytes of a hostile command on their way to standard output */
struct sink {
	bool filter;		/* it is a terminal */
	struct term_filter tf;
	uint8_t *buf;		/* owned; FILTERED_MAX bytes */
	uint64_t next;		/* offset of the byte to ask for */
};

static int put(struct sink *s, const uint8_t *p, size_t n)
{
	if (!s->filter)
		return ak_write_all(STDOUT_FILENO, p, n);
	n = term_filter_run(&s->tf, p, n, s->buf);
	return ak_write_all(STDOUT_FILENO, s->buf, n);
}

static void tell_gap(const struct sink *s, uint64_t to)
{
	struct ak_buf b = { 0 };

	ak_buf_printf(&b, "ak: %" PRIu64 " bytes of the log were dropped here\n", to - s->next);
	if (!b.failed)
		(void)ak_write_all(STDERR_FILENO, b.data, b.len);	/* nobody left to tell when stderr is gone */
	ak_buf_release(&b);
}

/* What there is now, not what comes meanwhile. Return: 1 while the job runs, 0 when it has ended, negative errno. */
static int copy(struct ak_client *cl, uint32_t job, struct sink *s, struct ak_err *err)
{
	uint64_t end = UINT64_MAX;
	struct ak_log_data d;

	for (;;) {
		int r = ak_job_log(cl, job, s->next, &d, err);

		if (r < 0)
			return r;
		if (end == UINT64_MAX && d.running)
			end = d.total;
		if (d.bytes_len == 0 || s->next >= end)
			return d.running;
		if (d.offset > s->next)
			tell_gap(s, d.offset);
		r = put(s, d.bytes, d.bytes_len);
		if (r < 0)
			return ak_err_sys(err, -r, "write to standard output");
		s->next = d.offset + d.bytes_len;
	}
}

/* Return: true when nobody reads standard output any more. */
static bool reader_gone(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLHUP));
}

static int follow(struct ak_client *cl, uint32_t job, struct sink *s, struct ak_err *err)
{
	int r = copy(cl, job, s, err);

	while (r == 1 && !reader_gone()) {
		struct ak_done done = { 0 };

		r = ak_job_wait(cl, job, FOLLOW_MS, &done, err);
		ak_done_release(&done);
		if (r < 0 && !(r == -EREMOTEIO && ak_refusal(cl, NULL) == AK_CODE_TIMEOUT))
			return r;
		r = copy(cl, job, s, err);
	}
	return r;
}

static int show(struct ak_client *cl, uint32_t job, bool all, struct ak_err *err)
{
	struct sink s = { .filter = isatty(STDOUT_FILENO), .buf = malloc(FILTERED_MAX) };
	int r;

	if (!s.buf)
		return ak_err_set(err, ENOMEM, "out of memory");
	term_filter_init(&s.tf, TERM_STRICT);
	r = all ? follow(cl, job, &s, err) : copy(cl, job, &s, err);
	if (r >= 0 && s.filter)
		(void)ak_write_all(STDOUT_FILENO, s.buf, term_filter_end(&s.tf, s.buf));	/* a terminal that has gone needs none */
	free(s.buf);
	return r < 0 ? r : 0;
}

int cmd_logs(int argc, char *const argv[], char *const env[])
{
	bool all = false;
	const struct cmd_flag flags[] = { { "--follow", "-f", &all }, { NULL, NULL, NULL } };
	const char *words[CMD_WORDS_MAX];
	struct named n = NAMED_NONE;
	struct ak_err err = { 0 };
	uint32_t job;
	int r = cmd_words(argc, argv, usage, flags, 2, words, &err);

	if (r != 0)
		return r == 1 ? 0 : named_usage(&err);
	if (runtime_check_name(words[0], &err) < 0 || cmd_job_id(words[1], &job, &err) < 0)
		return named_usage(&err);
	r = named_open(&n, words[0], env, &err);
	if (r == 0)
		r = show(n.cl, job, all, &err);
	named_release(&n);
	return r < 0 ? named_fail(&err) : 0;
}
