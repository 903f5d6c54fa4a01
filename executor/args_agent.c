/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings that the agent obeys: who may say them and what is in force is decided here, beside all other settings; what a text
 * means the agent reads, with the table that reads its command line. Process: executor. Privilege: none.
 */
#include "executor/args_agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/args_int.h"
#include "executor/config.h"
#include "executor/opts.h"
#include "executor/run_words.h"
#include "executor/shared/ak_err.h"

bool args_config_is_agents(const struct ak_cfg_key *k)
{
	return !ak_cfg_in(k, AK_CFG_EXEC);
}

/* what holds when nothing is said, so that a stranger's word can be measured by it */
static void set_default(struct config *c, const char *name, const char *text)
{
	c->value[ak_cfg_index(ak_cfg_find(AK_CFG_RUN, name))].text = text;
}

static int take_flag(struct args *a, const struct run_word *w)
{
	const struct ak_cfg_key *k = ak_cfg_by_option(AK_CFG_RUN, w->option);
	struct config_value v = { .text = w->value ? w->value : "true", .layer = AK_CFG_FLAG, .where = w->said };

	return k && args_config_is_agents(k) ? args_config_say(a, k, &v) : 0;
}

int args_agent_apply(struct config *c, const struct exec_opts *o, const struct run_word *words, size_t n, struct ak_err *err)
{
	struct args a = { .err = err, .config = c };
	bool terminal = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
	int rc;

	set_default(c, "apply", terminal ? "ask" : "always");
	set_default(c, "approval", o->backend == BACKEND_NATIVE && o->write != WRITE_DIRECT ? "auto" : "ask");
	rc = args_config_apply(&a, true);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = take_flag(&a, &words[i]);
	return rc;
}

bool args_agent_may_apply(const struct config *c, const struct exec_opts *o)
{
	const char *text = c->value[ak_cfg_index(ak_cfg_find(AK_CFG_RUN, "apply"))].text;

	return o->write == WRITE_COW && (!text || strcmp(text, "never") != 0);
}

/* is it said by something else than the command line, which the agent reads itself? */
static bool is_setting(const struct ak_cfg_key *k, const struct config_value *v, const struct exec_opts *o)
{
	if (!args_config_is_agents(k) || !v->text || !v->where || v->layer == AK_CFG_FLAG)
		return false;
	if (k->kind == AK_CFG_BOOL)
		return strcmp(v->text, "true") == 0;
	/* a setting for runs with a copy says nothing about one without */
	return strcmp(k->name, "apply") != 0 || o->write == WRITE_COW;
}

static char *place_of(const struct ak_cfg_key *k, const struct config_value *v)
{
	char *text = NULL;
	int n = v->line ? asprintf(&text, "%s:%u:%u: %s", v->where, v->line, v->col, args_config_name(k, v)) : asprintf(&text, "%s", v->where);

	return n < 0 ? NULL : text;
}

static char *word_of(const struct ak_cfg_key *k, const char *value)
{
	char *text = NULL;
	int n = k->kind == AK_CFG_BOOL ? asprintf(&text, "%s", k->option) : asprintf(&text, "%s=%s", k->option, value);

	return n < 0 ? NULL : text;
}

int args_settings_add(struct args *a, const struct ak_cfg_key *k, const struct config_value *v, struct args_settings *ret)
{
	char **more = reallocarray(ret->v, ret->n + 2, sizeof(*more));
	char *text = NULL;
	int rc = 0;

	if (!more)
		return ak_err_set(a->err, ENOMEM, "out of memory");
	ret->v = more;
	rc = args_config_expand(a, k, v, &text);
	if (rc < 0)
		return rc;
	ret->v[ret->n] = place_of(k, v);
	ret->v[ret->n + 1] = word_of(k, text ? text : v->text);
	ret->n += 2;
	free(text);
	return ret->v[ret->n - 2] && ret->v[ret->n - 1] ? 0 : ak_err_set(a->err, ENOMEM, "out of memory");
}

int args_agent_settings(struct config *c, const struct exec_opts *o, struct args_settings *ret, struct ak_err *err)
{
	struct args a = { .err = err, .config = c };
	const struct ak_cfg_key *k;
	int rc = 0;

	for (size_t i = 0; rc == 0 && (k = ak_cfg_key(i)) != NULL; i++)
		if (!ak_cfg_is_list(k) && is_setting(k, &c->value[i], o))
			rc = args_settings_add(&a, k, &c->value[i], ret);
	for (size_t i = 0; rc == 0 && i < c->n_entries; i++)
		if (is_setting(c->entries[i].key, &c->entries[i].v, o))
			rc = args_settings_add(&a, c->entries[i].key, &c->entries[i].v, ret);
	return rc;
}

void args_settings_release(struct args_settings *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	free(s->v);
	*s = (struct args_settings){ 0 };
}
