/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `config` of ak-policy. Privilege: none; confined before. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/shared/ak_fd.h"
#include "seccomp/policy_config.h"

enum ak_cfg_layer policy_config_layer(const char *word)
{
	static const struct { const char *word; enum ak_cfg_layer layer; } layers[] = {
		{ "policy", AK_CFG_POLICY }, { "user", AK_CFG_USER }, { "workspace", AK_CFG_WORKSPACE },
	};

	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++)
		if (strcmp(layers[i].word, word) == 0)
			return layers[i].layer;
	return AK_CFG_DEFAULT;
}

static int complain(const char *name, const struct json_error *e)
{
	fprintf(stderr, "%.240s:%u:%u: %s\n", name, e->line, e->col, e->text);
	return 1;
}

/* Return: bytes, or negative errno; one byte more than may be is read, so that more is seen */
static long read_input(char *buf, size_t cap)
{
	size_t n = 0;

	while (n < cap) {
		ssize_t k = read(STDIN_FILENO, buf + n, cap - n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		if (k == 0)
			break;
		n += (size_t)k;
	}
	return (long)n;
}

static int write_answer(const struct policy_config *c)
{
	char *buf = malloc(AK_CFG_FILE_MAX);
	long n = buf ? ak_cfg_file_encode(&c->f, buf, AK_CFG_FILE_MAX) : -ENOMEM;

	if (n > 0)
		n = ak_write_all(STDOUT_FILENO, buf, (size_t)n);
	free(buf);
	if (n < 0)
		fprintf(stderr, "the settings cannot be handed over: %s\n", strerror((int)-n));
	return n < 0;
}

static int answer(const char *text, size_t len, enum ak_cfg_layer layer, const char *name, struct policy_config *c)
{
	struct json_error err = { .line = 1, .col = 1 };
	struct json_doc doc = { 0 };
	int rc;

	if (len > AK_CFG_SOURCE_MAX) {
		(void)snprintf(err.text, sizeof(err.text), "longer than %u bytes", AK_CFG_SOURCE_MAX);
		return complain(name, &err);
	}
	rc = json_read(text, len, JSON_RELAXED, &doc, &err);
	if (rc == 0)
		rc = policy_config_read(&doc, layer, c, &err);
	rc = rc < 0 ? complain(name, &err) : write_answer(c);
	policy_config_release(c);
	json_release(&doc);
	return rc;
}

int policy_config_main(const char *layer, const char *name)
{
	struct policy_config *c = calloc(1, sizeof(*c));
	char *text = malloc(AK_CFG_SOURCE_MAX + 1);
	long n = text && c ? read_input(text, AK_CFG_SOURCE_MAX + 1) : -ENOMEM;
	int rc = 1;

	if (n < 0)
		fprintf(stderr, "%.240s: %s\n", name, strerror((int)-n));
	else
		rc = answer(text, (size_t)n, policy_config_layer(layer), name, c);
	free(text);
	free(c);
	return rc;
}
