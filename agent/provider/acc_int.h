/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the accumulators: what the three formats share. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_PROVIDER_ACC_INT_H
#define AK_AGENT_PROVIDER_ACC_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/provider/provider.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

#define ACC_BLOCKS_MAX 4096u /* blocks, items or calls of one reply */
#define ACC_ARGS_DEPTH 64u   /* of tool arguments */

enum acc_kind {
	ACC_TEXT,
	ACC_THINKING,
	ACC_CALL,
	ACC_INPUT, /* a server's own tool: has an input as a call has, and is not ours to run */
	ACC_OTHER,
};

/* Is the JSON that came so far whole? Told without parsing it again with every piece. */
struct acc_balance {
	unsigned depth;
	bool in_string;
	bool escaped;
	bool complete; /* a value with brackets has been closed */
};

/**
 * struct acc_block - one block, output item or tool call
 * @head:	its object as the server gave it; members that come in deltas are put in at the end
 * @buf:	text, thinking or arguments that came in deltas
 */
struct acc_block {
	int64_t index;
	enum acc_kind kind;
	struct cJSON *head;
	struct ak_buf buf;
	struct acc_balance balance;
	char *id;   /* chat only */
	char *name; /* chat only; of a detail: the member that comes in deltas */
	bool deltas;
	bool closed;
};

struct acc_blocks {
	struct acc_block *v;
	size_t n;
	size_t cap;
};

struct acc {
	const struct provider_ops *ops;
	delta_fn *on_delta;
	void *ctx;
	size_t prompt_bytes;
	uint64_t output_bytes;
	struct acc_blocks blocks;
	struct acc_blocks details; /* chat: reasoning_details */
	struct cJSON *extra;	   /* chat: members of the message that nobody here knows */
	struct ak_buf text;
	struct ak_buf refusal;
	struct ak_buf reasoning;
	struct ak_buf reasoning_content;
	struct usage usage;
	bool has_usage;
	enum stop_reason stop;
	bool has_stop;
	char *stop_detail;
	char *id;
	char *model;
	bool started; /* an event of the format was seen */
	bool done;    /* the end mark was seen */
	int failed;   /* latched */
	struct ak_err err;
	struct provider_fault fault;
};

/**
 * acc_add_block() - a new last block
 * @head:	taken, also on failure; NULL: -ENOMEM
 * Return: 0; -E2BIG (over ACC_BLOCKS_MAX); -ENOMEM.
 */
int acc_add_block(struct acc_blocks *l, int64_t index, enum acc_kind kind, struct cJSON *head, struct acc_block **ret,
		  struct ak_err *err);
/** acc_find() - the newest block with @index; NULL when there is none */
struct acc_block *acc_find(const struct acc_blocks *l, int64_t index);
/** acc_last() - the newest block; NULL when there is none */
struct acc_block *acc_last(const struct acc_blocks *l);
/** acc_drop_head() - free a block's object */
void acc_drop_head(struct acc_block *b);

/** acc_delta() - add a piece of text to @buf and show it; NULL @text does nothing */
void acc_delta(struct acc *a, struct ak_buf *buf, enum delta_kind kind, const char *text);
/** acc_args() - add a piece of arguments to a block, and follow its brackets */
void acc_args(struct acc *a, struct acc_block *b, const char *text);

/** acc_keep_str() - copy the first non-empty string of several events. Return: 0, -ENOMEM. */
int acc_keep_str(char **field, const char *text);
/** acc_set_stop() - the last reason wins; @detail may be NULL. Return: 0, -ENOMEM. */
int acc_set_stop(struct acc *a, enum stop_reason stop, const char *detail);
/** acc_set_fault() - latch an error object; the first one counts */
void acc_set_fault(struct acc *a, int status, const struct cJSON *obj);
/** acc_bad() - -EBADMSG with "FORMAT: TEXT" */
int acc_bad(const struct acc *a, struct ak_err *err, const char *text);

/**
 * acc_move_call() - check a block's arguments and make it a call of the reply
 * @id, @name:	NULL or "": minted
 * @args:	taken
 * Return: 0 with *@ret borrowed from @c; -ENOMEM.
 */
int acc_move_call(struct completion *c, const char *id, const char *name, struct ak_buf *args,
		  const struct tool_call **ret);
/** acc_runnable() - may calls of a reply that ended so be run? */
bool acc_runnable(enum stop_reason stop);
/** acc_blank() - nothing but white space? */
bool acc_blank(const char *p, size_t n);
/** acc_buf_text() - a buffer as a string, "" for an empty one */
const char *acc_buf_text(const struct ak_buf *b);
/** acc_move_text() - the text of a buffer, whole characters only, to a malloc'ed string; NULL stays for an empty one */
int acc_move_text(struct ak_buf *b, char **ret, size_t *ret_len);
/** acc_put_key() - the name of a member and its colon; the first of an object has no comma before it */
void acc_put_key(struct ak_buf *out, bool *comma, const char *key);
/** acc_put_text() - a buffer as a JSON string */
void acc_put_text(struct ak_buf *out, const struct ak_buf *text);
/**
 * acc_open_object() - the members of @head up to @but, and the name of @but: its value is to follow, then
 * acc_close_object(), which writes the members behind it, and "}". Without such a member @but is the last.
 */
void acc_open_object(const struct cJSON *head, const char *but, struct ak_buf *out);
void acc_close_object(const struct cJSON *head, const char *but, struct ak_buf *out);

#endif
