/* SPDX-License-Identifier: Apache-2.0 */
/* `ak config show`: what is in force for `ak exec` and `ak run`, and who said so. Process: executor. Privilege: the caller's. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "executor/args.h"
#include "executor/args_agent.h"
#include "executor/args_int.h"
#include "executor/config.h"
#include "executor/named.h"
#include "executor/opts.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"

static const char help_text[] =
	"usage: ak config show [--json] [OPTIONS of ak exec]\n"
	"\n"
	"Shows every setting that is in force for ak exec and, as run.KEY, for ak run, and\n"
	"where it comes from: a file with line and column, a variable, an option given\n"
	"here (they are ak exec's), or the built-in default.\n"
	"\n"
	"A later one counts more; nothing may be looser than the policy, and the\n"
	"workspace's file may only tighten what comes before it:\n"
	"  /etc/ak/policy.json                       the policy of this machine\n"
	"  ~/.config/ak/config.json, or --config     the user's; --profile NAME adds profiles.NAME\n"
	"  .ak/config.json                           of the workspace\n"
	"  AK_MEMORY, AK_MODEL, ...                  variables\n"
	"  --memory, --net, ...                      options\n";

static const char *const layer_names[AK_CFG_LAYERS] = { "default", "policy", "user", "profile", "workspace", "variable", "option" };

/* keys whose options this version lacks have nothing to show */
static bool is_shown(const struct config *c, const struct ak_cfg_key *k)
{
	return c && ak_cfg_in(k, c->section) && (args_config_is_agents(k) || arg_by_name(k->option, strlen(k->option)) != NULL);
}

/* what is shown beside a policy's value: a lock where it is one */
static bool is_locked(const struct config *c, const struct ak_cfg_key *k)
{
	return c->lock[ak_cfg_index(k)].where != NULL;
}

static void origin_text(const struct config_value *v, const char *profile, struct ak_buf *out)
{
	if (v->layer == AK_CFG_DEFAULT)
		ak_buf_str(out, "default");
	else if (v->line)
		ak_buf_printf(out, "%s:%u:%u", v->where, v->line, v->col);
	else
		ak_buf_str(out, v->where);
	if (v->layer == AK_CFG_PROFILE)
		ak_buf_printf(out, " (profile %s)", profile);
}

/* values may hold anything: one line each, nothing that a terminal could act on */
static void value_text(const char *text, struct ak_buf *out)
{
	for (const char *p = text ? text : "-"; *p; p++) {
		char ch = (unsigned char)*p < 0x20 || *p == 0x7f ? '?' : *p;

		ak_buf_add(out, &ch, 1);
	}
}

static void line(const struct config *c, const struct ak_cfg_key *k, const struct config_value *v, struct ak_buf *out)
{
	size_t from = out->len, len;

	ak_buf_printf(out, "%-16s ", c->section == AK_CFG_RUN ? k->full[AK_CFG_RUN] : k->name);
	value_text(v->text, out);
	len = out->len - from;
	ak_buf_printf(out, "%*s", len < 40 ? (int)(40 - len) : 1, "");
	origin_text(v, c->profile, out);
	ak_buf_str(out, "\n");
}

static void lock_line(const struct config *c, const struct ak_cfg_key *k, struct ak_buf *out)
{
	const struct config_value *l = &c->lock[ak_cfg_index(k)];

	if (ak_cfg_is_list(k) && k->rule != AK_CFG_LESS)
		return;
	ak_buf_printf(out, "%-16s ", "");
	if (ak_cfg_is_list(k)) {
		ak_buf_str(out, "nothing can be added");
	} else {
		ak_buf_str(out, "nothing looser than ");
		value_text(l->text, out);
	}
	ak_buf_printf(out, ": %s:%u:%u\n", l->where, l->line, l->col);
}

static void files_text(const struct config *c, struct ak_buf *out)
{
	for (size_t i = 0; i < CONFIG_FILES; i++) {
		ak_buf_printf(out, "# %s: ", c->source[i].path ? c->source[i].path : layer_names[c->source[i].layer]);
		ak_buf_str(out, c->source[i].file ? "read" : c->source[i].path ? "not there" : "not looked for");
		if (c->source[i].layer == AK_CFG_USER && c->profile)
			ak_buf_printf(out, ", with profile %s", c->profile);
		ak_buf_str(out, "\n");
	}
}

static void keys_text(const struct config *c, struct ak_buf *out)
{
	const struct ak_cfg_key *k;

	for (size_t i = 0; (k = ak_cfg_key(i)) != NULL; i++) {
		if (!is_shown(c, k))
			continue;
		if (!ak_cfg_is_list(k))
			line(c, k, &c->value[i], out);
		for (size_t e = 0; e < c->n_entries; e++)
			if (c->entries[e].key == k)
				line(c, k, &c->entries[e].v, out);
		if (is_locked(c, k))
			lock_line(c, k, out);
	}
}

static void origin_json(const struct config *c, const struct config_value *v, const char *key, struct ak_json *j)
{
	ak_json_obj(j, key);
	ak_json_str(j, "layer", layer_names[v->layer]);
	if (v->layer == AK_CFG_PROFILE)
		ak_json_str(j, "profile", c->profile);
	if (v->where)
		ak_json_str(j, v->line ? "file" : v->layer == AK_CFG_VARIABLE ? "variable" : "option", v->where);
	if (v->line) {
		ak_json_u64(j, "line", v->line);
		ak_json_u64(j, "column", v->col);
	}
	ak_json_obj_end(j);
}

