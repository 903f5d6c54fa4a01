/* SPDX-License-Identifier: Apache-2.0 */
/* Config files: JSON into settings. Process: ak-policy. Privilege: none. */
#ifndef AK_SECCOMP_POLICY_CONFIG_H
#define AK_SECCOMP_POLICY_CONFIG_H

#include "executor/shared/ak_config_file.h"
#include "seccomp/json_read.h"

/* What was read; texts point into the document and into @arena */
struct policy_config {
	struct ak_cfg_file f;
	char *arena;	/* owned: texts that the document does not hold as such */
	size_t used, cap;
};

/**
 * policy_config_read() - the settings of one file
 * @doc:	read with JSON_RELAXED; borrowed as long as @ret is used
 * @layer:	whose file it is: AK_CFG_POLICY, AK_CFG_USER or AK_CFG_WORKSPACE
 * @ret:	release with policy_config_release() also after a failure
 * @ret_err:	the place, and a text that names the key
 *
 * Refuses unknown keys, values of another JSON type than the key takes, and what the layer may not set at all; whether a text
 * is a good value, and a workspace's one stricter, is for the executor, which knows what else is set.
 * Return: 0, -EINVAL, -E2BIG, -ENOMEM.
 */
int policy_config_read(const struct json_doc *doc, enum ak_cfg_layer layer, struct policy_config *ret, struct json_error *ret_err);
void policy_config_release(struct policy_config *c);

/**
 * policy_config_main() - the verb `config LAYER NAME`: a file on 0, a struct ak_cfg_file on 1
 * @layer:	"policy", "user" or "workspace"
 * @name:	for messages
 * To be called after policy_confine(). Return: exit code of ak-policy.
 */
int policy_config_main(const char *layer, const char *name);

/** policy_config_layer() - Return: the layer of that word, AK_CFG_DEFAULT for none. */
enum ak_cfg_layer policy_config_layer(const char *word);

#endif
