/* SPDX-License-Identifier: Apache-2.0 */
/* What the user asked `ak exec` for, as parsed from the command line: pure data. Process: executor. Privilege: none. */
#ifndef AK_OPTS_H
#define AK_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt_write { WRITE_DIRECT, WRITE_NONE, WRITE_COW };
enum opt_net { NET_NONE, NET_HOST };
enum opt_identity { IDENTITY_AUTO, IDENTITY_ROOT };
enum opt_isolation { ISOLATION_NAMESPACES, ISOLATION_LANDLOCK };
/* open files of a process: Landlock's rules are put in force under the limit. With 4 they cannot be, with 5 nothing starts */
#define OPT_NOFILE_MIN 8u

enum opt_backend { BACKEND_NATIVE, BACKEND_DOCKER, BACKEND_LOCAL };
enum opt_rootfs_write { ROOTFS_WRITE_NONE, ROOTFS_WRITE_TMP };

enum bind_kind {
	BIND_RO,	/* --ro, -v SRC:DST:ro */
	BIND_RW,	/* --rw, -v SRC:DST */
	BIND_TMPFS,	/* --tmpfs DST[:SIZE]; src NULL */
	BIND_HIDE,	/* --hide PATH; src NULL, dst as given */
	BIND_DEV,	/* --dev PATH; src and dst the same */
};

/* One row a bind-like option, in the order of the command line. Strings belong to struct exec_opts. */
struct bind_opt {
	enum bind_kind kind;
	bool optional;		/* the -try forms: a missing source is skipped */
	char *src;		/* as given, not resolved; NULL where the kind has none */
	char *dst;		/* as given; NULL: same as src */
	uint64_t size_bytes;	/* BIND_TMPFS; 0: default */
	const char *opt;	/* the option's name for messages, such as "--ro"; static */
};

/* --env K=V (value set), --env K (value NULL: pass the caller's through). Later rows win. */
struct env_opt {
	char *name;
	char *value;
};

/* A limit: what the user said about it. Law 3 needs to know whether a value is the built-in default. */
struct limit_opt {
	bool given;		/* by the user */
	bool max;		/* "max": lifted; value is meaningless */
	uint64_t value;		/* bytes, processes, milli-CPU: see the field */
};

struct exec_opts {
	char **argv;		/* command and arguments, NULL-terminated; `-c TEXT` becomes sh -c TEXT */
	int argc;
	bool shell;		/* -c was used */
	char *workspace;	/* -C; NULL: the current directory */
	bool workspace_given;
	bool workspace_own;	/* by no option: the workspace may lie in ak's state folder (`ak diff`) */
	char *workdir;		/* -w; NULL: the workspace */
	enum opt_write write;
	bool apply;		/* --apply always: take the changes of a cow run over when the command exited 0 */
	char **allow_protected;	/* NULL-terminated or NULL */
	char *rootfs;		/* NULL: host */
	enum opt_rootfs_write rootfs_write;
	struct bind_opt *binds;
	size_t nbinds;
	struct env_opt *env;	/* --env and --env-file in the order given */
	size_t nenv;
	enum opt_backend backend;
	char *image;		/* --image NAME, with docker; NULL: none given */
	enum opt_net net;
	char *net_name;		/* --net with the name of one of docker's networks; NULL: @net counts */
	struct limit_opt memory_bytes;	/* default 512 MiB */
	struct limit_opt cpu_milli;	/* --cpus; default 1000 */
	struct limit_opt pids;		/* default 256 */
	uint64_t cpu_time_ms;	/* 0: none */
	uint64_t nofile;	/* 0: default */
	uint64_t fsize_bytes;	/* 0: none */
	uint64_t disk_bytes;	/* --disk: 0: none */
	uint64_t timeout_ms;	/* 0: none */
	uint64_t kill_after_ms;	/* default 2000 */
	uint64_t max_output_bytes;	/* per stream; UINT64_MAX: none; with --json the default is 16 MiB */
	bool user_given;
	uint32_t uid, gid;	/* --user UID[:GID]; gid = uid's default (see plan) when gid_given is false */
	bool gid_given;
	const char *seccomp;	/* "default", "strict" or "nested"; static; NULL with seccomp_file */
	char *seccomp_file;	/* a user's profile as named; NULL: a shipped one */
	enum opt_isolation isolation;
	bool nesting;		/* sandboxes inside the sandbox */
	enum opt_identity identity;
	int *fds;		/* --fd, each ≥ 3, no duplicates, sorted */
	size_t nfds;
	bool stdin_always;	/* -i */
	bool tty;
	bool raw;
	bool json;
	bool explain;
	bool quiet;
	bool verbose;
	char *report;		/* --report FILE */
	char *config;		/* --config FILE, --profile NAME: obeyed by config_load() before the options are read */
	char *profile;
	char *lowered;		/* a line for people: what settings, not flags, take from the isolation, and where they stand; NULL */
	/* named sandboxes: executor/runtime.h */
	char *in;		/* --in NAME; NULL: a sandbox of its own */
	bool fresh;		/* with in: one like it, gone after the command */
	bool detach;		/* with in: a background job */
	char *name;		/* ak create NAME */
	uint64_t ttl_ms;	/* ak create: end when idle for so long; default 1 h */
	unsigned pool;		/* ak create: fresh sandboxes to keep ready; default 0 */
};

#endif
