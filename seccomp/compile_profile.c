/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a shipped profile, Docker's JSON format, and refuses whatever it does not fully understand: a key
 * that is ignored is a rule that is missing. Process: the build. Privilege: none.
 */
#include "seccomp/compile.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROFILE_BYTES_MAX (1u << 20)
#define ERRNO_MAX 4095
#define NAMES_MAX 1024
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A name seen so far, and whether a rule without conditions claimed it. */
struct seen {
	const char *name;
	bool always;
};

struct reader {
	const char *path;
	const struct target *target;
	struct builder *b;
	uint32_t def_errno;
	struct seen seen[NAMES_MAX];
	size_t n_seen;
};

static int __attribute__((format(printf, 2, 3))) bad(const struct reader *r, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "compile: %s: ", r->path);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return -EINVAL;
}

/* Every key must be one of the list, and come once. */
static int check_keys(const struct reader *r, const cJSON *obj, const char *const *keys, size_t n)
{
	const cJSON *k, *other;

	if (!cJSON_IsObject(obj))
		return bad(r, "an object is expected");
	cJSON_ArrayForEach(k, obj)
	{
		size_t i = 0;

		while (i < n && strcmp(keys[i], k->string))
			i++;
		if (i == n)
			return bad(r, "unknown key \"%s\"", k->string);
		for (other = k->next; other; other = other->next) {
			if (!strcmp(other->string, k->string))
				return bad(r, "key \"%s\" twice", k->string);
		}
	}
	return 0;
}

/* Whole numbers up to max; absent: unchanged. */
static int get_u32(const struct reader *r, const cJSON *obj, const char *key, uint32_t max, uint32_t *ret)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(obj, key);

	if (!v)
		return 0;
	if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0) || v->valuedouble > max)
		return bad(r, "\"%s\": a number from 0 to %u is expected", key, max);
	if ((double)(uint32_t)v->valuedouble != v->valuedouble)
		return bad(r, "\"%s\": a whole number is expected", key);
	*ret = (uint32_t)v->valuedouble;
	return 0;
}

static const char *get_str(const cJSON *obj, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(obj, key);

	return cJSON_IsString(v) ? v->valuestring : "";
}

static int get_action(const struct reader *r, const cJSON *obj, const char *key, uint32_t err, uint32_t *ret)
{
	const char *name = get_str(obj, key);

	if (!strcmp(name, "SCMP_ACT_ALLOW"))
		*ret = SCMP_ACT_ALLOW;
	else if (!strcmp(name, "SCMP_ACT_ERRNO"))
		*ret = SCMP_ACT_ERRNO(err);
	else if (!strcmp(name, "SCMP_ACT_KILL_PROCESS"))
		*ret = SCMP_ACT_KILL_PROCESS;
	else
		return bad(r, "\"%s\": action \"%s\" is not ALLOW, ERRNO or KILL_PROCESS", key, name);
	return 0;
}

static int read_arg(const struct reader *r, const cJSON *arg, struct scmp_arg_cmp *ret)
{
	static const char *const keys[] = {"index", "value", "valueTwo", "op"};
	uint32_t index = UINT32_MAX, mask = 0, datum = 0;
	int rc = check_keys(r, arg, keys, COUNT(keys));

	if (rc < 0)
		return rc;
	if (strcmp(get_str(arg, "op"), "SCMP_CMP_MASKED_EQ"))
		return bad(r, "op \"%s\": only SCMP_CMP_MASKED_EQ is safe for int arguments",
			   get_str(arg, "op"));
	rc = get_u32(r, arg, "index", COMPILE_ARGS_MAX - 1, &index);
	if (!rc)
		rc = get_u32(r, arg, "value", UINT32_MAX, &mask);
	if (!rc)
		rc = get_u32(r, arg, "valueTwo", UINT32_MAX, &datum);
	if (rc < 0)
		return rc;
	if (index == UINT32_MAX || !mask || (datum & ~mask))
		return bad(r, "index %u, mask %#x, value %#x: never true or never tested", index, mask,
			   datum);
	*ret = (struct scmp_arg_cmp){index, SCMP_CMP_MASKED_EQ, mask, datum};
	return 0;
}

static int read_args(const struct reader *r, const cJSON *rule, struct scmp_arg_cmp *args,
		     unsigned int *ret_argc)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(rule, "args"), *arg;
	unsigned int argc = 0, used = 0;

	if (list && (!cJSON_IsArray(list) || !cJSON_GetArraySize(list)))
		return bad(r, "\"args\": a list that is not empty is expected");
	cJSON_ArrayForEach(arg, list)
	{
		int rc;

		if (argc == COMPILE_ARGS_MAX)
			return bad(r, "more than %d conditions", COMPILE_ARGS_MAX);
		rc = read_arg(r, arg, &args[argc]);
		if (rc < 0)
			return rc;
		/* the library cannot AND two conditions on one argument */
		if (used & 1u << args[argc].arg)
			return bad(r, "argument %u twice in one rule", args[argc].arg);
		used |= 1u << args[argc++].arg;
	}
	*ret_argc = argc;
	return 0;
}

/*
 * A rule without conditions next to another one for the same call: the library says yes to both and drops the
 * denial, whichever comes first.
 */
