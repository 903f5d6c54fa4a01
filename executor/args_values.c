/* SPDX-License-Identifier: Apache-2.0 */
/* Options of `ak exec` that set one value: choices, limits, texts. Process: executor. Privilege: none. */
#include "executor/args_int.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/opts.h"
#include "executor/runtime.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_init_proto.h"
#include "executor/shared/ak_parse.h"

/* A value is shown in messages as %.VALUE_SHOWN, so that the explanation behind it always fits */
#define Q "\"%.80s\""

/* tried: ak-init and its set-up take half a MiB with two processors; the kernel charges in steps of 64 pages a processor */
#define MEMORY_MIN ((uint64_t)4 << 20)
#define PIDS_MAX 4194304u	/* PID_MAX_LIMIT: linux/threads.h */
#define NOFILE_MAX 1073741816u	/* highest fs.nr_open of a 64-bit kernel: fs/file.c, sysctl_nr_open_max */
#define CPU_MILLI_MAX 8192000u	/* NR_CPUS of the largest x86-64 kernel, times 1000 */
#define POOL_MAX 16u		/* prepared sandboxes of one executor; each holds two processes and its mounts */
#define ID_MAX (UINT32_MAX - 1) /* (uid_t)-1 means "unchanged" */

static void *field_of(const struct args *a, const struct arg_def *d)
{
	return (char *)a->o + d->field;
}

int arg_flag(struct args *a, const struct arg_def *d, const char *value)
{
	(void)value;
	*(bool *)field_of(a, d) = true;
	return 0;
}

int arg_help(struct args *a, const struct arg_def *d, const char *value)
{
	(void)a;
	(void)d;
	(void)value;
	return 1;
}

int arg_shell(struct args *a, const struct arg_def *d, const char *value)
{
	(void)d;
	a->shell_text = value;
	a->o->shell = true;
	return 0;
}

/* The last one given counts */
static int replace_text(struct args *a, const struct arg_def *d, const char *value, char **slot)
{
	if (value[0] == '\0')
		return ak_err_set(a->err, EINVAL, "%s: the value is empty", d->name);

	char *copy = arg_copy(a, value, strlen(value));

	if (!copy)
		return -ENOMEM;
	free(*slot);
	*slot = copy;
	return 0;
}

int arg_text(struct args *a, const struct arg_def *d, const char *value)
{
	return replace_text(a, d, value, field_of(a, d));
}

int arg_workspace(struct args *a, const struct arg_def *d, const char *value)
{
	int rc = replace_text(a, d, value, &a->o->workspace);

	if (rc == 0)
		a->o->workspace_given = true;
	return rc;
}

int arg_rootfs(struct args *a, const struct arg_def *d, const char *value)
{
	if (strcmp(value, "host") != 0)
		return replace_text(a, d, value, &a->o->rootfs);
	free(a->o->rootfs);
	a->o->rootfs = NULL;
	return 0;
}

int arg_allow_protected(struct args *a, const struct arg_def *d, const char *value)
{
	size_t n = 0;

	while (a->o->allow_protected && a->o->allow_protected[n])
		n++;

	char **list = reallocarray(a->o->allow_protected, n + 2, sizeof(*list));

	if (!list)
		return ak_err_sys(a->err, ENOMEM, "%s", d->name);
	list[n] = NULL;
	list[n + 1] = NULL;
	a->o->allow_protected = list;
	return replace_text(a, d, value, &list[n]);
}

#define CHOICE_MAX 64u

/* "a, b or c" */
static const char *choice(const char *const names[], char ret[static CHOICE_MAX])
{
	size_t len = 0;

	for (size_t i = 0; names[i]; i++)
		len += (size_t)snprintf(ret + len, len < CHOICE_MAX ? CHOICE_MAX - len : 0, "%s%s",
					i == 0 ? "" : names[i + 1] ? ", " : " or ", names[i]);
	return ret;
}

/*
 * Index of @value in @names, a NULL-terminated list. @later: a value that the option will know one day
 * ("cow"), or the head of one ("allow="); NULL-terminated too.
 */
