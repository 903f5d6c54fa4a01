/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One interface to every model server: a request in canonical terms, the wire formats behind it, a reply in canonical
 * terms. Builders and accumulators are pure: bytes in, struct out. Process: agent. Privilege: none.
 * Source: the providers' references, as docs/providers.md quotes them.
 */
#ifndef AK_AGENT_PROVIDER_PROVIDER_H
#define AK_AGENT_PROVIDER_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/msg.h"
#include "agent/retry.h"
#include "agent/usage.h"

struct acc;
struct ak_buf;
struct ak_err;
struct cJSON;
struct sse_event;

/* What a compatible server turned out not to understand: learnt from a 400 that names it, then left out */
enum provider_quirk {
	QUIRK_NO_STREAM_OPTIONS = 1 << 0,	/* chat: no stream_options */
	QUIRK_MAX_COMPLETION = 1 << 1,		/* chat: max_completion_tokens instead of max_tokens */
	QUIRK_NO_REASONING_ECHO = 1 << 2,	/* chat: reasoning fields of earlier turns are refused */
	QUIRK_NO_ENCRYPTED = 1 << 3,		/* responses: no reasoning.encrypted_content for this model */
	QUIRK_NO_CACHE_CONTROL = 1 << 4,	/* anthropic: no cache_control */
	QUIRK_USE_RESPONSES = 1 << 5,		/* chat: this model takes tools on /responses only */
	QUIRK_NO_CACHE_KEY = 1 << 6,		/* responses: no prompt_cache_key */
};

struct tool_def {
	const char *name;	 /* [A-Za-z0-9_-]{1,64} */
	const char *description;
	const char *schema;	 /* text of a JSON Schema object; sent byte for byte */
};

/**
 * struct provider_req - what to ask
 * Everything is borrowed. Tools are sent in the order of their names, whatever order they come in.
 * @system:	NULL or "": none
 * @max_tokens:	of the reply; at least 1
 * @effort:	NULL unless the user chose one
 * @schema:	NULL, or a JSON Schema the final answer has to match, where the format can say so
 * @cache_key:	NULL, or what ties the requests of one session together for the provider's cache
 * @quirks:	enum provider_quirk
 */
struct provider_req {
	const char *model;
	const char *system;
	const struct tool_def *tools;
	size_t ntools;
	const struct msg *msgs;
	size_t nmsgs;
	uint64_t max_tokens;
	const char *effort;
	const char *schema;
	const char *cache_key;
	bool stream;
	unsigned quirks;
};

/**
 * struct completion - one reply
 * @msg:	the assistant turn, ready for history_take(). Calls are complete and checked; a reply that was cut by its
 *		maximum, refused or failed has none.
 * @stop_detail: NULL, or the provider's words: why it refused, a reason nobody knows
 * @reasoning:	NULL, or what it let us see of its thinking; for display only
 */
struct completion {
	struct msg msg;
	enum stop_reason stop;
	char *stop_detail;
	char *reasoning;
	struct usage usage;
	char *id;
	char *model;
};

/** completion_release() - free what it owns; empty afterwards */
void completion_release(struct completion *c);

/* An error object of a provider, wherever it was: body, array, stream */
struct provider_fault {
	enum fault fault;
	int status;		/* HTTP; 0: none, 200: inside a stream */
	char type[96];		/* error.type or error.code, whichever says more; "" */
	char message[320];	/* one line, safe for a terminal; "" */
	char request_id[96];	/* "" */
	uint64_t context;	/* the server's context window in tokens, where it says so; 0 */
};

enum delta_kind {
	DELTA_TEXT,
	DELTA_REASONING,
};

/* Text as it comes, for display; UTF-8 but for a half surrogate that JSON_REPAIR let through */
typedef void delta_fn(void *ctx, enum delta_kind kind, const char *text);

/**
 * struct provider_ops - one wire format
 * @path:	what is appended to the base URL
 * @build:	the request's body. Return: 0; -EINVAL (@err names what cannot be sent); -ENOMEM.
 * @event:	one event of the stream, as JSON, and its type (from the JSON, else of the event line; "" for none).
 *		Return: 0; -EBADMSG (not of this format: @err filled); -ENOMEM. An error object is latched in the
 *		accumulator and gives 0.
 * @body:	a whole reply that was not streamed, as JSON. Return: as @event.
 * @fill:	after the end: message, stop reason and usage. Called by acc_finish() only, when the end mark came.
 */
struct provider_ops {
	enum wire_api api;
	const char *path;
	int (*build)(const struct provider_req *rq, struct ak_buf *out, struct ak_err *err);
	int (*event)(struct acc *a, const char *type, const struct cJSON *ev, struct ak_err *err);
	int (*body)(struct acc *a, const struct cJSON *doc, struct ak_err *err);
	int (*fill)(struct acc *a, struct completion *ret, struct ak_err *err);
};

extern const struct provider_ops provider_anthropic;
extern const struct provider_ops provider_chat;
extern const struct provider_ops provider_responses;

/** provider_ops_of() - Return: NULL for WIRE_NONE and WIRE_REPLAY, which have no wire */
const struct provider_ops *provider_ops_of(enum wire_api api);

/**
 * acc_new() - start of a reply
 * @prompt_bytes: of the request: where the provider reports no usage it is estimated from them
 * @on_delta:	may be NULL
 * Return: 0, -ENOMEM.
 */
int acc_new(const struct provider_ops *ops, size_t prompt_bytes, delta_fn *on_delta, void *ctx, struct acc **ret);
/** acc_free() - NULL does nothing */
void acc_free(struct acc *a);

/**
 * acc_event() - one server-sent event
 * "[DONE]" is the end mark of Chat Completions and means nothing elsewhere. Takes time linear in its length.
 * An event whose at_end is set is dropped when it does not parse.
 * Return: 0; -EBADMSG (not JSON, not UTF-8, not of this format); -ENOMEM. Latched: acc_finish() repeats it.
 */
int acc_event(struct acc *a, const struct sse_event *ev, struct ak_err *err);
/** acc_body() - a whole reply that was not streamed. Return: as acc_event(). */
int acc_body(struct acc *a, const char *data, size_t len, struct ak_err *err);

/**
 * acc_finish() - the reply has ended
 * @ret:	filled on success only; the accumulator is used up in every case
 * @ret_fault:	why there is no reply
 * Return: 0; -EIO with @ret_fault and @err (an error object: its fault; no end mark, or broken after it began:
 * FAULT_CUT; nothing at all or not of the format: FAULT_PROTOCOL); -ENOMEM (FAULT_INTERNAL).
 */
int acc_finish(struct acc *a, struct completion *ret, struct provider_fault *ret_fault, struct ak_err *err);

/** acc_usage() - what is known of the usage so far, also of a reply that failed */
void acc_usage(const struct acc *a, struct usage *ret);

/**
 * provider_fault_body() - read the body of an error status
 * Knows {"error":{..}}, {"error":"text"}, [{"error":{..}}], {"type":"error",..}, {"object":"error",..}, {"detail":..},
 * {"message":..}; of anything else (HTML, text) an excerpt.
 */
void provider_fault_body(int status, const char *body, size_t len, struct provider_fault *ret);
/** provider_fault_obj() - read an error object of a stream (status 200), or of a body (@status) */
void provider_fault_obj(int status, const struct cJSON *obj, struct provider_fault *ret);

#endif
