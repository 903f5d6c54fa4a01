/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the docker CLI, and what it may know of the caller's environment. Process: executor. Privilege: none. */
#ifndef AK_DOCKER_FIND_H
#define AK_DOCKER_FIND_H

struct ak_err;
struct hostinfo;

/**
 * docker_find() - the docker program on the caller's PATH
 * @path:	the caller's PATH; NULL: a plain one
 * @workspace:	resolved; nothing in it is started
 *
 * A folder of PATH counts when it is absolute, neither in the workspace nor below a folder of ak's own making, and when it, what
 * `docker` in it leads to, and all folders above both belong to root or to the caller and can be written by nobody else (a
 * sticky folder of root's, such as /tmp, does not count as such for what lies in it). Others are skipped; the error names one.
 * Return: absolute path without links, malloc'ed in *@ret; -ENOENT; -EPERM (there is one, but it cannot be trusted); -ENOMEM.
 */
int docker_find(const char *path, const char *workspace, char **ret, struct ak_err *err);

/**
 * docker_environment() - the environment of the docker CLI: where its daemon and its settings are, and a fixed PATH
 * Nothing else of the caller's gets to it: neither preloads and hooks nor keys.
 * @workspace:	resolved; settings that lie in it are refused, since a sandbox could write them
 * Return: 0 with a NULL-terminated list in *@ret, to be released with docker_environment_free(); -EPERM; -ENOTSUP (DOCKER_HOST
 * names another machine); -ENOMEM.
 */
int docker_environment(const struct hostinfo *h, const char *workspace, char ***ret, struct ak_err *err);
void docker_environment_free(char **env);

#endif
