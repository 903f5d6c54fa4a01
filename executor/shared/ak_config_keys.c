/* SPDX-License-Identifier: Apache-2.0 */
/* What a config file can set, as one table. Any process, no privilege. */
#include "executor/shared/ak_config_keys.h"

#include <string.h>

#include "executor/shared/ak_parse.h"

static const char *const write_order[] = { "none", "cow", "direct", NULL };
static const char *const apply_order[] = { "never", "always", NULL };
static const char *const net_order[] = { "none", "allow=", "nat", "host", NULL };
static const char *const rootfs_order[] = { "host", NULL };
static const char *const rootfs_write_order[] = { "none", "tmp", NULL };
static const char *const seccomp_order[] = { "strict", "default", NULL };
static const char *const isolation_order[] = { "namespaces", "landlock", NULL };
static const char *const identity_order[] = { "auto", "root", NULL };
static const char *const backend_order[] = { "native", "docker", "local", NULL };

#define BIT(layer) (1u << (layer))
#define VARS_ (BIT(AK_CFG_VARIABLE))
#define USER_ (BIT(AK_CFG_USER) | BIT(AK_CFG_PROFILE) | VARS_)
#define LOCK_ (USER_ | BIT(AK_CFG_POLICY))		/* the user, and the policy */
#define ALL_ (LOCK_ | BIT(AK_CFG_WORKSPACE))		/* and the workspace, which may tighten it */

#define KEY(low, up, option) "" low, "exec." low, "AK_" up, "--" option
#define SHOWS AK_CFG_SHOW
#define WRITES (AK_CFG_SHOW | AK_CFG_WRITE)

/*
 * Options that concern one command line are missing on purpose: a file that turned --json or --tty on, or named a workspace, a
 * report or a sandbox, would change what scripts get. A row whose option this version lacks is refused by that name.
 */
