/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGKILL at a random moment to the client, the executor, or a sandbox's init while commands, jobs and file operations run:
 * nothing is left soon (a second, where the processors are free), and the next use works. Usage: killing AK WORKSPACE TIMES. Tests only.
 */
#include "tests/client/drive.h"

#include <sys/prctl.h>

#define GONE_S 20.0	/* on a machine that is busy; the longest it took is told */

/* what is left of a run: processes that carry its mark in their environment; only ours are looked at. */
static int marked(const char *mark, bool kill_them)
{
	char path[64], buf[65536];
	struct dirent *e;
	int n = 0;
	DIR *dir = opendir("/proc");

	while (dir && (e = readdir(dir))) {
		long pid = strtol(e->d_name, NULL, 10);
		ssize_t len = -1;
		int fd;

		if (pid <= 0 || pid == getpid())
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0) {
			len = read(fd, buf, sizeof(buf) - 1);
			(void)close(fd);
		}
		if (len <= 0 || !memmem(buf, (size_t)len, mark, strlen(mark)))
			continue;
		n++;
		if (kill_them)
			(void)kill((pid_t)pid, SIGKILL);
	}
	if (dir)
		(void)closedir(dir);
	return n;
}

/* is a process there, and no zombie? */
static bool alive(pid_t pid)
{
	char path[64], buf[512] = "", *p;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, buf, sizeof(buf) - 1) <= 0)
		buf[0] = '\0';
	(void)close(fd);
	p = strrchr(buf, ')');
	return p && p[1] == ' ' && p[2] != 'Z' && p[2] != 'X';
}

/* Return: seconds it took */
static double wait_gone(struct drive *d, const char *mark, const pid_t *pids, int npids)
{
	double t0 = now_s();
	bool any;

	do {
		any = marked(mark, false) > 0;
		for (int i = 0; i < npids; i++)
			any = any || (pids[i] > 0 && alive(pids[i]));
		if (any)
			nap_ms(10);
	} while (any && now_s() - t0 < GONE_S);
	want(d, !any, "%d processes with the mark, executor %d, init %d, after %.1f s", marked(mark, false), npids > 0 && alive(pids[0]),
	     npids > 1 && alive(pids[1]), GONE_S);
	if (any)
		(void)marked(mark, true);
	return now_s() - t0;
}

static void keep_list(void *arg, const struct ak_sandboxes *l)
{
	*(pid_t *)arg = l->count ? (pid_t)l->sandbox[0].pid : 0;
}

/* work of all kinds until killed; runs in a child, which says its executor's and init's pid first */
static void client(struct drive *d, const char *mark, int tell)
{
	const char *argv[] = { "sh", "-c", "setsid sleep 1000 & sleep 1000", mark, NULL };
	struct ak_request q = { .argv = argv };
	pid_t pids[2] = { 0 };
	uint32_t job, tag;

	if (drive_box(d, NULL) < 0)
		_exit(3);
	pids[0] = (pid_t)executor_pid(d);
	(void)ak_list(d->cl, keep_list, &pids[1], NULL);
	if (write(tell, pids, sizeof(pids)) != (ssize_t)sizeof(pids))
		_exit(3);
	q.sandbox = d->box;
	(void)ak_exec_job(d->cl, &q, &job, NULL);
	(void)ak_exec_start(d->cl, &q, &tag, NULL);
	for (;;) {
		struct ran x = run_sh(d, "head -c 100000 /dev/zero");
		struct ak_bytes b;

		if (x.r == -ECONNRESET)
			_exit(0);
		ran_free(&x);
		if (ak_file_list(d->cl, d->box, ".", true, 0, &b, NULL) == 0)
			ak_bytes_release(&b);
		if (ak_create(d->cl, NULL, &job, NULL) == 0)
			(void)ak_destroy(d->cl, job, NULL);
	}
}

static double once(struct drive *d, int who, int round)
{
	char mark[64];
	pid_t pids[2] = { 0 }, child, victim;
	int p[2];

	(void)snprintf(mark, sizeof(mark), "mark-%d-%d-%d", getpid(), who, round);
	if (!want(d, pipe2(p, O_CLOEXEC) == 0, "pipe"))
		return 0;
	child = fork();
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(p[0]);
		client(d, mark, p[1]);
		_exit(0);
	}
	(void)close(p[1]);
	want(d, read(p[0], pids, sizeof(pids)) == (ssize_t)sizeof(pids), "round %d: the client could not start: next use does not work", round);
	(void)close(p[0]);
	nap_ms(random() % 60);
	victim = who == 0 ? child : pids[who - 1];
	if (victim > 0)
		(void)kill(victim, SIGKILL);
	if (who == 2) {	/* the executor and its client live: end them as their user would */
		nap_ms(20);
		(void)kill(child, SIGKILL);
	}
	(void)waitpid(child, NULL, 0);
	return wait_gone(d, mark, pids, 2);
}

int main(int argc, char *argv[])
{
	static const char *const names[] = { "killing:the-client", "killing:the-executor", "killing:the-init-of-a-sandbox" };
	struct drive d = { .ak = argv[1], .ws = argv[2] };

	if (argc != 4)
		return 2;
	srandom((unsigned)getpid());
	for (int who = 0; who < 3; who++) {
		double t0 = now_s(), longest = 0;

		t(&d, names[who]);
		for (int i = 0; i < (int)number(argv[3]) && !d.why[0]; i++) {
			double took = once(&d, who, i);

			longest = took > longest ? took : longest;
		}
		printf("NOTE\t%s: %s times in %.1f s, gone after %.2f s at most\n", names[who], argv[3], now_s() - t0, longest);
	}
	t_end(&d);
	return d.failed ? 1 : 0;
}
