/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serve mode of ak-init: what its files share. Privilege: none.
 *
 *   init ── keeper ── parked command     a slot; three are prepared ahead. A keeper serves one command after another
 *        └─ file worker                  one for each file operation
 *
 * Keepers, parked commands and workers are forked from init and run our code only; all of them are non-dumpable. They share
 * init's table of descriptors (CLONE_FILES), so that what comes with a request is there for a command that was forked before, and
 * one page range for each slot (struct slot_mem). A command leaves both with its exec; it takes a table of its own before it looks
 * at a descriptor. init never waits for any of them: it polls, and they write to an eventfd.
 *
 * Filters are inherited, so a keeper loads them once and its commands are born with them: to load them costs as much as to start a
 * program. Two exceptions: with INIT_LATE_FILTERS the command loads them itself before its exec, as a profile of the user may forbid
 * what we do until then; with INIT_LEAVES it loads them while it is prepared, as they forbid the clone3 that its keeper needs.
 * init enters the Landlock domain of the commands itself: all commands of a sandbox are in one domain, so that one can signal and
 * trace another, as they may by their uid. Signals to pid 1 have no effect, and it is not dumpable.
 */
#ifndef AK_INIT_BOX_H
#define AK_INIT_BOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "executor/init/init.h"
#include "executor/shared/ak_init_serve.h"
#include "executor/shared/ak_tree.h"

#define BOX_SLOTS (AK_INIT_COMMANDS_MAX + AK_INIT_SPARES)
#define BOX_OUT_MAX 4		/* messages that wait for room on CTL: what one request can cause */
#define BOX_FAILURE_TEXT 640
#define BOX_FAILURE_HINT 256

/* How far the processes of a slot are; written by them, read by init */
enum slot_phase {
	PHASE_BORN,	/* the keeper was forked or told to prepare another command */
	PHASE_PARKED,	/* the command is confined and waits */
	PHASE_TAKEN,	/* it runs with a table of descriptors of its own: init's copies can be closed */
	PHASE_TELLING,	/* it ended and nothing is left of it: the keeper tells the executor */
	PHASE_ENDED,	/* the keeper has written the result */
};

/* What the keeper's work came to */
struct slot_result {
	uint32_t wstatus;
	uint32_t flags;	/* enum init_exited_flags */
	uint64_t end_ns;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t maxrss_bytes;
};

/* A failure across processes; empty when stage is 0 */
struct slot_failure {
	uint32_t stage;
	uint32_t err;
	uint32_t exit_code;
	char text[BOX_FAILURE_TEXT];
	char hint[BOX_FAILURE_HINT];
};

/* Memory that init shares with the keeper and the command of one slot. No hostile code ever runs with it mapped */
struct slot_mem {
	_Atomic uint32_t go;		/* futex: 0, then 1 when the request below is complete */
	_Atomic uint32_t phase;		/* enum slot_phase */
	_Atomic uint32_t order;		/* futex, init to keeper: prepare the next command */
	_Atomic uint64_t signals;	/* init to keeper: bit N - 1 for signal N to the command's group */
	_Atomic uint32_t kill;		/* init to keeper: end the tree */
	int leaf_fd;			/* cgroup leaf of the next command, or -1; by init before an order */
	int32_t command;		/* pid; by the keeper before PHASE_PARKED */
	/* the request; by init before go */
	struct init_req req;		/* body is not used: below, or in the first descriptor */
	int fds[AK_INIT_REQ_FDS_MAX];	/* in the shared table, in the order of the request */
	int slave;			/* the pty, or -1 */
	int state_in, state_out;	/* session, or -1 */
	uint32_t helpers;		/* processes of ours that RLIMIT_NPROC has to allow beside the commands' own */
	uint32_t body_len;
	uint32_t nfds;			/* that init holds for it, the terminal and the state included */
	uint64_t start_ns;
	uint32_t leaf;			/* id of its cgroup leaf; 0: none */
	_Atomic uint32_t direct;	/* init to keeper: nothing of the command waits in init, so say EXITED yourself */
	/* the end */
	uint32_t told;			/* the keeper has said it; before PHASE_ENDED */
	struct slot_result result;	/* by the keeper before PHASE_ENDED */
	struct slot_failure failure;	/* by the command or the keeper */
	uint8_t body[AK_INIT_EXEC_INLINE];
};