static int pick(struct args *a, const struct arg_def *d, const char *value, const char *const names[],
		const char *const later[])
{
	char use[CHOICE_MAX];

	for (int i = 0; names[i]; i++) {
		if (strcmp(value, names[i]) == 0)
			return i;
	}
	for (size_t i = 0; later[i]; i++) {
		size_t n = strlen(later[i]);

		if (strncmp(value, later[i], n) == 0 && (later[i][n - 1] == '=' || value[n] == '\0'))
			return ak_err_set(a->err, EINVAL,
					  "%s: " Q " is not available in this version (use %s)", d->name, value,
					  choice(names, use));
	}
	return ak_err_set(a->err, EINVAL, "%s: " Q " is not known (use %s)", d->name, value, choice(names, use));
}

int arg_write(struct args *a, const struct arg_def *d, const char *value)
{
	static const enum opt_write modes[] = {WRITE_DIRECT, WRITE_COW, WRITE_NONE};
	int i = pick(a, d, value, (const char *const[]){"direct", "cow", "none", NULL}, (const char *const[]){NULL});

	if (i >= 0)
		a->o->write = modes[i];
	return i < 0 ? i : 0;
}

int arg_apply(struct args *a, const struct arg_def *d, const char *value)
{
	int i = pick(a, d, value, (const char *const[]){"always", "never", NULL}, (const char *const[]){NULL});

	if (i < 0)
		return i;
	a->o->apply = i == 0;
	return 0;
}

int arg_net(struct args *a, const struct arg_def *d, const char *value)
{
	static const char *const names[] = {"none", "host", NULL}, *const later[] = {"allow=", "nat", NULL};
	int i;

	free(a->o->net_name);
	a->o->net_name = NULL;
	/* the name of a network of docker's: whether docker is asked for, the end of the line tells */
	if (args_is_net_name(value, names, later)) {
		a->o->net_name = arg_copy(a, value, strlen(value));
		return a->o->net_name ? 0 : -ENOMEM;
	}
	i = pick(a, d, value, names, later);
	if (i >= 0)
		a->o->net = i == 0 ? NET_NONE : NET_HOST;
	return i < 0 ? i : 0;
}

int arg_rootfs_write(struct args *a, const struct arg_def *d, const char *value)
{
	int i = pick(a, d, value, (const char *const[]){"none", "tmp", NULL}, (const char *const[]){NULL});

	if (i >= 0)
		a->o->rootfs_write = i == 0 ? ROOTFS_WRITE_NONE : ROOTFS_WRITE_TMP;
	return i < 0 ? i : 0;
}

int arg_identity(struct args *a, const struct arg_def *d, const char *value)
{
	int i = pick(a, d, value, (const char *const[]){"auto", "root", NULL}, (const char *const[]){NULL});

	if (i >= 0)
		a->o->identity = i == 0 ? IDENTITY_AUTO : IDENTITY_ROOT;
	return i < 0 ? i : 0;
}

int arg_isolation(struct args *a, const struct arg_def *d, const char *value)
{
	int i = pick(a, d, value, (const char *const[]){"namespaces", "landlock", NULL}, (const char *const[]){NULL});

	if (i >= 0)
		a->o->isolation = i == 0 ? ISOLATION_NAMESPACES : ISOLATION_LANDLOCK;
	return i < 0 ? i : 0;
}

int arg_seccomp(struct args *a, const struct arg_def *d, const char *value)
{
	if (strcmp(value, "default") == 0)
		a->o->seccomp = "default";
	else if (strcmp(value, "strict") == 0)
		a->o->seccomp = "strict";
	else if (strcmp(value, "nested") == 0)
		a->o->seccomp = "nested";
	else
		a->o->seccomp = NULL;
	a->seccomp_given = true;
	free(a->o->seccomp_file);
	a->o->seccomp_file = NULL;
	if (a->o->seccomp)
		return 0;
	if (!*value)
		return ak_err_set(a->err, EINVAL, "%s: a profile or the path of one is expected", d->name);
	a->o->seccomp_file = strdup(value);
	return a->o->seccomp_file ? 0 : ak_err_set(a->err, ENOMEM, "out of memory");
}

/* What to do instead of 0, which never means "unlimited" */
static int refuse_zero(struct args *a, const struct arg_def *d, const char *instead)
{
	(void)ak_err_set(a->err, EINVAL, "%s: 0 would allow nothing", d->name);
	ak_err_hint(a->err, "%s", instead);
	return -EINVAL;
}

