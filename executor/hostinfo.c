/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what is known of the caller and the host: ids, name, home, ak's own folders. Process: executor.
 * Privilege: none. */
#include "executor/hostinfo.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_parse.h"
#include "executor/shared/ak_path.h"

#define UID_MAP_MAX 16384 /* at most 340 lines of three numbers: user_namespaces(7) */
#define PASSWD_BYTES_MAX (1u << 20)
#define PASSWD_LINE_MAX 4096u

/* name:password:uid:gid:gecos:home:shell, passwd(5) */
struct passwd_row {
	char *name;
	char *home;
};

static bool field_is_uid(const char *field, size_t len, uid_t uid)
{
	char text[16];
	uint64_t value;

	if (len == 0 || len >= sizeof(text))
		return false;
	memcpy(text, field, len);
	text[len] = '\0';
	return ak_parse_u64(text, 0, UINT32_MAX, &value) == 0 && value == uid;
}

static bool passwd_line(const char *line, size_t len, uid_t uid, struct passwd_row *ret)
{
	const char *f[6];
	size_t n[6];

	for (size_t i = 0; i < 6; i++) {
		if (!ak_field(&line, &len, ':', &f[i], &n[i]))
			return false;
	}
	if (n[0] == 0 || !field_is_uid(f[2], n[2], uid))
		return false;
	ret->name = strndup(f[0], n[0]);
	ret->home = strndup(f[5], n[5]);
	return true;
}

/* getpwuid(3) would pull NSS into a static program; only /etc/passwd is asked, and a caller it does not know
 * is no error */
static void passwd_find(uid_t uid, struct passwd_row *ret)
{
	struct ak_lines lines;
	const char *line;
	size_t len;
	char *text = NULL;

	if (ak_read_file("/etc/passwd", PASSWD_BYTES_MAX, &text, &len) < 0)
		return;
	ak_lines_init(&lines, text, len, PASSWD_LINE_MAX);
	while (ak_lines_next(&lines, &line, &len)) {
		if (passwd_line(line, len, uid, ret))
			break;
	}
	free(text);
}

/* Resolve @path; @known is resolved already, and what lies directly in it needs no walk from the root */
static char *resolve(const char *path, const char *known)
{
	return known && strcmp(path, known) == 0 ? strdup(known) : realpath(path, NULL);
}

static bool exists(const char *path, const char *known)
{
	return (known && strcmp(path, known) == 0) || access(path, F_OK) == 0;
}

/*
 * The longest prefix of @path that exists is resolved, the rest is kept; takes @path. Whether a prefix exists
 * is asked first: the folders are often missing, and access(2) is one call where realpath(3) makes one for
 * each component.
 */
static char *resolve_existing(char *path, const char *known)
{
	char head[PATH_MAX] AK_UNINIT;
	char *real;
	size_t len = path ? strlen(path) : 0;

	if (!path || len >= sizeof(head))
		return path;
	memcpy(head, path, len + 1);
	while (!(real = exists(head, known) ? resolve(head, known) : NULL) && len > 1) {
		while (len > 1 && head[len - 1] != '/')
			len--;
		while (len > 1 && head[len - 1] == '/')
			len--;
		head[len] = '\0';
	}
	if (!real)
		return path;

	char *joined = NULL;
	const char *rest = len > 1 ? path + len : strcmp(path, "/") == 0 ? "" : path;

	if (asprintf(&joined, "%s%s", *rest && strcmp(real, "/") == 0 ? "" : real, rest) < 0)
		joined = NULL;
	free(real);
	free(path);
	return joined;
}

static const char *absolute_or_null(const char *value)
{
	return value && value[0] == '/' ? value : NULL;
}

static char *find_home(const struct hostinfo *h, const struct passwd_row *row)
{
	const char *home = absolute_or_null(hostinfo_env(h, "HOME"));
	char *text;

	if (!home)
		home = absolute_or_null(row->home);
	text = ak_path_normalize(NULL, home ? home : "/nonexistent");
	if (!text && errno != ENOMEM)
		text = strdup("/nonexistent");
	return resolve_existing(text, NULL);
}

/* takes nothing; NULL for a row without a home */
static char *passwd_home(const struct passwd_row *row, const char *known)
{
	const char *home = absolute_or_null(row->home);

	if (home && known && strcmp(home, known) == 0)	/* as it is for most callers: resolved already, to itself */
		return strdup(home);
	return home ? resolve_existing(ak_path_normalize(NULL, home), NULL) : NULL;
}

char *hostinfo_home_of(uid_t uid)
{
	struct passwd_row row = {0};
	char *home;

	passwd_find(uid, &row);
	home = passwd_home(&row, NULL);
	free(row.name);
	free(row.home);
	return home;
}

