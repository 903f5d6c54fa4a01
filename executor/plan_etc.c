/* SPDX-License-Identifier: Apache-2.0 */
/* Plans /etc of the host view: an allow-list of the host's, and files of our own. Process: executor.
 * Privilege: none. */
#include "executor/plan_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/git_ident.h"
#include "executor/opts.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_dir.h"
#include "executor/shared/ak_parse.h"
#include "executor/shared/ak_path.h"

#define RESOLV_BYTES_MAX (64u << 10)
#define GITCONFIG_BYTES_MAX (64u << 10)

enum etc_flags {
	ETC_PREFIX = 1u << 0, /* every name that starts so */
	ETC_SCAN = 1u << 1,   /* a folder in which an entry may be readable for a group only */
};

/*
 * What of /etc programs need to build and run. Never anything that may hold a secret or names the machine
 * (shadow, ssh, machine-id, apt and npm logins), and no start-up files of shells: they would set PATH again.
 * Each entry that exists costs about 10 us at every start. Sorted by name: the search ends behind its first letter.
 */
static const struct {
	const char *name;
	uint32_t flags;
} etc_table[] = {
	{"ImageMagick", ETC_PREFIX | ETC_SCAN},
	{"R", ETC_SCAN},
	{"alpine-release", 0},
	{"alternatives", 0},	/* what /usr/bin/cc and others lead through */
	{"chromium.d", ETC_SCAN}, /* flags that Debian's start script reads, and fails without */
	{"crypto-policies", 0}, /* included by Fedora's openssl.cnf */
	{"dotnet", ETC_SCAN},
	{"fonts", 0},
	{"fpc", ETC_PREFIX},
	{"gitconfig", 0},
	{"gnucobol", 0},
	{"java", ETC_PREFIX | ETC_SCAN},
	{"jvm", ETC_PREFIX},
	{"ld-musl-aarch64.path", 0}, /* musl's library path */
	{"ld-musl-x86_64.path", 0},
	{"ld.so.cache", 0},
	{"localtime", 0},
	{"lsb-release", 0},
	{"maven", ETC_SCAN},
	{"mime.types", 0},
	{"mono", ETC_SCAN},
	{"os-release", 0},
	{"php", ETC_SCAN},
	{"pki", ETC_SCAN}, /* certificates of Fedora and kin */
	{"protocols", 0},
	{"redhat-release", 0},
	{"services", 0},
	{"sgml", 0}, /* catalogs, without which document builds go to the network */
	{"ssl", ETC_SCAN},
	{"static", 0}, /* NixOS: what /etc's links lead through */
	{"texmf", 0},
	{"xml", 0},
};

/* Private keys and the machine's identity inside folders that are shown */
static const char *const etc_hidden[] = {
	"/etc/ssl/private",	    "/etc/pki/tls/private", "/etc/pki/consumer",
	"/etc/pki/entitlement",	    "/etc/pki/CA/private",  "/etc/pki/entitlement-host",
	"/etc/pki/rpm-gpg/private",
};

static void hide(struct plan_ctx *c, const char *path)
{
	mount_add(&c->hides, &(struct plan_mount){.kind = PM_HIDE, .dst = (char *)path});
}

void plan_group_only(struct plan_ctx *c, const char *dir)
{
	char path[PATH_MAX] AK_UNINIT;
	struct dirent *e;
	struct stat st;
	DIR *d = opendir(dir);

	if (!d)
		return;
	while ((e = readdir(d))) {
		mode_t group, other;

		if (e->d_type == DT_LNK || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_uid == c->h->uid)
			continue;
		group = (st.st_mode >> 3) & 5;
		other = st.st_mode & 5;
		if ((group & ~other) != 0 && snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) < PATH_MAX)
			hide(c, path);
	}
	closedir(d);
}

static const uint32_t *etc_find(const char *name)
{
	for (size_t i = 0; i < sizeof(etc_table) / sizeof(etc_table[0]); i++) {
		const char *want = etc_table[i].name;

		if (want[0] > name[0])
			break;
		if (want[0] != name[0])
			continue;
		if ((etc_table[i].flags & ETC_PREFIX) ? strncmp(name, want, strlen(want)) == 0
						      : strcmp(name, want) == 0)
			return &etc_table[i].flags;
	}
	return NULL;
}

