/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of a diff's text to standard output. To a file or pipe it goes as it is, so that it is a patch; to a terminal it goes
 * through the process that calls this and is made visible there (visible.h): also colours, which could hide a line from a reviewer.
 * Process: `ak diff`. Privilege: none.
 */
#ifndef AK_DIFF_VIEW_H
#define AK_DIFF_VIEW_H

struct ak_err;

struct diff_view {
	int from, to;	/* ends of a pipe; -1: standard output is no terminal */
};

#define DIFF_VIEW_NONE { -1, -1 }

/** diff_view_open() - before the fork. Return: 0 or negative errno. */
int diff_view_open(struct diff_view *v, struct ak_err *err);

/** diff_view_child() - in the child that writes the text: its standard output is the pipe, where there is one */
void diff_view_child(struct diff_view *v);

/** diff_view_copy() - in the parent: pass the text on until the child has closed its end; nothing where there is no pipe */
void diff_view_copy(struct diff_view *v);

#endif