/* XDG base directories count only when absolute (XDG Base Directory Specification, "Basics") */
static char *own_dir(const struct hostinfo *h, const char *variable, const char *base, const char *below)
{
	const char *xdg = absolute_or_null(hostinfo_env(h, variable));
	char *joined = NULL, *text;

	if (asprintf(&joined, "%s%s/ak", xdg ? xdg : base, xdg ? "" : below) < 0)
		return NULL;
	text = ak_path_normalize(NULL, joined);
	free(joined);
	return resolve_existing(text, h->home);
}

static char *find_runtime_dir(const struct hostinfo *h)
{
	char *text = NULL;

	if (absolute_or_null(hostinfo_env(h, "XDG_RUNTIME_DIR")))
		return own_dir(h, "XDG_RUNTIME_DIR", "/", "");
	if (asprintf(&text, "%s/run", h->state_dir) < 0)
		return NULL;
	return text;
}

/* getcwd(2) gives "(unreachable)/..." when the folder lies outside the caller's root */
static char *find_cwd(void)
{
	char *cwd = getcwd(NULL, 0);

	if (cwd && cwd[0] != '/') {
		free(cwd);
		cwd = NULL;
	}
	return cwd;
}

static size_t count_groups(gid_t gid)
{
	gid_t list[256];
	int n = getgroups((int)(sizeof(list) / sizeof(list[0])), list);
	size_t others = 0;

	if (n < 0)
		return errno == EINVAL ? (size_t)getgroups(0, NULL) : 0;
	for (int i = 0; i < n; i++)
		others += list[i] != gid;
	return others;
}

const char *hostinfo_env(const struct hostinfo *h, const char *name)
{
	size_t len = strlen(name);

	for (char *const *e = h->environ; e && *e; e++) {
		if ((*e)[0] == name[0] && strncmp(*e, name, len) == 0 && (*e)[len] == '=')
			return *e + len + 1;
	}
	return NULL;
}

static bool all_known(const struct hostinfo *h)
{
	return h->user && h->home && h->state_dir && h->config_dir && h->runtime_dir;
}

/*
 * Effective uid 0 is host root unless a user namespace maps it to somebody else: a rootless container or
 * `unshare -r`. The second column is in terms of the parent namespace, so 0 is taken for host root there as
 * well: that errs to the safe side.
 */
static bool is_host_root(uid_t uid)
{
	char *text = NULL, *end;
	size_t len;
	bool root = uid == 0;

	if (root && ak_read_file("/proc/self/uid_map", UID_MAP_MAX, &text, &len) == 0 &&
	    strtoul(text, &end, 10) == 0)
		root = strtoul(end, NULL, 10) == 0;
	free(text);
	return root;
}

int hostinfo_get(char *const *env, struct hostinfo *ret, struct ak_err *err)
{
	struct hostinfo h = {.uid = geteuid(), .gid = getegid(), .environ = env};
	struct passwd_row row = {0};
	const char *path = hostinfo_env(&h, "PATH");

	passwd_find(h.uid, &row);
	h.root = is_host_root(h.uid);
	h.ngroups = count_groups(h.gid);
	h.home = find_home(&h, &row);
	h.user = row.name ? row.name : strdup("user");
	h.passwd_home = passwd_home(&row, h.home);
	free(row.home);
	h.cwd = find_cwd();
	h.path = path ? strdup(path) : NULL;
	if (h.home) {
		h.state_dir = own_dir(&h, "XDG_STATE_HOME", h.home, "/.local/state");
		h.config_dir = own_dir(&h, "XDG_CONFIG_HOME", h.home, "/.config");
	}
	if (h.state_dir)
		h.runtime_dir = find_runtime_dir(&h);
	if (!all_known(&h) || (path && !h.path)) {
		hostinfo_release(&h);
		return ak_err_set(err, ENOMEM, "not enough memory to look at the host");
	}
	*ret = h;
	return 0;
}

void hostinfo_release(struct hostinfo *h)
{
	free(h->user);
	free(h->home);
	free(h->passwd_home);
	free(h->cwd);
	free(h->path);
	free(h->state_dir);
	free(h->config_dir);
	free(h->runtime_dir);
	*h = (struct hostinfo){0};
}

int hostinfo_make_path(const char *path)
{
	char part[PATH_MAX] AK_UNINIT;
	int first = 0;

	for (const char *p = path + 1; *p; p++) {
		size_t n = (size_t)(p - path);

		if (*p != '/' || n >= sizeof(part))
			continue;
		memcpy(part, path, n);
		part[n] = '\0';
		/* mostly there already; the last step tells */
		if (mkdir(part, 0700) < 0 && errno != EEXIST && first == 0)
			first = -errno;
	}
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return first ? first : -errno;
	return 0;
}

bool hostinfo_make_own(const struct hostinfo *h, const char *workspace)
{
	char *real = realpath(workspace, NULL);

	const char *const own[] = {h->state_dir, h->config_dir};
	bool made = false;

	for (size_t i = 0; real && i < 2; i++) {
		if (!ak_path_below(own[i], real) || access(own[i], F_OK) == 0)
			continue;
		(void)hostinfo_make_path(own[i]);
		made = true;
	}
	free(real);
	return made;
}
