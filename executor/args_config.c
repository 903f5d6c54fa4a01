/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of files and variables through the handlers of the options they stand for, and who may overrule whom. Process:
 * executor. Privilege: none.
 */
#include "executor/args_int.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/args.h"
#include "executor/config.h"
#include "executor/opts.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

#define Q "\"%.80s\""

/* puts "FILE:LINE:COLUMN: " in front of what went wrong; a variable's name is there already */
static int at_place(struct args *a, const struct config_value *v)
{
	if (v->line && a->err)
		return ak_err_wrap(a->err, "%.300s:%u:%u", v->where, v->line, v->col);
	return a->err && a->err->code ? -a->err->code : -EINVAL;
}

const char *args_config_name(const struct ak_cfg_key *k, const struct config_value *v)
{
	return v->layer == AK_CFG_FLAG || v->layer == AK_CFG_VARIABLE ? v->where : k->full[v->section];
}

/* ---- locks ---- */

static int locked(struct args *a, const struct ak_cfg_key *k, const struct config_value *v, const struct config_value *lock)
{
	(void)ak_err_set(a->err, EPERM, "%s: " Q " is not allowed by %.200s:%u:%u", args_config_name(k, v), v->text, lock->where, lock->line,
			 lock->col);
	if (ak_cfg_is_list(k))
		ak_err_hint(a->err, "the policy of this machine has the whole list");
	else
		ak_err_hint(a->err, "the policy of this machine allows %.80s, and what is stricter", lock->text);
	(void)at_place(a, v);
	return -EPERM;
}

/* an entry that the policy has itself changes nothing */
static bool policy_has(const struct config *c, const struct ak_cfg_key *k, const char *text)
{
	for (size_t i = 0; i < c->n_entries; i++)
		if (c->entries[i].v.layer == AK_CFG_POLICY && c->entries[i].key == k && c->entries[i].v.text &&
		    strcmp(c->entries[i].v.text, text) == 0)
			return true;
	return false;
}

/* @gives: enum ak_cfg_gives */
static int check_list_lock(struct args *a, const struct ak_cfg_key *k, unsigned gives, const struct config_value *v)
{
	const struct config *c = a->config;
	const struct ak_cfg_key *other;

	for (size_t i = 0; (other = ak_cfg_key(i)) != NULL; i++)
		if (c->lock[i].where && (other->closes & gives) && !policy_has(c, k, v->text))
			return locked(a, k, v, &c->lock[i]);
	return 0;
}

static int check_lock(struct args *a, const struct ak_cfg_key *k, const struct config_value *v)
{
	const struct config_value *lock = &a->config->lock[ak_cfg_index(k)];

	if (ak_cfg_is_list(k))
		return v->text ? check_list_lock(a, k, k->gives, v) : 0;
	if (lock->where && ak_cfg_looser(k, v->text, lock->text))
		return locked(a, k, v, lock);
	return 0;
}

static int add_entry(struct args *a, const struct ak_cfg_key *k, const struct config_value *v)
{
	struct config *c = a->config;
	struct config_entry *e = reallocarray(c->entries, c->n_entries + 1, sizeof(*e));

	if (!e)
		return ak_err_set(a->err, ENOMEM, "out of memory");
	c->entries = e;
	e[c->n_entries++] = (struct config_entry){ .key = k, .v = *v };
	return 0;
}

static int note(struct args *a, const struct ak_cfg_key *k, const struct config_value *v)
{
	if (ak_cfg_is_list(k))
		return v->text ? add_entry(a, k, v) : 0;
	a->config->value[ak_cfg_index(k)] = *v;
	return 0;
}

/* ---- paths ---- */

static bool is_word(const struct ak_cfg_key *k, const char *text)
{
	for (size_t i = 0; k->order && k->order[i]; i++)
		if (strcmp(k->order[i], text) == 0)
			return true;
	return false;
}

static int no_path(struct args *a, const struct ak_cfg_key *k, const struct config_value *v, const char *why)
{
	(void)ak_err_set(a->err, EINVAL, "%s: " Q " %s", args_config_name(k, v), v->text, why);
	return -EINVAL;
}