static void value_json(const struct config *c, const struct ak_cfg_key *k, const struct config_value *v, const char *key,
		       struct ak_json *j)
{
	ak_json_obj(j, key);
	if (k->kind == AK_CFG_BOOL)
		ak_json_bool(j, "value", v->text && strcmp(v->text, "true") == 0);
	else
		ak_json_str(j, "value", v->text);
	origin_json(c, v, "origin", j);
	if (key && is_locked(c, k)) {
		ak_json_str(j, "locked_to", c->lock[ak_cfg_index(k)].text);
		origin_json(c, &c->lock[ak_cfg_index(k)], "locked_by", j);
	}
	ak_json_obj_end(j);
}

static void list_json(const struct config *c, const struct ak_cfg_key *k, struct ak_json *j)
{
	ak_json_obj(j, k->name);
	ak_json_arr(j, "entries");
	for (size_t e = 0; e < c->n_entries; e++)
		if (c->entries[e].key == k)
			value_json(c, k, &c->entries[e].v, NULL, j);
	ak_json_arr_end(j);
	if (is_locked(c, k) && k->rule == AK_CFG_LESS)
		origin_json(c, &c->lock[ak_cfg_index(k)], "locked_by", j);
	ak_json_obj_end(j);
}

static void keys_json(const struct config *c, const char *name, struct ak_json *j)
{
	const struct ak_cfg_key *k;

	ak_json_obj(j, name);
	for (size_t i = 0; (k = ak_cfg_key(i)) != NULL; i++) {
		if (is_shown(c, k) && ak_cfg_is_list(k))
			list_json(c, k, j);
		else if (is_shown(c, k))
			value_json(c, k, &c->value[i], k->name, j);
	}
	ak_json_obj_end(j);
}

static void show_json(const struct config *c, const struct config *run, struct ak_buf *out)
{
	struct ak_json j;

	ak_json_init(&j, out);
	ak_json_obj(&j, NULL);
	ak_json_str(&j, "schema", "ak-config/1");
	ak_json_arr(&j, "files");
	for (size_t i = 0; i < CONFIG_FILES; i++) {
		ak_json_obj(&j, NULL);
		ak_json_str(&j, "layer", layer_names[c->source[i].layer]);
		ak_json_str(&j, "path", c->source[i].path);
		ak_json_bool(&j, "read", c->source[i].file != NULL);
		ak_json_obj_end(&j);
	}
	ak_json_arr_end(&j);
	ak_json_str(&j, "profile", c->profile);
	keys_json(c, "exec", &j);
	keys_json(run, "run", &j);
	ak_json_obj_end(&j);
	ak_buf_str(out, "\n");
}

void config_show(const struct config *c, const struct config *run, bool json, struct ak_buf *out)
{
	if (json) {
		show_json(c, run, out);
		return;
	}
	files_text(c, out);
	keys_text(c, out);
	keys_text(run, out);
}

/* what holds for ak run: the same files, without the options given here. Return: as config_load(), args_parse() */
static int look_at_run(const struct config_scan *scan, char *const env[], struct config **ret, struct ak_err *err)
{
	struct config_scan of_run = *scan;
	struct exec_opts o = { 0 };
	int e;

	of_run.section = AK_CFG_RUN;
	of_run.in = false;
	e = config_load(&of_run, env, true, ret, err);
	if (e == 0)
		e = args_parse(ARGS_SHOW, 0, NULL, *ret, &o, err);
	if (e == 0)
		e = args_agent_apply(*ret, &o, NULL, 0, err);
	exec_opts_release(&o);
	return e;
}

static int show(int argc, char *const argv[], char *const env[])
{
	struct exec_opts o = { 0 };
	struct config *c = NULL, *run = NULL;
	struct config_scan scan;
	struct ak_err err = { 0 };
	struct ak_buf b = { 0 };
	int code, e;

	config_scan(argc, argv, false, &scan);
	if (scan.help)
		return named_print(help_text, sizeof(help_text) - 1);
	e = config_load(&scan, env, true, &c, &err);
	if (e < 0)
		return named_fail(&err);
	e = args_parse(ARGS_SHOW, argc, argv, c, &o, &err);
	if (e == 0)
		e = look_at_run(&scan, env, &run, &err);
	if (e < 0) {
		code = named_usage(&err);
	} else {
		config_show(c, run, o.json, &b);
		code = b.failed ? 1 : named_print(b.data, b.len);
	}
	ak_buf_release(&b);
	exec_opts_release(&o);
	config_free(c);
	config_free(run);
	return code;
}

int cmd_config(int argc, char *const argv[], char *const env[])
{
	struct ak_err err = { 0 };

	if (argc >= 1 && strcmp(argv[0], "show") == 0)
		return show(argc - 1, argv + 1, env);
	if (argc >= 1 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0))
		return named_print(help_text, sizeof(help_text) - 1);
	(void)ak_err_set(&err, EINVAL, argc < 1 ? "config: show is expected" : "config: unknown command \"%.60s\"", argc < 1 ? "" : argv[0]);
	ak_err_hint(&err, "see ak config --help");
	return named_usage(&err);
}
