/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the relay: one struct, and who does what with it. relay.c is the loop, relay_pump.c and
 * relay_intake.c move bytes, relay_time.c holds the deadlines, relay_ctl.c speaks with init, relay_end.c ends
 * the tree and says how it ended.
 * Process: executor. Privilege: may signal its own sandbox.
 */
#ifndef AK_RELAY_PRIV_H
#define AK_RELAY_PRIV_H

#include <poll.h>

#include "executor/capture.h"
#include "executor/opts.h"
#include "executor/relay.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_init_proto.h"
#include "executor/stream.h"
#include "executor/term_filter.h"
#include "executor/tty.h"
#include "executor/watch.h"

#define RELAY_BLOCK 65536u		/* bytes moved by one read */
#define RELAY_FILTER_BLOCK 8192u	/* the same, where a terminal filter may make up to four bytes of one */
#define RELAY_SPLICE_BYTES (1u << 20)	/* bytes moved by one splice */
#define RELAY_TTY_BLOCK 256u		/* a write that a terminal which says it is writable takes without waiting */
#define RELAY_OUTPUT_GRACE_MS 100u	/* for the command to see by itself that nobody reads its output */
#define RELAY_GIVEUP_MS 1000u		/* after --kill-after: how long a stuck reader is waited for when ak was told to end */
#define RELAY_INIT_END_MS 1000u		/* for init to end after it said that the command did */
#define RELAY_PLAIN_MS 1000u		/* for an init without namespaces to end the tree when it is told to */
#define RELAY_WARDEN_END_MS 45000u	/* for a warden to end its tree: docker may take 30 s to remove a container */
#define RELAY_PTY_RETRY_MS 50u		/* a pty that nobody has open may be opened again */

/* Why ak ended the tree; the first cause wins */
enum relay_cause {
	CAUSE_NONE,
	CAUSE_TIMEOUT,
	CAUSE_SIGNAL,
	CAUSE_OUTPUT,	/* nobody reads standard output */
	CAUSE_MEMORY,
	CAUSE_CPU,
	CAUSE_DISK,
	CAUSE_BROKEN,	/* init does not keep to the protocol; fail_text says how */
	CAUSE_IO,	/* one of the caller's streams failed; fail_text says how */
};

enum relay_timer {
	TIMER_TIMEOUT,	/* --timeout */
	TIMER_KILL,	/* SIGKILL for the tree */
	TIMER_GIVEUP,	/* what a stuck reader has not taken by now is dropped */
	TIMER_OUTPUT,	/* end of the grace after the reader of stdout went away */
	TIMER_WATCH,	/* next sample */
	TIMER_PTY,	/* look again at a pty that hung up */
	TIMER_DENIALS,	/* end of a rest from answering refused calls */
	TIMER_COUNT,
};

/* Output: from our end of a pipe, or the pty, to the caller or into memory */
struct pump {
	struct stream *s;	/* borrowed */
	const char *name;	/* for messages; static */
	int *inner;		/* descriptor to read; owned by the stream or the relay */
	int outer;		/* descriptor to write; borrowed; -1: none */
	bool active;
	bool pty;
	bool capture;
	bool filter;
	bool splice;		/* as long as the kernel does it for this pair */
	bool blocked;		/* the outer side takes nothing now */
	bool hup;		/* pty that nobody has open */
	bool gone;		/* the reader went away: read and drop */
	bool eof;		/* the inner side is finished; what is in buf is still to be written */
	bool last;		/* the tree is dead: what is in the pipe is all there will be */
	uint64_t left;		/* with last, for a pipe: bytes in it when the tree was dead */
	uint64_t allowed;	/* bytes that may still pass; UINT64_MAX: no maximum */
	uint64_t total, dropped;
	uint8_t *buf;		/* owned; made when first needed */
	size_t off, len;	/* bytes on their way in buf */
	struct capture_buf kept;
	struct term_filter tf;
};

/* Input: from the caller's standard input to our end of a pipe, or the pty */
struct intake {
	struct stream *s;	/* borrowed */
	int *inner;		/* descriptor to write */
	int outer;		/* descriptor to read; -1: none, which is an end of file at once */
	bool active;
	bool pty;
	bool room;		/* the inner side has room: read */
	bool eof;		/* nothing more to read; what is in buf is still to be written */
	uint8_t *buf;		/* owned */
	size_t off, len;
	uint64_t moved;		/* bytes written to the inner side */
	uint8_t final;		/* the last byte of them */
};

struct relay {
	const struct relay_sandbox *sb;
	const struct exec_opts *o;
	struct streams *st;
	int signal_fd;
	int pty;		/* master; owned; -1 */
	struct tty_state tty;
	struct pump out[2];
	struct intake in;
	struct watch watch;
	uint64_t at[TIMER_COUNT];	/* CLOCK_MONOTONIC ns; 0: not set */
	uint64_t start_ns, end_ns;

	bool watch_output;	/* look out for the reader of stdout going away */
	bool ctl_open;
	bool dead;		/* init has been waited for */
	bool killed;
	bool asked;		/* init without namespaces was told to end the tree */
	enum relay_cause cause;
	int first_signal;	/* that ended ak; 0 */
	bool exited, failed;	/* messages from init */
	int wstatus;		/* of the command, with exited */
	unsigned fail_exit_code;
	int init_code, init_status;	/* si_code and si_status of init's own end */
	struct run_result *ret;
};

/* relay_pump.c */
void pump_start(struct relay *r, unsigned i, int *inner);
void pump_want(const struct pump *p, struct pollfd *ret);
void pump_ready(struct relay *r, struct pump *p, short revents);
void pump_last(struct pump *p);
void pump_give_up(struct pump *p);
void pump_finish(struct pump *p, struct capture *ret);
void pump_release(struct pump *p);

/* relay_write.c */
ssize_t outer_write(const struct stream *s, int fd, const uint8_t *buf, size_t len);
ssize_t outer_read(const struct stream *s, int fd, uint8_t *buf, size_t cap);

/* relay_intake.c */
void intake_start(struct relay *r, int *inner);
void intake_want(const struct intake *in, struct pollfd *ret_outer, struct pollfd *ret_inner);
void intake_ready(struct relay *r, short outer_revents, short inner_revents);
void intake_finish(struct relay *r);

/* relay_time.c */
uint64_t relay_now(void);
void relay_set(struct relay *r, enum relay_timer t, uint64_t after_ms);
int relay_wait_time(const struct relay *r, struct timespec *ret);
void relay_expire(struct relay *r);

/* relay_ctl.c */
void relay_take_pty(struct relay *r, int *fd);
void relay_receive(struct relay *r);
void relay_send_signal(struct relay *r, int signo);
void relay_read_signals(struct relay *r);

/* relay_end.c */
void relay_kill(struct relay *r);
void relay_end(struct relay *r, enum relay_cause cause);
void relay_fail(struct relay *r, enum relay_cause cause, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void relay_output_gone(struct relay *r, struct pump *p);
int relay_reap(struct relay *r, struct ak_err *err);
void relay_over(struct relay *r);
void relay_result(struct relay *r);

#endif
