/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as text for --explain. Process: executor. Privilege: none. */
#include "executor/plan.h"

#include <string.h>
#include <sys/resource.h>

#include "executor/shared/ak_buf.h"

static const char *const kind_names[] = {
	[PM_DIR] = "dir",   [PM_SYMLINK] = "link",   [PM_FILE] = "file",
	[PM_BIND] = "bind", [PM_TMPFS] = "tmpfs",    [PM_PROC] = "proc",
	[PM_DEV] = "dev",   [PM_DEVNODE] = "device", [PM_HIDE] = "hide",
};

static const struct {
	uint32_t resource;
	const char *name;
} rlimit_names[] = {
	{RLIMIT_CORE, "core"},	       {RLIMIT_CPU, "cpu-seconds"},
	{RLIMIT_FSIZE, "file-size"},   {RLIMIT_MEMLOCK, "memlock"},
	{RLIMIT_MSGQUEUE, "msgqueue"}, {RLIMIT_NICE, "nice"},
	{RLIMIT_NOFILE, "open-files"}, {RLIMIT_NPROC, "processes"},
	{RLIMIT_RTPRIO, "rtprio"},     {RLIMIT_SIGPENDING, "sigpending"},
	{RLIMIT_STACK, "stack"},
};

static const char *const identity_names[] = {
	[PLAN_ID_SAME] = "same-uid", [PLAN_ID_RANGE] = "range", [PLAN_ID_ROOT] = "root"};
static const char *const access_names[] = {
	[INIT_PATH_RX] = "read+execute", [INIT_PATH_RW] = "read+write", [INIT_PATH_DEV] = "use-existing"};

/* One fact is one line, so control bytes of names and values are shown as escapes, and so is the backslash
 * that starts one */
static void add_text(struct ak_buf *out, const char *s)
{
	for (; *s; s++) {
		unsigned char b = (unsigned char)*s;

		if (b < 0x20 || b == 0x7f || b == '\\')
			ak_buf_printf(out, "\\x%02x", b);
		else
			ak_buf_add(out, s, 1);
	}
}

static void add_fact(struct ak_buf *out, const char *name, const char *value)
{
	ak_buf_printf(out, "  %-12s ", name);
	add_text(out, value);
	ak_buf_str(out, "\n");
}

static void add_size(struct ak_buf *out, const char *name, uint64_t bytes)
{
	if (bytes == UINT64_MAX)
		ak_buf_printf(out, " %s=unlimited", name);
	else if (bytes > 0 && bytes % (1u << 20) == 0)
		ak_buf_printf(out, " %s=%lluMiB", name, (unsigned long long)(bytes >> 20));
	else
		ak_buf_printf(out, " %s=%llu", name, (unsigned long long)bytes);
}

static void explain_identity(const struct plan *p, struct ak_buf *out)
{
	ak_buf_str(out, "identity\n");
	add_fact(out, "mapping", identity_names[p->identity]);
	ak_buf_printf(out, "  %-12s %u:%u\n", "uid:gid", p->uid, p->gid);
	add_fact(out, "user", p->user);
	add_fact(out, "home", p->home);
	if (!p->plain)
		add_fact(out, "hostname", p->hostname);
}

static void explain_namespaces(const struct plan *p, struct ak_buf *out)
{
	ak_buf_str(out, "namespaces\n");
	if (p->plain) {
		add_fact(out, "new", "none");
		add_fact(out, "network", p->net == NET_HOST ? "host" : "none (no sockets)");
		return;
	}
	add_fact(out, "new",
		 p->net == NET_HOST ? "user mount pid ipc uts cgroup" : "user mount pid net ipc uts cgroup");
	add_fact(out, "network", p->net == NET_HOST ? "host" : "none (loopback only)");
}

static void explain_flags(const struct plan_mount *m, struct ak_buf *out)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} names[] = {
		{PMF_OPTIONAL, "if-present"}, {PMF_NOEXEC, "noexec"},	   {PMF_WORKSPACE, "workspace"},
		{PMF_PROTECT, "protected"},   {PMF_IDMAP, "owner-mapped"},
		{PMF_COW, "copy-on-write"},
	};

	if (m->kind == PM_BIND || m->kind == PM_TMPFS)
		ak_buf_str(out, m->flags & PMF_RO ? " ro" : " rw");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (m->flags & names[i].flag)
			ak_buf_printf(out, " %s", names[i].name);
	}
	if (m->opt)
		ak_buf_printf(out, " (%s)", m->opt);
}

static void explain_mount(const struct plan_mount *m, struct ak_buf *out)
{
	ak_buf_printf(out, "  %-6s ", kind_names[m->kind]);
	add_text(out, m->dst);
	if (m->kind == PM_SYMLINK ||
	    ((m->kind == PM_BIND || m->kind == PM_DEVNODE) && strcmp(m->src, m->dst) != 0)) {
		ak_buf_str(out, m->kind == PM_SYMLINK ? " -> " : " from ");
		add_text(out, m->src);
	}
	if (m->kind == PM_FILE)
		ak_buf_printf(out, " of %zu bytes", strlen(m->src));
	explain_flags(m, out);
	if (m->kind == PM_DIR || m->kind == PM_FILE || m->kind == PM_TMPFS)
		ak_buf_printf(out, " mode=%04o", (unsigned)m->mode);
	if (m->kind == PM_TMPFS || m->kind == PM_DEV)
		add_size(out, m->kind == PM_DEV ? "shm" : "size", m->size_bytes);
	if (m->kind == PM_TMPFS)
		ak_buf_printf(out, " inodes=%llu", (unsigned long long)m->inodes);
	ak_buf_str(out, "\n");
}

