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
static const char *const run_apply_order[] = { "never", "ask", "always", NULL };
static const char *const approval_order[] = { "deny-mutations|deny_mutations", "ask|always_ask", "smart", "auto|auto_allow", NULL };
static const char *const unknown_price_order[] = { "refuse", "allow", NULL };

#define BIT(layer) (1u << (layer))
#define VARS_ (BIT(AK_CFG_VARIABLE))
#define USER_ (BIT(AK_CFG_USER) | BIT(AK_CFG_PROFILE) | VARS_)
#define LOCK_ (USER_ | BIT(AK_CFG_POLICY))		/* the user, and the policy */
#define ALL_ (LOCK_ | BIT(AK_CFG_WORKSPACE))		/* and the workspace, which may tighten it */

#define NAMES(low, up, option, exec, run) "" low, { exec, run }, "AK_" up, "--" option
#define KEY(low, up, option) NAMES(low, up, option, "exec." low, NULL)
#define BOTH(low, up, option) NAMES(low, up, option, "exec." low, "run." low)
#define RUN(low, up, option) NAMES(low, up, option, NULL, "run." low)
#define SHOWS AK_CFG_SHOW
#define WRITES (AK_CFG_SHOW | AK_CFG_WRITE)

/*
 * Options that concern one command line are missing on purpose: a file that turned --json or --tty on, or named a workspace, a
 * report or a sandbox, would change what scripts get. A row whose option this version lacks is refused by that name.
 */