/* clang-format off */
static const struct ak_cfg_key table[] = {
	{ KEY("write", "WRITE", "write"), AK_CFG_CHOICE, ALL_, AK_CFG_RANK, "direct", write_order, 0, 0 },
	{ KEY("apply", "APPLY", "apply"), AK_CFG_CHOICE, ALL_, AK_CFG_RANK, "never", apply_order, 0, 0 },
	{ KEY("allow_protected", "ALLOW_PROTECTED", "allow-protected"), AK_CFG_NAMES, LOCK_, AK_CFG_LESS, NULL, NULL,
	  AK_CFG_UNPROTECT, AK_CFG_UNPROTECT },
	{ KEY("workdir", "WORKDIR", "workdir"), AK_CFG_TEXT, USER_, AK_CFG_FREE, NULL, NULL, 0, 0 },
	{ KEY("rootfs", "ROOTFS", "rootfs"), AK_CFG_PATH, LOCK_, AK_CFG_EQUAL, "host", rootfs_order, 0, 0 },
	{ KEY("image", "IMAGE", "image"), AK_CFG_TEXT, LOCK_, AK_CFG_EQUAL, NULL, NULL, 0, 0 },
	{ KEY("rootfs_write", "ROOTFS_WRITE", "rootfs-write"), AK_CFG_CHOICE, LOCK_, AK_CFG_RANK, "none", rootfs_write_order, 0, 0 },
	/* a closed list of what may be shown is also one of what may be written, since writable is shown */
	{ KEY("ro", "RO", "ro"), AK_CFG_BINDS, LOCK_, AK_CFG_LESS, NULL, NULL, SHOWS, AK_CFG_SHOW },
	{ KEY("rw", "RW", "rw"), AK_CFG_BINDS, LOCK_, AK_CFG_LESS, NULL, NULL, WRITES, AK_CFG_WRITE },
	{ KEY("ro_try", "RO_TRY", "ro-try"), AK_CFG_BINDS, LOCK_, AK_CFG_LESS, NULL, NULL, SHOWS, AK_CFG_SHOW },
	{ KEY("rw_try", "RW_TRY", "rw-try"), AK_CFG_BINDS, LOCK_, AK_CFG_LESS, NULL, NULL, WRITES, AK_CFG_WRITE },
	{ KEY("tmpfs", "TMPFS", "tmpfs"), AK_CFG_PLACES, USER_, AK_CFG_FREE, NULL, NULL, 0, 0 },
	{ KEY("hide", "HIDE", "hide"), AK_CFG_PLACES, ALL_, AK_CFG_MORE, NULL, NULL, 0, 0 },
	{ KEY("dev", "DEV", "dev"), AK_CFG_NAMES, LOCK_, AK_CFG_LESS, NULL, NULL, AK_CFG_DEVICE, AK_CFG_DEVICE },
	{ KEY("env", "ENV", "env"), AK_CFG_ENV, LOCK_, AK_CFG_LESS, NULL, NULL, AK_CFG_VARS, AK_CFG_VARS },
	{ KEY("env_file", "ENV_FILE", "env-file"), AK_CFG_FILES, LOCK_, AK_CFG_LESS, NULL, NULL, AK_CFG_VARS, AK_CFG_VARS },
	{ KEY("net", "NET", "net"), AK_CFG_CHOICE, ALL_, AK_CFG_RANK, "none", net_order, 0, 0 },
	{ KEY("memory", "MEMORY", "memory"), AK_CFG_SIZE, ALL_, AK_CFG_LOWER, "512m", NULL, 0, 0 },
	{ KEY("cpus", "CPUS", "cpus"), AK_CFG_CPUS, ALL_, AK_CFG_LOWER, "1", NULL, 0, 0 },
	{ KEY("pids", "PIDS", "pids"), AK_CFG_COUNT, ALL_, AK_CFG_LOWER, "256", NULL, 0, 0 },
	{ KEY("cpu_time", "CPU_TIME", "cpu-time"), AK_CFG_DUR, ALL_, AK_CFG_LOWER, NULL, NULL, 0, 0 },
	{ KEY("nofile", "NOFILE", "nofile"), AK_CFG_COUNT, ALL_, AK_CFG_LOWER, NULL, NULL, 0, 0 },
	{ KEY("fsize", "FSIZE", "fsize"), AK_CFG_SIZE, ALL_, AK_CFG_LOWER, NULL, NULL, 0, 0 },
	{ KEY("disk", "DISK", "disk"), AK_CFG_SIZE, ALL_, AK_CFG_LOWER, NULL, NULL, 0, 0 },
	{ KEY("timeout", "TIMEOUT", "timeout"), AK_CFG_DUR, ALL_, AK_CFG_LOWER, NULL, NULL, 0, 0 },
	{ KEY("kill_after", "KILL_AFTER", "kill-after"), AK_CFG_DUR, ALL_, AK_CFG_LOWER, "2s", NULL, 0, 0 },
	{ KEY("max_output", "MAX_OUTPUT", "max-output"), AK_CFG_SIZE, ALL_, AK_CFG_LOWER, NULL, NULL, 0, 0 },
	{ KEY("seccomp", "SECCOMP", "seccomp"), AK_CFG_PATH, LOCK_, AK_CFG_RANK, "default", seccomp_order, 0, 0 },
	{ KEY("isolation", "ISOLATION", "isolation"), AK_CFG_CHOICE, LOCK_, AK_CFG_RANK, "namespaces", isolation_order, 0, 0 },
	{ KEY("nesting", "NESTING", "nesting"), AK_CFG_BOOL, LOCK_, AK_CFG_OFF, "false", NULL, 0, 0 },
	{ KEY("backend", "BACKEND", "backend"), AK_CFG_CHOICE, LOCK_, AK_CFG_RANK, "native", backend_order, 0, 0 },
	{ KEY("user", "USER", "user"), AK_CFG_ID, LOCK_, AK_CFG_EQUAL, NULL, NULL, 0, 0 },
	{ KEY("identity", "IDENTITY", "identity"), AK_CFG_CHOICE, LOCK_, AK_CFG_RANK, "auto", identity_order, 0, 0 },
	{ KEY("ttl", "TTL", "ttl"), AK_CFG_DUR, ALL_, AK_CFG_LOWER, "1h", NULL, 0, 0 },
	{ KEY("pool", "POOL", "pool"), AK_CFG_COUNT, LOCK_, AK_CFG_LOWER, "0", NULL, 0, 0 },
	{ KEY("raw", "RAW", "raw"), AK_CFG_BOOL, LOCK_, AK_CFG_OFF, "false", NULL, 0, 0 },
	{ KEY("quiet", "QUIET", "quiet"), AK_CFG_BOOL, USER_, AK_CFG_FREE, "false", NULL, 0, 0 },
	{ KEY("verbose", "VERBOSE", "verbose"), AK_CFG_BOOL, USER_, AK_CFG_FREE, "false", NULL, 0, 0 },
};
/* clang-format on */

