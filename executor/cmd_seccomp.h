/* SPDX-License-Identifier: Apache-2.0 */
/* `ak seccomp check|dump|learn`. Process: executor. Privilege: the caller's; what learn runs is a sandbox as of `ak exec`. */
#ifndef AK_CMD_SECCOMP_H
#define AK_CMD_SECCOMP_H

#include <stdint.h>

/** cmd_seccomp() - @argv after the word "seccomp"; @start_ns as in cmd_exec(). Return: exit code: 0, 1 failed or refused, 2 usage. */
int cmd_seccomp(int argc, char *const argv[], char *const env[], uint64_t start_ns);

#endif
