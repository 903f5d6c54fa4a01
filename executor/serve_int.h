/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the serving executor: its objects, and who does what with them.
 *
 *	serve.c		the loop: listener, signals, deadlines, idle end
 *	serve_ev.c	descriptors the loop waits for; objects that end are freed when the turn is over
 *	serve_conn.c	connections: frames in, bounded queue of replies out
 *	dispatch.c	one table: which request is served in which state, at which size, with how many descriptors
 *	op_*.c		the requests
 *	serve_box.c	sandboxes: start, end, the pool
 *	serve_ctl.c	what init says
 *	serve_leaf.c	cgroups: one for each sandbox, one for each command
 *	serve_cmd.c	commands: start, deadlines, end, result
 *	serve_output.c	captured and spooled output
 *	serve_copy.c	the copy of the workspace: who has it, orders to its scribe
 *
 * Process: executor. Privilege: none (rootless), or two capabilities in its own user namespace (root mode).
 */
#ifndef AK_SERVE_INT_H
#define AK_SERVE_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/capture.h"
#include "executor/ns/cgroup.h"
#include "executor/policy.h"
#include "executor/relay.h"
#include "executor/sandbox.h"
#include "executor/serve.h"
#include "executor/shared/ak_chan.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_init_serve.h"
#include "executor/shared/ak_msg.h"
#include "executor/touch_stay.h"
#include "executor/watch.h"

#define SERVE_START_MS 20000u	/* for a sandbox to be ready */
#define SERVE_KILL_MS 15000u	/* for init to end a command it was told to kill, which by itself it does within 6 s; then its sandbox is ended */
#define SERVE_END_MS 5000u	/* for a sandbox that was killed to be gone; it is reported and waited for further */
#define SERVE_STOP_MS 20	/* after which a client that was seen stopped is looked at once more */
#define SERVE_TOLD_MS 15000u	/* for a client that was told of a signal to end by itself */
#define SERVE_QUIET_MS 8u	/* after an answer: what nobody waits for lets the client have the processors first ... */
#define SERVE_QUIET_MAX_MS 200u	/* ... but not forever */
#define SERVE_ALIVE_MS 5000u	/* how often alive_fd is looked at */
#define SERVE_CTL_QUEUE_MAX 64u	/* requests waiting for one init; more are refused */
#define SERVE_FDS_MAX 16384u	/* descriptors the executor may have; fewer where the hard limit is lower */
#define SERVE_READ_BYTES 65536u	/* one read of captured output */
#define SERVE_FRAMES_A_TURN 8u	/* read from one connection before the others are looked at */
#define SERVE_LOOKS_MAX 16u	/* CHANGES requests waiting for the scribe */
#define SERVE_MEASURE_MS 100u	/* between two looks at the size of the copy, while something runs in it */
#define SERVE_MEASURE_SHARE 20u	/* a look takes one of so many parts of the time at most */
#define SERVE_STREAM_PIPE_BYTES (256u << 10)	/* of a pipe that is captured */

struct server;
struct conn;
struct leaf;
struct box;
struct cmd;

/* --- descriptors the loop waits for: serve_ev.c --- */

struct ev {
	int fd;			/* -1: not waited for */
	uint32_t events;
	void (*fn)(struct server *s, struct ev *ev, uint32_t events);	/* NULL: gone, a late event is dropped */
	void *owner;
};

/* what is freed when the turn is over, since events of this turn may still name it */
struct dead {
	struct dead *next;
};

int ev_add(struct server *s, struct ev *ev, int fd, uint32_t events, void (*fn)(struct server *, struct ev *, uint32_t), void *owner);
void ev_want(struct server *s, struct ev *ev, uint32_t events);
/** ev_close() - stop waiting and close the descriptor */
void ev_close(struct server *s, struct ev *ev);
/** ev_forget() - stop waiting; the descriptor stays open and the caller's */
void ev_forget(struct server *s, struct ev *ev);
void server_bury(struct server *s, struct dead *d);

/* --- connections: serve_conn.c --- */

struct reply {
	uint16_t op;
	uint32_t seq;
	uint8_t *payload;	/* owned */
	size_t len;
	int fds[2];		/* owned; -1 */
};

enum conn_state { CONN_NEW, CONN_READY, CONN_STATES };