static void explain_mounts(const struct plan *p, struct ak_buf *out)
{
	ak_buf_str(out, "mounts\n");
	if (p->plain) {
		ak_buf_str(out, "  none   the host's own file system, as far as the Landlock rules below show it\n  private ");
		add_text(out, p->scratch);
		ak_buf_str(out, " (home, tmp)\n");
		return;
	}
	ak_buf_printf(out, "  root   %s",
		      p->root == PLAN_ROOT_OVERLAY ? "overlay over "
		      : p->rootfs		   ? "entries of "
						   : "the host's system folders");
	if (p->rootfs)
		add_text(out, p->rootfs);
	if (p->root == PLAN_ROOT_OVERLAY)
		add_size(out, "size", p->root_size_bytes);
	ak_buf_str(out, "\n");
	for (size_t i = 0; i < p->nmounts; i++)
		explain_mount(&p->mounts[i], out);
}

static void explain_limit(struct ak_buf *out, const char *name, const struct limit_opt *l, const char *unit, enum plan_by by)
{
	const char *who = by == PLAN_BY_NONE || by == PLAN_BY_UNSET ? "not enforced" : plan_by_name(by);

	ak_buf_printf(out, "  %-12s", name);
	if (l->max)
		ak_buf_str(out, " none\n");
	else
		ak_buf_printf(out, " %llu%s (%s%s)\n", (unsigned long long)l->value,
			      l->given ? "" : " by default", unit, who);
}

static void explain_time(struct ak_buf *out, const char *name, uint64_t ms)
{
	if (ms)
		ak_buf_printf(out, "  %-12s %llu ms (ak)\n", name, (unsigned long long)ms);
}

static void explain_rlimits(const struct plan *p, struct ak_buf *out)
{
	for (size_t i = 0; i < p->nrlimits; i++) {
		const struct plan_rlimit *l = &p->rlimits[i];
		const char *name = "resource";

		for (size_t k = 0; k < sizeof(rlimit_names) / sizeof(rlimit_names[0]); k++)
			name = rlimit_names[k].resource == l->resource ? rlimit_names[k].name : name;
		ak_buf_printf(out, "  rlimit       %s", name);
		add_size(out, "soft", l->soft);
		add_size(out, "hard", l->hard);
		ak_buf_str(out, "\n");
	}
}

static void explain_limits(const struct plan *p, const struct exec_opts *o, struct ak_buf *out)
{
	ak_buf_str(out, "limits\n");
	explain_limit(out, "memory", &o->memory_bytes, "bytes; ", p->memory_by);
	explain_limit(out, "pids", &o->pids, "", p->pids_by);
	explain_limit(out, "cpus", &o->cpu_milli, "thousandths; ", p->cpus_by);
	explain_time(out, "timeout", o->timeout_ms);
	explain_time(out, "cpu-time", o->cpu_time_ms);
	if (o->disk_bytes)
		ak_buf_printf(out, "  %-12s %llu bytes in all private file systems (their sizes)\n", "disk",
			      (unsigned long long)o->disk_bytes);
	if (o->max_output_bytes != UINT64_MAX)
		ak_buf_printf(out, "  %-12s %llu bytes a stream (ak)\n", "max-output",
			      (unsigned long long)o->max_output_bytes);
	explain_rlimits(p, out);
}

static void explain_filters(const struct plan *p, struct ak_buf *out)
{
	ak_buf_str(out, "filters\n");
	ak_buf_printf(out, "  %-12s profile %s, then the floor%s%s%s\n", "seccomp",
		      p->seccomp ? p->seccomp : "default", p->plain ? " without namespaces" : p->nesting ? " for nesting" : "",
		      p->allow_setid ? ", set-id bits allowed" : "",
		      p->floor_setgid ? ", set-group-id bits refused" : "");
	for (size_t i = 0; i < p->npaths && !p->nesting; i++) {
		ak_buf_printf(out, "  landlock     %s ", access_names[p->paths[i].access]);
		add_text(out, p->paths[i].path);
		ak_buf_str(out, "\n");
	}
}

static void explain_command(const struct plan *p, struct ak_buf *out)
{
	ak_buf_str(out, "environment\n");
	for (size_t i = 0; i < p->envc; i++) {
		ak_buf_str(out, "  ");
		add_text(out, p->envp[i]);
		ak_buf_str(out, "\n");
	}
	ak_buf_str(out, "command\n");
	add_fact(out, "directory", p->cwd);
	for (size_t i = 0; i < p->argc; i++)
		add_fact(out, "argument", p->argv[i]);
	for (size_t i = 0; i < p->nkeep_fds; i++)
		ak_buf_printf(out, "  %-12s %d\n", "descriptor", p->keep_fds[i]);
	if (p->tty)
		add_fact(out, "terminal", "of the sandbox's own");
}

void plan_explain(const struct plan *p, const struct exec_opts *o, struct ak_buf *out)
{
	explain_identity(p, out);
	explain_namespaces(p, out);
	explain_mounts(p, out);
	explain_limits(p, o, out);
	explain_filters(p, out);
	explain_command(p, out);
	if (p->nwarnings > 0)
		ak_buf_str(out, "warnings\n");
	for (size_t i = 0; i < p->nwarnings; i++) {
		ak_buf_str(out, "  ");
		add_text(out, p->warnings[i]);
		ak_buf_str(out, "\n");
	}
}