/* relative to a folder: of the workspace, for a path inside that its own file names; else nothing is in front */
static const char *base_of(const struct args *a, const struct ak_cfg_key *k, const struct config_value *v)
{
	return k->kind == AK_CFG_PLACES && v->layer == AK_CFG_WORKSPACE ? a->config->workspace : NULL;
}

/* the path in an entry of providers. Return: NULL: there is none in it */
static const char *path_of_provider(const char *text)
{
	char name[AK_CFG_PROVIDER_NAME_MAX + 1];
	enum ak_cfg_provider_field field;
	const char *value = ak_cfg_provider_split(text, name, &field);

	return value && field == AK_CFG_PROVIDER_KEY_FILE ? value : NULL;
}

/*
 * A relative path of the host in a file would be looked up where the command happens to be started, which may be a folder that
 * somebody else has filled: refused. Variables come from a shell, as the command line does.
 */
int args_config_expand(struct args *a, const struct ak_cfg_key *k, const struct config_value *v, char **ret)
{
	bool host = k->kind == AK_CFG_PATH || k->kind == AK_CFG_BINDS || k->kind == AK_CFG_FILES || k->kind == AK_CFG_PROVIDERS;
	const char *base = base_of(a, k, v);
	const char *path = k->kind == AK_CFG_PROVIDERS ? path_of_provider(v->text) : v->text;
	char *real = NULL;
	int n = 0;

	*ret = NULL;
	if (v->layer == AK_CFG_VARIABLE || (!host && k->kind != AK_CFG_PLACES) || is_word(k, v->text) || !path || path[0] == '/')
		return 0;
	if (strncmp(path, "~/", 2) == 0 || strcmp(path, "~") == 0) {
		if (!a->config->home)
			return no_path(a, k, v, "needs a home, and you have none");
		n = asprintf(ret, "%.*s%s%s", (int)(path - v->text), v->text, a->config->home, path + 1);
	} else if (host) {
		return no_path(a, k, v, "is not absolute: in a config file a path of the host starts with / or ~/");
	} else if (base) {
		/* the workspace is shown at its real path; one that has none is refused by the plan */
		real = realpath(base, NULL);
		n = asprintf(ret, "%s/%s", real ? real : base, v->text);
		free(real);
	}
	if (n < 0) {
		*ret = NULL;
		return ak_err_set(a->err, ENOMEM, "out of memory");
	}
	return 0;
}

/* ---- setting ---- */

/* a value that the agent would refuse, before it is compared with others */
static int no_choice(struct args *a, const struct ak_cfg_key *k, const struct config_value *v, const char *text)
{
	char words[160] = "";
	size_t n = 0;

	for (size_t i = 0; k->order[i] && n < sizeof(words); i++)
		n += (size_t)snprintf(words + n, sizeof(words) - n, "%s%.*s", i ? ", " : "", (int)strcspn(k->order[i], "|"), k->order[i]);
	(void)ak_err_set(a->err, EINVAL, "%s: " Q " is not one of %s", args_config_name(k, v), text, words);
	return -EINVAL;
}

/* for other commands than this one there is nothing to set, but that the option exists is asked first */
static int set(struct args *a, const struct ak_cfg_key *k, const struct config_value *v)
{
	const struct arg_def *row = arg_by_name(k->option, strlen(k->option));
	struct arg_def d;
	char *text = NULL;
	int rc;

	if (args_config_is_agents(k)) {
		rc = v->text ? args_config_expand(a, k, v, &text) : 0;
		if (rc == 0 && v->text && !ak_cfg_known(k, text ? text : v->text))
			rc = no_choice(a, k, v, text ? text : v->text);
		free(text);
		return rc;
	}
	if (!row) {
		(void)ak_err_set(a->err, EINVAL, "%s: not available in this version", args_config_name(k, v));
		return -EINVAL;
	}
	if (!(row->where & a->where) || !v->text)
		return 0;
	d = *row;
	d.name = args_config_name(k, v);
	if (k->kind == AK_CFG_BOOL && strcmp(v->text, "false") == 0) {
		*(bool *)((char *)a->o + d.field) = false;
		return 0;
	}
	rc = args_config_expand(a, k, v, &text);
	if (rc == 0)
		rc = d.set(a, &d, k->kind == AK_CFG_BOOL ? NULL : text ? text : v->text);
	free(text);
	return rc;
}