static const char use_max[] = "`max` lifts the limit";
static const char leave_out[] = "leave the option out for no limit";

static int parse_size(struct args *a, const struct arg_def *d, const char *value, const char *for_zero,
		      uint64_t *ret)
{
	uint64_t v;
	int rc = ak_parse_size(value, &v);

	if (rc == -ERANGE)
		return ak_err_set(a->err, EINVAL, "%s: " Q " is too large", d->name, value);
	if (rc < 0)
		return ak_err_set(a->err, EINVAL,
				  "%s: " Q " is not a size (use bytes or k, m, g, as in 512m)", d->name,
				  value);
	if (v == 0)
		return refuse_zero(a, d, for_zero);
	*ret = v;
	return 0;
}

static int parse_count(struct args *a, const struct arg_def *d, const char *value, uint64_t min, uint64_t max,
		       const char *for_zero, uint64_t *ret)
{
	uint64_t v;

	if (ak_parse_u64(value, 0, max, &v) < 0 || (v < min && v != 0) || (v == 0 && !for_zero))
		return ak_err_set(a->err, EINVAL, "%s: " Q " is not a whole number from %llu to %llu",
				  d->name, value, (unsigned long long)min, (unsigned long long)max);
	if (v == 0)
		return refuse_zero(a, d, for_zero);
	*ret = v;
	return 0;
}

static int parse_duration(struct args *a, const struct arg_def *d, const char *value, uint64_t *ret_ms)
{
	int rc = ak_parse_duration(value, ret_ms);

	if (rc == -ERANGE)
		return ak_err_set(a->err, EINVAL, "%s: " Q " is too long (at most ten years)", d->name,
				  value);
	if (rc < 0)
		return ak_err_set(a->err, EINVAL,
				  "%s: " Q
				  " is not a duration (use seconds or ms, s, m, h, as in 1.5, 500ms, 5m)",
				  d->name, value);
	return 0;
}

static bool lifted(struct limit_opt *limit, const char *value)
{
	if (strcmp(value, "max") != 0)
		return false;
	*limit = (struct limit_opt){.given = true, .max = true};
	return true;
}

int arg_memory(struct args *a, const struct arg_def *d, const char *value)
{
	struct limit_opt limit = {.given = true};

	if (lifted(&a->o->memory_bytes, value))
		return 0;

	int rc = parse_size(a, d, value, use_max, &limit.value);

	if (rc == 0 && limit.value < MEMORY_MIN) {
		(void)ak_err_set(a->err, EINVAL, "%s: " Q " is less than the sandbox itself needs", d->name, value);
		ak_err_hint(a->err, "give 4m at least, or max");
		return -EINVAL;
	}
	if (rc == 0)
		a->o->memory_bytes = limit;
	return rc;
}

int arg_pids(struct args *a, const struct arg_def *d, const char *value)
{
	struct limit_opt limit = {.given = true};

	if (lifted(&a->o->pids, value))
		return 0;

	int rc = parse_count(a, d, value, 1, PIDS_MAX, use_max, &limit.value);

	if (rc == 0)
		a->o->pids = limit;
	return rc;
}

int arg_cpus(struct args *a, const struct arg_def *d, const char *value)
{
	struct limit_opt limit = {.given = true};

	if (lifted(&a->o->cpu_milli, value))
		return 0;

	int rc = ak_parse_milli(value, &limit.value);

	if (rc == -ERANGE || (rc == 0 && limit.value > CPU_MILLI_MAX))
		return ak_err_set(a->err, EINVAL, "%s: " Q " is too large (at most %u)", d->name, value,
				  CPU_MILLI_MAX / 1000);
	if (rc < 0)
		return ak_err_set(a->err, EINVAL,
				  "%s: " Q
				  " is not a number of processors (use one such as 2 or 0.5, or max)",
				  d->name, value);
	if (limit.value == 0)
		return refuse_zero(a, d, use_max);
	a->o->cpu_milli = limit;
	return 0;
}

