/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a Docker-format profile strictly and keeps the rules that apply here. Process: ak-policy. Privilege: none. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seccomp/docker.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct rd {
	const struct json_doc *d;
	const struct docker_host *host;
	struct docker_profile *p;
	struct docker_notes *notes;
	struct json_error *err;
};

static int __attribute__((format(printf, 3, 4))) bad(struct rd *r, const struct json_node *n, const char *fmt, ...)
{
	va_list ap;

	*r->err = (struct json_error){ .line = n ? n->line : 1, .col = n ? n->col : 1 };
	va_start(ap, fmt);
	(void)vsnprintf(r->err->text, sizeof(r->err->text), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static int no_memory(struct rd *r)
{
	(void)bad(r, NULL, "out of memory");
	return -ENOMEM;
}

void docker_note(struct docker_notes *notes, uint32_t line, const char *fmt, ...)
{
	char text[256], whole[400];
	va_list ap;

	if (notes->n == DOCKER_NOTES_MAX) {
		notes->more++;
		return;
	}
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)snprintf(whole, sizeof(whole), "%.120s:%u: %s", notes->file, line, text);
	notes->line[notes->n] = strdup(whole);
	if (notes->line[notes->n])
		notes->n++;
}

void docker_notes_release(struct docker_notes *notes)
{
	for (size_t i = 0; i < notes->n; i++)
		free(notes->line[i]);
	notes->n = 0;
}

static int check_keys(struct rd *r, const struct json_node *obj, const char *const *keys, size_t n)
{
	if (obj->kind != JSON_OBJECT)
		return bad(r, obj, "an object is expected");
	for (const struct json_node *m = json_first(r->d, obj); m; m = json_next(r->d, m)) {
		size_t i = 0;

		while (i < n && strcmp(keys[i], m->key) != 0)
			i++;
		if (i == n)
			return bad(r, m, "unknown key \"%.60s\"", m->key);
	}
	return 0;
}

static const struct json_node *member(struct rd *r, const struct json_node *obj, const char *key)
{
	const struct json_node *m = json_get(r->d, obj, key);

	return m && m->kind == JSON_NULL ? NULL : m;	/* Go writes null for what is empty */
}

/* an errno by number and by name, of which either may be missing; unchanged when both are */
static int get_errno(struct rd *r, const struct json_node *obj, const char *num_key, const char *name_key, uint32_t *ret)
{
	const struct json_node *num = member(r, obj, num_key), *name = member(r, obj, name_key);
	uint64_t v = 0;

	if (num && (json_u64(num, &v) < 0 || v > DOCKER_ERRNO_MAX))
		return bad(r, num, "\"%s\": a whole number from 0 to %u is expected", num_key, DOCKER_ERRNO_MAX);
	if (name && name->kind != JSON_STRING)
		return bad(r, name, "\"%s\": a name such as \"EPERM\" is expected", name_key);
	if (name && *name->text) {
		uint32_t e = 1;

		while (e < 256 && (!strerrorname_np((int)e) || strcmp(strerrorname_np((int)e), name->text) != 0))
			e++;
		if (e == 256)
			return bad(r, name, "\"%s\": no such errno: \"%.40s\"", name_key, name->text);
		if (num && v != e)
			return bad(r, num, "\"%s\" is %u and \"%s\" is %s: which?", num_key, (unsigned)v, name_key, name->text);
		v = e;
	}
	if (num || (name && *name->text))
		*ret = (uint32_t)v;
	return 0;
}

static int get_action(struct rd *r, const struct json_node *obj, const char *key, uint32_t err, uint32_t *ret)
{
	static const struct { const char *name; uint32_t action; const char *why; } table[] = {
		{ "SCMP_ACT_ALLOW", SCMP_ACT_ALLOW, NULL },
		{ "SCMP_ACT_ERRNO", SCMP_ACT_ERRNO(0), NULL },
		{ "SCMP_ACT_KILL_PROCESS", SCMP_ACT_KILL_PROCESS, NULL },
		/* a thread that vanishes leaves a program that hangs */
		{ "SCMP_ACT_KILL", SCMP_ACT_KILL_PROCESS, NULL },
		{ "SCMP_ACT_KILL_THREAD", SCMP_ACT_KILL_PROCESS, NULL },
		{ "SCMP_ACT_TRAP", SCMP_ACT_TRAP, NULL },
		{ "SCMP_ACT_NOTIFY", 0, "ak decides by the filter alone: a notified call can be changed after it was looked at" },
		{ "SCMP_ACT_TRACE", 0, "there is no tracer in a sandbox" },
		{ "SCMP_ACT_LOG", 0, "it lets the call through; to see what a command uses, run ak seccomp learn" },
	};
	const struct json_node *n = json_get(r->d, obj, key);

	if (!n || n->kind != JSON_STRING)
		return bad(r, n ? n : obj, "\"%s\": an action such as \"SCMP_ACT_ERRNO\" is expected", key);
	for (size_t i = 0; i < COUNT(table); i++) {
		if (strcmp(table[i].name, n->text) != 0)
			continue;
		if (table[i].why)
			return bad(r, n, "%s is not supported: %s", n->text, table[i].why);
		*ret = table[i].action == SCMP_ACT_ERRNO(0) ? (uint32_t)SCMP_ACT_ERRNO(err) : table[i].action;
		return 0;
	}
	return bad(r, n, "unknown action \"%.60s\"", n->text);
}

static int get_op(struct rd *r, const struct json_node *arg, enum docker_op *ret)
{
	static const char *const names[] = {
		[DOCKER_NE] = "SCMP_CMP_NE", [DOCKER_LT] = "SCMP_CMP_LT", [DOCKER_LE] = "SCMP_CMP_LE",
		[DOCKER_EQ] = "SCMP_CMP_EQ", [DOCKER_GE] = "SCMP_CMP_GE", [DOCKER_GT] = "SCMP_CMP_GT",
		[DOCKER_MASKED_EQ] = "SCMP_CMP_MASKED_EQ",
	};
	const struct json_node *n = json_get(r->d, arg, "op");

	if (!n || n->kind != JSON_STRING)
		return bad(r, n ? n : arg, "\"op\": a comparison such as \"SCMP_CMP_EQ\" is expected");
	for (size_t i = 0; i < COUNT(names); i++) {
		if (strcmp(names[i], n->text) == 0) {
			*ret = (enum docker_op)i;
			return 0;
		}
	}
	return bad(r, n, "unknown comparison \"%.60s\"", n->text);
}

static int get_u64(struct rd *r, const struct json_node *obj, const char *key, bool needed, uint64_t max, uint64_t *ret)
{
	const struct json_node *n = member(r, obj, key);
	uint64_t v;

	if (!n)
		return needed ? bad(r, obj, "\"%s\" is missing", key) : 0;
	if (json_u64(n, &v) < 0 || v > max)
		return bad(r, n, "\"%s\": a whole number from 0 to %llu is expected", key, (unsigned long long)max);
	*ret = v;
	return 0;
}

static int read_args(struct rd *r, const struct json_node *rule, struct docker_rule *ret)
{
	static const char *const keys[] = { "index", "value", "valueTwo", "op" };
	const struct json_node *list = member(r, rule, "args");

	if (list && list->kind != JSON_ARRAY)
		return bad(r, list, "\"args\": a list is expected");
	for (const struct json_node *a = json_first(r->d, list); a; a = json_next(r->d, a)) {
		struct docker_arg *o = &ret->args[ret->argc];
		uint64_t index = 0;
		int rc = ret->argc == COMPILE_ARGS_MAX ? bad(r, a, "more than %d comparisons", COMPILE_ARGS_MAX)
						      : check_keys(r, a, keys, COUNT(keys));

		if (rc == 0)
			rc = get_u64(r, a, "index", true, COMPILE_ARGS_MAX - 1, &index);
		if (rc == 0)
			rc = get_u64(r, a, "value", true, UINT64_MAX, &o->value);
		if (rc == 0)
			rc = get_u64(r, a, "valueTwo", false, UINT64_MAX, &o->value_two);
		if (rc == 0)
			rc = get_op(r, a, &o->op);
		if (rc < 0)
			return rc;
		o->index = (unsigned)index;
		ret->argc++;
	}
	return 0;
}

static int add_name(struct rd *r, const struct json_node *n, struct docker_rule *rule)
{
	struct docker_profile *p = r->p;

	if (n->kind != JSON_STRING || !*n->text)
		return bad(r, n, "the name of a system call is expected");
	if (p->n_names == DOCKER_NAMES_MAX)
		return bad(r, n, "more than %u names", DOCKER_NAMES_MAX);
	p->names[p->n_names++] = n->text;
	rule->n_names++;
	return 0;
}

static int read_names(struct rd *r, const struct json_node *node, struct docker_rule *rule)
{
	const struct json_node *list = member(r, node, "names"), *one = member(r, node, "name");
	int rc = 0;

	rule->names = &r->p->names[r->p->n_names];
	if (one && list && list->count)
		return bad(r, one, "both \"name\" and \"names\": use one of them");
	if (one)
		return add_name(r, one, rule);
	if (!list || list->kind != JSON_ARRAY || !list->count)
		return bad(r, list ? list : node, "a rule needs \"names\": a list that is not empty");
	for (const struct json_node *n = json_first(r->d, list); n && rc == 0; n = json_next(r->d, n))
		rc = add_name(r, n, rule);
	return rc;
}

static int read_kernel(struct rd *r, const struct json_node *n, bool *ret_at_least)
{
	unsigned major, minor;

	if (n->kind != JSON_STRING || json_version(n->text, true, &major, &minor) < 0)
		return bad(r, n, "\"minKernel\": a version such as \"4.8\" is expected");
	*ret_at_least = r->host->kernel_major > major || (r->host->kernel_major == major && r->host->kernel_minor >= minor);
	return 0;
}

static int read_list(struct rd *r, const struct json_node *obj, const char *key, const char *mine, bool *ret_any, bool *ret_mine)
{
	const struct json_node *list = member(r, obj, key);

	*ret_any = *ret_mine = false;
	if (!list)
		return 0;
	if (list->kind != JSON_ARRAY)
		return bad(r, list, "\"%s\": a list is expected", key);
	for (const struct json_node *n = json_first(r->d, list); n; n = json_next(r->d, n)) {
		if (n->kind != JSON_STRING)
			return bad(r, n, "\"%s\": a name is expected", key);
		*ret_any = true;
		*ret_mine |= strcmp(n->text, mine) == 0;
	}
	return 0;
}

/*
 * Does an "includes" or "excludes" speak of this host and command? All parts of includes must hold, any of excludes.
 * The command has no capability: an includes that names one never holds, an excludes never does by it.
 */
static int read_filter(struct rd *r, const struct json_node *rule, const char *which, bool *ret_applies)
{
	static const char *const keys[] = { "caps", "arches", "minKernel" };
	const struct json_node *f = member(r, rule, which), *k;
	const char *arch = r->host->target->scmp == SCMP_ARCH_X86_64 ? "amd64" : "arm64";
	bool excludes = strcmp(which, "excludes") == 0, caps, has_cap, arches, mine, kernel = true;
	int rc;

	*ret_applies = true;
	if (!f)
		return 0;
	rc = check_keys(r, f, keys, COUNT(keys));
	if (rc == 0)
		rc = read_list(r, f, "caps", "", &caps, &has_cap);
	if (rc == 0)
		rc = read_list(r, f, "arches", arch, &arches, &mine);
	if (rc < 0)
		return rc;
	k = member(r, f, "minKernel");
	if (k && k->kind == JSON_STRING && !*k->text)
		k = NULL;	/* Go writes "" for what is not set */
	if (k)
		rc = read_kernel(r, k, &kernel);
	if (excludes)
		*ret_applies = !mine && !(k && kernel);
	else
		*ret_applies = !caps && (!arches || mine) && kernel;
	return rc;
}

static int read_rule(struct rd *r, const struct json_node *node)
{
	static const char *const keys[] = { "names", "name", "action", "args", "comment", "includes", "excludes", "errnoRet", "errno" };
	struct docker_rule rule = { .line = node->line };
	size_t names_before = r->p->n_names;
	uint32_t err = EPERM;
	bool in = true, out = true;
	int rc = check_keys(r, node, keys, COUNT(keys));

	if (rc == 0)
		rc = get_errno(r, node, "errnoRet", "errno", &err);
	if (rc == 0)
		rc = get_action(r, node, "action", err, &rule.action);
	if (rc == 0 && member(r, node, "errnoRet") && (rule.action & SECCOMP_RET_ACTION_FULL) != SCMP_ACT_ERRNO(0))
		rc = bad(r, json_get(r->d, node, "errnoRet"), "\"errnoRet\" is for SCMP_ACT_ERRNO only");
	if (rc == 0)
		rc = read_args(r, node, &rule);
	if (rc == 0)
		rc = read_names(r, node, &rule);
	if (rc == 0)
		rc = read_filter(r, node, "includes", &in);
	if (rc == 0)
		rc = read_filter(r, node, "excludes", &out);
	if (rc < 0)
		return rc;
	if (!in || !out) {
		r->p->n_names = names_before;
		r->p->skipped++;
		return 0;
	}
	if (r->p->n_rules == DOCKER_RULES_MAX)
		return bad(r, node, "more than %u rules", DOCKER_RULES_MAX);
	r->p->rules[r->p->n_rules++] = rule;
	return 0;
}

/* "SCMP_ARCH_X86_64" of the target's name */
static bool is_native(const struct rd *r, const char *arch)
{
	return strncmp(arch, "SCMP_ARCH_", 10) == 0 && strcasecmp(arch + 10, r->host->target->name) == 0;
}

static int read_architectures(struct rd *r, const struct json_node *root)
{
	static const char *const keys[] = { "architecture", "subArchitectures" };
	const struct json_node *map = member(r, root, "archMap"), *list = member(r, root, "architectures");
	bool native = false;

	if (map && map->count && list && list->count)
		return bad(r, list, "both \"architectures\" and \"archMap\": use one of them");
	for (const struct json_node *n = json_first(r->d, list); n; n = json_next(r->d, n)) {
		if (n->kind != JSON_STRING)
			return bad(r, n, "a name such as \"SCMP_ARCH_X86_64\" is expected");
		native |= is_native(r, n->text);
	}
	for (const struct json_node *n = json_first(r->d, map); n; n = json_next(r->d, n)) {
		const struct json_node *a = json_get(r->d, n, "architecture"), *sub = member(r, n, "subArchitectures");
		int rc = check_keys(r, n, keys, COUNT(keys));

		if (rc < 0)
			return rc;
		if (!a || a->kind != JSON_STRING)
			return bad(r, n, "\"architecture\": a name is expected");
		if (!is_native(r, a->text))
			continue;
		native = true;
		if (sub && sub->count)
			docker_note(r->notes, sub->line, "sub-architectures are not enabled: 32-bit programs are killed");
	}
	if (((map && map->count) || (list && list->count)) && !native)
		return bad(r, map ? map : list, "the profile is for other machines: %s is not among its architectures",
			   r->host->target->name);
	return 0;
}

static int reserve(struct rd *r, const struct json_node *list)
{
	size_t names = 0;

	for (const struct json_node *n = json_first(r->d, list); n; n = json_next(r->d, n)) {
		const struct json_node *l = json_get(r->d, n, "names");

		names += l ? l->count : 1;
	}
	if (names > DOCKER_NAMES_MAX || list->count > DOCKER_RULES_MAX)
		return bad(r, list, "more than %u rules or %u names", DOCKER_RULES_MAX, DOCKER_NAMES_MAX);
	r->p->rules = calloc(list->count + 1, sizeof(*r->p->rules));
	r->p->names = calloc(names + list->count + 1, sizeof(*r->p->names));
	return r->p->rules && r->p->names ? 0 : no_memory(r);
}

static int read_root(struct rd *r, const struct json_node *root)
{
	static const char *const keys[] = { "defaultAction", "defaultErrnoRet", "defaultErrno", "archMap", "architectures",
					    "syscalls", "comment", "flags" };
	const struct json_node *list, *flags;
	uint32_t err = EPERM;
	int rc = check_keys(r, root, keys, COUNT(keys));

	if (rc == 0)
		rc = read_architectures(r, root);
	if (rc == 0)
		rc = get_errno(r, root, "defaultErrnoRet", "defaultErrno", &err);
	if (rc == 0)
		rc = get_action(r, root, "defaultAction", err, &r->p->def_action);
	if (rc < 0)
		return rc;
	flags = member(r, root, "flags");
	if (flags && flags->count)
		docker_note(r->notes, flags->line, "\"flags\" have no effect here");
	list = json_get(r->d, root, "syscalls");
	if (!list || (list->kind != JSON_ARRAY && list->kind != JSON_NULL))
		return bad(r, list ? list : root, "\"syscalls\": a list is expected");
	r->p->stub = r->p->def_action != SCMP_ACT_ALLOW && r->p->def_action != SCMP_ACT_ERRNO(ENOSYS);
	rc = reserve(r, list);
	for (const struct json_node *n = json_first(r->d, list); n && rc == 0; n = json_next(r->d, n))
		rc = read_rule(r, n);
	return rc;
}

int docker_read(const struct json_doc *doc, const struct docker_host *host, struct docker_profile *ret,
		struct docker_notes *notes, struct json_error *ret_err)
{
	struct rd r = { .d = doc, .host = host, .p = ret, .notes = notes, .err = ret_err };

	*ret = (struct docker_profile){ 0 };
	return read_root(&r, &doc->nodes[0]);
}

void docker_release(struct docker_profile *p)
{
	free(p->rules);
	free(p->names);
	*p = (struct docker_profile){ 0 };
}
