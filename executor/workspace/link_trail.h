/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a path of a workspace leads, link by link. Process: executor, or a child that is the workspace's owner. Privilege: the
 * caller's. Nothing is opened but to look at it, and nothing outside the workspace is looked at but by its name.
 */
#ifndef AK_WORKSPACE_LINK_TRAIL_H
#define AK_WORKSPACE_LINK_TRAIL_H

#include <limits.h>
#include <stdint.h>

#define LINK_TRAIL_MAX 40u	/* links of one path, as the kernel follows (path_resolution(7)) */

struct link_view {
	int lower;		/* the workspace */
	int upper;		/* changes that lie on it, as an overlay's upper layer; -1: none */
	const char *workspace;	/* real path, for links that leave the workspace and come back, or are absolute; NULL: not followed */
};

/**
 * link_trail() - follow @path
 * @path:	relative to the workspace; what does not exist leads to itself
 * @on_link:	called for each link, the last one too, by its path without links; or NULL
 * @ret:	PATH_MAX bytes: where it ends, relative, without links
 * An entry that the changes hide by its folder alone counts as still there: too much is safe.
 * Return: type bits of what is there, 0: nothing; -1: it leads out of the workspace, in a circle, or is too long.
 */
int link_trail(const struct link_view *v, const char *path, void (*on_link)(void *arg, const char *link), void *arg, char *ret);

#endif
