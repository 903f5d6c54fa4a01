/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ak-policy says about a config file, as the executor reads it. Laws: what decodes encodes back to the same bytes; no item
 * is beyond its layer; setting options from it ends, and a workspace's never loosens. The check sum is made right, since
 * whoever forges an answer would do so.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/args.h"
#include "executor/args_agent.h"
#include "executor/config.h"
#include "executor/opts.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_filter_file.h"
#include "executor/shared/ak_json_out.h"

#define LAW(x)                                                                                               \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t limit(const struct limit_opt *l)
{
	return l->max ? UINT64_MAX : l->value;
}

/* a file of the workspace alone, over the defaults */
static void check_tightens(const struct exec_opts *o)
{
	LAW(limit(&o->memory_bytes) <= (512u << 20) && limit(&o->cpu_milli) <= 1000 && limit(&o->pids) <= 256);
	LAW(o->net == NET_NONE && o->kill_after_ms <= 2000 && o->nenv == 0 && !o->rootfs && !o->raw && !o->seccomp_file);
	for (size_t i = 0; i < o->nbinds; i++)
		LAW(o->binds[i].kind == BIND_HIDE);
}

/* what the agent would be told: each with its place, and nothing without one */
static void check_settings(struct config *c, const struct exec_opts *o)
{
	struct args_settings s = { 0 };
	int rc = args_agent_settings(c, o, &s, NULL);

	LAW(rc == 0 || rc == -EINVAL);
	for (size_t i = 0; rc == 0 && i + 1 < s.n; i += 2)
		LAW(s.v[i] && s.v[i + 1] && strncmp(s.v[i], "f:", 2) == 0 && strncmp(s.v[i + 1], "--", 2) == 0);
	args_settings_release(&s);
}

static void apply(struct ak_cfg_file *f, enum ak_cfg_section section)
{
	char word[] = "true", home[] = "/home/u", path[] = "f";
	char *words[] = { word };
	struct config c = { .home = home, .section = section };
	struct config_source *s = &c.source[f->layer == AK_CFG_POLICY ? 0 : f->layer == AK_CFG_USER ? 1 : 2];
	const struct ak_cfg_key *k;
	struct exec_opts o;
	struct ak_err err = { 0 };
	int rc;

	for (uint32_t i = 0; i < f->n_items; i++)
		if (strcmp(f->items[i].key->name, "env_file") == 0)
			return;	/* would read files of the machine */
	for (size_t i = 0; (k = ak_cfg_key(i)) != NULL; i++)
		c.value[i].text = k->initial;
	*s = (struct config_source){ .layer = f->layer, .path = path, .file = f };
	c.profile_id = f->n_profiles;
	c.profile = f->n_profiles ? f->profiles[f->n_profiles - 1] : NULL;
	rc = section == AK_CFG_RUN ? args_parse(ARGS_AGENT, 0, words, &c, &o, &err) : args_parse(ARGS_EXEC, 1, words, &c, &o, &err);
	if (rc == 0 && section == AK_CFG_RUN) {
		LAW(f->layer != AK_CFG_WORKSPACE || o.write != WRITE_DIRECT);
		rc = args_agent_apply(&c, &o, NULL, 0, &err);
		if (rc == 0)
			check_settings(&c, &o);
	}
	LAW(rc == 0 || rc == -EINVAL || rc == -EPERM);
	LAW(rc == 0 || (err.msg[0] && ak_utf8_valid(err.msg, strlen(err.msg))));
	if (rc == 0 && f->layer == AK_CFG_WORKSPACE)
		check_tightens(&o);
	exec_opts_release(&o);
	free(c.entries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *in = malloc(size + 1), *out = malloc(size + 1);
	struct ak_cfg_file *f = malloc(sizeof(*f));
	uint64_t sum;

	LAW(in && out && f);
	memcpy(in, data, size);
	if (size > 8) {
		sum = ak_fnv64(in, size - 8);
		for (int i = 0; i < 8; i++)
			in[size - 8 + (size_t)i] = (uint8_t)(sum >> (8 * i));
	}
	if (ak_cfg_file_decode(in, size, f) == 0) {
		for (uint32_t i = 0; i < f->n_items; i++)
			LAW(f->items[i].key && ak_cfg_may(f->items[i].key, f->layer) && f->items[i].profile <= f->n_profiles);
		LAW(ak_cfg_file_encode(f, out, size) == (long)size && memcmp(in, out, size) == 0);
		apply(f, AK_CFG_EXEC);
		apply(f, AK_CFG_RUN);
	}
	free(f);
	free(out);
	free(in);
	return 0;
}
