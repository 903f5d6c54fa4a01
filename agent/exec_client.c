/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's connection to the executor. Process: agent. Privilege: none. */
#include "agent/exec_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_chan.h"
#include "executor/shared/ak_err.h"

static int take_facts(struct exec_client *x, const struct ak_facts *f, struct ak_err *err)
{
	x->backend = f->backend;
	x->net = f->net;
	x->write = f->write;
	x->identity = f->identity;
	x->seccomp = f->seccomp;
	x->landlock_abi = f->landlock_abi;
	x->memory_bytes = f->limit[AK_LIMIT_MEMORY].value;
	x->workspace = strdup(f->workspace);
	x->root = strdup(f->root);
	if (!x->workspace || !x->root)
		return ak_err_set(err, ENOMEM, "no memory for the sandbox's facts");
	for (uint32_t i = 0; i < f->nwarnings && x->nwarnings < XC_WARNINGS_MAX; i++) {
		char *text = strdup(f->warning[i]);

		if (!text)
			return ak_err_set(err, ENOMEM, "no memory for the sandbox's facts");
		ak_text_clean(text);
		x->warnings[x->nwarnings++] = text;
	}
	return 0;
}

int xc_open(struct exec_client *x, struct ak_err *err)
{
	int rc;

	*x = (struct exec_client){ 0 };
	if (ak_chan_check(XC_SOCKET_FD, NULL) < 0)
		return ak_err_set(err, ENOTSOCK, "this program is started by `ak run`");
	rc = ak_connect_fd(XC_SOCKET_FD, "ak-agent", &x->cl, err);
	return rc < 0 ? rc : take_facts(x, &ak_hello_facts(x->cl)->facts, err);
}

int xc_sandbox_create(struct exec_client *x, struct ak_err *err)
{
	return ak_create(x->cl, NULL, &x->sandbox, err);
}

int xc_sandbox_destroy(struct exec_client *x, struct ak_err *err)
{
	uint32_t id = x->sandbox;
	int rc;

	x->sandbox = 0;
	rc = id && x->cl ? ak_destroy(x->cl, id, err) : 0;
	/* it has ended by itself */
	return rc == -EREMOTEIO && ak_refusal(x->cl, NULL) == AK_CODE_NO_SANDBOX ? 0 : rc;
}

void xc_close(struct exec_client *x)
{
	ak_close(x->cl);
	free(x->workspace);
	free(x->root);
	for (size_t i = 0; i < x->nwarnings; i++)
		free(x->warnings[i]);
	*x = (struct exec_client){ 0 };
}

const char *xc_backend_name(uint8_t backend)
{
	return backend == AK_BACKEND_DOCKER ? "docker" : backend == AK_BACKEND_LOCAL ? "local" : "native";
}

const char *xc_net_name(uint8_t net)
{
	return net == AK_NET_HOST ? "host" : "none";
}

const char *xc_write_name(uint8_t write)
{
	return write == AK_WRITE_NONE ? "none" : write == AK_WRITE_COW ? "cow" : "direct";
}

const char *xc_identity_name(uint8_t identity)
{
	return identity == AK_IDENTITY_ROOT ? "root" : identity == AK_IDENTITY_RANGE ? "range" : "same-uid";
}

const char *xc_seccomp_name(uint8_t seccomp)
{
	return seccomp == AK_SECCOMP_STRICT ? "strict" : "default";
}