static int claim(struct reader *r, const char *name, bool always)
{
	for (size_t i = 0; i < r->n_seen; i++) {
		if (!strcmp(r->seen[i].name, name) && (always || r->seen[i].always))
			return bad(r, "\"%s\": a rule without conditions excludes every other one", name);
	}
	if (r->n_seen == NAMES_MAX)
		return bad(r, "more than %d names", NAMES_MAX);
	r->seen[r->n_seen++] = (struct seen){name, always};
	return 0;
}

static int read_rule(struct reader *r, const cJSON *rule)
{
	static const char *const keys[] = {"comment", "names", "action", "errnoRet", "args"};
	const cJSON *names = cJSON_GetObjectItemCaseSensitive(rule, "names"), *name;
	struct scmp_arg_cmp args[COMPILE_ARGS_MAX] = {0};
	uint32_t action = 0, err = EPERM;
	unsigned int argc = 0;
	int rc = check_keys(r, rule, keys, COUNT(keys));

	if (!rc)
		rc = get_u32(r, rule, "errnoRet", ERRNO_MAX, &err);
	if (!rc)
		rc = get_action(r, rule, "action", err, &action);
	if (!rc)
		rc = read_args(r, rule, args, &argc);
	if (rc < 0)
		return rc;
	if (!cJSON_IsArray(names) || !cJSON_GetArraySize(names))
		return bad(r, "a rule without names");
	cJSON_ArrayForEach(name, names)
	{
		if (!cJSON_IsString(name))
			return bad(r, "a name is not a string");
		rc = claim(r, name->valuestring, argc == 0);
		if (rc < 0)
			return rc;
		rc = builder_rule(r->b, name->valuestring, action, args, argc);
		if (rc < 0)
			return bad(r, "\"%s\": %s", name->valuestring,
				   rc == -ENOENT ? "no such system call" : strerror(-rc));
	}
	return 0;
}

static int check_architectures(const struct reader *r, const cJSON *root)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "architectures"), *a;
	bool found = false;

	cJSON_ArrayForEach(a, list)
	{
		const char *name = cJSON_IsString(a) ? a->valuestring : "";

		if (strcmp(name, "SCMP_ARCH_X86_64") && strcmp(name, "SCMP_ARCH_AARCH64"))
			return bad(r, "architecture \"%s\" is not supported", name);
		if (seccomp_arch_resolve_name(r->target->name) == r->target->scmp &&
		    !strcasecmp(name + strlen("SCMP_ARCH_"), r->target->name))
			found = true;
	}
	return found ? 0 : bad(r, "\"architectures\" lacks %s", r->target->name);
}

static int read_root(struct reader *r, const cJSON *root)
{
	static const char *const keys[] = {"comment", "defaultAction", "defaultErrnoRet", "architectures",
					   "syscalls"};
	const cJSON *rules = cJSON_GetObjectItemCaseSensitive(root, "syscalls"), *rule;
	uint32_t err = EPERM, action = 0;
	int rc = check_keys(r, root, keys, COUNT(keys));

	if (!rc)
		rc = check_architectures(r, root);
	if (!rc)
		rc = get_u32(r, root, "defaultErrnoRet", ERRNO_MAX, &err);
	if (!rc)
		rc = get_action(r, root, "defaultAction", err, &action);
	if (rc < 0)
		return rc;
	if (action != SCMP_ACT_ERRNO(ENOSYS))
		return bad(
			r,
			"the default must be ERRNO with ENOSYS: programs then fall back to what they know");
	if (!cJSON_IsArray(rules))
		return bad(r, "\"syscalls\" is not a list");
	rc = builder_init(r->b, r->target, action);
	if (rc < 0)
		return bad(r, "%s", strerror(-rc));
	cJSON_ArrayForEach(rule, rules)
	{
		rc = read_rule(r, rule);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static cJSON *read_file(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = malloc(PROFILE_BYTES_MAX + 1);
	const char *end = NULL;
	cJSON *root = NULL;
	size_t n = 0;

	if (f && text)
		n = fread(text, 1, PROFILE_BYTES_MAX + 1, f);
	if (n && n <= PROFILE_BYTES_MAX && !memchr(text, 0, n)) {
		text[n] = '\0';
		/* nothing may follow the value */
		root = cJSON_ParseWithOpts(text, &end, true);
	}
	if (f)
		fclose(f);
	free(text);
	return root;
}

int profile_compile(const char *path, const struct target *t, struct prog *ret)
{
	struct builder b = {0};
	struct reader *r = calloc(1, sizeof(*r));
	cJSON *root = read_file(path);
	int rc;

	if (!r) {
		cJSON_Delete(root);
		return -ENOMEM;
	}
	r->path = path;
	r->target = t;
	r->b = &b;
	rc = root ? read_root(r, root)
		  : bad(r, "not readable, not JSON, or over %u bytes", PROFILE_BYTES_MAX);
	if (!rc) {
		rc = builder_export(&b, ret);
		if (rc < 0)
			bad(r, "export: %s", strerror(-rc));
	}
	builder_release(&b);
	cJSON_Delete(root);
	free(r);
	return rc;
}
