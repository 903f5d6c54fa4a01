/* SPDX-License-Identifier: Apache-2.0 */
/* Canonical messages: what every wire format is turned into, and made from. Agent process, no privilege. */
#ifndef AK_AGENT_MSG_H
#define AK_AGENT_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_err;

/* Wire formats. The names are those of --api. */
enum wire_api {
	WIRE_NONE,
	WIRE_ANTHROPIC,
	WIRE_CHAT,
	WIRE_RESPONSES,
	WIRE_REPLAY,
};

/** wire_api_name() - Return: a static string; "none" for WIRE_NONE and what is unknown */
const char *wire_api_name(enum wire_api api);
/** wire_api_parse() - Return: WIRE_NONE for a name that is not one of --api */
enum wire_api wire_api_parse(const char *name);

enum msg_role {
	MSG_USER,
	MSG_ASSISTANT,
};

/* Why a reply ended, whatever the provider calls it */
enum stop_reason {
	STOP_END_TURN,	    /* a final answer */
	STOP_TOOL_USE,	    /* run every call, send every result */
	STOP_MAX_TOKENS,    /* cut by the response's maximum: nothing in it may be run */
	STOP_SEQUENCE,	    /* a stop sequence was met */
	STOP_PAUSE,	    /* server-side loop paused: append the turn and call again, a bounded number of times */
	STOP_REFUSAL,	    /* the provider refused: nothing in it may be run, no retry */
	STOP_CONTEXT,	    /* the context is full */
	STOP_UNKNOWN,	    /* a reason nobody documented: an end, with a warning */
};

/** stop_reason_name() - Return: a static string such as "tool_use" (Anthropic's words) */
const char *stop_reason_name(enum stop_reason stop);
/** stop_reason_parse() - the inverse. Return: STOP_UNKNOWN for other words */
enum stop_reason stop_reason_parse(const char *name);

/**
 * struct tool_call - one call the model asked for
 * @id:		the provider's id, or one that was minted; not NULL
 * @name:	as the model wrote it; not NULL
 * @args:	one JSON object, checked: UTF-8, no duplicate keys, no NUL escape, no lone surrogate, finite
 *		numbers, bounded depth. "{}" when @bad is set.
 * @bad:	NULL, or why the call must not be run ("arguments are not valid JSON: ..."): the text of its
 *		tool result
 */
struct tool_call {
	char *id;
	char *name;
	char *args;
	size_t args_len;
	char *bad;
};

/**
 * struct tool_result - the answer to one call
 * @text:	any bytes but NUL; what is not UTF-8 is replaced by U+FFFD on the wire
 */
struct tool_result {
	char *call_id;
	char *text;
	size_t text_len;
	bool is_error;
};

struct msg_image {
	char *media_type; /* image/png, image/jpeg, image/gif, image/webp */
	char *base64;
};

/**
 * struct msg - one turn
 * A user turn holds, in this order on the wire: results, text, images. An assistant turn holds text and calls, and
 * the turn as the provider wrote it, which is sent back unchanged to the same wire format.
 * @text:	NULL when there is none
 * @raw:	WIRE_ANTHROPIC: the content array. WIRE_CHAT: the message object. WIRE_RESPONSES: the output array.
 *		NULL when the turn was not made by a provider.
 */
struct msg {
	enum msg_role role;
	char *text;
	size_t text_len;
	struct tool_call *calls;
	size_t ncalls;
	struct tool_result *results;
	size_t nresults;
	struct msg_image *images;
	size_t nimages;
	enum wire_api raw_api;
	char *raw;
	size_t raw_len;
};

/** msg_release() - free what a message owns; the message is empty afterwards */
void msg_release(struct msg *m);
/** msg_set_text() - copy @n bytes as the text; NULL removes it. Return: 0, -ENOMEM (then untouched). */
int msg_set_text(struct msg *m, const char *text, size_t n);
/** msg_add_result() - copy one tool result to the end. Return: 0, -ENOMEM (then untouched). */
int msg_add_result(struct msg *m, const char *call_id, const char *text, size_t n, bool is_error);
/** msg_add_image() - copy one image to the end. Return: 0, -ENOMEM (then untouched). */
int msg_add_image(struct msg *m, const char *media_type, const char *base64);
/** msg_take_call() - move one tool call to the end; @c is empty afterwards. Return: 0, -ENOMEM (then untouched). */
int msg_take_call(struct msg *m, struct tool_call *c);
/** msg_call_release() - free what a tool call owns; empty afterwards */
void msg_call_release(struct tool_call *c);

/**
 * struct history - the turns of a session, oldest first
 * @task_len:	bytes of the first turn's text before the summary of turns that are gone (see compact.h); 0: there is none
 */
struct history {
	struct msg *v;
	size_t n;
	size_t cap;
	size_t task_len;
};

void history_release(struct history *h);
/** history_take() - move @m to the end; @m is empty afterwards. Return: 0, -ENOMEM (then untouched). */
int history_take(struct history *h, struct msg *m);
/** history_add_user() - copy a user message of text only to the end. Return: 0, -ENOMEM. */
int history_add_user(struct history *h, const char *text);

/**
 * history_check() - may this be sent?
 * Every call has exactly one result in the turn after it, no result lacks its call, the first turn is the
 * user's, and no two user turns follow each other (two assistant turns may: a paused server-side loop).
 * Return: 0, or -EINVAL with the turn named.
 */
int history_check(const struct history *h, struct ak_err *err);

#endif
