/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the protected names of a workspace lead to, where they are links: ".git/hooks/pre-commit -> ../../scripts/pre-commit.sh" makes a
 * hook of a script that has an ordinary name. Process: executor, or a child that is the workspace's owner. Privilege: the caller's.
 */
#ifndef AK_WORKSPACE_PROTECTED_LINKS_H
#define AK_WORKSPACE_PROTECTED_LINKS_H

#define PROTECTED_LINKS_MAX 1024u	/* of a workspace; with more every changed file is protected */
#define PROTECTED_LINKS_FOLDERS (1u << 20) /* folders that are looked at, the outer ones first; what is beyond is judged by its name */

struct ak_err;
struct journal;
struct protected_place;

/**
 * protected_links_mark() - mark the changes of what protected names lead to as those names are
 * @upper, @lower:	the layer's top and the workspace; borrowed
 * @place:	whose names are the protected ones
 * @j:		all changes; flags are added
 *
 * Links are those of the workspace and the new ones, at any depth, followed as they are and as they will be. Each link on the way is
 * protected too, and in a folder that one leads to each file as the one that it is by that name. Links within the workspace count,
 * and those that leave it and come back. A workspace without changes of ordinary files costs nothing; else its folders are read.
 * Return: 0, -ENOMEM.
 */
int protected_links_mark(int upper, int lower, const struct protected_place *place, struct journal *j, struct ak_err *err);

#endif
