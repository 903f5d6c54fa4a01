/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a named sandbox and greets its executor. Process: the commands that talk to one. Privilege: the caller's. */
#include "executor/named.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

static int no_folder(const char *name, struct ak_err *err)
{
	(void)ak_err_set(err, ENOENT, "no sandbox is called %s", name);
	ak_err_hint(err, "`ak create %s` makes one", name);
	return -ENOENT;
}

int named_find(struct named *n, const char *name, char *const env[], struct ak_err *err)
{
	int r = hostinfo_get(env, &n->host, err);

	n->name = name;
	if (r == 0)
		r = runtime_open(&n->host, false, &n->rt, err);
	if (r == -ENOENT)
		return no_folder(name, err);
	return r < 0 ? r : runtime_connect(&n->rt, name, &n->peer, err);
}

static int other_version(const struct named *n, struct ak_err *err)
{
	struct runtime_facts f = { 0 };

	if (runtime_read_facts(&n->rt, n->name, &f, NULL) < 0)
		return ak_err_wrap(err, "sandbox %s", n->name);
	(void)ak_err_set(err, EPROTO, "sandbox %s was made by ak %s, and this is ak " AK_VERSION ": they do not understand each other",
			 n->name, f.version);
	ak_err_hint(err, "end it with `ak rm %s` and make it again", n->name);
	runtime_facts_release(&f);
	return -EPROTO;
}

int named_open(struct named *n, const char *name, char *const env[], struct ak_err *err)
{
	int r = named_find(n, name, env, err);

	if (r < 0)
		return r;
	r = ak_connect_fd(ak_fd_take(&n->peer.fd), "ak", &n->cl, err);
	if (r == -EPROTO)
		return other_version(n, err);
	return r < 0 ? ak_err_wrap(err, "sandbox %s", name) : 0;
}

void named_release(struct named *n)
{
	ak_close(n->cl);
	n->cl = NULL;
	runtime_peer_close(&n->peer);
	runtime_close(&n->rt);
	hostinfo_release(&n->host);
}

static void complain(const struct ak_err *err)
{
	struct ak_buf b = { 0 };

	ak_buf_printf(&b, "ak: %s%s%s\n", err->msg, err->hint[0] ? " - " : "", err->hint);
	if (!b.failed)
		(void)ak_write_all(STDERR_FILENO, b.data, b.len);	/* nobody left to tell when stderr is gone */
	ak_buf_release(&b);
}

int named_fail(const struct ak_err *err)
{
	complain(err);
	return 1;
}

int named_usage(const struct ak_err *err)
{
	complain(err);
	return 2;
}

int named_print(const char *text, size_t len)
{
	struct ak_err err = { 0 };
	int r = ak_write_all(STDOUT_FILENO, text, len);

	if (r == 0)
		return 0;
	(void)ak_err_sys(&err, -r, "write to standard output");
	return named_fail(&err);
}
