/* SPDX-License-Identifier: Apache-2.0 */
/* A user's own seccomp profile becomes a filter of the plan. Process: executor. Privilege: the caller's. */
#include "executor/seccomp_user.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "executor/companion.h"
#include "executor/hostinfo.h"
#include "executor/plan.h"
#include "executor/shared/ak_canary.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_filter_file.h"
#include "seccomp/own_arch.h"
#include "seccomp/sim.h"

struct bytes {
	char *p;	/* owned */
	size_t n;
};

static int read_whole(int fd, size_t max, struct bytes *ret)
{
	size_t n = 0;
	char *p = malloc(max + 1);

	while (p && n <= max) {
		ssize_t k = read(fd, p + n, max + 1 - n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0) {
			int e = errno;

			free(p);
			return -e;
		}
		if (k == 0)
			break;
		n += (size_t)k;
	}
	if (!p || n > max) {
		free(p);
		return p ? -E2BIG : -ENOMEM;
	}
	*ret = (struct bytes){ p, n };
	return 0;
}

static int read_profile(const char *who, const char *path, struct bytes *ret, struct ak_err *err)
{
	AK_AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int rc;

	if (fd < 0 && errno == ENOENT && !strchr(path, '/')) {
		(void)ak_err_set(err, ENOENT, "%s: %s is no profile of ak's and no file", who, path);
		ak_err_hint(err, "the profiles are default and strict; anything else is the path of a Docker-format JSON file");
		return -ENOENT;
	}
	if (fd < 0)
		return ak_err_sys(err, errno, "%s: open %s", who, path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return ak_err_set(err, EINVAL, "%s: %s is not a regular file", who, path);
	rc = read_whole(fd, AK_FILTER_SOURCE_MAX, ret);
	if (rc == -E2BIG)
		return ak_err_set(err, E2BIG, "%s: %s is longer than 1 MiB: no profile needs that", who, path);
	return rc < 0 ? ak_err_sys(err, -rc, "%s: read %s", who, path) : 0;
}

int seccomp_user_read(const char *who, const char *path, char **ret, size_t *ret_len, struct ak_err *err)
{
	struct bytes b = { 0 };
	int rc = read_profile(who, path, &b, err);

	if (rc == 0) {
		*ret = b.p;
		*ret_len = b.n;
	}
	return rc;
}

/* ---- the cache ---- */

static int cache_dir(const struct hostinfo *h, bool make)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s/seccomp", h->state_dir ? h->state_dir : "");
	struct stat st;
	int fd;

	if (!h->state_dir || n >= (int)sizeof(path))
		return -ENOENT;
	if (make)
		for (char *p = path + 1; *p; p++) {
			if (*p != '/')
				continue;
			*p = '\0';
			(void)mkdir(path, 0700);	/* whatever fails shows when the last one is opened */
			*p = '/';
		}
	if (make)
		(void)mkdir(path, 0700);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && st.st_uid == h->uid && (st.st_mode & 077) == 0)
		return fd;
	(void)close(fd);
	return -EPERM;
}

static void entry_name(const struct bytes *profile, char ret[32])
{
	(void)snprintf(ret, 32, "%016llx", (unsigned long long)ak_fnv64(profile->p, profile->n));
}

/* of this ak, for this kernel, and a program that the kernel takes */
static bool usable(const struct ak_filter_file *f, const struct utsname *u)
{
	struct sock_filter insns[AK_FILTER_INSNS_MAX];

	if (strcmp(f->maker, AK_VERSION) != 0 || strcmp(f->arch, u->machine) != 0 || strcmp(f->release, u->release) != 0)
		return false;
	memcpy(insns, f->insns, (size_t)f->count * sizeof(insns[0]));	/* which is not aligned */
	return bpf_sim_check(insns, f->count);
}

/* Return: true when @ret_file (which points into @ret_bytes) is this profile's, made by this ak for this kernel */
static bool cache_get(const struct hostinfo *h, const struct bytes *profile, const struct utsname *u, struct bytes *ret_bytes,
		      struct ak_filter_file *ret_file)
{
	AK_AUTO_FD dir = cache_dir(h, false);
	AK_AUTO_FD fd = -1;
	char name[32];

