/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of libak: one connection, and what came for requests nobody has asked about yet. */
#ifndef AK_LIB_LIBAK_INT_H
#define AK_LIB_LIBAK_INT_H

#include <sys/types.h>

#include "executor/shared/ak_chan.h"
#include "lib/libak.h"

#define LIBAK_EVENTS_MAX 512u	/* kept for ak_next(); more than one executor has commands and waits */

#define LIBAK_ANSWER_MS 10000	/* for what an executor answers at once */
#define LIBAK_BUILD_MS 60000	/* for what makes or ends sandboxes, or moves files */
#define LIBAK_CHANGES_MS 600000	/* for what reads or moves all changes of a workspace */

struct ak_client {
	int fd;			/* owned */
	pid_t child;		/* of ak_spawn(); 0 */
	uint32_t seq;
	int dead;		/* errno of the connection's end; 0 */
	enum ak_code code;	/* of the last refusal */
	int code_err;
	struct ak_hello_reply hello;
	uint8_t *hello_buf;	/* owned: strings of @hello */
	struct ak_event *events;	/* owned; oldest first */
	size_t nevents, cap;
	struct {
		uint32_t seq;
	} open[LIBAK_EVENTS_MAX];	/* requests whose answers are events */
	size_t nopen;
	unsigned late;		/* answers that were given up and may still come */
	uint8_t buf[AK_MSG_MAX];	/* frame being read */
	uint8_t out[AK_MSG_MAX];	/* payload being written */
};

/**
 * libak_call() - send a request and wait for its answer
 * @len:	what the encoder gave; negative: nothing is sent
 * @want:	op of the answer that is expected
 * @f:		filled; its payload points into @cl; release with ak_frame_release()
 * Return: 0; -EREMOTEIO refused; -ETIMEDOUT: no answer in LIBAK_ANSWER_MS or LIBAK_BUILD_MS; other negative errno.
 */
int libak_call(struct ak_client *cl, uint16_t op, long len, const int *fds, size_t nfds, uint16_t want, struct ak_frame *f,
	       struct ak_err *err);
/** libak_send() - send a request only; Return: 0 with its seq */
int libak_send(struct ak_client *cl, uint16_t op, long len, const int *fds, size_t nfds, uint32_t *ret_seq, struct ak_err *err);
/** libak_read() - read one frame; an answer that is an event is kept. @timeout_ms as ak_next(). Return: 1 a frame that is none, 2 an event, 0, negative errno */
int libak_read(struct ak_client *cl, struct ak_frame *f, int timeout_ms, struct ak_err *err);
/** libak_stray() - an answer to nothing that is open: dropped when one was given up. Return: 0, or -EBADMSG with the connection ended. */
int libak_stray(struct ak_client *cl, struct ak_frame *f, struct ak_err *err);
/** libak_watch() - answers to @seq are events */
int libak_watch(struct ak_client *cl, uint32_t seq, struct ak_err *err);
/** libak_take() - the oldest kept event with @tag (0: any). Return: 1 or 0 */
int libak_take(struct ak_client *cl, uint32_t tag, struct ak_event *ret);
/** libak_event() - make an event of a frame. Return: 0 or negative errno; descriptors are taken */
int libak_event(struct ak_client *cl, struct ak_frame *f, struct ak_event *ret);
/** libak_forget() - no more answers come for @seq */
void libak_forget(struct ak_client *cl, uint32_t seq);
int libak_malformed(struct ak_client *cl, struct ak_err *err);
/** libak_read_memfd() - read all @len bytes of a sealed memory file of at most @max. Return: 0 or -EBADMSG. */
int libak_read_memfd(int fd, size_t max, uint8_t *to, size_t len);

#endif
