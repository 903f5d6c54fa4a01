/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the caller and the host before a plan is made. Process: executor. Privilege: none. */
#ifndef AK_HOSTINFO_H
#define AK_HOSTINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ak_err;

struct hostinfo {
	uid_t uid;		/* effective */
	gid_t gid;
	bool root;		/* uid 0 of the host: the executor will enter a reserved id range */
	size_t ngroups;		/* supplementary groups other than gid */
	char *user;		/* login name from /etc/passwd; "user" when there is none */
	char *home;		/* absolute, normalised, resolved (realpath) where it exists: HOME, else passwd, else "/nonexistent" */
	char *passwd_home;	/* the caller's home by /etc/passwd, resolved; NULL when there is none; HOME may say otherwise */
	char *cwd;		/* resolved; NULL when the current directory was deleted or cannot be named */
	char *path;		/* the caller's PATH; NULL when unset */
	char *state_dir;	/* ak's own folders, absolute, whether or not they exist */
	char *config_dir;
	char *runtime_dir;
	char *const *environ;	/* borrowed */
};

/**
 * hostinfo_get() - read the facts
 * @env:	the caller's environment; borrowed for the life of @ret
 * Return: 0 or -ENOMEM. Missing facts are not errors.
 */
int hostinfo_get(char *const *env, struct hostinfo *ret, struct ak_err *err);
void hostinfo_release(struct hostinfo *h);

/**
 * hostinfo_make_own() - make ak's own folders (0700) where they are missing and @workspace would show where they belong
 * @workspace:	as the user named it; a plan with it has been made, so it is one
 * Return: something was missing: the plan has to be made again.
 * Why: a folder that exists can be hidden, one that does not could be
 * made from inside and be read by a later run. Best effort: plan_build() warns about what is still missing.
 */
bool hostinfo_make_own(const struct hostinfo *h, const char *workspace);

/**
 * hostinfo_make_path() - make a folder and those above it that are missing, 0700
 * Best effort: its use tells. Return: 0; negative errno, why the first that is not there could not be made.
 */
int hostinfo_make_path(const char *path);

/** hostinfo_home_of() - the home of @uid by /etc/passwd, resolved. Return: malloc'ed; NULL when there is none. */
char *hostinfo_home_of(uid_t uid);

/** hostinfo_env() - value of a variable of the caller, or NULL */
const char *hostinfo_env(const struct hostinfo *h, const char *name);

#endif