enum slot_state {
	SLOT_FREE,
	SLOT_PREPARING,
	SLOT_SPARE,	/* parked */
	SLOT_RUNNING,
	SLOT_LOST,	/* the keeper died; what it left is being ended */
	SLOT_ENDED,	/* to be reported */
	SLOT_IDLE,	/* reported; the keeper waits for an order, or still ends what could not be ended in time */
	SLOT_GONE,	/* the keeper was ended and is not reaped yet */
};

/* init's own side of a slot */
struct slot {
	enum slot_state state;
	struct slot_mem *mem;
	pid_t keeper;		/* 0: reaped */
	uint32_t id;
	int leaf_fd;
	int fds[AK_INIT_REQ_FDS_MAX + 2];	/* init's copies of what the command was given: streams, terminal, old state */
	uint32_t nfds;
	int state_out;		/* session; -1 */
	uint64_t since_ns;	/* PREPARING: birth; RUNNING: 0 or when KILL came; LOST: when it was noticed */
	uint32_t session;	/* index + 1; 0: none */
	bool busy;		/* IDLE: not to be used again, it ends when its processes have */
};

/* Memory that init shares with one file worker, for its answer */
struct worker_mem {
	struct init_rep rep;	/* texts are in failure */
	struct slot_failure failure;
};

struct worker {
	struct worker_mem *mem;
	pid_t pid;	/* 0: not running */
	uint32_t id;	/* 0: free; with pid 0: to be answered */
};

struct leaf {
	uint32_t id;
	int fd;
};

struct out {
	uint8_t buf[AK_INIT_REP_MAX];
	size_t len;
	int fd;		/* goes with it; owned; -1 */
};

/* A request that is not done yet */
struct held {
	bool is;
	struct init_req req;	/* points into box->buf */
	int fds[AK_INIT_REQ_FDS_MAX];
	uint32_t nfds;
	uint64_t since_ns;
};

struct box {
	struct init *in;
	const struct init_config *cfg;	/* mapped as long as init lives */
	int event;			/* eventfd by which keepers and commands wake init */
	int proc;			/* O_PATH of /proc */
	pid_t self;			/* init; 1 but with INIT_BARE */
	int roots[AK_INIT_ROOTS_MAX];	/* O_PATH of the places of cfg->roots; -1: not there */
	struct slot slots[BOX_SLOTS];
	struct worker workers[AK_INIT_FILES_MAX];
	struct leaf leaves[AK_INIT_LEAVES_MAX];
	uint32_t nleaves;
	int sessions[AK_INIT_SESSIONS_MAX];	/* sealed memfd with the state; -1: none yet */
	struct out out[BOX_OUT_MAX];
	uint32_t nout;
	struct held held;
	bool ready;			/* INIT_REP_READY was said */
	bool launched;			/* a command was let go */
	bool undirect;			/* a command runs whose first answers were not sent yet */
	bool sweep;			/* processes without a keeper may be there */
	uint64_t retry_ns;		/* when to prepare again after a failure; 0: at once */
	uint64_t quiet_ns;		/* not before, as long as a spare is left: who waits for an answer has the processors */
	uint64_t commands;
	uint32_t nproc;			/* index + 1 of RLIMIT_NPROC in cfg->rlimits */
	uint8_t buf[AK_INIT_REQ_MAX + 1];
};

/** box_serve() - requests until the executor goes; never returns before. Return: init's exit code. */
int box_serve(struct init *in, const struct init_config *cfg);

/** init_connect() - `ak-init connect PATH`: take CTL and CONFIG from whoever listens there; -1 each when there is nothing to be had */
void init_connect(const char *path, int *ret_ctl, int *ret_config);

/** box_wake() - from a keeper or command: make init look at its slots */
void box_wake(const struct box *b);
/** box_say() - a message up; never blocks. @fd is taken (-1: none). Return: 0 or -ENOBUFS (must not happen: see BOX_OUT_MAX). */
int box_say(struct box *b, const struct init_rep *m, int fd);
/** box_send() - one message on CTL now, by whoever shares init's descriptors. Return: 0 or negative errno (-EAGAIN: no room). */
int box_send(int ctl, const void *buf, size_t len, int fd);
/** box_fork() - a copy of us that shares our descriptors, in a cgroup (-1: ours). Return: as fork(2), negative errno on failure. */
pid_t box_fork(int cgroup_fd);
/** box_touch() - after a fork: have those pages of our own that the next request needs */
void box_touch(void);
/** box_wait() - sleep while a word of shared memory has @value */
void box_wait(_Atomic uint32_t *word, uint32_t value);
/** box_set() - write a word of shared memory and wake who sleeps on it */
void box_set(_Atomic uint32_t *word, uint32_t value);
/** box_filters() - who loads the filters. Return: the keeper. */
bool box_keeper_filters(const struct box *b);