struct conn {
	struct dead dead;	/* first */
	struct ev ev;
	enum conn_state state;
	bool last;		/* serving ends with it */
	struct reply queue[AK_QUEUE_MAX];	/* ring */
	size_t first, queued;
};

int conn_add(struct server *s, int fd, bool last, struct ak_err *err);
/** conn_end() - close it; its sandboxes and commands (jobs apart) end */
void conn_end(struct server *s, struct conn *c);
/** conn_reply() - send or queue a frame; @fds are taken. @c may be NULL or gone: then nobody hears it. */
void conn_reply(struct server *s, struct conn *c, uint16_t op, uint32_t seq, const void *payload, long len, int fd0, int fd1);
void conn_ok(struct server *s, struct conn *c, uint32_t seq);
/** conn_refuse() - @err's text and hint; its code becomes the errno */
void conn_refuse(struct server *s, struct conn *c, uint32_t seq, enum ak_code code, const struct ak_err *err);
/** conn_refuse_text() - the same with a text of our own and errno @eno */
void conn_refuse_text(struct server *s, struct conn *c, uint32_t seq, enum ak_code code, int eno, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));

/* --- requests: dispatch.c, op_*.c --- */

/* one request on its way through a handler */
struct request {
	struct server *s;
	struct conn *c;
	struct ak_frame *f;	/* descriptors that a handler takes are set to -1 */
	const struct touch_answer *kept;	/* FILE: what it replaces is kept already; NULL: not yet */
};

/**
 * dispatch_look() - may this frame be served in this state?
 * Pure. Return: row number, or -EBADMSG.
 */
int dispatch_look(enum conn_state state, uint16_t op, size_t len, size_t nfds);
/** dispatch() - serve one frame. Return: 0; -EBADMSG: it is malformed, and the connection must end. */
int dispatch(struct server *s, struct conn *c, struct ak_frame *f);

int op_hello(struct request *q);
int op_list(struct request *q);
int op_stat(struct request *q);
int op_session(struct request *q);	/* serve_touch.c */
int op_rollback(struct request *q);	/* serve_touch.c */
int op_shutdown(struct request *q);
int op_create(struct request *q);
int op_destroy(struct request *q);
int op_exec(struct request *q);
int op_signal(struct request *q);
int op_kill(struct request *q);
int op_resize(struct request *q);
int op_wait(struct request *q);
int op_job_list(struct request *q);
int op_job_log(struct request *q);
int op_file(struct request *q);
int op_changes(struct request *q);
int op_finish(struct request *q);
int op_checkpoint(struct request *q);

/* --- sandboxes: serve_box.c, serve_ctl.c --- */

/* who is to be told something later */
struct waiter {
	struct conn *c;		/* NULL: nobody */
	uint32_t seq;
};

/* a request to init that its socket did not take at once */
struct ctl_msg {
	uint8_t *buf;		/* owned */
	size_t len;
	int fds[AK_INIT_REQ_FDS_MAX];	/* owned */
	size_t nfds;
};

enum box_state { BOX_STARTING, BOX_READY, BOX_ENDING };

struct box {
	struct dead dead;	/* first */
	uint32_t id;
	char name[AK_NAME_MAX];
	enum box_state state;
	bool pooled;		/* prepared, nobody's yet */
	bool fresh;		/* ends with its only command */
	bool spent;		/* and that has ended: nobody may use it any more */
	struct conn *owner;	/* NULL: the executor's own, it stays */
	struct policy pol;
	struct sandbox sb;	/* descriptors are those of @ctl and @pid */
	struct ev ctl, pid;
	struct ctl_msg *queue;	/* AK ring of SERVE_CTL_QUEUE_MAX, made when first needed */
	size_t first, queued;
	struct waiter create;	/* CREATED goes there */
	struct waiter destroy[4];	/* OK goes there when nothing is left */
	uint32_t running;	/* commands that run in it */
	uint64_t born_ms, used_ms;
	uint64_t deadline_ns;	/* of its start or its end; 0 */
	struct watch watch;
	uint64_t watch_ns;	/* next sample; 0: none */
	bool over_memory;	/* the last sample was over */
	struct cgroup group;	/* dir -1: none */
	struct cgroup init_leaf;	/* below it; dir -1: none */
	struct leaf *leaf;	/* owned: those below it for commands; NULL: none are made */
	uint32_t leaf_have;	/* enum cgroup_ctl: controllers they have; 0: none were made yet */
	uint32_t leaf_seq;	/* id of the last one */
	uint32_t leaves;	/* made, and not of an ended command */
	struct ak_err why;	/* why it ended; code 0: nobody knows */
};

