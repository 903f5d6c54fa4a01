/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command that the executor of a named sandbox runs, driven by the relay in place of an init of our own.
 * Process: `ak exec --in`. Privilege: none.
 */
#ifndef AK_RELAY_FAR_H
#define AK_RELAY_FAR_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/libak.h"

struct relay;

#define RELAY_FAR_LOST_MS 5000u	/* after a kill: how long the executor may take to say that the command has ended */

struct relay_far {
	struct ak_client *cl;	/* borrowed; the command has been asked for */
	uint32_t tag;		/* of ak_exec_start() */
	uint32_t cmd;		/* once it is started */
	bool started;
	bool have_done;
	struct ak_done done;	/* owned; with have_done */
};

/** relay_far_release() - free what the executor said about the end; safe twice */
void relay_far_release(struct relay_far *f);

/* for relay*.c: what is done for a far command in the place of what init would be asked */
void relay_far_receive(struct relay *r);
void relay_far_signal(struct relay *r, int signo);
void relay_far_kill(struct relay *r);
void relay_far_end(struct relay *r);
void relay_far_used(struct relay *r);

#endif
