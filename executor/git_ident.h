/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who commits: name and mail of the caller's git configuration, and nothing else of it, since credentials and rewritten addresses
 * lie there too. Process: executor. Privilege: the caller's.
 *
 * The executor reads no such text: ak-policy does, confined, and its answer is kept in ak's state folder beside a hash of what it was made from.
 */
#ifndef AK_GIT_IDENT_H
#define AK_GIT_IDENT_H

#include <stddef.h>

#include "executor/shared/ak_git_ident.h"

struct ak_err;
struct hostinfo;

/**
 * git_ident_find() - the caller's identity
 * As git finds it: GIT_CONFIG_GLOBAL alone where it is set, else $XDG_CONFIG_HOME/git/config and over it ~/.gitconfig, with the files that
 * these include (seccomp/gitident.h says which). What somebody else has put there is not read (own_file.h): git would read it, but root's
 * HOME may be another's.
 * Without any of them it costs two calls that fail.
 * @ret:	empty texts: not said
 * Return: 0, also when nothing is known; negative errno: ak-policy could not be asked (named).
 */
int git_ident_find(const struct hostinfo *h, struct git_ident *ret, struct ak_err *err);

#endif
