/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that belong to ak and lie beside it: found, checked, run for one answer. Process: executor. Privilege: none given on. */
#ifndef AK_COMPANION_H
#define AK_COMPANION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_err;

#define COMPANION_TIMEOUT_MS 15000

/**
 * companion_open() - one of ak's own programs
 * @name:	such as "ak-policy"
 *
 * NAME beside this program (/proc/self/exe), else ../libexec/ak/NAME from there; never one from PATH or the working directory.
 * It must be a regular file of root's or of the caller's that nobody else can write.
 * Return: an O_PATH descriptor for execveat(2); -ENOENT (neither is there), -EPERM (owner or mode), other errno.
 */
int companion_open(const char *name, struct ak_err *err);

/**
 * companion_run() - start it, give it bytes, take its answer
 * @argv:	argv[0] is the name for companion_open(); NULL-terminated
 * @input:	its descriptor 0; borrowed
 * @cap:	bytes of answer that are taken; more is an error
 * @ret_out:	the answer, malloc'ed, with a NUL after its end
 *
 * It starts with no environment, three descriptors, no_new_privs and default signals; run by root it becomes nobody (65534)
 * first; in a user namespace without that id it stays, without capabilities. What it says on descriptor 2 (one line) becomes the error. It is killed after COMPANION_TIMEOUT_MS.
 * Return: 0; -EINVAL (it refused its input), -ETIMEDOUT, -E2BIG, -ECHILD (it crashed), or what companion_open() gives.
 */
int companion_run(const char *const argv[], const void *input, size_t len, size_t cap, char **ret_out, size_t *ret_len,
		  struct ak_err *err);

/**
 * companion_run_fd() - the same with a program that companion_open() has opened, for whoever gives up privilege in between
 * @program:	borrowed
 */
int companion_run_fd(int program, const char *const argv[], const void *input, size_t len, size_t cap, char **ret_out, size_t *ret_len,
		     struct ak_err *err);

#endif
