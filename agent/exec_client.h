/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's side of the executor: one connection, one standing sandbox, the facts about it. Files and commands go through
 * lib/libak.h with @cl and @sandbox. Process: agent. Privilege: none; the connected socket that ak left on descriptor 3.
 */
#ifndef AK_AGENT_EXEC_CLIENT_H
#define AK_AGENT_EXEC_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/libak.h"

#define XC_SOCKET_FD 3
#define XC_WARNINGS_MAX 8u

/**
 * struct exec_client - all owned
 * @workspace:	inside, absolute
 * @sandbox:	0: not made yet
 */
struct exec_client {
	struct ak_client *cl;
	uint32_t sandbox;
	uint8_t backend;  /* enum ak_backend */
	char *workspace;
	char *root;
	uint8_t net;	  /* enum ak_net */
	uint8_t write;	  /* enum ak_write */
	uint8_t identity; /* enum ak_identity */
	uint8_t seccomp;  /* enum ak_seccomp */
	uint32_t landlock_abi;
	uint64_t memory_bytes;
	char *warnings[XC_WARNINGS_MAX];
	size_t nwarnings;
};

/**
 * xc_open() - say hello and take the facts
 * Return: 0; -ENOTSOCK (not started by ak); -EREMOTEIO (there is no sandbox: @err says why); as ak_connect_fd().
 */
int xc_open(struct exec_client *x, struct ak_err *err);
/** xc_sandbox_create() - make the sandbox. Return: as ak_create(). */
int xc_sandbox_create(struct exec_client *x, struct ak_err *err);
/** xc_sandbox_destroy() - end it with all that runs in it; nothing is left when this returns. Nothing to do: 0. */
int xc_sandbox_destroy(struct exec_client *x, struct ak_err *err);
/** xc_close() - free and close; a sandbox that is still there ends. Safe twice. */
void xc_close(struct exec_client *x);

const char *xc_backend_name(uint8_t backend);
const char *xc_net_name(uint8_t net);
const char *xc_write_name(uint8_t write);
const char *xc_identity_name(uint8_t identity);
const char *xc_seccomp_name(uint8_t seccomp);

#endif
