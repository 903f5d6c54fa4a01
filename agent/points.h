/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of the copied workspace, one before each turn that may change it. Process: agent. Privilege: none. */
#ifndef AK_AGENT_POINTS_H
#define AK_AGENT_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/libak.h"

struct ak_err;
struct exec_client;
struct msg;

#define POINTS_MAX 512u /* of a run; later turns can go back to these only */

/**
 * struct points - in the order of the turns; start with zeroes and @fd -1
 * @fd:		where each is noted for `ak checkpoint`, see points_note_in(); owned by points_close(); -1: nowhere
 * @run:	of the session, from 1
 * @again:	the copy is that of the session's runs before
 * @base:	@again: what these have changed, as it was at the first checkpoint, and @base_ns: when that was, of the clock that files get
 *		their times from; owned by points_close()
 * @failed:	errno of a checkpoint that could not be made; then there are none after it
 */
struct points {
	struct {
		uint64_t turn;
		uint32_t id;
	} v[POINTS_MAX];
	size_t n;
	int failed;
	int fd;
	uint32_t run;
	bool again;
	struct ak_change_set base;
	int64_t base_ns;
};

/**
 * points_note_in() - from now on say before which turn each was made, in a file of the session's folder
 * @dir:	-1: an ephemeral session
 * @again:	the copy is that of the runs before: what they have noted stays
 * Before the agent is confined. Best effort: without it the list lacks the turns.
 */
void points_note_in(struct points *p, int dir, uint32_t run, bool again);
void points_close(struct points *p);

/**
 * points_save() - before the calls of turn number @turn, if one of them may change anything
 * Without --write cow there is nothing to do. Return: 0; negative errno with @err the first time it cannot be done, 0 afterwards.
 */
int points_save(struct points *p, struct exec_client *xc, const struct msg *m, uint64_t turn, struct ak_err *err);

/** points_find() - @turn 0: the first. Return: its id; 0: there is none for that turn */
uint32_t points_find(const struct points *p, uint64_t turn);

#endif