int arg_nofile(struct args *a, const struct arg_def *d, const char *value)
{
	return parse_count(a, d, value, OPT_NOFILE_MIN, NOFILE_MAX, leave_out, &a->o->nofile);
}

int arg_fsize(struct args *a, const struct arg_def *d, const char *value)
{
	return parse_size(a, d, value, leave_out, &a->o->fsize_bytes);
}

int arg_disk(struct args *a, const struct arg_def *d, const char *value)
{
	return parse_size(a, d, value, leave_out, &a->o->disk_bytes);
}

int arg_max_output(struct args *a, const struct arg_def *d, const char *value)
{
	a->max_output_given = true;
	return parse_size(a, d, value, leave_out, &a->o->max_output_bytes);
}

int arg_duration(struct args *a, const struct arg_def *d, const char *value)
{
	uint64_t ms = 0;
	int rc = parse_duration(a, d, value, &ms);

	if (rc < 0)
		return rc;
	if (ms == 0)
		return refuse_zero(a, d, leave_out);
	*(uint64_t *)field_of(a, d) = ms;
	return 0;
}

/* 0 is a good value here: kill at once */
int arg_kill_after(struct args *a, const struct arg_def *d, const char *value)
{
	return parse_duration(a, d, value, &a->o->kill_after_ms);
}

int arg_user(struct args *a, const struct arg_def *d, const char *value)
{
	const char *colon = strchr(value, ':');
	size_t n = colon ? (size_t)(colon - value) : strlen(value);
	char uid_text[16] = "";
	uint64_t uid, gid = 0;

	if (n < sizeof(uid_text))
		memcpy(uid_text, value, n);
	if (ak_parse_u64(uid_text, 0, ID_MAX, &uid) < 0 ||
	    (colon && ak_parse_u64(colon + 1, 0, ID_MAX, &gid) < 0))
		return ak_err_set(a->err, EINVAL, "%s: " Q " is not UID[:GID] (numbers from 0 to %u)",
				  d->name, value, ID_MAX);
	a->o->user_given = true;
	a->o->uid = (uint32_t)uid;
	a->o->gid_given = colon != NULL;
	a->o->gid = (uint32_t)gid;
	return 0;
}

/* Keeps the list sorted; a number given twice counts once */
int arg_fd(struct args *a, const struct arg_def *d, const char *value)
{
	struct exec_opts *o = a->o;
	uint64_t v = 0;
	int rc = parse_count(a, d, value, 3, INT_MAX, NULL, &v);
	size_t at = 0;

	if (rc < 0)
		return rc;
	while (at < o->nfds && o->fds[at] < (int)v)
		at++;
	if (at < o->nfds && o->fds[at] == (int)v)
		return 0;
	if (o->nfds == AK_INIT_FDS_MAX)
		return ak_err_set(a->err, EINVAL, "%s: more than %u descriptors", d->name, AK_INIT_FDS_MAX);

	int *fds = reallocarray(o->fds, o->nfds + 1, sizeof(*fds));

	if (!fds)
		return ak_err_sys(a->err, ENOMEM, "%s", d->name);
	memmove(fds + at + 1, fds + at, (o->nfds - at) * sizeof(*fds));
	fds[at] = (int)v;
	o->fds = fds;
	o->nfds++;
	return 0;
}

int arg_in(struct args *a, const struct arg_def *d, const char *value)
{
	if (runtime_check_name(value, a->err) < 0)
		return ak_err_wrap(a->err, "%s", d->name);
	return replace_text(a, d, value, &a->o->in);
}

int arg_ttl(struct args *a, const struct arg_def *d, const char *value)
{
	uint64_t ms = 0;
	int rc = parse_duration(a, d, value, &ms);

	if (rc == 0 && ms == 0)
		return refuse_zero(a, d, "the default is one hour; the longest is ten years");
	if (rc == 0)
		a->o->ttl_ms = ms;
	return rc;
}

int arg_pool(struct args *a, const struct arg_def *d, const char *value)
{
	uint64_t v;

	if (ak_parse_u64(value, 0, POOL_MAX, &v) < 0)
		return ak_err_set(a->err, EINVAL, "%s: " Q " is not a whole number from 0 to %u", d->name, value, POOL_MAX);
	a->o->pool = (unsigned)v;
	return 0;
}
