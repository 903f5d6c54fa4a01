/* SPDX-License-Identifier: Apache-2.0 */
/* What ak_init_proto.c and ak_init_serve.c share: texts and wait statuses on the wire. Executor and ak-init, no privilege. */
#ifndef AK_SHARED_AK_INIT_INT_H
#define AK_SHARED_AK_INIT_INT_H

#include <stdbool.h>
#include <stdint.h>

struct ak_rd;
struct ak_wr;

#define INIT_ERRNO_MAX 4095u	/* MAX_ERRNO, linux/err.h */
#define INIT_SIGNO_MAX 64u	/* _NSIG */
#define INIT_FIRST_KEPT_FD 3

/** init_put_texts() - a text and a hint, cut to what is left of @w, control bytes replaced; NULL is "" */
void init_put_texts(struct ak_wr *w, const char *text, const char *hint);
/** init_get_text() - a text without control bytes; latches a failure. Return: it, or NULL. */
const char *init_get_text(struct ak_rd *r);
/** init_is_end() - Return: whether a wait status says that the process ended. */
bool init_is_end(uint32_t wstatus);
/** init_get_count() - a count that is at most @max; a larger one latches the failure, so that no loop runs on it */
uint32_t init_get_count(struct ak_rd *r, uint32_t max);

#endif
