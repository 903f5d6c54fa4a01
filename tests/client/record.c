/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands between a client and its executor and keeps every payload that passes as a seed for the fuzz targets.
 * Usage: as the executor: record ARG... with the socket on standard input; AK_REAL is the executor, AK_RECORD the folder. Tests only.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/shared/ak_chan.h"

#define SEED_MAX 4096u		/* larger ones teach a fuzzer nothing more */
#define SEEDS_PER_OP 12

static unsigned seen[256];

/* the file is what tests/fuzz/fuzz_ak_msg.c reads: op, then the payload */
static void keep(const struct ak_frame *f)
{
	char path[512];
	int fd;

	if (f->len > SEED_MAX || f->op > 255 || seen[f->op]++ >= SEEDS_PER_OP)
		return;
	(void)snprintf(path, sizeof(path), "%s/op%03u-%02u", getenv("AK_RECORD"), f->op, seen[f->op]);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	if (write(fd, &(uint8_t){ (uint8_t)f->op }, 1) != 1 || write(fd, f->payload, f->len) != (ssize_t)f->len)
		perror(path);
	(void)close(fd);
}

/* Return: 0 at the end of either side */
static int pass(int from, int to)
{
	static uint8_t buf[AK_MSG_MAX];
	struct ak_frame f;
	int r = ak_chan_recv(from, buf, &f, 0);

	if (r <= 0)
		return 0;
	keep(&f);
	r = ak_chan_send(to, f.op, f.seq, f.payload, f.len, f.fds, f.nfds, 0);
	ak_frame_release(&f);
	return r == 0;
}

int main(int argc, char *argv[])
{
	struct pollfd p[2] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .events = POLLIN } };
	int sock[2];
	pid_t pid;

	(void)argc;
	if (!getenv("AK_REAL") || !getenv("AK_RECORD") || ak_chan_pair(sock, NULL) < 0)
		return 2;
	pid = fork();
	if (pid == 0) {
		if (dup2(sock[1], STDIN_FILENO) < 0)
			_exit(127);
		argv[0] = getenv("AK_REAL");
		execv(argv[0], argv);
		_exit(127);
	}
	(void)close(sock[1]);
	p[1].fd = sock[0];
	while (poll(p, 2, -1) > 0 || errno == EINTR) {
		if (p[0].revents && !pass(STDIN_FILENO, sock[0]))
			break;
		if (p[1].revents && !pass(sock[0], STDIN_FILENO))
			break;
	}
	(void)close(sock[0]);
	(void)waitpid(pid, NULL, 0);
	return 0;
}