	if (dir < 0)
		return false;
	entry_name(profile, name);
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || read_whole(fd, AK_FILTER_FILE_MAX, ret_bytes) < 0)
		return false;
	return ak_filter_file_decode(ret_bytes->p, ret_bytes->n, ret_file) == 0 && usable(ret_file, u) &&
	       ret_file->source && profile->p && ret_file->source_len == profile->n && memcmp(ret_file->source, profile->p, profile->n) == 0;
}

/* best effort: without it the next run compiles again */
static void cache_put(const struct hostinfo *h, const struct bytes *profile, struct ak_filter_file f)
{
	AK_AUTO_FD dir = cache_dir(h, true);
	AK_AUTO_FD fd = -1;
	char name[32], temp[64];
	char *buf = malloc(AK_FILTER_FILE_MAX);
	long n = -1;

	if (dir >= 0 && buf) {
		f.source = profile->p;
		f.source_len = profile->n;
		n = ak_filter_file_encode(&f, buf, AK_FILTER_FILE_MAX);
	}
	if (n > 0) {
		entry_name(profile, name);
		(void)snprintf(temp, sizeof(temp), ".%s.%d", name, getpid());
		fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	}
	if (fd >= 0 && (ak_write_all(fd, buf, (size_t)n) < 0 || renameat(dir, temp, dir, name) < 0))
		(void)unlinkat(dir, temp, 0);
	free(buf);
}

/* ---- the filter ---- */

uint32_t seccomp_user_canaries(const uint8_t *insns, uint32_t count)
{
	uint32_t skip = 0;

	for (uint32_t i = 0; i < AK_CANARIES; i++) {
		struct seccomp_data d = { .nr = (int)ak_canaries[i].nr, .arch = SECCOMP_OWN_ARCH };
		uint32_t a;

		for (int k = 0; k < 3; k++)
			d.args[k] = (uint64_t)ak_canaries[i].arg[k];
		a = bpf_sim_run((const struct sock_filter *)(const void *)insns, count, &d) & SECCOMP_RET_ACTION_FULL;
		if (a != SECCOMP_RET_ALLOW && a != SECCOMP_RET_ERRNO)
			skip |= 1u << i;
	}
	return skip;
}

static int put_plan(const struct ak_filter_file *f, struct plan *plan, struct ak_err *err)
{
	plan->filter = malloc((size_t)f->count * 8);
	if (!plan->filter)
		return ak_err_set(err, ENOMEM, "out of memory");
	memcpy(plan->filter, f->insns, (size_t)f->count * 8);
	plan->filter_count = f->count;
	plan->canary_skip = seccomp_user_canaries(plan->filter, f->count);
	for (uint32_t i = 0; i < f->n_notes; i++)
		plan_warn(plan, "seccomp profile: %s", f->notes[i]);
	return 0;
}

static int compile(const char *path, const struct bytes *profile, const struct utsname *u, struct bytes *ret_bytes,
		   struct ak_filter_file *ret_file, struct ak_err *err)
{
	const char *argv[] = { "ak-policy", "compile", path, NULL };
	int rc = companion_run(argv, profile->p, profile->n, AK_FILTER_FILE_MAX, &ret_bytes->p, &ret_bytes->n, err);

	if (rc < 0)
		return rc;
	if (ak_filter_file_decode(ret_bytes->p, ret_bytes->n, ret_file) < 0 || !usable(ret_file, u)) {
		(void)ak_err_set(err, EBADMSG, "ak-policy gave an answer that ak does not understand");
		ak_err_hint(err, "ak and ak-policy are of different versions: install both anew");
		return -EBADMSG;
	}
	return 0;
}

int seccomp_user_load(const char *path, bool keep, const struct hostinfo *h, struct plan *plan, struct ak_err *err)
{
	struct bytes profile = { 0 }, compiled = { 0 };
	struct ak_filter_file f = { 0 };
	struct utsname u;
	int rc = read_profile("--seccomp", path, &profile, err);

	if (rc == 0 && uname(&u) < 0)
		rc = ak_err_sys(err, errno, "uname");
	if (rc == 0 && !cache_get(h, &profile, &u, &compiled, &f)) {
		free(compiled.p);
		compiled = (struct bytes){ 0 };
		rc = compile(path, &profile, &u, &compiled, &f, err);
		if (rc == 0 && keep)
			cache_put(h, &profile, f);
	}
	if (rc == 0)
		rc = put_plan(&f, plan, err);
	free(compiled.p);
	free(profile.p);
	return rc;
}
