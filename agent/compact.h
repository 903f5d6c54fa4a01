/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compaction: old turns of a conversation become a summary. The first turn is the user's, the task; all others are groups: what the
 * assistant said, up to the user's turn behind it, which has the results of its calls. Whole groups go, the last COMPACT_KEEP
 * stay, the task stays verbatim, and the summary is text of the user's behind it. So a call and its results are never parted,
 * and what history_check() has let pass passes afterwards. Pure. Process: agent. Privilege: none.
 */
#ifndef AK_AGENT_COMPACT_H
#define AK_AGENT_COMPACT_H

#include <stddef.h>

struct ak_buf;
struct ak_err;
struct history;

#define COMPACT_KEEP 6u			    /* groups */
#define COMPACT_SUMMARY_MAX (16u << 10)	    /* bytes */
#define COMPACT_REQUESTS_MAX (16u << 10)    /* bytes of later requests of the user's that stay verbatim, per compaction; the newest */

/** compact_plan() - Return: how many turns behind the first one would go; 0: there is nothing to compact */
size_t compact_plan(const struct history *h);

/** compact_gain() - bytes, in context_bytes()'s sense, that a conversation loses with these turns before the summary comes in */
size_t compact_gain(const struct history *h, size_t turns);

/** compact_question() - the summariser's system prompt; static */
const char *compact_question(void);
/** compact_render() - what is to be summarised as text, an earlier summary first. @max: bytes; the middle is left out. */
void compact_render(const struct history *h, size_t turns, size_t max, struct ak_buf *out);
/** compact_structural() - a summary without a model: figures, and pieces of what was said, called and answered; half the gain at most */
void compact_structural(const struct history *h, size_t turns, struct ak_buf *out);

/**
 * compact_apply() - put the summary in the place of the @turns turns behind the first
 * @summary:	copied; COMPACT_SUMMARY_MAX bytes of it
 * What the user said in these turns besides results stays verbatim behind the task, up to COMPACT_REQUESTS_MAX bytes; an earlier
 * summary is replaced. Deterministic: a transcript that is read again gets the same conversation.
 * Return: 0; -EINVAL (no group ends there, or none stays); -ENOMEM. Untouched on failure.
 */
int compact_apply(struct history *h, size_t turns, const char *summary, struct ak_err *err);

#endif
