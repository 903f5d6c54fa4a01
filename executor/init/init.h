/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ak-init: pid 1 of a sandbox. What its files share. Privilege: none; it holds no capability when it starts.
 *
 * The command can see init in /proc and signal it, but cannot read or trace it: init is never dumpable.
 * Signals from inside the namespace whose disposition is the default are dropped by the kernel for a pid 1
 * (pid_namespaces(7)), which is why init blocks none but SIGCHLD: a blocked signal is queued instead, and the
 * queue is the command's to fill.
 */
#ifndef AK_INIT_INIT_H
#define AK_INIT_INIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "executor/shared/ak_init_proto.h"

struct slot_failure;

/* the image that others hold: INIT_BARE, and `ak-init connect` */
#ifdef AK_INIT_HELD
#define HELD_BUILT true
#else
#define HELD_BUILT false
#endif
#define HELD(cfg) (HELD_BUILT && ((cfg)->flags & INIT_BARE))

/* One per process; lives on main()'s stack. Descriptors are -1 when there is none */
struct init {
	int ctl;     /* to the executor */
	int sigfd;   /* SIGCHLD */
	int slave;   /* the pty with INIT_TTY, until the command's fork */
	int proc;    /* /proc with INIT_PLAIN or INIT_BARE, else -1 */
	pid_t child; /* the command */
	uint64_t start_ns;
	const struct init_config *cfg; /* valid until the command's fork */
	uint32_t weaken;	       /* enum ak_weaken */
	struct slot_failure *failure;  /* serve mode, in a command: where fail() writes; else NULL */
	int program;		       /* serve mode, in a command: descriptor of what is run; 0: argv[0] names it */
	bool learning;		       /* INIT_LEARN */
	int gate[2];		       /* learning, up to the filters: init's end and the child's */
	uint8_t learned[AK_INIT_LEARNED_BYTES];
};

/* One line of text that never overflows: what does not fit is dropped */
struct text {
	char buf[640];
	size_t len;
};

/** text_raw() - append our own words */
void text_raw(struct text *t, const char *s);
/** text_name() - append a name from outside: control bytes as \r, \n, \t or \xNN; cut after 200 bytes with "..." */
void text_name(struct text *t, const char *s);

/* Why the command was not started */
struct failure {
	enum init_stage stage;
	int err;       /* positive errno or 0 */
	int exit_code; /* 125..127 */
	struct text text;
	const char *hint; /* NULL: none */
};

/** failure_store() - keep a failure where init looks for it */
void failure_store(struct slot_failure *to, const struct failure *f);

/** fail() - tell the executor (serve mode: init) and end this process (init or the command's child) with the exit code */
_Noreturn void fail(const struct init *in, const struct failure *f);
/** fail_simple() - fail() with exit code 125 and the text "WHAT: strerror(ERR)", or "WHAT" when @err is 0 */
_Noreturn void fail_simple(const struct init *in, enum init_stage stage, int err, const char *what);

/** msg_send() - one message on CTL. Return: 0 or negative errno (-EPIPE: the executor is gone). */
int msg_send(int ctl, const struct init_msg *m);
/** msg_send_fd() - one message with a descriptor, which is borrowed. Return: as msg_send(). */
int msg_send_fd(int ctl, const struct init_msg *m, int fd);

/**
 * pty_open() - make the sandbox's terminal, send the master to the executor; in->slave is open then
 * The message keeps the master open until it is received. Ends the process on failure.
 */
void pty_open(struct init *in);
/** pty_make() - open a terminal. Return: the master, with *@ret_slave; negative errno. */
int pty_make(uint16_t rows, uint16_t cols, int *ret_slave);
/** pty_attach() - in the command's child, which leads a session: take the terminal as 0, 1 and 2 */
void pty_attach(const struct init *in);

/** signals_reset() - the disposition of these signals default, bit N - 1 for signal N */
void signals_reset(uint64_t which);
/** signals_set_mask() - exactly the signals of @bits are blocked, bit N - 1 for signal N */
void signals_set_mask(uint64_t bits);

/**
 * spawn() - fork the command's child, which execs or ends; returns in init only
 * @old_mask:	signal mask init was started with, for the test build that passes it on
 */
void spawn(struct init *in, uint64_t old_mask);
/** confine() - in the child: descriptors, rlimits, Landlock, filters, self-test; ends the process on failure */
void confine(const struct init *in);
/*
 * The steps of confine() after the descriptors, in their order; serve mode takes them at different times. confine_paths() is
 * Landlock; the filters come last.
 */
void confine_limits(const struct init *in);
void check_no_new_privs(const struct init *in);
void confine_paths(const struct init *in);
void confine_filters(const struct init *in);
/** confine_self_test() - the last step of confine_filters(), also for a process that inherited them */
void confine_self_test(const struct init *in);
/** rlimit_name() - Return: the word for a RLIMIT_*, "?" for an unknown one. */
const char *rlimit_name(uint32_t resource);
/** enter_cwd() - in the child: change to in->cfg->cwd, which must lie in the sandbox's root; ends the process on failure */
void enter_cwd(const struct init *in);
/** exec_command() - replace the child by the command, or say why not */
_Noreturn void exec_command(const struct init *in);

/** serve() - reap and pass signals on until the command ended; Return: init's exit code */
int serve(struct init *in);

/** plain_begin() - with INIT_PLAIN: be what pid 1 is elsewhere, as far as an ordinary process can; ends the process on failure */
void plain_begin(struct init *in);
/** bare_begin() - the same with INIT_BARE, where the commands' signals are left alone */
void bare_begin(struct init *in);
/** plain_end() - end everything that descends from init; up to half a second. Return: whether nothing is left. */
bool plain_end(const struct init *in);

/** now_ns() - Return: CLOCK_MONOTONIC. */
uint64_t now_ns(void);

#endif
