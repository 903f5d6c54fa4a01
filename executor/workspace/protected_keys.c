/* SPDX-License-Identifier: Apache-2.0 */
/* Has git configurations looked into by ak-policy. Process: executor. Privilege: none given on. */
#include "executor/workspace/protected_keys.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/companion.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/workspace/protected_scan.h"

#define ANSWER_BYTES 4096u

static char **split(char *text, size_t len)
{
	char **keys = calloc(PROTECTED_KEYS_MAX + 1, sizeof(*keys));
	size_t n = 0;

	if (!keys || memchr(text, '\0', len)) {
		free(keys);
		return NULL;
	}
	for (char *line = text, *end; n < PROTECTED_KEYS_MAX && (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		ak_text_clean(line);
		keys[n] = strdup(line);
		if (!keys[n])
			break;
		n++;
	}
	if (n == 0) {
		free(keys);
		return NULL;
	}
	return keys;
}

/* Input: length of what was there before (4 bytes, little end first), that, and what is there now */
static void look_into(int program, const char *old, size_t old_len, struct protected_change *c)
{
	static const char *const argv[] = {"ak-policy", "gitkeys", "config", NULL};
	const unsigned char size[4] = {old_len & 0xff, old_len >> 8 & 0xff, old_len >> 16 & 0xff, old_len >> 24 & 0xff};
	struct ak_buf in = {0};
	struct ak_err err = {0};	/* why not is of no use to the user */
	char *out = NULL;
	size_t len = 0;

	ak_buf_add(&in, size, sizeof(size));
	ak_buf_add(&in, old, old_len);
	ak_buf_add(&in, c->text, c->text_len);
	if (in.failed || (program < 0 ? companion_run(argv, in.data, in.len, ANSWER_BYTES, &out, &len, &err) :
					companion_run_fd(program, argv, in.data, in.len, ANSWER_BYTES, &out, &len, &err)) < 0)
		c->keys_unknown = true;
	else
		c->keys = split(out, len);
	free(out);
	ak_buf_release(&in);
}

void protected_keys(const struct protected_mark *m, int program, struct protected_report *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct protected_change *c = &r->list[i];
		bool top = strcmp(c->path, ".git/config") == 0;

		if (c->text)
			look_into(program, top && m->config ? m->config : "", top && m->config ? m->config_len : 0, c);
	}
}
