/* SPDX-License-Identifier: Apache-2.0 */
/* The table of backends. Process: executor. Privilege: none. */
#include "executor/backend.h"

static const char *const names[] = {
	[BACKEND_NATIVE] = "native",
	[BACKEND_DOCKER] = "docker",
	[BACKEND_LOCAL] = "local",
};

const char *backend_name(enum opt_backend b)
{
	return names[b];
}

const struct backend_ops *backend_of(enum opt_backend b)
{
	switch (b) {
	case BACKEND_DOCKER:
		return &backend_docker;
	case BACKEND_LOCAL:
		return &backend_local;
	case BACKEND_NATIVE:
		break;
	}
	return &backend_native;
}