#define NKEYS (sizeof(table) / sizeof(table[0]))
_Static_assert(NKEYS <= AK_CFG_KEYS_MAX, "what is kept for each key has that many places");

/* options with two names; both are long option names, so both are keys */
static const struct { const char *name, *option, *of; } second_names[] = {
	{ "network", "--network", "net" },
	{ "pids_limit", "--pids-limit", "pids" },
};

const struct ak_cfg_key *ak_cfg_key(size_t i)
{
	return i < NKEYS ? &table[i] : NULL;
}

size_t ak_cfg_index(const struct ak_cfg_key *k)
{
	return (size_t)(k - table);
}

static const struct ak_cfg_key *by_name(const char *name)
{
	for (size_t i = 0; i < NKEYS; i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}

const struct ak_cfg_key *ak_cfg_find(const char *name)
{
	for (size_t i = 0; i < sizeof(second_names) / sizeof(second_names[0]); i++)
		if (strcmp(second_names[i].name, name) == 0)
			return by_name(second_names[i].of);
	return by_name(name);
}

const struct ak_cfg_key *ak_cfg_by_option(const char *option)
{
	for (size_t i = 0; i < sizeof(second_names) / sizeof(second_names[0]); i++)
		if (strcmp(second_names[i].option, option) == 0)
			return by_name(second_names[i].of);
	for (size_t i = 0; i < NKEYS; i++)
		if (strcmp(table[i].option, option) == 0)
			return &table[i];
	return NULL;
}

bool ak_cfg_may(const struct ak_cfg_key *k, enum ak_cfg_layer layer)
{
	return layer == AK_CFG_FLAG || (k->layers & BIT(layer)) != 0;
}

bool ak_cfg_is_list(const struct ak_cfg_key *k)
{
	return k->kind >= AK_CFG_NAMES;
}

/* a limit as a number; unset and "max" are the highest. Return: false when @text is no limit of this kind */
static bool number(enum ak_cfg_kind kind, const char *text, uint64_t *ret)
{
	if (!text || strcmp(text, "max") == 0) {
		*ret = UINT64_MAX;
		return true;
	}
	switch (kind) {
	case AK_CFG_SIZE:
		return ak_parse_size(text, ret) == 0;
	case AK_CFG_CPUS:
		return ak_parse_milli(text, ret) == 0;
	case AK_CFG_DUR:
		return ak_parse_duration(text, ret) == 0;
	default:
		return ak_parse_u64(text, 0, UINT64_MAX - 1, ret) == 0;
	}
}

/* place in the order; SIZE_MAX: in none */
static size_t rank(const struct ak_cfg_key *k, const char *text)
{
	for (size_t i = 0; k->order && k->order[i]; i++) {
		size_t n = strlen(k->order[i]);

		if (strcmp(k->order[i], text) == 0 || (k->order[i][n - 1] == '=' && strncmp(k->order[i], text, n) == 0))
			return i;
	}
	return SIZE_MAX;
}

bool ak_cfg_looser(const struct ak_cfg_key *k, const char *value, const char *than)
{
	const char *a = value ? value : "", *b = than ? than : "";
	uint64_t x = 0, y = 0;

	switch (k->rule) {
	case AK_CFG_LOWER:
		return number(k->kind, value, &x) && number(k->kind, than, &y) && x > y;
	case AK_CFG_RANK:
		return strcmp(a, b) != 0 && (rank(k, b) == SIZE_MAX || rank(k, a) >= rank(k, b));
	case AK_CFG_OFF:
		return strcmp(a, "true") == 0 && strcmp(b, "true") != 0;
	case AK_CFG_EQUAL:
		return strcmp(a, b) != 0;
	case AK_CFG_MORE:
	case AK_CFG_LESS:
	case AK_CFG_FREE:
		break;
	}
	return false;
}

bool ak_cfg_profile_name_ok(const char *name)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t n = strspn(name, good);

	return n > 0 && n <= 64 && name[n] == '\0' && name[0] != '.' && name[0] != '-';
}
