/* SPDX-License-Identifier: Apache-2.0 */
/* One call to a provider: attempts, keys in turn, waiting, the final word. Process: agent. Privilege: none. */
#include "agent/provider/call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/http.h"
#include "agent/keys.h"
#include "agent/prices.h"
#include "agent/provider/call_int.h"
#include "agent/provider/replay.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

#define PROMPT_BYTES_LEAST 8192u
#define BYTES_PER_TOKEN_MOST 12u
#define QUIRKS_LEARNT_MAX 8u /* requests built anew within one call */

static uint64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* --- opening ------------------------------------------------------------------------------------------------------------- */

/* read now, while files can be opened: the file is not needed again */
static int open_key_file(struct provider *p, struct ak_err *err)
{
	const struct provider_own *own = p->target.own;
	int rc = keys_add_file(p->keys, own->key_file, KEY_API, err);

	if (rc >= 0) {
		p->key_file = own->key_file;
		return 0;
	}
	(void)ak_err_wrap(err, "%s.%s.api_key_file", own->key_place, own->name);
	return rc == -ENOMEM ? rc : -EACCES;
}

static int open_keys(struct provider *p, char *const env[], struct ak_err *err)
{
	const struct provider_info *info = p->target.info;
	int rc = keys_new(&p->keys, err);

	if (rc < 0)
		return rc;
	rc = keys_add_env(p->keys, info->keys, env, err);
	if (rc < 0)
		return rc == -ENOMEM ? rc : -EINVAL;
	if (rc == 0 && p->target.own && p->target.own->key_file)
		return open_key_file(p, err);
	if (rc > 0 || p->target.custom || !info->key_needed)
		return 0;
	(void)ak_err_set(err, EACCES, "%s: no key", p->target.name);
	ak_err_hint(err, "set %s, or name a file with it: providers.%s.api_key_file in ~/.config/ak/config.json", info->keys[0].name, info->name);
	return -EACCES;
}

/* The base URL, before anything else is made ready */
static int check_base(const struct provider *p, struct ak_err *err)
{
	int rc = http_check_url(p->target.base_url, p->plain_ok, err);

	if (rc == -EPERM)
		ak_err_hint(err, "use https://, or say that it is meant so");
	if (rc < 0 && p->target.base_place)
		(void)ak_err_wrap(err, "%s.%s.base_url", p->target.base_place, p->target.info->name);
	else if (rc < 0)
		(void)ak_err_wrap(err, "base URL");
	return rc < 0 ? -EINVAL : 0;
}

int provider_open(struct provider *p, struct provider_target *target, char *const env[], const char *replay, bool plain_ok,
		  struct ak_err *err)
{
	int rc = 0;

	*p = (struct provider){ .target = *target, .cancel_fd = -1 };
	*target = (struct provider_target){ 0 };
	p->quirks = quirks_of_host(&p->target);
	p->plain_ok = plain_ok;
	if (p->target.api == WIRE_REPLAY) {
		rc = replay_open(replay, &p->replay, err);
	} else {
		rc = check_base(p, err);
		if (rc == 0)
			rc = open_keys(p, env, err);
		if (rc == 0)
			rc = http_new(&p->http, err);
	}
	if (rc < 0)
		provider_close(p);
	return rc;
}

void provider_wipe_env(char *env[])
{
	for (const struct provider_info *i = provider_info_next(NULL); i; i = provider_info_next(i))
		keys_wipe_env(i->keys, env);
	keys_wipe_all(env);
}

void provider_close(struct provider *p)
{
	provider_target_release(&p->target);
	keys_free(p->keys);
	http_free(p->http);
	replay_free(p->replay);
	record_free(p->record);
	*p = (struct provider){ .cancel_fd = -1 };
}

int provider_record(struct provider *p, const char *path, struct ak_err *err)
{
	record_free(p->record);
	p->record = NULL;
	return record_open(path, &p->record, err);
}

/* --- one call ------------------------------------------------------------------------------------------------------------ */

struct call {
	struct provider *p;
	struct provider_req *rq;
	const struct call_hooks *hooks;
	struct call_report *rep;
	struct retry retry;
	uint64_t start_ms;
	unsigned learnt;
	struct attempt at;
};

static int run_attempt(struct call *c, struct ak_err *err)
{
	struct provider *p = c->p;
	const struct provider_ops *ops = provider_ops_now(p);
	uint64_t deadline = c->hooks ? c->hooks->deadline_ms : 0;
	uint64_t now = now_ms();
	struct ak_buf body = { 0 };
	int rc;

	c->rq->quirks = p->quirks;
	c->rep->attempts++;
	c->rep->api = ops ? ops->api : WIRE_REPLAY;
	if (!ops) {
		replay_next(p->replay, c->rq, c->hooks, &c->at);
		return 0;
	}
	rc = ops->build(c->rq, &body, err);
	if (rc < 0) {
		ak_buf_release(&body);
		return rc;
	}
	c->rep->request_bytes = body.len;
	if (deadline && now >= deadline) {
		c->at = (struct attempt){ .fault.fault = FAULT_OVERTIME };
		(void)ak_err_set(&c->at.err, ETIME, "the time of the run is over");
	} else {
		attempt_http(p, ops, &body, c->rq->stream, c->hooks, deadline ? deadline - now : 0, &c->at);
	}
	ak_buf_release(&body);
	return 0;
}

/* The failed attempt was billed as far as it came */
static void book_lost(struct call *c)
{
	if (!c->at.has_used)
		return;
	price_charge(c->p->price, c->p->today, &c->at.used);
	usage_add(&c->rep->lost, &c->at.used);
}

