/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The changeset of an executor that serves: it lives as long as the executor, and sandboxes change it one after the other.
 * Process: executor. Privilege: cow_stay_begin() the caller's; afterwards none.
 *
 * As with a single cow run (cow.h) the layer is read and taken over by a scribe, a child that is the workspace's owner. This one
 * stays, gets orders over a socketpair, one at a time, and answers each. The end of the socket means to it that the executor is gone: it
 * ends and leaves everything as it is, so whoever looks at the changeset next completes it.
 */
#ifndef AK_COW_STAY_H
#define AK_COW_STAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "executor/cow.h"
#include "executor/shared/ak_err.h"

enum stay_op {
	STAY_MEASURE = 1,	/* -> bytes */
	STAY_LOOK,		/* read the layer -> entries; nothing is changed */
	STAY_FINISH,		/* read it, write the journal, do @action; after APPLY and DISCARD it is empty again */
	STAY_POINT,	/* keep the layer as it is -> point */
	STAY_CLOSE,		/* read it, write the journal; without changes the changeset is removed. The last order */
};

/* what is written to the socket; both sides are one program */
struct stay_order {
	uint32_t op;
	uint32_t action;	/* FINISH: enum ak_finish_action */
	uint32_t limit;		/* LOOK, FINISH: entries */
	uint32_t point;		/* FINISH with RESTORE */
};

struct stay_answer {
	uint32_t op;
	uint32_t outcome;	/* enum ak_outcome */
	uint64_t bytes;		/* MEASURE; UINT64_MAX: unknown. POINT: of all checkpoints */
	uint64_t in_layer;	/* POINT: entries */
	uint32_t point;		/* POINT; FINISH with RESTORE: of what was there before */
	uint64_t total, nprotected, nconflicts;
	uint32_t entries;
	uint32_t data_len;	/* of a sealed memory file with the entries, which comes with the answer; 0: none does */
	bool usable;		/* FINISH: the layer can be used by another sandbox */
	struct ak_err failed;	/* code not 0: the order was not carried out; what is there is kept */
	struct ak_err why;	/* FINISH with APPLY: why it was not done, and all is kept; code 0 and a text: done, and what was left out */
};

/* What is known when it has been closed; cow_close_release() */
struct cow_close {
	bool kept;		/* as the changeset @id; else there is nothing of it */
	char id[CHANGESET_ID_MAX + 1];
	uint64_t total;		/* changed paths */
	uint8_t *data;		/* their entries, for ak_change_next(); owned; NULL */
	size_t len;
};
void cow_close_release(struct cow_close *c);

struct cow_stay {
	struct cow c;
	pid_t scribe;		/* 0: none */
	int sock;		/* owned; -1 */
	bool closed;		/* STAY_CLOSE was answered, or the scribe is gone */
};

void cow_stay_init(struct cow_stay *w);

/**
 * cow_stay_begin() - make the changeset and its scribe, and tell the plan where the layer is; nothing without --write cow
 * @command, @again:	as for cow_make()
 * Before privilege is given up. Return: as cow_make().
 */
int cow_stay_begin(struct cow_stay *w, const struct exec_opts *o, const struct hostinfo *h, struct plan *p, const char *command,
		   const char *again, struct ak_err *err);

/** cow_stay_ask() - send an order; the answer before has come. Return: 0; -EPIPE: the scribe is gone. */
int cow_stay_ask(struct cow_stay *w, const struct stay_order *order);

/**
 * cow_stay_hear() - read an answer
 * @wait:	until one comes
 * @ret_fd:	its memory file; owned by the caller; -1
 * Return: 1; 0 (none yet); -EPIPE: the scribe is gone.
 */
int cow_stay_hear(struct cow_stay *w, bool wait, struct stay_answer *ret, int *ret_fd);

/**
 * cow_stay_end() - close the changeset if that was not done yet, and wait for the scribe; safe when nothing was begun
 * @ret:	what is left, if there was anything to close; zeroed by the caller; may be NULL
 */
void cow_stay_end(struct cow_stay *w, struct cow_close *ret);

/* cow_stay_scribe.c: the child. Privilege: root mode: given up at once for the workspace's owner. */
_Noreturn void stay_main(struct cow *c, int sock);

#endif
