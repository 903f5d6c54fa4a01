/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changed of the protected names of a workspace while a command had it. Process: executor. Privilege: the caller's; in root
 * mode the sandbox user's (the executor's file ids while it looks).
 *
 * How: no process can set a ctime. A name counts as changed when its ctime is not before the moment at which the sandbox was
 * started, so one walk afterwards is enough, and it reads folders and stats protected names only. What was there before is
 * remembered for the top folder, so that a change shortly before is not taken for the command's, and for its `.git/config`.
 *
 * What it does not see: a change of the file that a protected symbolic link outside the workspace leads to; a folder deeper than
 * the top one that was moved and then written to (its files are unchanged, only their place is new); what was made and
 * removed again; file systems mounted inside the workspace; what lies beyond the PROTECTED_SCAN_ bounds (@cut says so). A folder
 * that the command has closed to its reader is named itself, whatever it is called.
 * Where the host's clock is set back while the command runs the moment is moved back with it. On a file system whose server
 * stamps its files by another clock (NFS), changes within that difference are missed or added.
 */
#ifndef AK_WORKSPACE_PROTECTED_SCAN_H
#define AK_WORKSPACE_PROTECTED_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/workspace/git_hooks.h"

struct ak_err;

#define PROTECTED_SCAN_DEPTH 64u	/* folders below the top */
#define PROTECTED_SCAN_MS 500u		/* time for the walk after the command */
#define PROTECTED_SCAN_NAMES 64u	/* names that are told, the others are counted */
#define PROTECTED_SCAN_CONFIG (64u << 10) /* bytes of a git configuration that are looked into */
#define PROTECTED_SCAN_CONFIGS 8u	/* configurations that are looked into */

/* Below the top folder a file that was there under another name counts as modified */
enum protected_op { PROTECTED_ADDED, PROTECTED_MODIFIED };

struct protected_change {
	char *path;		/* relative to the workspace */
	enum protected_op op;
	bool config;		/* a git configuration */
	char *text;		/* its bytes; NULL: not read. protected_keys() looks into them */
	size_t text_len;
	char **keys;		/* those that start programs and are new or changed; NULL-terminated; NULL: none, or not looked */
	bool keys_unknown;	/* a git configuration that could not be looked into */
};

struct protected_report {
	struct protected_change list[PROTECTED_SCAN_NAMES];
	size_t n;
	size_t more;		/* changed names beyond the list */
	bool cut;		/* not everything was looked at */
	size_t folders;		/* looked at */
};

struct protected_old;

/* What is remembered from before the command; start with PROTECTED_MARK_NONE */
struct protected_mark {
	int dir;		/* the workspace; owned; -1: nothing is watched */
	int64_t start_ns;	/* real time, by the clock that files are stamped with */
	int64_t ahead_ns;	/* real time minus monotonic time, to see it being set */
	struct protected_old *old;	/* names of the top folder */
	size_t nold;
	bool old_lost;		/* there are more */
	bool cross;		/* mounts of the same file system are entered: those that a sandbox had on its protected names */
	struct git_hooks hooks;	/* folders of hooks by another name */
	struct git_hooks way;	/* links on the way to them */
	char *config;		/* bytes of .git/config; NULL: none */
	size_t config_len;
};

#define PROTECTED_MARK_NONE { .dir = -1 }

/**
 * protected_mark_set() - remember the workspace as it is before a command
 * @dir:	the workspace, open for reading and not read yet; taken, also on failure
 * @hooks:	folders in it that git takes hooks from; taken, and left empty
 * A folder that cannot be read is not watched: its changes cannot be told either.
 */
void protected_mark_set(struct protected_mark *m, int dir, struct git_hooks *hooks);

/**
 * protected_scan() - what changed since
 * @ret:	zeroed; release with protected_report_release()
 * Never fails: what could not be looked at is in @ret->cut.
 */
void protected_scan(struct protected_mark *m, struct protected_report *ret);

void protected_report_release(struct protected_report *r);
void protected_mark_release(struct protected_mark *m);

#endif