static void hide_secrets(struct plan_ctx *c, const char *dir)
{
	for (size_t i = 0; i < sizeof(etc_hidden) / sizeof(etc_hidden[0]); i++) {
		if (ak_path_below(etc_hidden[i], dir))
			hide(c, etc_hidden[i]);
	}
}

static void etc_link(struct plan_ctx *c, int fd, const char *name, char *path)
{
	char text[PATH_MAX] AK_UNINIT;
	ssize_t n = readlinkat(fd, name, text, sizeof(text) - 1);

	if (n <= 0)
		return;
	text[n] = '\0';
	mount_add(&c->sys, &(struct plan_mount){.kind = PM_SYMLINK, .src = text, .dst = path});
}

static void etc_entry(struct plan_ctx *c, int fd, const char *name, unsigned char type, uint32_t flags)
{
	struct plan_mount m = {.kind = PM_BIND, .flags = PMF_OPTIONAL | PMF_SYSTEM | PMF_RO};
	/* without supplementary groups what others may not read stays unreadable inside: no need to look */
	bool groups = c->h->ngroups > 0 && !c->h->root, folder = type == DT_DIR;
	char path[sizeof("/etc/") + NAME_MAX] = "/etc/";
	size_t len = strlen(name);
	struct stat st;

	if (len > NAME_MAX)
		return;
	memcpy(path + sizeof("/etc/") - 1, name, len + 1);
	m.dst = path;
	m.src = path;
	if (type == DT_LNK) {
		etc_link(c, fd, name, path);
		return;
	}
	if (groups || (type != DT_DIR && type != DT_REG)) {
		if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !(st.st_mode & S_IROTH) ||
		    (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
			return;
		folder = S_ISDIR(st.st_mode);
	}
	m.flags |= folder ? 0 : PMF_FILE;
	if (!mount_add(&c->sys, &m) || !folder)
		return;
	hide_secrets(c, path);
	if (groups && (flags & ETC_SCAN))
		plan_group_only(c, path);
}

static int compare_dst(const void *a, const void *b)
{
	return strcmp(((const struct plan_mount *)a)->dst, ((const struct plan_mount *)b)->dst);
}

static void etc_allowed(struct plan_ctx *c, bool own_gitconfig)
{
	struct ak_dir dir AK_UNINIT;
	size_t first = c->sys.n;
	const uint32_t *flags;
	unsigned char type;
	const char *name;

	if (ak_dir_open(&dir, "/etc") < 0)
		return;
	while (ak_dir_next(&dir, &name, &type)) {
		flags = etc_find(name);
		if (flags && !(own_gitconfig && strcmp(name, "gitconfig") == 0))
			etc_entry(c, dir.fd, name, type, *flags);
	}
	ak_dir_close(&dir);
	qsort(c->sys.v + first, c->sys.n - first, sizeof(c->sys.v[0]), compare_dst);
}

static int add_file(struct plan_ctx *c, const char *dst, struct ak_buf *text)
{
	if (text->failed) {
		ak_buf_release(text);
		return ak_err_set(c->err, ENOMEM, "not enough memory for %s", dst);
	}
	mount_add(&c->sys, &(struct plan_mount){.kind = PM_FILE,
						.src = text->data ? text->data : (char *)"",
						.dst = (char *)dst,
						.mode = 0644});
	ak_buf_release(text);
	return 0;
}

/* A home that passwd(5) cannot hold is left to HOME */
static const char *passwd_home(const struct plan *p)
{
	return strpbrk(p->home, ":\n") ? "/tmp" : p->home;
}

static int add_passwd(struct plan_ctx *c)
{
	const struct plan *p = c->p;
	struct ak_buf text = {0};

	if (p->uid != 0)
		ak_buf_str(&text, "root:x:0:0:root:/root:/bin/sh\n");
	ak_buf_printf(&text, "%s:x:%u:%u:%s:%s:/bin/sh\n", p->user, p->uid, p->gid, p->user, passwd_home(p));
	if (p->uid != 65534)
		ak_buf_str(&text, "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
	return add_file(c, "/etc/passwd", &text);
}

static int add_group(struct plan_ctx *c)
{
	const struct plan *p = c->p;
	struct ak_buf text = {0};

	ak_buf_str(&text, "root:x:0:\n");
	if (p->gid != 0 && p->gid != 65534)
		ak_buf_printf(&text, "%s:x:%u:\n", p->uid == 0 ? "users" : p->user, p->gid);
	ak_buf_str(&text, "nogroup:x:65534:\n");
	return add_file(c, "/etc/group", &text);
}

static int add_hosts(struct plan_ctx *c)
{
	struct ak_buf text = {0};

	ak_buf_printf(&text, "127.0.0.1\tlocalhost %s\n::1\tlocalhost ip6-localhost ip6-loopback\n",
		      c->p->hostname);
	return add_file(c, "/etc/hosts", &text);
}

/* The host's may be a link into /run, which is not shown: its content is copied */
static int add_resolv(struct plan_ctx *c)
{
	struct ak_buf text = {0};
	char *content = NULL;
	size_t len;
	int r = ak_read_file("/etc/resolv.conf", RESOLV_BYTES_MAX, &content, &len);

	if (r < 0) {
		plan_warn(c->p, "the host's /etc/resolv.conf cannot be read (%s): names will not resolve",
			  ak_errno_name(-r));
		return 0;
	}
	ak_buf_str(&text, content);
	free(content);
	return add_file(c, "/etc/resolv.conf", &text);
}

/* a value of a git configuration: git-config(1), "Syntax" */
static void put_quoted(struct ak_buf *out, const char *key, const char *value)
{
	if (!*value)
		return;
	ak_buf_printf(out, "\t%s = \"", key);
	for (const char *p = value; *p; p++) {
		if (*p == '"' || *p == '\\')
			ak_buf_str(out, "\\");
		ak_buf_add(out, p, 1);
	}
	ak_buf_str(out, "\"\n");
}

/*
 * Who commits, in git's configuration of the system: what a repository says itself counts more there, as it does on the host. The
 * caller's own configuration is not shown. Return: 0; 1: there is nothing to say; negative errno.
 */
static int add_gitconfig(struct plan_ctx *c)
{
	struct ak_buf text = {0};
	struct ak_err why = {0};
	struct git_ident id;
	char *hosts = NULL;
	size_t len;

	/* without a view of its own there is no place for it */
	if (c->o->isolation == ISOLATION_LANDLOCK)
		return 1;
	if (git_ident_find(c->h, &id, &why) < 0)
		plan_warn(c->p, "name and mail for git are not known inside: %s", why.msg);
	if (!id.name[0] && !id.email[0])
		return 1;
	if (ak_read_file("/etc/gitconfig", GITCONFIG_BYTES_MAX, &hosts, &len) == 0)
		ak_buf_str(&text, hosts);
	free(hosts);
	ak_buf_str(&text, text.len && text.data[text.len - 1] != '\n' ? "\n[user]\n" : "[user]\n");
	put_quoted(&text, "name", id.name);
	put_quoted(&text, "email", id.email);
	return add_file(c, "/etc/gitconfig", &text);
}

int plan_root_etc(struct plan_ctx *c)
{
	int r, git;

	mount_add(&c->sys, &(struct plan_mount){.kind = PM_DIR, .dst = (char *)"/etc", .mode = 0755});
	git = add_gitconfig(c);
	if (git < 0)
		return git;
	etc_allowed(c, git == 0);
	mount_add(&c->sys, &(struct plan_mount){.kind = PM_SYMLINK,
						.src = (char *)"../proc/self/mounts",
						.dst = (char *)"/etc/mtab"});
	r = add_passwd(c);
	if (r == 0)
		r = add_group(c);
	if (r == 0)
		r = add_hosts(c);
	if (r == 0 && c->o->net == NET_HOST)
		r = add_resolv(c);
	return r;
}
