/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that keep the whole of what was too long for the model, below a session's folder: spool/NNNNNN.txt, redacted while they
 * are written, 0600. Process: agent. Privilege: none; needs the session's folder by descriptor only.
 */
#ifndef AK_AGENT_SPOOL_H
#define AK_AGENT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/redact.h"
#include "executor/shared/ak_buf.h"

struct ak_err;

#define SPOOL_QUOTA (UINT64_C(256) << 20) /* bytes of a session's spools, all in all */
#define SPOOL_FILES_MAX 10000u
#define SPOOL_NAME 24u

/**
 * struct spool_dir - the spools of one session
 * @fd:		owned; -1: nothing is stored (--ephemeral)
 * @quota:	bytes left; a text that does not fit is cut there, and its file says so at its end
 * @refused:	why the last text was not stored, for one warning of the caller's: 0, ENOSPC, EDQUOT, ...; latched
 */
struct spool_dir {
	int fd;
	uint64_t quota;
	unsigned next;
	int refused;
};

/**
 * spool_dir_open() - make or open "spool" in a session's folder
 * @session_fd:	borrowed; -1: store nothing
 * @quota:	of the session; what lies there already counts
 * Return: 0; errno of mkdirat(2), openat(2) (a link or another kind of file: -ELOOP, -ENOTDIR).
 */
int spool_dir_open(struct spool_dir *d, int session_fd, uint64_t quota, struct ak_err *err);
void spool_dir_close(struct spool_dir *d);

/** struct spool - one text that is being written; private but for @name */
struct spool {
	struct spool_dir *dir;
	int fd;
	char name[SPOOL_NAME]; /* "spool/000001.txt", relative to the session's folder; "" */
	uint64_t written;
	bool cut;
	bool failed;
	struct ak_buf buf;
	struct redact redact;
};

/** spool_begin() - start a file. It cannot fail: where nothing can be stored, the rest does nothing. */
void spool_begin(struct spool *s, struct spool_dir *d);
/** spool_feed() - more text, not redacted yet */
void spool_feed(struct spool *s, const char *p, size_t n);
/**
 * spool_end() - the text is over
 * @keep:	false: the file is removed, since the text turned out to be short
 * Return: its name, which lives as long as @s; NULL: not stored.
 */
const char *spool_end(struct spool *s, bool keep);

#endif
