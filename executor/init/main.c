/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ak-init CTL CONFIG: pid 1 of a sandbox; or, in a container of docker's, `ak-init connect SOCKET`. Starts one command, reaps, passes signals on and reports; no
 * privilege. Exit: 0 after the command's end was reported; 125 when it was not started; 1 when the executor
 * is gone or talks nonsense.
 */
#include "executor/init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/init/box.h"
#include "executor/init/learn.h"
#include "executor/shared/ak_weaken.h"

/*
 * Three images are made of these files: `ak exec` copies its init anew for every command, so that one holds nothing of serve mode
 * (box*.c and what belongs to it) and cannot trace (learn.c). The third is for sandboxes that others hold (INIT_BARE).
 */
#ifdef AK_INIT_SERVE
#define SERVE_BOX(in, cfg) box_serve(in, cfg)
#else
#define SERVE_BOX(in, cfg) (fail_simple(in, INIT_STAGE_SETUP, 0, "this init serves one command only"), 125)
#endif
#ifdef AK_INIT_HELD
#define CONNECT(path, ctl, config) init_connect(path, ctl, config)
#else
#define CONNECT(path, ctl, config) ((void)(ctl), (void)(config))
#endif

#define SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)
#define BIT(signo) (1ull << ((signo)-1))

#define CONFIG_USUAL 8192u	/* bytes of a CONFIG that needs no mapping: a region of its own costs a start two page tables */
#define STRINGS_USUAL 256u	/* the same for the pointers into it */
#define STACK_USUAL (24u << 10)
#define PAGE 4096u
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23	/* asm-generic/mman-common.h */
#endif

/* CONFIG and the pointers into it; on start()'s stack, of which only as much is touched as is used */
struct room {
	void *config;		/* @usual, or a mapping */
	size_t config_len;
	void *strv;		/* NULL, or a mapping */
	size_t strv_len;
	uint8_t usual[CONFIG_USUAL];
	const char *strings[STRINGS_USUAL];
};

/* A descriptor number of argv; -1 if it is none that is open */
static int fd_arg(const char *s)
{
	int fd = 0;

	if (!s || !*s)
		return -1;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || fd > 100000)
			return -1;
		fd = fd * 10 + (*s - '0');
	}
	return fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -1 : fd;
}

/* Were one closed, the next descriptor would take its number and be handed to the command */
static bool streams_open(void)
{
	return fcntl(0, F_GETFD) >= 0 && fcntl(1, F_GETFD) >= 0 && fcntl(2, F_GETFD) >= 0;
}

static bool at_eof(int ctl)
{
	struct pollfd p = { .fd = ctl };

	return poll(&p, 1, 0) !=
	       0; /* no event was asked for, so what comes is POLLHUP, POLLERR or POLLNVAL */
}

/* The sealed CONFIG cannot change or shrink while it is read */
static void take_config(const struct init *in, int fd, struct room *m)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	if (seals < 0 || (seals & SEALS) != SEALS)
		fail_simple(in, INIT_STAGE_SETUP, seals < 0 ? errno : 0, "the configuration is not sealed");
	if (fstat(fd, &st) < 0 || st.st_size <= 0 || st.st_size > (off_t)AK_INIT_CONFIG_MAX)
		fail_simple(in, INIT_STAGE_SETUP, 0, "the configuration has a wrong size");
	m->config_len = (size_t)st.st_size;
	m->config = m->config_len <= sizeof(m->usual) ? m->usual : mmap(NULL, m->config_len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (m->config == MAP_FAILED)
		fail_simple(in, INIT_STAGE_SETUP, errno, "map the configuration");
	/* a memory file gives all of it at once */
	if (m->config == m->usual && pread(fd, m->usual, m->config_len, 0) != (ssize_t)m->config_len)
		fail_simple(in, INIT_STAGE_SETUP, errno, "read the configuration");
	(void)close(fd);
}

static const char **room_for_strings(const struct init *in, struct room *m, size_t n)
{
	m->strv = NULL;
	if (n <= STRINGS_USUAL)
		return m->strings;
	m->strv_len = n * sizeof(char *);
	m->strv = mmap(NULL, m->strv_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m->strv == MAP_FAILED)
		fail_simple(in, INIT_STAGE_SETUP, errno, "memory for the arguments");
	return m->strv;
}

static void load_config(const struct init *in, int fd, struct room *m, struct init_config *ret)
{
	const char **strings;
	long n;

	take_config(in, fd, m);
	n = init_config_counts(m->config, m->config_len);
	if (n < 0)
		fail_simple(in, INIT_STAGE_SETUP, 0, "the configuration is malformed");
	strings = room_for_strings(in, m, (size_t)n + 2);
	if (init_config_decode(m->config, m->config_len, strings, (size_t)n + 2, ret) < 0)
		fail_simple(in, INIT_STAGE_SETUP, 0, "the configuration is malformed");
	for (uint32_t i = 0; i < ret->nkeep_fds; i++) {
		if (ret->keep_fds[i] == in->ctl || fcntl(ret->keep_fds[i], F_GETFD) < 0)
			fail_simple(in, INIT_STAGE_SETUP, 0, "a descriptor for the command is not open");
	}
}

/* The environment and the arguments are the command's: they may hold secrets, and init lives as long as it does */
static void forget_config(struct room *m)
{
	if (m->config == m->usual)
		explicit_bzero(m->usual, m->config_len);
	else
		(void)munmap(m->config, m->config_len);
	if (m->strv)
		(void)munmap(m->strv, m->strv_len);
}

