/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `ak chat` shows while the model works: its text as it comes, each call as it starts and ends, a line of figures a turn. Text of
 * others is shown by show_text(), so nothing of it is obeyed by the terminal. Process: agent. Privilege: none.
 */
#ifndef AK_AGENT_CHAT_VIEW_H
#define AK_AGENT_CHAT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/run_out.h"

struct ak_buf;

/**
 * struct chat_view - chat_view_init(); private but for @view, which is for struct run_out
 * @middle:	the cursor is not at the start of a line
 * @shown:	text of this reply was shown
 * @since_ms:	monotonic: when the model was asked
 */
struct chat_view {
	struct run_view view;
	bool quiet;
	bool middle;
	bool shown;
	uint64_t since_ms;
};

/** chat_view_init() - @quiet: no figures and no calls, only what the model says. @v must not move afterwards. */
void chat_view_init(struct chat_view *v, bool quiet);
/** chat_view_begin() - a message of the user's is on its way */
void chat_view_begin(struct chat_view *v);
/** chat_view_end() - the cursor is at the start of a line afterwards */
void chat_view_end(struct chat_view *v);

/** chat_view_columns() - of the terminal; 80 where it does not say */
unsigned chat_view_columns(void);
/**
 * chat_view_cut() - append a piece of text of others as one line that is no wider than @columns. Pure.
 * A longer one ends with "...".
 */
void chat_view_cut(const char *text, size_t len, size_t columns, struct ak_buf *out);

#endif
