/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What file tools change in a workspace that is written directly, kept so that it can be taken back (workspace/touched.h), by a child of
 * the executor. Process: executor. Privilege: touch_stay_begin() the caller's; afterwards none.
 *
 * The child is the workspace's owner and gets orders over a socketpair, one at a time. What it keeps lies in a folder of the session:
 * STATE/touched/uUID/SESSION. The end of the socket means to it that the executor is gone: it ends, and what there is stays for the next run
 * of the session.
 */
#ifndef AK_TOUCH_STAY_H
#define AK_TOUCH_STAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "executor/shared/ak_err.h"
#include "executor/shared/ak_proto.h"

struct hostinfo;

enum touch_op {
	TOUCH_OPEN = 1,	/* the session's folder; once, before all others */
	TOUCH_RECORD,	/* @path is about to be changed */
	TOUCH_ROLLBACK,	/* take all back */
	TOUCH_FORGET,	/* it is good as it is: keep nothing */
};

/* what is written to the socket; both sides are one program */
struct touch_order {
	uint32_t op;
	uint32_t flags;	/* OPEN: enum ak_session_flags; without STORED the folder goes with the child */
	char session[AK_SESSION_NAME + 1];	/* OPEN */
	char path[AK_PATH_MAX];	/* RECORD: absolute as in the sandbox, or from the workspace */
};

/* RECORD: what a write must keep to, since links may be others by then */
enum touch_where {
	TOUCH_NOTHING = 0,	/* nothing is kept, since it leads to nothing that could be written: it must not succeed */
	TOUCH_KEPT,		/* the write goes to @path, which has no links */
	TOUCH_ELSEWHERE,	/* it is not in the workspace by its name: not ours */
};

struct touch_answer {
	uint32_t op;
	uint32_t where;		/* RECORD: enum touch_where */
	char path[AK_PATH_MAX];	/* with TOUCH_KEPT: from the workspace */
	uint64_t pending;	/* files that can be taken back; ROLLBACK: that were to be */
	uint64_t count;		/* ROLLBACK: that were */
	struct ak_err failed;	/* code not 0: it was not done */
};

struct touch_stay {
	pid_t child;	/* 0: none */
	int sock;	/* owned; -1 */
	struct ak_err cannot;	/* code not 0: why there is none */
};

void touch_stay_init(struct touch_stay *t);

/**
 * touch_stay_begin() - open the workspace and the folder for its owner, sweep what no session has any more, start the child
 * @workspace:	on the host
 * @inside:	the same in the sandbox
 * @owned:	the sandbox's commands are the workspace's owner, not the caller
 * Before privilege is given up. What goes wrong is in @t->cannot: a run goes on, but file tools write nothing.
 */
void touch_stay_begin(struct touch_stay *t, const struct hostinfo *h, const char *workspace, const char *inside, bool owned);

/** touch_stay_ask() - send an order; the answer before has come. Return: 0; -EPIPE: the child is gone. */
int touch_stay_ask(struct touch_stay *t, const struct touch_order *order);
/** touch_stay_hear() - read an answer, without waiting. Return: 1; 0 (none yet); -EPIPE: the child is gone. */
int touch_stay_hear(struct touch_stay *t, struct touch_answer *ret);
/** touch_stay_end() - let the child end, and wait for it; safe when nothing was begun */
void touch_stay_end(struct touch_stay *t);

/* the child: touch_stay_child.c */
struct touch_child {
	int root;	/* the workspace */
	int dir;	/* its owner's folder in the state folder */
	int sock;
	uint32_t uid, gid;
	const char *inside;
};
_Noreturn void touch_main(const struct touch_child *c);

/**
 * touch_resolve() - where a write to @path really goes: links are followed as far as they stay in the workspace, as the sandbox's init does
 * @root:	the workspace
 * @path:	as in struct touch_order
 * @inside:	what the workspace is called in the sandbox
 * @ret:	relative, without links; WS_PATH_MAX + 1 bytes
 * Return: 0; 1: nothing that the tool could change in the workspace; -ENAMETOOLONG.
 */
int touch_resolve(int root, const char *path, const char *inside, char *ret);

#endif
