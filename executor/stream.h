/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command's three standard streams: which of the caller's descriptors may be passed and which go through a pipe.
 * Process: executor. Privilege: none.
 */
#ifndef AK_STREAM_H
#define AK_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ak_err;
struct exec_opts;

enum stream_mode {
	STREAM_PASS,	/* the caller's own descriptor: a one-way pipe (pipefs, right direction) or /dev/null */
	STREAM_RELAY,	/* a pipe of ours; ak moves the bytes between it and the caller's descriptor */
	STREAM_CAPTURE,	/* a pipe of ours; ak keeps the bytes for the result object (--json) */
	STREAM_NULL,	/* /dev/null of ours: the caller's descriptor was closed, or stdin is a terminal without -i */
	STREAM_PTY,	/* --tty: the sandbox's own pty */
};

/* what the caller's descriptor is: decides how bytes are moved without blocking on it */
enum stream_kind {
	STREAM_KIND_NONE,	/* closed */
	STREAM_KIND_PIPE,	/* pipe or FIFO */
	STREAM_KIND_FILE,	/* regular file or block device: always ready, has an offset */
	STREAM_KIND_SOCK,
	STREAM_KIND_TTY,
	STREAM_KIND_OTHER,	/* another character device */
};

struct stream {
	enum stream_mode mode;
	enum stream_kind kind;
	int outer;	/* caller's descriptor 0, 1 or 2; borrowed; -1 when closed */
	int child;	/* what the command gets; owned until the child runs, then closed; -1 with STREAM_PTY */
	int inner;	/* our end of the pipe for RELAY and CAPTURE; owned, non-blocking; -1 else */
	int keep;	/* stdin from a file: a second read end, so that unread bytes can be counted at the end; owned; -1 else */
	int nb;		/* a terminal: our own non-blocking opening of it; owned; -1: none, use outer with care */
	bool outer_tty;	/* the caller's descriptor is a terminal */
	bool merged;	/* stderr only: goes through stdout's pipe, so that the order of writes is kept; inner is -1 */
};

struct streams {
	struct stream s[3];
};

/**
 * streams_fix_stdio() - make 0, 1 and 2 exist, before anything else is opened
 * A closed one is filled with /dev/null, so that no later open() lands there; *@ret_closed gets bit n for each.
 * Return: 0 or negative errno.
 */
int streams_fix_stdio(unsigned *ret_closed, struct ak_err *err);

/**
 * streams_open() - classify the caller's descriptors and make the pipes
 * @closed:	from streams_fix_stdio()
 * Return: 0 or negative errno; release with streams_release() in both cases. -EINVAL: a directory as standard stream.
 */
int streams_open(const struct exec_opts *o, unsigned closed, struct streams *ret, struct ak_err *err);

/**
 * stream_passable() - may a command get this very descriptor, because there is nothing behind it to gain?
 * Return: true for one end of an anonymous pipe in the right direction, and for /dev/null.
 */
bool stream_passable(int fd, bool output);

/**
 * streams_chown() - let the sandbox open its own streams again by name (/dev/stdin, /proc/self/fd/1) in root mode
 * @uid:	host id the command runs with
 * @gid:	host group it runs with
 *
 * A pipe's inode belongs to its maker with mode 0600, and a command with another id would be refused. Every pipe of ours and
 * every passed anonymous pipe gets the group @gid and one more mode bit: group read for stdin, group write for stdout and
 * stderr. The owner stays, so the command can neither chmod the pipe nor open it in the other direction. Harmless for the
 * caller: an anonymous pipe has no name, so its mode only counts for a process that has the descriptor already, and
 * descriptors that are open keep what they have. Pipes that @uid owns are left alone.
 * Requires: CAP_CHOWN and CAP_FOWNER (or ownership) over the pipes. Call before streams_close_child_ends().
 * Return: 0 or negative errno.
 */
int streams_chown(struct streams *s, uid_t uid, gid_t gid);

/** streams_close_child_ends() - close what the command has got; for the executor, once the child is started */
void streams_close_child_ends(struct streams *s);

/** streams_release() - close everything of ours; the caller's 0, 1 and 2 stay open. Safe twice, and after a failed open. */
void streams_release(struct streams *s);

#endif
