/* SPDX-License-Identifier: Apache-2.0 */
/* Which options mean something to which backend. Process: executor. Privilege: none. */
#include "executor/args_int.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor/backend.h"
#include "executor/docker/docker_argv.h"
#include "executor/opts.h"
#include "executor/shared/ak_err.h"

#define NAMES_MAX 400u

enum {
	DOCKER = 1u << BACKEND_DOCKER,
	LOCAL = 1u << BACKEND_LOCAL,
};

/* What the backends beside native know. An option that has no row here is native's alone, so that a new one is never ignored. */
static const struct {
	const char *name;
	unsigned backends;
} known[] = {
	{"--shell", DOCKER | LOCAL},
	{"--workspace", DOCKER | LOCAL},
	{"--write", DOCKER | LOCAL},
	{"--allow-protected", DOCKER},
	{"--workdir", DOCKER | LOCAL},
	{"--backend", DOCKER | LOCAL},
	{"--image", DOCKER},
	{"--ro", DOCKER},
	{"--rw", DOCKER},
	{"--ro-try", DOCKER},
	{"--rw-try", DOCKER},
	{"-v", DOCKER},
	{"--env", DOCKER | LOCAL},
	{"--env-file", DOCKER | LOCAL},
	{"--net", DOCKER | LOCAL},
	{"--network", DOCKER | LOCAL},
	{"--memory", DOCKER | LOCAL},	/* local: max only */
	{"--cpus", DOCKER | LOCAL},
	{"--pids", DOCKER | LOCAL},
	{"--pids-limit", DOCKER | LOCAL},
	{"--timeout", DOCKER | LOCAL},
	{"--kill-after", DOCKER | LOCAL},
	{"--max-output", DOCKER | LOCAL},
	{"--user", DOCKER},
	{"--identity", DOCKER | LOCAL},
	{"--stdin", DOCKER | LOCAL},
	{"--raw", DOCKER | LOCAL},
	{"--json", DOCKER | LOCAL},
	{"--report", DOCKER | LOCAL},
	{"--quiet", DOCKER | LOCAL},
	{"--verbose", DOCKER | LOCAL},
	{"--help", DOCKER | LOCAL},
	{"--ttl", DOCKER | LOCAL},
	{"--config", DOCKER | LOCAL},
	{"--profile", DOCKER | LOCAL},
};

int arg_backend(struct args *a, const struct arg_def *d, const char *value)
{
	for (int b = BACKEND_NATIVE; b <= BACKEND_LOCAL; b++) {
		if (strcmp(value, backend_name((enum opt_backend)b)) == 0) {
			a->o->backend = (enum opt_backend)b;
			return 0;
		}
	}
	return ak_err_set(a->err, EINVAL, "%s: \"%.80s\" is not known (use native, docker or local)", d->name, value);
}

int arg_image(struct args *a, const struct arg_def *d, const char *value)
{
	char *copy;

	if (docker_check_image(d->name, value, a->err) < 0)
		return -EINVAL;
	copy = arg_copy(a, value, strlen(value));
	if (!copy)
		return -ENOMEM;
	free(a->o->image);
	a->o->image = copy;
	return 0;
}

static bool in_list(const char *value, const char *const list[])
{
	for (size_t i = 0; list[i]; i++) {
		size_t n = strlen(list[i]);

		if (strncmp(value, list[i], n) == 0 && (list[i][n - 1] == '=' || value[n] == '\0'))
			return true;
	}
	return false;
}

bool args_is_net_name(const char *value, const char *const names[], const char *const later[])
{
	return value[0] && !in_list(value, names) && !in_list(value, later);
}

static unsigned backends_of(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].backends;
	return 0;
}

static void add_name(char *names, const char *name)
{
	size_t len = strlen(names), n = strlen(name);

	if (len + n + 3 > NAMES_MAX)
		return;
	if (len > 0) {
		names[len++] = ',';
		names[len++] = ' ';
	}
	memcpy(names + len, name, n + 1);
}

