/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A provider without a network: plays a scripted conversation, and records one. The format (ak-replay/1) is in
 * docs/providers.md. Process: agent. Privilege: none.
 */
#ifndef AK_AGENT_PROVIDER_REPLAY_H
#define AK_AGENT_PROVIDER_REPLAY_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/provider/provider.h"

struct attempt;
struct call_hooks;
struct record;
struct replay;

#define REPLAY_FILE_MAX (64u << 20)
#define REPLAY_STEPS_MAX 100000u

/**
 * replay_parse() - a script from memory
 * @name:	for messages; copied
 * The whole script is checked here, so that a slip in its last line does not wait until then.
 * Return: 0; -EBADMSG (@err names the line and the member); -ENOMEM.
 */
int replay_parse(const char *text, size_t len, const char *name, struct replay **ret, struct ak_err *err);
/** replay_open() - a script from a file. Return: as replay_parse(), -EINVAL (no file named), errno of reading. */
int replay_open(const char *path, struct replay **ret, struct ak_err *err);
/** replay_free() - NULL does nothing */
void replay_free(struct replay *r);

/** replay_next() - the next step as the outcome of one attempt: a reply, a fault, or FAULT_REQUEST where the script ends */
void replay_next(struct replay *r, const struct provider_req *rq, const struct call_hooks *hooks, struct attempt *at);

/** record_open() - a new file, mode 0600; an existing one is refused. Return: 0, errno of open(2), -ENOMEM. */
int record_open(const char *path, struct record **ret, struct ak_err *err);
/** record_turn() - append one step: @c, or with NULL the final fault @f. A failure to write latches and is told by record_ok(). */
void record_turn(struct record *r, const struct completion *c, const struct provider_fault *f);
/** record_ok() - was everything written? NULL: true */
bool record_ok(const struct record *r);
/** record_free() - NULL does nothing */
void record_free(struct record *r);

#endif
