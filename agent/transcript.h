/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The turns of a session on disk: transcript.jsonl in its folder, 0600, appended to, one line a turn. An assistant turn is written when
 * it is whole, the results of its calls when all are there, so whatever ends the process, what is there can be sent to a
 * provider once transcript_load() has answered the calls left open. Turns stay when the conversation is compacted or cleared: a line says
 * which of them the summary stands for, that the conversation begins anew, or that another model is used, and reading does the same again. Process: agent. Privilege: none; the session's folder.
 */
#ifndef AK_AGENT_TRANSCRIPT_H
#define AK_AGENT_TRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/msg.h"

struct ak_err;

#define TRANSCRIPT_FILE "transcript.jsonl"
#define TRANSCRIPT_MAX (512u << 20)	/* bytes of a file that is read */
#define TRANSCRIPT_OPEN_CALL "Not run: interrupted"

/**
 * struct transcript_head - the first line; strings owned
 * Model and where it was asked are those used last, once the whole file is read.
 * @system:	the system prompt, so that a resumed session has the same prefix
 * @provider:	its name, or the host of @base_url; NULL: a transcript that does not say where the model was asked
 * @api, @base_url: as --api and --base-url were said; NULL: they were not. @base_url "": it is not kept.
 */
struct transcript_head {
	char *workspace;
	char *model;
	char *system;
	char *provider;
	char *api;
	char *base_url;
};
void transcript_head_release(struct transcript_head *h);
/** transcript_head_used() - model, provider, api and base URL become those of @now, which is empty afterwards */
void transcript_head_used(struct transcript_head *h, struct transcript_head *now);

/**
 * struct transcript - an open file; transcript_close()
 * @fd:		owned; -1: nothing is stored
 * @failed:	errno of the line that could not be written; none is written after it
 */
struct transcript {
	int fd;
	int failed;
};

/** transcript_create() - a new file with its first line. @dir -1: store nothing. Return: 0; errno of openat(2), write(2); -ENOMEM. */
int transcript_create(struct transcript *t, int dir, const struct transcript_head *h, struct ak_err *err);

/**
 * transcript_load() - read the turns and go on appending
 * @hist:	empty; filled
 * A last line without its end is cut off. Calls without results get TRANSCRIPT_OPEN_CALL, user turns that follow each other become
 * one. Return: 0; -EBADMSG (@err names the line); -EFBIG; -ENOENT; -ENOMEM. Nothing is changed on failure.
 */
int transcript_load(struct transcript *t, int dir, struct transcript_head *ret_head, struct history *hist, struct ak_err *err);

/**
 * transcript_parse() - whole lines of a transcript. Pure.
 * @hist:	NULL: only the first line
 * Return: 0; -EBADMSG; -ENOMEM. What was read until then is in @ret_head and @hist, the caller's to release.
 */
int transcript_parse(const char *text, size_t len, struct transcript_head *ret_head, struct history *hist, struct ak_err *err);

/** transcript_read_head() - only the first line. Return: 0, -EBADMSG, errno of opening. */
int transcript_read_head(int dir, struct transcript_head *ret, struct ak_err *err);

/**
 * transcript_add() - append a turn, with one write
 * Return: 0; negative errno with @err for the first line that cannot be written, 0 afterwards: a full disk stops no run.
 */
int transcript_add(struct transcript *t, const struct msg *m, struct ak_err *err);
/**
 * transcript_compacted() - append that compact_apply() was done with these arguments
 * Return: as transcript_add().
 */
int transcript_compacted(struct transcript *t, size_t turns, const char *summary, struct ak_err *err);
/** transcript_cleared() - append that the conversation begins anew: what stands before this line is not read again. Return: as transcript_add(). */
int transcript_cleared(struct transcript *t, struct ak_err *err);
/** transcript_uses() - append which model of @h is used from here on, and where it is asked. Return: as transcript_add(). */
int transcript_uses(struct transcript *t, const struct transcript_head *h, struct ak_err *err);
void transcript_close(struct transcript *t);

/**
 * history_join() - move a turn to the end; a user turn behind a user turn becomes part of it
 * Return: 0; -ENOMEM.
 */
int history_join(struct history *h, struct msg *m);
/** history_answer() - give every open call of the last turn the result @text. Return: 0, also when there is none; -ENOMEM. */
int history_answer(struct history *h, const char *text);

#endif