/* options that only native knows, all of them in one message */
static int check_names(struct args *a, unsigned backend)
{
	char names[NAMES_MAX] = "";
	const struct arg_def *d;

	for (size_t i = 0; (d = arg_row(i)) != NULL; i++) {
		if ((a->given & (UINT64_C(1) << i)) && !(backends_of(d->name) & backend))
			add_name(names, d->name);
	}
	if (!names[0])
		return 0;
	(void)ak_err_set(a->err, EINVAL, "%s cannot be given with --backend %s, which does not know it", names,
			 backend_name(a->o->backend));
	ak_err_hint(a->err, "leave --backend out: the native one knows all options");
	return -EINVAL;
}

static int refuse(struct args *a, const char *option, const char *why, const char *hint)
{
	(void)ak_err_set(a->err, EINVAL, "%s cannot be had with --backend %s: %s", args_said(a, option), backend_name(a->o->backend), why);
	ak_err_hint(a->err, "%s", hint);
	return -EINVAL;
}

static const char without[] = "leave --backend out: the native one can do it";

static bool given(const struct args *a, const char *name)
{
	const struct arg_def *d = arg_by_name(name, strlen(name));

	return d && (a->given & (UINT64_C(1) << arg_index(d)));
}

static int check_local(struct args *a)
{
	const struct exec_opts *o = a->o;

	if (o->write != WRITE_DIRECT)
		return refuse(a, "--write", "nothing keeps the command from writing", without);
	if ((given(a, "--net") || given(a, "--network")) && (o->net != NET_HOST || o->net_name))
		return refuse(a, "--net", "the command has the network that you have", "--net host says so");
	if (o->memory_bytes.given && !o->memory_bytes.max)
		return refuse(a, "--memory", "nothing holds the limit", without);
	if (o->cpu_milli.given && !o->cpu_milli.max)
		return refuse(a, "--cpus", "nothing holds the limit", without);
	if (o->pids.given && !o->pids.max)
		return refuse(a, "--pids", "nothing holds the limit", without);
	return 0;
}

static int check_docker(struct args *a)
{
	const struct exec_opts *o = a->o;

	if (o->write != WRITE_DIRECT && o->write != WRITE_NONE)
		return refuse(a, "--write", "a container has direct and none only", without);
	if (o->net_name && docker_check_network(args_said(a, "--net"), o->net_name, a->err) < 0)
		return -EINVAL;
	if (o->net_name && (a->where & ARG_CREATE))
		return refuse(a, "--net NAME", "a sandbox that stays has none or host", "`ak exec` takes the name of a network");
	if (o->image)
		return 0;
	if (a->where & ARG_CREATE) {
		a->o->image = arg_copy(a, DOCKER_IMAGE_DEFAULT, strlen(DOCKER_IMAGE_DEFAULT));
		return a->o->image ? 0 : -ENOMEM;
	}
	(void)ak_err_set(a->err, EINVAL, "%s docker: no image is named", args_said(a, "--backend"));
	ak_err_hint(a->err, "give one, such as --image " DOCKER_IMAGE_DEFAULT);
	return -EINVAL;
}

static int check_native(struct args *a)
{
	const struct exec_opts *o = a->o;

	if (o->image) {
		(void)ak_err_set(a->err, EINVAL, "%s is not available in this version without --backend docker", args_said(a, "--image"));
		ak_err_hint(a->err, "--rootfs DIR uses an unpacked one");
		return -EINVAL;
	}
	if (o->net_name)
		return ak_err_set(a->err, EINVAL, "%s: \"%.80s\" is not known (use none or host)", args_said(a, "--net"), o->net_name);
	return 0;
}

int args_check_backend(struct args *a)
{
	enum opt_backend b = a->o->backend;
	int rc;

	if (b == BACKEND_NATIVE)
		return check_native(a);
	rc = check_names(a, 1u << b);
	if (rc < 0)
		return rc;
	return b == BACKEND_DOCKER ? check_docker(a) : check_local(a);
}
