/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files of a run in ak's state folder: one that the container is shown, so that it is known to see this host's files, and
 * one with the variables of a command, which must be on no command line. Process: warden. Privilege: the caller's.
 */
#ifndef AK_DOCKER_FILES_H
#define AK_DOCKER_FILES_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/docker/docker_text.h"

struct ak_err;
struct env_opt;
struct hostinfo;

struct docker_files {
	char dir[PATH_MAX];	/* where they are; "" until it is known. Docker is started there: podman's monitor leaves an "oom" */
	char probe[PATH_MAX];	/* "" until it was made */
	char env[PATH_MAX];	/* the same */
	char box[PATH_MAX];	/* folder of a sandbox that stays; the same */
};

/** docker_owner_self() - who this process is. Return: 0 or negative errno. */
int docker_owner_self(struct docker_owner *ret, struct ak_err *err);

/** docker_start_time() - when process @pid started, in ticks since boot, of /proc. Return: 0 when it has ended. */
uint64_t docker_start_time(uint64_t pid);

/**
 * docker_files_make() - make the files below @state, mode 0600; what ended runs have left there is removed
 * @env:	"NAME=VALUE\n" lines; NULL: no such file
 * Return: 0 or negative errno. Release with docker_files_remove() in both cases.
 */
int docker_files_make(const char *state, const struct docker_owner *self, const char *env, size_t env_len, struct docker_files *ret,
		      struct ak_err *err);
/**
 * docker_files_box() - after docker_files_make(): a folder that the container is shown, with ak-init in it
 * @init:	the program's bytes
 * Return: a listening socket in it, SOCK_SEQPACKET, that every user of the container may connect to; negative errno.
 */
int docker_files_box(const struct docker_owner *self, const void *init, size_t len, struct docker_files *f, struct ak_err *err);
/** docker_files_taken() - its socket goes: nobody else is to connect */
void docker_files_taken(const struct docker_files *f);
void docker_files_remove(struct docker_files *f);
/** docker_files_read() - the variables have been read: their file goes */
void docker_files_read(struct docker_files *f);

/**
 * docker_env_text() - the variables that the user named, as docker's --env-file has them
 * @ret:	malloc'ed; NULL when there are none
 * Return: 0; -EINVAL (a line break in a value, which such a file cannot hold); -EPERM (a provider's key was to be passed on);
 * -ENOMEM.
 */
int docker_env_text(const struct hostinfo *h, const struct env_opt *env, size_t nenv, char **ret, size_t *ret_len,
		    struct ak_err *err);

#endif
