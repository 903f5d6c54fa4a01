/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call to a provider, from the canonical request to the canonical reply: build, send, accumulate, classify, try again.
 * Process: agent. Privilege: none.
 */
#ifndef AK_AGENT_PROVIDER_CALL_H
#define AK_AGENT_PROVIDER_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/provider/provider.h"
#include "agent/provider/registry.h"

struct http;
struct keys;
struct price;
struct record;
struct replay;

/**
 * struct provider - an opened provider
 * Zeroes stand for the defaults of http.h and retry.h. All but @target, @keys, @http, @replay and @record may be set by the
 * caller between calls.
 * @cancel_fd:	readable: cancel; -1: none
 * @plain_ok:	http:// to other hosts than loopback is allowed; see provider_open()
 * @ca_file:	borrowed; NULL: the system's
 * @price:	borrowed; NULL: unknown; what calls cost, where the provider does not say
 * @today:	for @price
 * @quirks:	learnt so far
 */
struct provider {
	struct provider_target target;
	struct keys *keys;
	const char *key_file;	/* where they are from, for messages; NULL: a variable; the target's own */
	struct http *http;
	struct replay *replay;
	struct record *record;
	struct retry_policy policy;
	uint32_t connect_ms;
	uint32_t head_ms;
	uint32_t idle_ms;
	int cancel_fd;
	bool plain_ok;
	const char *ca_file;
	const struct price *price;
	char today[11];
	unsigned quirks;
};

/**
 * provider_open() - make a provider ready
 * @target:	taken, also on failure
 * @env:	for keys
 * @replay:	the script of WIRE_REPLAY; NULL otherwise
 * Nothing is sent. Return: 0; -EACCES (no key, or a key file that cannot be used: exit 3; the hint names the variable or the fix); -EINVAL (URL, key, script); errno of
 * reading the script; -ENOMEM.
 */
int provider_open(struct provider *p, struct provider_target *target, char *const env[], const char *replay, bool plain_ok,
		  struct ak_err *err);
/** provider_wipe_env() - overwrite the keys of every known provider and every NAME_API_KEY in @env; for when all providers are open */
void provider_wipe_env(char *env[]);
/** provider_close() - free everything; the struct is empty afterwards */
void provider_close(struct provider *p);
/** provider_record() - write every turn to a new file, as a script for WIRE_REPLAY. Return: 0, errno of open(2). */
int provider_record(struct provider *p, const char *path, struct ak_err *err);

/* What a caller wants to see while it lasts; every member may be NULL */
struct call_hooks {
	delta_fn *on_delta;
	/* another attempt follows: what was shown of this one does not count */
	void (*on_retry)(void *ctx, const struct provider_fault *f, unsigned attempt, uint64_t wait_ms, const char *why);
	void *ctx;
	uint64_t deadline_ms; /* monotonic: the run's own end; 0: none */
};

/**
 * struct call_report - how it went, for telemetry; filled in every case
 * @prompt_cut:	the server counted so few tokens that it must have dropped part of the prompt, as Ollama does in silence
 * @lost:	usage and cost of attempts that failed and were billed as far as is known
 */
struct call_report {
	struct provider_fault fault;
	unsigned attempts;
	uint64_t waited_ms;
	uint64_t total_ms;
	uint64_t ttfb_ms;	/* of the last attempt */
	uint64_t request_bytes;
	enum wire_api api;	/* of the last attempt */
	char request_id[96];	/* of the last attempt */
	bool prompt_cut;
	struct usage lost;
};

/**
 * provider_call() - ask for one reply
 * @rq:		its model, stream and quirks are filled in from @p
 * @hooks:	may be NULL
 * @ret:	filled on success only, its usage with the cost
 * Return: 0; -EIO (@rep->fault says what it is and fault_info() which exit code that is, @err one line that names the provider,
 * with a hint where there is something to do); -EINVAL (what cannot be sent); -ENOMEM.
 */
int provider_call(struct provider *p, struct provider_req *rq, const struct call_hooks *hooks, struct completion *ret,
		  struct call_report *rep, struct ak_err *err);

/** provider_url() - base URL and @path; malloc'ed. NULL: no memory. An Anthropic base may end with /v1. */
char *provider_url(const struct provider *p, const char *path);

struct http_header;
#define PROVIDER_HEADERS_MAX 6u
/**
 * provider_headers() - headers of a request, the key among them
 * @key_text:	PROVIDER_KEY_TEXT bytes that hold the value with the key; the caller wipes them
 * Return: how many.
 */
#define PROVIDER_KEY_TEXT (KEYS_VALUE_MAX + 16u)
size_t provider_headers(const struct provider *p, bool stream, char *key_text, struct http_header *ret);

#endif
