/* SPDX-License-Identifier: Apache-2.0 */
/* `ak seccomp check|dump PROFILE`. Process: executor. Privilege: the caller's; nothing is run but ak-policy. */
#ifndef AK_CMD_SECCOMP_H
#define AK_CMD_SECCOMP_H

/** cmd_seccomp() - @argv after the word "seccomp". Return: exit code: 0, 1 failed or refused, 2 usage. */
int cmd_seccomp(int argc, char *const argv[]);

#endif