void signals_reset(uint64_t which)
{
	/* all zero is SIG_DFL; raw, because libc hides the real-time signals it uses itself (32 to 34) */
	const uint64_t dfl[4] = { 0 };

	for (int n = 1; n <= 64; n++) {
		if (which & BIT(n))
			(void)syscall(SYS_rt_sigaction, n, dfl, NULL,
				      sizeof(uint64_t)); /* KILL, STOP: EINVAL */
	}
}

void signals_set_mask(uint64_t bits)
{
	(void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &bits, NULL, sizeof(bits)); /* cannot fail */
}

static void signals_setup(struct init *in, uint64_t *ret_old_mask)
{
	sigset_t chld;

	(void)syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, ret_old_mask, sizeof(*ret_old_mask));
	/* those that the caller ignores are the set-up child's to reset, where there was one */
	signals_reset(HELD_BUILT ? UINT64_MAX : BIT(SIGCHLD));
	signals_set_mask(BIT(SIGCHLD));
	(void)sigemptyset(&chld);
	(void)sigaddset(&chld, SIGCHLD);
	in->sigfd = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	if (in->sigfd < 0)
		fail_simple(in, INIT_STAGE_SETUP, errno, "signalfd");
}

/* init holds no end of the command's streams, so that their readers see the end of file */
static void drop_streams(const struct init_config *cfg)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= 2; fd++) {
		if (null < 0)
			(void)close(fd);
		else if (fd != null)
			(void)dup2(null, fd);
	}
	if (null > 2)
		(void)close(null);
	for (uint32_t i = 0; i < cfg->nkeep_fds; i++)
		(void)close(cfg->keep_fds[i]);
}

/* What only the test build does: give back protections that were taken before the configuration was known */
static void weaken(const struct init *in)
{
	if (AK_WEAK(in->weaken, AK_WEAK_DUMPABLE))
		(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	if (AK_WEAK(in->weaken, AK_WEAK_PDEATH))
		(void)prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
}

/* A container's own variables are those that its programs expect */
static void take_own_env(const struct init *in, struct init_config *cfg)
{
	cfg->envp = (const char **)environ;
	while (environ && environ[cfg->envc])
		cfg->envc++;
	if (cfg->envc > AK_INIT_STRINGS_MAX)
		fail_simple(in, INIT_STAGE_SETUP, E2BIG, "the container's environment");
}

static int serve_box(struct init *in, struct init_config *cfg)
{
	int code;

	if ((cfg->flags & INIT_BARE) && !HELD_BUILT)
		fail_simple(in, INIT_STAGE_SETUP, 0, "this init is for sandboxes of ours only");
	if (HELD(cfg))
		bare_begin(in);
	if (HELD(cfg) && (cfg->flags & INIT_OWN_ENV))
		take_own_env(in, cfg);
	code = SERVE_BOX(in, cfg);
	if (HELD(cfg))
		(void)plain_end(in);	/* what it could not end in time is for whoever holds the sandbox */
	return code;
}

/* Up to the command's fork */
static void start(struct init *in, int config_fd)
{
	struct init_config cfg;
	struct room room;
	uint64_t old_mask = 0;

	load_config(in, config_fd, &room, &cfg);
	in->cfg = &cfg;
	in->weaken = cfg.weaken;
	in->learning = cfg.flags & INIT_LEARN;
	if (in->learning && !LEARN_BUILT)
		fail_simple(in, INIT_STAGE_SETUP, 0, "this init does not learn");
	weaken(in);
	signals_setup(in, &old_mask);
	if (cfg.flags & INIT_PLAIN)
		plain_begin(in);
	if (cfg.flags & INIT_SERVE) {
		drop_streams(&cfg);
		_exit(serve_box(in, &cfg));
	}
	if (cfg.flags & INIT_TTY)
		pty_open(in);
	spawn(in, old_mask);
	drop_streams(&cfg);
	in->cfg = NULL;
	forget_config(&room);
}

/* What start() and its callees use, in one call instead of a fault for each page. Linux 5.14; elsewhere the faults come */
static void touch_stack(void)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)(PAGE - 1);

	(void)madvise((void *)(here - STACK_USUAL), STACK_USUAL, MADV_POPULATE_WRITE);
}

int main(int argc, char **argv)
{
	struct init in = { .ctl = -1, .sigfd = -1, .slave = -1, .proc = -1 };
	int config_fd = -1;

	touch_stack();
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || argc != 3)
		return 125;
	if (HELD_BUILT && strcmp(argv[1], "connect") == 0) {
		CONNECT(argv[2], &in.ctl, &config_fd);	/* who started it in the container may end: CTL tells when the executor does */
	} else {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
			return 125;
		in.ctl = fd_arg(argv[1]);
		config_fd = fd_arg(argv[2]);
	}
	/* the executor may have died before PDEATHSIG was set: its end of CTL is closed then */
	if (in.ctl < 0 || config_fd < 0 || at_eof(in.ctl))
		return 125;
	if (!streams_open() || in.ctl <= 2 || config_fd <= 2)
		fail_simple(&in, INIT_STAGE_SETUP, 0, "a standard stream of the command is closed");
	start(&in, config_fd);
	return serve(&in);
}