/* Another key, where that may help. Return: true when the next attempt need not wait. */
static bool rotate(struct call *c)
{
	uint64_t wait = c->at.hint.has_wait ? c->at.hint.wait_ms : RETRY_CAP_MS;

	if (!c->p->keys || !fault_info(c->at.fault.fault)->rotate || keys_count(c->p->keys) < 2)
		return false;
	if (c->at.fault.fault == FAULT_RATE)
		return keys_limited(c->p->keys, now_ms(), wait) == 0;
	return keys_refused(c->p->keys);
}

/* Return: 0 to try again; -EIO when it is final, with @err */
static int decide(struct call *c, struct ak_err *err)
{
	enum fault f = c->at.fault.fault;
	struct ak_err why = { 0 };
	uint64_t wait = 0;
	bool free_key;

	if (quirk_learn(c->p, &c->at.fault) && c->learnt++ < QUIRKS_LEARNT_MAX) {
		if (c->hooks && c->hooks->on_retry)
			c->hooks->on_retry(c->hooks->ctx, &c->at.fault, c->rep->attempts, 0, c->at.err.msg);
		return 0;
	}
	free_key = rotate(c);
	if (!retry_next(&c->retry, f, &c->at.hint, now_ms() - c->start_ms, free_key, &wait, &why)) {
		if (*why.msg) {
			size_t n = strlen(c->at.err.msg);

			(void)snprintf(c->at.err.msg + n, sizeof(c->at.err.msg) - n, "; %s", why.msg);
		}
		attempt_final(c->p, &c->at.fault, c->at.err.msg, err);
		return -EIO;
	}
	if (c->hooks && c->hooks->deadline_ms && now_ms() + wait >= c->hooks->deadline_ms) {
		c->at.fault.fault = FAULT_OVERTIME;
		return ak_err_set(err, EIO, "%s: %s; the run ends before the next attempt", c->p->target.name,
				  c->at.err.msg);
	}
	if (c->hooks && c->hooks->on_retry)
		c->hooks->on_retry(c->hooks->ctx, &c->at.fault, c->rep->attempts, wait, c->at.err.msg);
	c->rep->waited_ms += wait;
	if (http_pause(wait, c->p->cancel_fd) < 0) {
		c->at.fault.fault = FAULT_CANCELLED;
		return ak_err_set(err, EIO, "%s: cancelled", c->p->target.name);
	}
	return 0;
}

/* No tokenizer makes one token of so many bytes of a prompt, but images are no text */
static bool prompt_was_cut(const struct call *c)
{
	const struct usage *u = &c->at.reply.usage;

	for (size_t i = 0; i < c->rq->nmsgs; i++)
		if (c->rq->msgs[i].nimages > 0)
			return false;
	return !u->estimated && c->rep->request_bytes > PROMPT_BYTES_LEAST &&
	       c->rep->request_bytes / BYTES_PER_TOKEN_MOST > u->prompt_total;
}

static void close_report(struct call *c)
{
	c->rep->fault = c->at.fault;
	c->rep->ttfb_ms = c->at.ttfb_ms;
	c->rep->total_ms = now_ms() - c->start_ms;
	memcpy(c->rep->request_id, c->at.fault.request_id, sizeof(c->rep->request_id));
}

int provider_call(struct provider *p, struct provider_req *rq, const struct call_hooks *hooks, struct completion *ret,
		  struct call_report *rep, struct ak_err *err)
{
	struct call c = { .p = p, .rq = rq, .hooks = hooks, .rep = rep, .start_ms = now_ms() };
	int rc;

	*rep = (struct call_report){ 0 };
	rq->model = p->target.model;
	retry_init(&c.retry, &p->policy, c.start_ms * 2654435761u);
	do {
		rc = run_attempt(&c, err);
		if (rc < 0)
			return rc;
		if (c.at.fault.fault == FAULT_NONE)
			break;
		book_lost(&c);
		rc = decide(&c, err);
	} while (rc == 0);
	close_report(&c);
	if (p->record)
		record_turn(p->record, rc == 0 ? &c.at.reply : NULL, &c.at.fault);
	if (rc < 0)
		return rc;
	rep->prompt_cut = prompt_was_cut(&c);
	price_charge(p->price, p->today, &c.at.reply.usage);
	*ret = c.at.reply;
	return 0;
}

static void hint(const struct provider *p, const struct provider_fault *f, struct ak_err *err)
{
	const struct provider_info *info = p->target.info;

	switch (f->fault) {
	case FAULT_AUTH:
		if (info)
			ak_err_hint(err, "check %s%s, and that it belongs to %s", p->key_file ? "the key in " : "",
				    p->key_file ? p->key_file : info->keys[0].name, p->target.base_url);
		break;
	case FAULT_REQUEST:
		if (f->status == 404 || f->status == 405)
			ak_err_hint(err, "check the model \"%s\" and the base URL %s (for chat it usually ends with /v1)",
				    p->target.model, p->target.base_url);
		break;
	case FAULT_REDIRECT:
		ak_err_hint(err, "give the address it redirects to as the base URL, if you trust it: keys are not sent along");
		break;
	case FAULT_NETWORK:
	case FAULT_PROTOCOL:
		ak_err_hint(err, "check the base URL %s", p->target.base_url);
		break;
	case FAULT_BILLING:
		ak_err_hint(err, "the provider wants credit or a higher limit; trying again does not help");
		break;
	default:
		break;
	}
}

void attempt_final(const struct provider *p, const struct provider_fault *f, const char *why, struct ak_err *err)
{
	const char *name = p->target.name;

	/* what the transport says starts with the host, which is the name where a base URL was given */
	if (strncmp(why, name, strlen(name)) == 0)
		(void)ak_err_set(err, EIO, "%s", why);
	else
		(void)ak_err_set(err, EIO, "%s: %s", name, why);
	hint(p, f, err);
}
