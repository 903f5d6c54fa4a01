/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime folder, where named sandboxes are found: RUNTIME/NAME.d/{alive,facts,sock}. Process: executor and the
 * commands that talk to one. Privilege: the caller's.
 *
 * The folder and everything in it is the caller's, mode 0700, and never reached through a link: both are checked on the
 * descriptor, and all work goes on below that. Whoever may not enter the folder cannot reach a socket in it. `alive` is
 * locked (flock(2)) by the executor as long as it lives, however it ends: an unlocked one is what a crash has left, and is
 * removed by whoever comes across it.
 */
#ifndef AK_RUNTIME_H
#define AK_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "executor/runtime_facts.h"

struct ak_err;
struct hostinfo;

#define RUNTIME_NAME_MAX 64
#define RUNTIME_SANDBOXES_MAX 256	/* names of one caller, as many as `ak ls` lists */
#define RUNTIME_CONNECT_MS 10000	/* for an executor that does not answer */

/**
 * runtime_check_name() - is @name a sandbox's name: 1 to 64 letters, digits and . _ - that starts with none of . and -
 * Return: 0 or -EINVAL with the rule.
 */
int runtime_check_name(const char *name, struct ak_err *err);

/* The open folder */
struct runtime {
	int dir;		/* O_PATH; owned; -1 */
	const char *path;	/* for messages; borrowed from struct hostinfo */
};

/**
 * runtime_open() - open the caller's runtime folder
 * @make:	make it, and the state folder above it, where they are missing. $XDG_RUNTIME_DIR itself is never made.
 * Return: 0; -ENOENT (missing and not @make); -EPERM (somebody else's); -EACCES (others may enter it); -ELOOP, -ENOTDIR;
 * what open(2) gives. @ret is untouched on failure.
 */
int runtime_open(const struct hostinfo *h, bool make, struct runtime *ret, struct ak_err *err);
void runtime_close(struct runtime *rt);

/* What the executor of a named sandbox holds */
struct runtime_slot {
	int top;		/* the runtime folder, O_PATH; owned */
	int dir;		/* NAME.d, O_PATH; owned */
	int alive;		/* locked; owned */
	int listen;		/* owned; -1 until runtime_listen() */
	int guard;		/* to who removes the folder, runtime_guard(); owned; -1 */
	char name[RUNTIME_NAME_MAX + 1];
};

#define RUNTIME_SLOT_NONE { .top = -1, .dir = -1, .alive = -1, .listen = -1, .guard = -1 }

/**
 * runtime_claim() - take @name for a new sandbox; what a crashed executor left under it is removed
 * @ret:	release with runtime_drop(); untouched on failure
 * Return: 0; -EINVAL (name); -EEXIST (taken); -EPERM, -EACCES (the folder of that name is not the caller's alone);
 * -EMFILE (RUNTIME_SANDBOXES_MAX names are taken); what mkdirat(2) and openat(2) give.
 */
int runtime_claim(const struct runtime *rt, const char *name, struct runtime_slot *ret, struct ak_err *err);

/**
 * runtime_listen() - make the socket and write the facts
 * To be called in the process that will serve and before it changes its ids: SO_PEERCRED tells clients who called listen(2).
 * Return: 0 or negative errno.
 */
int runtime_listen(struct runtime_slot *s, const struct runtime_facts *f, struct ak_err *err);

/**
 * runtime_guard() - leave a process that removes the folder when this one has called runtime_drop() and ended
 * For an executor that will have given up the right to; before it does. The process is none of its children, holds nothing but the
 * runtime folder and has no capability.
 * Return: 0 or negative errno.
 */
int runtime_guard(struct runtime_slot *s, struct ak_err *err);

/** runtime_release() - close our descriptors and leave the folder as it is; for a process that does not serve */
void runtime_release(struct runtime_slot *s);

/**
 * runtime_drop() - remove the folder and give the name back
 * After a root caller's executor has given up host root it may remove nothing, and tells who can (runtime_guard()).
 */
void runtime_drop(struct runtime_slot *s);

/* A client's side of a named sandbox */
struct runtime_peer {
	int fd;			/* connected SOCK_SEQPACKET; owned; -1 */
	int pidfd;		/* of the executor; owned; -1 where the kernel gives none */
	pid_t pid;		/* of the executor, as its socket says */
};

#define RUNTIME_PEER_NONE { .fd = -1, .pidfd = -1 }

/**
 * runtime_connect() - reach the executor of @name
 * Return: 0; -EINVAL (name); -ENOENT (no such sandbox); -EOWNERDEAD (it ended without being asked to; what it left is
 * removed); -EAGAIN (it is starting or ending); -EPERM (folder or socket belong to somebody else); -EACCES; -ETIMEDOUT.
 */
int runtime_connect(const struct runtime *rt, const char *name, struct runtime_peer *ret, struct ak_err *err);
void runtime_peer_close(struct runtime_peer *p);

/** runtime_read_facts() - what the executor of @name wrote at its start. Return: 0, -ENOENT, -EBADMSG, -ENOMEM, -EPERM ... */
int runtime_read_facts(const struct runtime *rt, const char *name, struct runtime_facts *ret, struct ak_err *err);

/**
 * runtime_wait_gone() - wait until no executor of @name lives, then remove what is left of it
 * Return: 0; -ETIMEDOUT.
 */
int runtime_wait_gone(const struct runtime *rt, const char *name, uint64_t timeout_ms);

struct runtime_names {
	char name[RUNTIME_SANDBOXES_MAX][RUNTIME_NAME_MAX + 1];
	size_t n;
};

/**
 * runtime_list() - names of the sandboxes that live, sorted; what crashed ones left is removed on the way
 * Return: 0 or negative errno.
 */
int runtime_list(const struct runtime *rt, struct runtime_names *ret, struct ak_err *err);

#endif