/* ---- slots: init's side (box_slot.c) ---- */
/** slots_refill() - prepare as many spares as are missing. Return: 0 or negative errno of the fork. */
int slots_refill(struct box *b);
/** slot_spare() - Return: a parked one, or NULL. */
struct slot *slot_spare(struct box *b);
/** slots_count() - Return: how many are in @state. */
uint32_t slots_count(const struct box *b, enum slot_state state);
/** slots_running() - Return: commands that run, or of which something may be left. */
uint32_t slots_running(const struct box *b);
/** slots_flushed() - nothing waits for room on CTL: from now on keepers may tell ends themselves */
void slots_flushed(struct box *b);
/** slot_launch() - let a spare run the request; the descriptors of @h are taken */
void slot_launch(struct box *b, struct slot *s, struct held *h, uint64_t now);
/** slots_look() - notice what keepers and commands have written */
void slots_look(struct box *b);
/** slot_rep() - what is to be said of the end that is written in @m */
void slot_rep(const struct slot_mem *m, struct init_rep *ret);
/** slots_report() - say which commands ended, while there is room */
void slots_report(struct box *b);
/** slot_signal(), slot_kill() - pass on to the keeper of the running command @id, if there is one */
void slot_signal(struct box *b, uint32_t id, uint32_t signo);
void slot_kill(struct box *b, uint32_t id);
/** slots_reaped() - Return: whether @pid was a keeper. */
bool slots_reaped(struct box *b, pid_t pid);
/** slots_stopped() - a child of init was stopped: keepers and file workers go on */
void slots_stopped(const struct box *b, pid_t pid);
/** slots_tick() - deadlines and processes that lost their keeper. Return: milliseconds until it wants to be called again, or -1. */
int slots_tick(struct box *b, uint64_t now);
/** box_failed() - tell that command @id was not started */
void box_failed(struct box *b, uint32_t id, uint32_t stage, int err, const char *text, const char *hint);

/* ---- in the keeper (keeper.c), never return ---- */
_Noreturn void keeper_main(struct box *b, struct slot *s);

/* ---- in the command (launch.c) ---- */
/** parked_main() - confine, wait, become the command of the request */
_Noreturn void parked_main(struct box *b, struct slot *s);

/* The request as the command sees it */
struct launch {
	const struct box *b;
	struct slot_mem *m;
	struct init *in;
	struct init_config *cfg;	/* becomes the command's: argv, envp, cwd */
	struct init_exec exec;
	const char **strings;		/* STRINGS_USUAL of them, in pages that are there */
	uint32_t at;			/* next of m->fds */
	int from[AK_INIT_EXTRA_MAX];	/* the extra descriptors before they are placed */
	int state_in, state_out;	/* session; -1: none */
};
/** launch_memory() - fresh memory that nobody frees; ends the process if there is none */
void *launch_memory(const struct launch *l, size_t n);

/* ---- shell texts (shell.c) ---- */
/** box_decimal() - @n as text that ends, with its NUL, before @end, which has 12 bytes in front of it. Return: its begin. */
char *box_decimal(char *end, unsigned n);
/** shell_argv() - in the command: replace the text in cfg->argv by what runs it; the state descriptors are placed */
void shell_argv(struct launch *l);
/** session_begin() - in init: descriptors for the state of a session call. Return: 0 or negative errno. */
int session_begin(struct box *b, uint32_t session, bool reset, int *ret_in, int *ret_out);
/** session_end() - take the new state if the shell ended @by_itself and it is whole. Return: whether it was. @state_out is taken. */
bool session_end(struct box *b, uint32_t session, int state_out, bool by_itself);

/* ---- file operations: init's side (files.c) ---- */
/** files_start() - a worker for the request of @h; its descriptors are taken */
void files_start(struct box *b, struct held *h);
/** files_reaped() - Return: whether @pid was a worker. */
bool files_reaped(struct box *b, pid_t pid, int status);
/** files_report() - answer what is done, while there is room */
void files_report(struct box *b);
/** files_to_report() - is anything done that was not answered yet? */
bool files_to_report(const struct box *b);
void files_kill(struct box *b, uint32_t id);
uint32_t files_count(const struct box *b);
/** files_init() - memory, and the writable places as descriptors; at the start, before any command exists. Return: false: no memory. */
bool files_init(struct box *b);

#endif
