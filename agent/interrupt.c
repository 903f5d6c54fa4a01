/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C and its like as a descriptor. Process: agent. Privilege: none. */
#include "agent/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "executor/shared/ak_err.h"

int interrupt_open(struct ak_err *err)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t set;
	int fd;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction old;

		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN)
			continue;
		(void)sigaddset(&set, signals[i]);
	}
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return ak_err_sys(err, errno, "block signals");
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? ak_err_sys(err, errno, "take signals as a descriptor") : fd;
}

int interrupt_taken(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info) ? (int)info.ssi_signo : 0;
}