static int workspace_loosens(struct args *a, const struct ak_cfg_key *k, const struct config_value *v)
{
	const struct config_value *now = &a->config->value[ak_cfg_index(k)];

	(void)ak_err_set(a->err, EPERM, "%s: " Q " is looser than " Q ", which holds without it: a workspace's file may only tighten",
			 k->full[v->section], v->text, now->text ? now->text : "no limit");
	return -EPERM;
}

/* is it a value of its option at all? Nothing is kept of it */
static int try_out(const struct args *a, const struct ak_cfg_key *k, const struct config_value *v)
{
	struct exec_opts scratch = {0};
	struct args b = *a;
	int rc;

	b.o = &scratch;
	rc = set(&b, k, v);
	exec_opts_release(&scratch);
	return rc;
}

/* The policy's is a lock; as a value it counts only where it is stricter than what holds without it */
static int apply_policy(struct args *a, const struct ak_cfg_key *k, const struct config_value *v)
{
	struct config_value *now = &a->config->value[ak_cfg_index(k)];
	bool counts = ak_cfg_is_list(k) || ak_cfg_looser(k, now->text, v->text);
	int rc = counts ? set(a, k, v) : try_out(a, k, v);

	if (rc < 0)
		return at_place(a, v);
	a->config->lock[ak_cfg_index(k)] = *v;
	return counts ? note(a, k, v) : 0;
}

/* one setting of one layer */
static int apply(struct args *a, const struct ak_cfg_key *k, const struct config_value *v)
{
	const struct config_value *now = &a->config->value[ak_cfg_index(k)];
	int rc = v->layer == AK_CFG_POLICY ? 0 : check_lock(a, k, v);

	if (v->layer == AK_CFG_POLICY || rc < 0)
		return rc < 0 ? rc : apply_policy(a, k, v);
	rc = v->layer == AK_CFG_WORKSPACE ? try_out(a, k, v) : 0;
	if (rc == 0 && v->layer == AK_CFG_WORKSPACE && !ak_cfg_is_list(k) && ak_cfg_looser(k, v->text, now->text)) {
		/* what tightens ak exec may be more than ak run has already: that is no fault of the file's, and not obeyed */
		if (v->section != a->config->section && !ak_cfg_looser(k, v->text, k->initial))
			return 0;
		rc = workspace_loosens(a, k, v);
	}
	if (rc == 0)
		rc = set(a, k, v);
	return rc < 0 ? at_place(a, v) : note(a, k, v);
}

static const char *text_of(const struct ak_cfg_item *i)
{
	return i->op == AK_CFG_IS_TRUE ? "true" : i->op == AK_CFG_IS_FALSE ? "false" : i->value;
}

/*
 * Does a setting that stands under @section concern this command? For ak run, what exec says of the sandbox holds too. But not
 * how changes are made, as ak run has a default of its own for that; a policy's word on it binds all the same. Nor what is about
 * sandboxes that stay.
 */
static bool concerns(const struct config *c, const struct ak_cfg_key *k, enum ak_cfg_section section, enum ak_cfg_layer layer)
{
	if (c->section == section)
		return true;
	if (c->section != AK_CFG_RUN || strcmp(k->name, "apply") == 0 || strcmp(k->name, "ttl") == 0 || strcmp(k->name, "pool") == 0)
		return false;
	return layer == AK_CFG_POLICY || strcmp(k->name, "write") != 0;
}

/* a policy that takes nothing over for ak exec takes nothing over for ak run */
static const struct ak_cfg_key *stands_for(const struct config *c, const struct ak_cfg_item *i, enum ak_cfg_layer layer)
{
	if (c->section == AK_CFG_RUN && layer == AK_CFG_POLICY && i->section == AK_CFG_EXEC && strcmp(i->key->name, "apply") == 0)
		return ak_cfg_find(AK_CFG_RUN, "apply");
	return i->key;
}