/* clang-format off */
static const struct ak_cfg_key table[] = {
	{ BOTH("write", "WRITE", "write"), AK_CFG_CHOICE, ALL_, AK_CFG_RANK, "direct", write_order, 0, 0 },
	{ KEY("apply", "APPLY", "apply"), AK_CFG_CHOICE, ALL_, AK_CFG_RANK, "never", apply_order, 0, 0 },
	{ BOTH("allow_protected", "ALLOW_PROTECTED", "allow-protected"), AK_CFG_NAMES, LOCK_, AK_CFG_LESS, NULL, NULL,
	  AK_CFG_UNPROTECT, AK_CFG_UNPROTECT },
	{ KEY("workdir", "WORKDIR", "workdir"), AK_CFG_TEXT, USER_, AK_CFG_FREE, NULL, NULL, 0, 0 },
	{ BOTH("rootfs", "ROOTFS", "rootfs"), AK_CFG_PATH, LOCK_, AK_CFG_EQUAL, "host", rootfs_order, 0, 0 },
	{ BOTH("image", "IMAGE", "image"), AK_CFG_TEXT, LOCK_, AK_CFG_EQUAL, NULL, NULL, 0, 0 },
	{ KEY("rootfs_write", "ROOTFS_WRITE", "rootfs-write"), AK_CFG_CHOICE, LOCK_, AK_CFG_RANK, "none", rootfs_write_order, 0, 0 },
	/* a closed list of what may be shown is also one of what may be written, since writable is shown */
	{ BOTH("ro", "RO", "ro"), AK_CFG_BINDS, LOCK_, AK_CFG_LESS, NULL, NULL, SHOWS, AK_CFG_SHOW },
	{ BOTH("rw", "RW", "rw"), AK_CFG_BINDS, LOCK_, AK_CFG_LESS, NULL, NULL, WRITES, AK_CFG_WRITE },
	{ KEY("ro_try", "RO_TRY", "ro-try"), AK_CFG_BINDS, LOCK_, AK_CFG_LESS, NULL, NULL, SHOWS, AK_CFG_SHOW },
	{ KEY("rw_try", "RW_TRY", "rw-try"), AK_CFG_BINDS, LOCK_, AK_CFG_LESS, NULL, NULL, WRITES, AK_CFG_WRITE },
	{ BOTH("tmpfs", "TMPFS", "tmpfs"), AK_CFG_PLACES, USER_, AK_CFG_FREE, NULL, NULL, 0, 0 },
	{ BOTH("hide", "HIDE", "hide"), AK_CFG_PLACES, ALL_, AK_CFG_MORE, NULL, NULL, 0, 0 },
	{ KEY("dev", "DEV", "dev"), AK_CFG_NAMES, LOCK_, AK_CFG_LESS, NULL, NULL, AK_CFG_DEVICE, AK_CFG_DEVICE },
	{ BOTH("env", "ENV", "env"), AK_CFG_ENV, LOCK_, AK_CFG_LESS, NULL, NULL, AK_CFG_VARS, AK_CFG_VARS },
	{ BOTH("env_file", "ENV_FILE", "env-file"), AK_CFG_FILES, LOCK_, AK_CFG_LESS, NULL, NULL, AK_CFG_VARS, AK_CFG_VARS },
	{ BOTH("net", "NET", "net"), AK_CFG_CHOICE, ALL_, AK_CFG_RANK, "none", net_order, 0, 0 },
	{ BOTH("memory", "MEMORY", "memory"), AK_CFG_SIZE, ALL_, AK_CFG_LOWER, "512m", NULL, 0, 0 },
	{ BOTH("cpus", "CPUS", "cpus"), AK_CFG_CPUS, ALL_, AK_CFG_LOWER, "1", NULL, 0, 0 },
	{ BOTH("pids", "PIDS", "pids"), AK_CFG_COUNT, ALL_, AK_CFG_LOWER, "256", NULL, 0, 0 },
	{ BOTH("cpu_time", "CPU_TIME", "cpu-time"), AK_CFG_DUR, ALL_, AK_CFG_LOWER, NULL, NULL, 0, 0 },
	{ BOTH("nofile", "NOFILE", "nofile"), AK_CFG_COUNT, ALL_, AK_CFG_LOWER, NULL, NULL, 0, 0 },
	{ BOTH("fsize", "FSIZE", "fsize"), AK_CFG_SIZE, ALL_, AK_CFG_LOWER, NULL, NULL, 0, 0 },
	{ BOTH("disk", "DISK", "disk"), AK_CFG_SIZE, ALL_, AK_CFG_LOWER, NULL, NULL, 0, 0 },
	{ KEY("timeout", "TIMEOUT", "timeout"), AK_CFG_DUR, ALL_, AK_CFG_LOWER, NULL, NULL, 0, 0 },
	{ KEY("kill_after", "KILL_AFTER", "kill-after"), AK_CFG_DUR, ALL_, AK_CFG_LOWER, "2s", NULL, 0, 0 },
	{ KEY("max_output", "MAX_OUTPUT", "max-output"), AK_CFG_SIZE, ALL_, AK_CFG_LOWER, NULL, NULL, 0, 0 },
	{ BOTH("seccomp", "SECCOMP", "seccomp"), AK_CFG_PATH, LOCK_, AK_CFG_RANK, "default", seccomp_order, 0, 0 },
	{ BOTH("isolation", "ISOLATION", "isolation"), AK_CFG_CHOICE, LOCK_, AK_CFG_RANK, "namespaces", isolation_order, 0, 0 },
	{ KEY("nesting", "NESTING", "nesting"), AK_CFG_BOOL, LOCK_, AK_CFG_OFF, "false", NULL, 0, 0 },
	{ BOTH("backend", "BACKEND", "backend"), AK_CFG_CHOICE, LOCK_, AK_CFG_RANK, "native", backend_order, 0, 0 },
	{ KEY("user", "USER", "user"), AK_CFG_ID, LOCK_, AK_CFG_EQUAL, NULL, NULL, 0, 0 },
	{ BOTH("identity", "IDENTITY", "identity"), AK_CFG_CHOICE, LOCK_, AK_CFG_RANK, "auto", identity_order, 0, 0 },
	{ KEY("ttl", "TTL", "ttl"), AK_CFG_DUR, ALL_, AK_CFG_LOWER, "1h", NULL, 0, 0 },
	{ KEY("pool", "POOL", "pool"), AK_CFG_COUNT, LOCK_, AK_CFG_LOWER, "0", NULL, 0, 0 },
	{ KEY("raw", "RAW", "raw"), AK_CFG_BOOL, LOCK_, AK_CFG_OFF, "false", NULL, 0, 0 },
	{ KEY("quiet", "QUIET", "quiet"), AK_CFG_BOOL, USER_, AK_CFG_FREE, "false", NULL, 0, 0 },
	{ KEY("verbose", "VERBOSE", "verbose"), AK_CFG_BOOL, USER_, AK_CFG_FREE, "false", NULL, 0, 0 },

	/* of ak run: agent/run_opts.c reads the texts. Where there is no @initial it depends on the run */
	{ RUN("model", "MODEL", "model"), AK_CFG_TEXT, LOCK_, AK_CFG_EQUAL, NULL, NULL, 0, 0 },
	{ RUN("api", "API", "api"), AK_CFG_CHOICE, LOCK_, AK_CFG_EQUAL, NULL, NULL, 0, 0 },
	{ RUN("base_url", "BASE_URL", "base-url"), AK_CFG_TEXT, LOCK_, AK_CFG_EQUAL, NULL, NULL, 0, 0 },
	{ RUN("plain_http", "PLAIN_HTTP", "plain-http"), AK_CFG_BOOL, LOCK_, AK_CFG_OFF, "false", NULL, 0, 0 },
	{ RUN("ca_file", "CA_FILE", "ca-file"), AK_CFG_PATH, LOCK_, AK_CFG_EQUAL, NULL, NULL, 0, 0 },
	{ RUN("effort", "EFFORT", "effort"), AK_CFG_TEXT, USER_, AK_CFG_FREE, NULL, NULL, 0, 0 },
	{ RUN("max_response_tokens", "MAX_RESPONSE_TOKENS", "max-response-tokens"), AK_CFG_COUNT, ALL_, AK_CFG_LOWER, NULL, NULL, 0, 0 },
	{ RUN("context", "CONTEXT", "context"), AK_CFG_COUNT, USER_, AK_CFG_FREE, NULL, NULL, 0, 0 },
	{ RUN("apply", "APPLY", "apply"), AK_CFG_CHOICE, ALL_, AK_CFG_RANK, NULL, run_apply_order, 0, 0 },
	{ RUN("approval", "APPROVAL", "approval"), AK_CFG_CHOICE, ALL_, AK_CFG_RANK, NULL, approval_order, 0, 0 },
	{ RUN("plan", "PLAN", "plan"), AK_CFG_BOOL, USER_, AK_CFG_FREE, "false", NULL, 0, 0 },
	{ RUN("allow", "ALLOW", "allow"), AK_CFG_NAMES, LOCK_, AK_CFG_LESS, NULL, NULL, AK_CFG_RULES, AK_CFG_RULES },
	{ RUN("deny", "DENY", "deny"), AK_CFG_NAMES, ALL_, AK_CFG_MORE, NULL, NULL, 0, 0 },
	{ RUN("fail_on_denied", "FAIL_ON_DENIED", "fail-on-denied"), AK_CFG_BOOL, USER_, AK_CFG_FREE, "false", NULL, 0, 0 },
	{ RUN("max_cost", "MAX_COST", "max-cost"), AK_CFG_USD, ALL_, AK_CFG_LOWER, NULL, NULL, 0, 0 },
	{ RUN("max_input_tokens", "MAX_INPUT_TOKENS", "max-input-tokens"), AK_CFG_COUNT, ALL_, AK_CFG_LOWER, NULL, NULL, 0, 0 },
	{ RUN("max_output_tokens", "MAX_OUTPUT_TOKENS", "max-output-tokens"), AK_CFG_COUNT, ALL_, AK_CFG_LOWER, NULL, NULL, 0, 0 },
	{ RUN("max_turns", "MAX_TURNS", "max-turns"), AK_CFG_COUNT, ALL_, AK_CFG_LOWER, "25", NULL, 0, 0 },
	{ RUN("max_tool_calls", "MAX_TOOL_CALLS", "max-tool-calls"), AK_CFG_COUNT, ALL_, AK_CFG_LOWER, NULL, NULL, 0, 0 },
	{ RUN("timeout", "TIMEOUT", "timeout"), AK_CFG_DUR, ALL_, AK_CFG_LOWER, NULL, NULL, 0, 0 },
	{ RUN("tool_timeout", "TOOL_TIMEOUT", "tool-timeout"), AK_CFG_DUR, ALL_, AK_CFG_LOWER, "60", NULL, 0, 0 },
	{ RUN("max_tool_timeout", "MAX_TOOL_TIMEOUT", "max-tool-timeout"), AK_CFG_DUR, ALL_, AK_CFG_LOWER, "600", NULL, 0, 0 },
	{ RUN("unknown_price", "UNKNOWN_PRICE", "unknown-price"), AK_CFG_CHOICE, LOCK_, AK_CFG_RANK, "refuse", unknown_price_order, 0, 0 },
	{ RUN("system_prompt", "SYSTEM_PROMPT", "system-prompt"), AK_CFG_TEXT, USER_, AK_CFG_FREE, NULL, NULL, 0, 0 },
	{ RUN("system_prompt_file", "SYSTEM_PROMPT_FILE", "system-prompt-file"), AK_CFG_PATH, USER_, AK_CFG_FREE, NULL, NULL, 0, 0 },
	{ RUN("append_system_prompt", "APPEND_SYSTEM_PROMPT", "append-system-prompt"), AK_CFG_TEXT, USER_, AK_CFG_FREE, NULL, NULL, 0, 0 },
	{ RUN("no_instructions", "NO_INSTRUCTIONS", "no-instructions"), AK_CFG_BOOL, USER_, AK_CFG_FREE, "false", NULL, 0, 0 },
	{ RUN("ephemeral", "EPHEMERAL", "ephemeral"), AK_CFG_BOOL, USER_, AK_CFG_FREE, "false", NULL, 0, 0 },
	{ RUN("verbose_trace", "VERBOSE_TRACE", "verbose-trace"), AK_CFG_BOOL, LOCK_, AK_CFG_OFF, "false", NULL, 0, 0 },
	{ RUN("quiet", "QUIET", "quiet"), AK_CFG_BOOL, USER_, AK_CFG_FREE, "false", NULL, 0, 0 },

	/* the section "providers", for the agent too: no option and no variable, so that a key's file is named in a file only */
	{ "providers", { NULL, "providers" }, NULL, "--providers", AK_CFG_PROVIDERS, BIT(AK_CFG_USER) | BIT(AK_CFG_POLICY), AK_CFG_LESS, NULL, NULL,
	  AK_CFG_SERVERS, AK_CFG_SERVERS },
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

bool ak_cfg_in(const struct ak_cfg_key *k, enum ak_cfg_section section)
{
	return k->full[section] != NULL;
}

static const struct ak_cfg_key *by_name(enum ak_cfg_section section, const char *name)
{
	for (size_t i = 0; i < NKEYS; i++)
		if (ak_cfg_in(&table[i], section) && strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}

const struct ak_cfg_key *ak_cfg_find(enum ak_cfg_section section, const char *name)
{
	for (size_t i = 0; section == AK_CFG_EXEC && i < sizeof(second_names) / sizeof(second_names[0]); i++)
		if (strcmp(second_names[i].name, name) == 0)
			return by_name(section, second_names[i].of);
	return by_name(section, name);
}

const struct ak_cfg_key *ak_cfg_by_option(enum ak_cfg_section section, const char *option)
{
	for (size_t i = 0; section == AK_CFG_EXEC && i < sizeof(second_names) / sizeof(second_names[0]); i++)
		if (strcmp(second_names[i].option, option) == 0)
			return by_name(section, second_names[i].of);
	for (size_t i = 0; i < NKEYS; i++)
		if (ak_cfg_in(&table[i], section) && strcmp(table[i].option, option) == 0)
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

/* dollars in 10^-12; more than fits is the most. Return: false when @text is no amount */
static bool dollars(const char *text, uint64_t *ret)
{
	bool most = false;
	uint64_t v = 0;
	int decimals = -1, digits = 0;

	for (const char *p = text; *p; p++) {
		if (*p == '.' && decimals < 0) {
			decimals = 0;
			continue;
		}
		if (*p < '0' || *p > '9')
			return false;
		digits++;
		decimals += decimals >= 0;
		most = most || __builtin_mul_overflow(v, UINT64_C(10), &v) || __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v);
	}
	if (digits == 0 || decimals > 12)
		return false;
	for (int d = decimals < 0 ? 0 : decimals; d < 12; d++)
		most = most || __builtin_mul_overflow(v, UINT64_C(10), &v);
	*ret = most ? UINT64_MAX : v;
	return true;
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
	case AK_CFG_USD:
		return dollars(text, ret);
	default:
		return ak_parse_u64(text, 0, UINT64_MAX - 1, ret) == 0;
	}
}

/* is @text one of the words of @place, "a|b"? */
static bool spelled(const char *place, const char *text)
{
	size_t n = strlen(text);

	for (const char *p = place; n > 0; p++) {
		size_t len = strcspn(p, "|");

		if (len == n && strncmp(p, text, n) == 0)
			return true;
		p += len;
		if (!*p)
			break;
	}
	return false;
}

/* place in the order; SIZE_MAX: in none */
static size_t rank(const struct ak_cfg_key *k, const char *text)
{
	for (size_t i = 0; k->order && k->order[i]; i++) {
		size_t n = strlen(k->order[i]);

		if (spelled(k->order[i], text) || (k->order[i][n - 1] == '=' && strncmp(k->order[i], text, n) == 0))
			return i;
	}
	return SIZE_MAX;
}

bool ak_cfg_known(const struct ak_cfg_key *k, const char *value)
{
	return k->rule != AK_CFG_RANK || rank(k, value) != SIZE_MAX;
}

/* with a later place in the order, or another one that is in none. Two lists of hosts share a place, and are not compared */
static bool ranks_looser(const struct ak_cfg_key *k, const char *a, const char *b)
{
	size_t x = rank(k, a), y = rank(k, b);

	if (strcmp(a, b) == 0 || (x == y && x != SIZE_MAX && spelled(k->order[x], a) && spelled(k->order[x], b)))
		return false;
	return y == SIZE_MAX || x >= y;
}

bool ak_cfg_looser(const struct ak_cfg_key *k, const char *value, const char *than)
{
	const char *a = value ? value : "", *b = than ? than : "";
	uint64_t x = 0, y = 0;

	switch (k->rule) {
	case AK_CFG_LOWER:
		return number(k->kind, value, &x) && number(k->kind, than, &y) && x > y;
	case AK_CFG_RANK:
		return ranks_looser(k, a, b);
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
