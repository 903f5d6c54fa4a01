/* SPDX-License-Identifier: Apache-2.0 */
/* Which model a session goes on with where nobody says another one: the one it used last. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_SESSION_MODEL_H
#define AK_AGENT_SESSION_MODEL_H

struct ak_err;
struct provider_target;
struct provider_wish;
struct transcript_head;

/**
 * session_model_wish() - fill what flags, variables and files leave open with what the session used
 * @h:		borrowed as long as @w is used
 * A model that was said is somebody else's word on everything. A base URL that was said keeps the session's model, and `--api` its model and
 * place; but a scripted conversation (replay) stands for no model, nor a model for a script.
 * Return: 1 (taken from the session); 0 (nothing was: @w is as it was); -EINVAL (its server is not in the transcript: @err has the way out).
 */
int session_model_wish(const struct transcript_head *h, struct provider_wish *w, struct ak_err *err);

/**
 * session_model_keep() - note in @h what is used now, for the transcript
 * A base URL with a query is kept as "": that part may be a key.
 * Return: 1 (it was another one before); 0; -ENOMEM, and @h is as it was.
 */
int session_model_keep(struct transcript_head *h, const struct provider_wish *w, const struct provider_target *t);

#endif
