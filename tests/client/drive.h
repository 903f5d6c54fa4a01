/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs that drive a serving executor share: named tests, expectations, small helpers over libak. Tests only. */
#ifndef AK_TESTS_CLIENT_DRIVE_H
#define AK_TESTS_CLIENT_DRIVE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/libak.h"

struct drive {
	const char *ak, *ws;
	struct ak_client *cl;
	uint32_t box;
	struct ak_err err;
	const char *name;	/* of the test that runs */
	char why[512];
	unsigned passed, failed;
};

/* what the suite reads: PASS NAME, FAIL NAME TEXT */
static inline void t_end(struct drive *d)
{
	if (!d->name)
		return;
	if (d->why[0])
		printf("FAIL\t%s\t%s\n", d->name, d->why);
	else
		printf("PASS\t%s\t\n", d->name);
	*(d->why[0] ? &d->failed : &d->passed) += 1;
	d->name = NULL;
	fflush(stdout);
}

static inline void t(struct drive *d, const char *name)
{
	t_end(d);
	d->name = name;
	d->why[0] = '\0';
}

__attribute__((format(printf, 3, 4))) static inline bool want(struct drive *d, bool ok, const char *fmt, ...)
{
	va_list ap;

	if (ok || d->why[0])
		return ok;
	va_start(ap, fmt);
	(void)vsnprintf(d->why, sizeof(d->why), fmt, ap);
	va_end(ap);
	for (char *p = d->why; *p; p++)
		if (*p == '\n' || *p == '\t')
			*p = ' ';
	return ok;
}

static inline double now_s(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static inline void nap_ms(long ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) < 0 && errno == EINTR)
		;
}

static inline long number(const char *text)
{
	return strtol(text, NULL, 10);
}

/* a captured result with its output as text */
struct ran {
	int r;			/* of ak_exec() */
	struct ak_result res;	/* its texts are not kept */
	char text[AK_TEXT_MAX];
	char *out[2];
	size_t len[2];
};

static inline void ran_free(struct ran *x)
{
	free(x->out[0]);
	free(x->out[1]);
	memset(x, 0, sizeof(*x));
}

static inline void ran_take(struct ran *x, struct ak_done *done)
{
	x->res = done->r;
	(void)snprintf(x->text, sizeof(x->text), "%s", done->r.text);
	for (unsigned i = 0; i < 2; i++) {
		const uint8_t *h, *tl;
		size_t hn, tn;

		ak_done_output(done, i, &h, &hn, &tl, &tn);
		x->out[i] = malloc(hn + tn + 1);
		memcpy(x->out[i], h, hn);
		memcpy(x->out[i] + hn, tl, tn);
		x->out[i][hn + tn] = '\0';
		x->len[i] = hn + tn;
	}
	ak_done_release(done);
}

static inline struct ran run_request(struct drive *d, struct ak_request *q)
{
	struct ran x = { 0 };
	struct ak_done done;

	if (!q->sandbox && !(q->flags & AK_EXEC_FRESH))
		q->sandbox = d->box;
	if (q->stream[1] == AK_STREAM_NULL && q->stream[2] == AK_STREAM_NULL)
		q->stream[1] = q->stream[2] = AK_STREAM_CAPTURE;
	d->err = (struct ak_err){ 0 };
	x.r = ak_exec(d->cl, q, &done, &d->err);
	if (x.r == 0)
		ran_take(&x, &done);
	else
		x.out[0] = calloc(1, 1), x.out[1] = calloc(1, 1);
	return x;
}

static inline struct ran run_sh(struct drive *d, const char *text)
{
	const char *argv[] = { "sh", "-c", text, NULL };
	struct ak_request q = { .argv = argv };

	return run_request(d, &q);
}

static inline struct ran run_session(struct drive *d, const char *text)
{
	const char *argv[] = { text, NULL };
	struct ak_request q = { .argv = argv, .kind = AK_EXEC_SESSION };

	return run_request(d, &q);
}

/* executor over a socketpair, with more options after the workspace's */
static inline int drive_spawn(struct drive *d, const char *const *more)
{
	const char *argv[64] = { d->ak, "serve", "-C", d->ws };
	size_t n = 4;

	while (more && *more && n < 63)
		argv[n++] = *more++;
	return ak_spawn(argv, "drive", &d->cl, &d->err);
}

static inline int drive_box(struct drive *d, const char *const *more)
{
	int r = drive_spawn(d, more);

	return r < 0 ? r : ak_create(d->cl, NULL, &d->box, &d->err);
}

/* Return: number of descriptors a process has open, -1 if it is gone */
static inline int count_fds(unsigned pid)
{
	char path[64];
	DIR *dir;
	int n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	dir = opendir(path);
	if (!dir)
		return -1;
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n - 2;
}

/* a number of /proc/PID/status, such as "VmRSS:"; -1 */
static inline long proc_status(unsigned pid, const char *key)
{
	char path[64], line[256];
	long v = -1;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%u/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0)
			v = strtol(line + strlen(key), NULL, 10);
	if (f)
		(void)fclose(f);
	return v;
}

/* processes below @pid, itself not counted */
static inline int count_below(unsigned pid)
{
	char path[64], buf[16384], *p = buf, *end;
	int n = 0, fd;
	ssize_t len;

	(void)snprintf(path, sizeof(path), "/proc/%u/task/%u/children", pid, pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	len = read(fd, buf, sizeof(buf) - 1);
	(void)close(fd);
	buf[len > 0 ? len : 0] = '\0';
	for (unsigned long child; (child = strtoul(p, &end, 10)) > 0; p = end)
		n += 1 + count_below((unsigned)child);
	return n;
}

static inline unsigned executor_pid(const struct drive *d)
{
	return ak_hello_facts(d->cl)->pid;
}

#endif
