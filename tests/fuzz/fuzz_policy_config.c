/* SPDX-License-Identifier: Apache-2.0 */
/* Config files as people write them. Laws: what is read can be handed over and decodes to the same; every refusal has a place. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "seccomp/policy_config.h"

#define LAW(x)                                                                                               \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct ak_cfg_file *f)
{
	uint8_t *buf = malloc(AK_CFG_FILE_MAX);
	struct ak_cfg_file *back = malloc(sizeof(*back));
	long n;

	LAW(buf && back);
	n = ak_cfg_file_encode(f, buf, AK_CFG_FILE_MAX);
	LAW(n > 0 && ak_cfg_file_decode(buf, (size_t)n, back) == 0 && back->n_items == f->n_items && back->layer == f->layer);
	for (uint32_t i = 0; i < f->n_items; i++) {
		const struct ak_cfg_item *a = &f->items[i], *b = &back->items[i];

		LAW(a->key == b->key && a->section == b->section && a->op == b->op && a->profile == b->profile && a->line == b->line);
		LAW(a->value ? b->value && strcmp(a->value, b->value) == 0 : !b->value);
	}
	free(back);
	free(buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum ak_cfg_layer layers[] = { AK_CFG_POLICY, AK_CFG_USER, AK_CFG_WORKSPACE };
	struct policy_config *c = malloc(sizeof(*c));
	struct json_error err;
	struct json_doc doc;

	LAW(c != NULL);
	if (size <= AK_CFG_SOURCE_MAX && json_read((const char *)data, size, JSON_RELAXED, &doc, &err) == 0) {
		for (size_t i = 0; i < 3; i++) {
			int rc = policy_config_read(&doc, layers[i], c, &err);

			LAW(rc == 0 || (err.line >= 1 && err.col >= 1 && err.text[0]));
			if (rc == 0)
				check(&c->f);
			policy_config_release(c);
		}
	}
	if (size <= AK_CFG_SOURCE_MAX)
		json_release(&doc);
	free(c);
	return 0;
}