/** box_group_make() - its cgroup, if this executor has a place for it; before sandbox_prepare(). Return: 0 or negative errno. */
int box_group_make(struct server *s, struct box *b, struct ak_err *err);
/** box_group_remove() - nothing of the sandbox lives any more */
void box_group_remove(struct box *b);
/** box_out_of_memory() - @c was lost with its sandbox: was that for want of memory? */
void box_out_of_memory(struct box *b, struct cmd *c);
/** leaves_begin() - init can be moved, and commands can have leaves */
void leaves_begin(struct server *s, struct box *b);
/** leaves_top_up() - have as many leaves ahead as there should be */
void leaves_top_up(struct server *s, struct box *b);
/** leaf_ended() - a command's end is told: what its leaf (0: none) knows about it goes into its result; the leaf is removed */
void leaf_ended(struct box *b, struct cmd *c, uint32_t id, int wstatus);
/** box_code() - the refusal that a failed box_start() or box_fresh() is */
enum ak_code box_code(const struct ak_err *err);
struct box *box_start(struct server *s, const struct policy *pol, struct ak_err *err);
/** box_end() - kill it; what waits for it is answered when it is gone */
void box_end(struct server *s, struct box *b, int code, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void box_deadline(struct server *s, struct box *b, uint64_t now);
void box_release(struct server *s, struct box *b);
struct box *box_find(struct server *s, uint32_t id);
/** box_of() - the sandbox a request means, if @c may use it; NULL after a refusal */
struct box *box_of(struct request *q, uint32_t id);
/** box_fresh() - a prepared sandbox, or one that is being made; NULL with @err */
struct box *box_fresh(struct server *s, struct conn *owner, struct ak_err *err);
/** pool_fill() - start one prepared sandbox if one is missing */
void pool_fill(struct server *s);
uint32_t pool_ready(const struct server *s);
void box_told(struct server *s, struct box *b);		/* serve_ctl.c: init said READY */
void box_watch(struct server *s, struct box *b, uint64_t now);
/** ctl_drain() - what a dead init said last */
void ctl_drain(struct server *s, struct box *b);
void ctl_event(struct server *s, struct ev *ev, uint32_t events);
/** ctl_send() - a request to init; @fds are taken. Return: 0; -EAGAIN (its queue is full), -EPIPE (it is going) */
int ctl_send(struct server *s, struct box *b, const struct init_req *q, int *fds, size_t nfds);
void ctl_flush(struct server *s, struct box *b);

/* --- the copy of the workspace: serve_copy.c, op_changes.c --- */

enum copy_state {
	COPY_FREE,	/* a sandbox may have it, or has it (box) */
	COPY_FINISHING,	/* FINISH was asked for */
	COPY_KEPT,	/* its changes are a changeset by now: no sandbox any more, but FINISH again */
	COPY_LOST,	/* its scribe is gone, or it could not be made empty */
};

struct look {
	struct waiter to;
	uint32_t limit;
};

struct copy {
	enum copy_state state;
	uint32_t box;		/* the sandbox that has it; 0: none */
	uint32_t last;		/* the one that had it before and has ended; 0: none */
	struct ev ev;		/* answers of the scribe */
	uint32_t asked;		/* enum stay_op it works at; 0: none */
	struct look looks[SERVE_LOOKS_MAX];	/* oldest first */
	size_t nlooks;
	struct waiter finish;
	uint32_t action;	/* enum ak_finish_action */
	uint32_t number;	/* of the checkpoint to go back to */
	struct waiter point;	/* CHECKPOINT; only with point_due */
	bool point_due;
	int frozen;		/* its sandbox's group, frozen for that; owned; -1 */
	uint64_t measured_ns;	/* when the last look at its size began */
	uint64_t measure_ns;	/* not before */
	bool over;		/* more than --disk */
	uint64_t bytes;		/* of the copy, as last measured */
};

/** copy_begin() - wait for its scribe, if this executor has a copy. Return: 0 or negative errno. */
int copy_begin(struct server *s);
/** copy_take() - @b is to have it. Return: 0; -EBUSY: it is somebody else's, or was dealt with */
int copy_take(struct server *s, struct box *b, struct ak_err *err);
/** copy_leave() - nothing of @b is left */
void copy_leave(struct server *s, const struct box *b);
/** copy_next() - give the scribe what is due, if it has nothing to do */
void copy_next(struct server *s);
/** copy_due() - when its size is to be looked at; 0: not */
uint64_t copy_due(const struct server *s);
/** copy_over() - is @b's workspace the copy, and over --disk? */
bool copy_over(const struct server *s, const struct box *b);
/** copy_forget() - @c is gone */
void copy_forget(struct server *s, const struct conn *c);
/** copy_close() - no sandbox is left and none will come: deal with what is open, write the journal. Waits for it. */
void copy_close(struct server *s);

/* --- what file tools change: serve_touch.c --- */

#define TOUCH_ASKS_MAX (AK_FILES_MAX + 4u)

/* a request that waits for the child */
struct touch_ask {
	struct conn *c;		/* NULL: gone */
	struct touch_order o;
	struct ak_frame f;	/* owned */
	uint8_t *payload;	/* of it; owned */
};

struct touch {
	struct ev ev;		/* answers of the child */
	bool on;		/* writes are recorded */
	struct ak_err cannot;	/* code not 0, and not @on: a session was named, but nothing can be kept: no write */
	bool asked;		/* it works at the first of @ask */
	bool lost;		/* it has ended */
	struct touch_ask ask[TOUCH_ASKS_MAX];	/* oldest first */
	size_t n;
};

/** touch_begin() - wait for the child, if there is one. Return: 0 or negative errno. */
int touch_begin(struct server *s);
/** touch_refuse() - refuse the write @q if nothing can be kept. Return: was it? */
bool touch_refuse(struct request *q);
/** touch_forget() - @c is gone */
void touch_forget(struct server *s, const struct conn *c);
/** touch_ask() - the request waits until @o is done; its frame is taken. Return: 0, also when it was refused. */
int touch_ask(struct request *q, const struct touch_order *o);
void touch_close(struct server *s);

/* --- commands: serve_cmd.c, serve_output.c --- */

enum cmd_cause {
	CAUSE_NONE, CAUSE_TIMEOUT, CAUSE_MEMORY, CAUSE_CPU, CAUSE_DISK, CAUSE_KILL, CAUSE_GONE, CAUSE_NO_PTY
};
enum cmd_state { CMD_WAITING, CMD_SENT, CMD_RUNNING, CMD_ENDED };

/* our end of a pipe the command writes into */
struct out {
	struct ev ev;
	struct cmd *cmd;
	struct capture_buf kept;
	bool counted;
	struct capture done;	/* owned, once the command ended */
};

struct cmd {
	struct dead dead;	/* first */
	uint32_t id;
	struct box *box;	/* NULL once it ended */
	uint32_t box_id;
	struct conn *c;		/* its client; NULL: gone, or a job after STARTED */
	uint32_t seq;
	uint32_t flags;		/* enum ak_exec_flags */
	enum cmd_state state;
	bool told;		/* STARTED was sent, or is not wanted */
	bool tty;
	bool pty_told;		/* the pty came, whether there was room for its descriptor or not */
	int pty;		/* our copy of the master; owned; -1 */
	int pty_out;		/* the client's, until STARTED; owned; -1 */
	struct ctl_msg wait;	/* CMD_WAITING: what init will be asked when its sandbox is ready */
	struct policy_limits limits;
	struct out out[2];
	enum cmd_cause cause;
	bool killed;
	uint64_t arrived_ns, start_ns, end_ns;
	uint64_t timeout_ns, kill_ns, giveup_ns;	/* deadlines; 0: none */
	uint32_t pid;		/* inside; 0: not known */
	struct watch watch;	/* of its keeper and what hangs below it; root_pid 0: not found yet */
	uint64_t watch_ns;	/* next sample; 0: none */
	/* how it ended */
	struct ak_result r;
	char text[AK_TEXT_MAX], hint[AK_TEXT_MAX];
	char warning[AK_TEXT_MAX];
	/* jobs */
	bool job;
	char title[AK_TITLE_MAX];
	uint64_t started_ms, ended_ms;	/* since 1970 */
};

struct cmd *cmd_find(struct server *s, uint32_t id);
/** cmd_of() - a running command that @q's client started, or any job; NULL after a refusal */
struct cmd *cmd_of(struct request *q, uint32_t id);
void cmd_release(struct server *s, struct cmd *c);
/** cmd_kill() - end it and all it started; the first cause counts */
void cmd_kill(struct server *s, struct cmd *c, enum cmd_cause cause);
void cmd_signal(struct server *s, struct cmd *c, int signo);
void cmd_deadline(struct server *s, struct cmd *c, uint64_t now);
void cmd_started(struct server *s, struct cmd *c, uint32_t pid);
void cmd_failed(struct server *s, struct cmd *c, const struct init_rep *m);
void cmd_exited(struct server *s, struct cmd *c, const struct init_rep *m);
/** cmd_lost() - its sandbox ended under it */
void cmd_lost(struct server *s, struct cmd *c, struct box *b);
/** cmd_result() - send the RESULT of an ended command */
void cmd_result(struct server *s, struct cmd *c, struct conn *to, uint32_t seq);
/** cmd_send_waiting() - its sandbox is ready: ask init */
void cmd_send_waiting(struct server *s, struct cmd *c);

int out_open(struct server *s, struct cmd *c, unsigned i, uint64_t max, int *ret_child, struct ak_err *err);
/** out_finish() - read what is left in the pipe and close it */
void out_finish(struct server *s, struct out *o);
void out_release(struct server *s, struct out *o);

struct wait {
	struct waiter to;
	uint32_t cmd;
	uint64_t deadline_ns;	/* 0: none */
};

/* a file operation that init works at */
struct fileop {
	uint32_t id;		/* 0: free */
	uint32_t box;
	struct waiter to;
	uint8_t op;
	int data;		/* memfd that takes the bytes; owned; -1 */
	uint64_t limit;
};

/** file_done() - answer the operation that @m is about. Return: false: @b has none with its id. */
bool file_done(struct server *s, const struct box *b, const struct init_rep *m);
void file_lost(struct server *s, const struct box *b);

/* --- the whole --- */

struct server {
	const struct serve_opts *o;
	struct policy pol;	/* sealed */
	int epoll;
	struct ev listen, signal;
	struct conn *conns[AK_CONNECTIONS_MAX];
	struct box *boxes[AK_SANDBOXES_MAX];
	struct cmd *cmds[AK_COMMANDS_MAX + AK_JOBS_MAX];	/* running ones, and jobs that ended */
	size_t ncmds;		/* slots in use are below */
	struct wait waits[AK_WAITS_MAX];
	struct fileop files[AK_FILES_MAX];
	struct copy copy;
	struct touch touch;
	struct dead *dead;
	uint32_t next_id;	/* of sandboxes, commands and file operations */
	uint32_t named;		/* the executor's own sandbox; 0: none */
	uint32_t running;
	uint64_t captured;	/* bytes of all captures together */
	uint64_t born_ms;	/* since 1970 */
	uint64_t busy_ns;	/* last time something was asked or ran */
	uint64_t alive_ns;	/* next look at alive_fd */
	uint64_t pool_ns;	/* not before: a pool that cannot be filled is not tried all the time */
	uint64_t pool_late_ns;	/* not later, even if somebody asks for something all the time; 0: it is full */
	bool ready_said;
	uint64_t told_ns;	/* the client was told of a signal: when serving ends at the latest; 0 */
	bool stopping;
	struct waiter shutdown[4];
	struct ak_err fatal;	/* code not 0: serving cannot go on */
	uint8_t buf[AK_MSG_MAX];	/* frame being read */
	uint8_t out[AK_MSG_MAX];	/* frame being written */
	uint8_t req[AK_INIT_REQ_MAX];
	uint8_t inlined[AK_CAPTURE_INLINE];	/* output that goes with a RESULT */
};

uint64_t now_ms(void);		/* monotonic */
uint64_t wall_ms(void);		/* since 1970 */
uint32_t server_id(struct server *s);
/** server_gave() - was @id given out by server_id()? */
bool server_gave(const struct server *s, uint32_t id);
void server_stop(struct server *s);

#endif