/* the items of a file that stand under @section and belong to @profile (0: to none); of the agent's keys or of the others */
static int apply_section(struct args *a, const struct config_source *s, uint32_t profile, enum ak_cfg_section section, bool agents)
{
	for (uint32_t i = 0; s->file && i < s->file->n_items; i++) {
		const struct ak_cfg_item *it = &s->file->items[i];
		struct config_value v = { .text = text_of(it), .layer = profile ? AK_CFG_PROFILE : s->layer,
					  .where = s->path, .line = it->line, .col = it->col };
		const struct ak_cfg_key *k = stands_for(a->config, it, v.layer);
		int rc = 0;

		v.section = ak_cfg_in(k, section) ? section : AK_CFG_RUN;
		if (it->profile == profile && it->section == section && args_config_is_agents(k) == agents &&
		    concerns(a->config, k, v.section, v.layer))
			rc = apply(a, k, &v);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* of one layer, what is under run counts more than what is under exec */
static int apply_file(struct args *a, const struct config_source *s, uint32_t profile, bool agents)
{
	int rc = apply_section(a, s, profile, AK_CFG_EXEC, agents);

	return rc == 0 ? apply_section(a, s, profile, AK_CFG_RUN, agents) : rc;
}

/* ---- variables ---- */

static const char *truth(const char *text)
{
	static const char *const words[][2] = { { "1", "0" }, { "true", "false" }, { "yes", "no" }, { "on", "off" } };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		for (size_t no = 0; no < 2; no++)
			if (strcmp(text, words[i][no]) == 0)
				return no ? "false" : "true";
	return NULL;
}

/* one entry a line, since all else may be part of one */
static int apply_lines(struct args *a, const struct ak_cfg_key *k, struct config_value *v)
{
	char **lines = &a->config->lines[ak_cfg_index(k)];
	char *rest;
	int rc = 0;

	*lines = strdup(v->text);
	if (!*lines)
		return ak_err_set(a->err, ENOMEM, "out of memory");
	rest = *lines;
	for (char *line; rc == 0 && (line = strsep(&rest, "\n")) != NULL;) {
		v->text = line;
		if (*line)
			rc = apply(a, k, v);
	}
	return rc;
}

static int apply_variable(struct args *a, const struct ak_cfg_key *k, const char *text)
{
	struct config_value v = { .text = text, .layer = AK_CFG_VARIABLE, .where = k->variable };

	if (!ak_cfg_may(k, AK_CFG_VARIABLE))
		return ak_err_set(a->err, EINVAL, "%s: this cannot be set by a variable", k->variable);
	if (ak_cfg_is_list(k))
		return apply_lines(a, k, &v);
	if (k->kind == AK_CFG_BOOL)
		v.text = truth(text);
	if (!v.text)
		return ak_err_set(a->err, EINVAL, "%s: " Q " is neither true nor false", k->variable, text);
	return apply(a, k, &v);
}

/* a variable has no section: it is for the command that has its option */
static const char *variable(const struct config *c, const struct ak_cfg_key *k)
{
	enum ak_cfg_section section = ak_cfg_in(k, c->section) ? c->section : ak_cfg_in(k, AK_CFG_EXEC) ? AK_CFG_EXEC : AK_CFG_RUN;

	return k->variable && concerns(c, k, section, AK_CFG_VARIABLE) ? config_getenv(c->env, k->variable) : NULL;
}

int args_config_apply(struct args *a, bool agents)
{
	const struct ak_cfg_key *k;
	struct config *c = a->config;
	int rc = 0;

	rc = apply_file(a, &c->source[0], 0, agents);
	if (rc == 0)
		rc = apply_file(a, &c->source[1], 0, agents);
	if (rc == 0 && c->profile_id)
		rc = apply_file(a, &c->source[1], c->profile_id, agents);
	if (rc == 0)
		rc = apply_file(a, &c->source[2], 0, agents);
	for (size_t i = 0; rc == 0 && (k = ak_cfg_key(i)) != NULL; i++) {
		const char *text = args_config_is_agents(k) == agents ? variable(c, k) : NULL;

		if (text)
			rc = apply_variable(a, k, text);
	}
	return rc;
}

int args_config_apply_kind(struct args *a, enum ak_cfg_kind kind)
{
	const struct config *c = a->config;
	int rc = 0;

	for (size_t s = 0; s < CONFIG_FILES; s++) {
		const struct config_source *f = &c->source[s];

		for (uint32_t i = 0; rc == 0 && f->file && i < f->file->n_items; i++) {
			const struct ak_cfg_item *it = &f->file->items[i];
			struct config_value v = { .text = text_of(it), .layer = f->layer, .section = it->section, .where = f->path,
						  .line = it->line, .col = it->col };

			if (it->key->kind == kind && it->profile == 0)
				rc = apply(a, it->key, &v);
		}
	}
	return rc;
}

/* ---- the command line ---- */

/* -v has no key of its own: it gives what --rw or --ro give */
static const struct ak_cfg_key *key_of(const struct arg_def *d, const char *value)
{
	size_t n = value ? strlen(value) : 0;

	if (strcmp(d->name, "-v") != 0)
		return ak_cfg_by_option(AK_CFG_EXEC, d->name);
	return ak_cfg_find(AK_CFG_EXEC, n > 3 && strcmp(value + n - 3, ":ro") == 0 ? "ro" : "rw");
}

int args_config_say(struct args *a, const struct ak_cfg_key *k, const struct config_value *v)
{
	int rc = check_lock(a, k, v);

	return rc < 0 ? rc : note(a, k, v);
}

int args_config_flag(struct args *a, const struct arg_def *d, const char *value)
{
	const struct ak_cfg_key *k = key_of(d, value);
	struct config_value v = { .text = d->has_value ? value : "true", .layer = AK_CFG_FLAG, .where = d->name };

	return k ? args_config_say(a, k, &v) : 0;
}

/* ---- what is in force ---- */

const char *args_said(const struct args *a, const char *option)
{
	const struct ak_cfg_key *k = a->config ? ak_cfg_by_option(AK_CFG_EXEC, option) : NULL;
	const struct config_value *v = k ? &a->config->value[ak_cfg_index(k)] : NULL;

	return v && v->text && v->layer != AK_CFG_DEFAULT && v->layer != AK_CFG_FLAG ? args_config_name(k, v) : option;
}

/* what gives less isolation when it is not what it is without a word */
static const char *const isolating[] = { "backend", "isolation", "identity", "nesting", "net", "write", "seccomp", "raw" };
/* lists that open something of the host: in a file they are what the file is for, in a variable they are easily forgotten */
static const char *const opening[] = { "rw", "rw_try", "dev", "allow_protected" };

/* an agent gets a copy of the workspace, a command the workspace */
static const char *initial_of(const struct args *a, const struct ak_cfg_key *k)
{
	return a->config->section == AK_CFG_RUN && strcmp(k->name, "write") == 0 ? "cow" : k->initial;
}

static void add_lowered(struct ak_buf *b, const struct ak_cfg_key *k, const struct config_value *v)
{
	size_t n = strcspn(v->text, "\n");

	ak_buf_printf(b, "%s%s %.*s by %.300s", b->len ? ", " : "less isolation than the default: ", k->name, (int)(n < 40 ? n : 40), v->text,
		      v->where);
	if (v->line)
		ak_buf_printf(b, ":%u:%u", v->line, v->col);
}

/* the caller may have forgotten it, or somebody else has set it: a flag is there to be seen, these are not */
int args_config_lowered(struct args *a)
{
	struct ak_buf b = { 0 };

	for (size_t i = 0; a->config && i < sizeof(isolating) / sizeof(isolating[0]); i++) {
		const struct ak_cfg_key *k = ak_cfg_find(a->config->section, isolating[i]);
		const struct config_value *v = k ? &a->config->value[ak_cfg_index(k)] : NULL;

		if (v && v->layer != AK_CFG_DEFAULT && v->layer != AK_CFG_FLAG && ak_cfg_looser(k, v->text, initial_of(a, k)))
			add_lowered(&b, k, v);
	}
	for (size_t i = 0; a->config && i < sizeof(opening) / sizeof(opening[0]); i++) {
		const struct ak_cfg_key *k = ak_cfg_find(a->config->section, opening[i]);
		struct config_value v = { .text = k ? config_getenv(a->config->env, k->variable) : NULL, .where = k ? k->variable : NULL };

		if (v.text)
			add_lowered(&b, k, &v);
	}
	if (b.len && !b.failed)
		a->o->lowered = strdup(b.data);
	if (b.failed || (b.len && !a->o->lowered)) {
		ak_buf_release(&b);
		return ak_err_set(a->err, ENOMEM, "out of memory");
	}
	ak_buf_release(&b);
	return 0;
}
