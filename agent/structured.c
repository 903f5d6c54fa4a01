/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that have to match a schema. Process: agent. Privilege: none. */
#include "agent/structured.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/loop.h"
#include "agent/schema.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_parse.h"

int structured_open(struct structured *s, const char *path, struct ak_err *err)
{
	size_t len = 0;
	int rc = ak_read_file(path, STRUCTURED_MAX, &s->text, &len);

	if (rc < 0)
		return ak_err_sys(err, -rc, "run: --output-schema: read %s", path);
	rc = schema_parse(s->text, len, &s->schema, err);
	if (rc == 0 || rc == -ENOMEM)
		return rc;
	(void)ak_err_wrap(err, "run: --output-schema: %s", path);
	return -EINVAL;
}

void structured_release(struct structured *s)
{
	schema_free(s->schema);
	free(s->text);
	*s = (struct structured){ 0 };
}

const char *structured_prompt(void)
{
	return "The final answer must be one JSON value that matches the JSON Schema below, and nothing else: no text around it.\n";
}

/* "```json ... ```": models write it however often they are asked not to. Return: the text within, and its length */
static const char *unfence(const char *text, size_t *len)
{
	size_t n = strlen(text);
	const char *nl;

	while (n > 0 && strchr(" \t\r\n", text[n - 1]))
		n--;
	while (n > 0 && strchr(" \t\r\n", *text)) {
		text++;
		n--;
	}
	nl = n > 6 && strncmp(text, "```", 3) == 0 && strncmp(text + n - 3, "```", 3) == 0 ? memchr(text, '\n', n) : NULL;
	if (nl && (size_t)(nl - text) + 4 <= n) {
		n -= (size_t)(nl - text) + 4;
		text = nl + 1;
	}
	*len = n;
	return text;
}

/* Return: 0 with the answer in l->result; -EBADMSG with @err; -ENOMEM */
static int check(const struct structured *s, struct loop *l, struct ak_err *err)
{
	struct ak_buf out = { 0 };
	struct cJSON *doc = NULL;
	size_t len = 0;
	const char *text = unfence(l->result->text ? l->result->text : "", &len);
	int rc = json_parse(text, len, 0, NULL, &doc, err);

	if (rc == 0)
		rc = schema_check(s->schema, doc, err);
	if (rc == 0) {
		json_print(doc, 0, &out);
		free(l->result->structured);
		l->result->structured = out.failed ? NULL : strdup(out.data);
		rc = l->result->structured ? 0 : -ENOMEM;
	}
	ak_buf_release(&out);
	json_free(doc);
	return rc == 0 || rc == -ENOMEM ? rc : -EBADMSG;
}

static int ask_again(struct loop *l, const struct ak_err *why)
{
	struct msg m = { .role = MSG_USER };
	struct ak_buf b = { 0 };
	int rc;

	ak_buf_printf(&b, "The answer does not match the schema: %s. Give it once more: the JSON value only.", why->msg);
	rc = b.failed ? -ENOMEM : msg_set_text(&m, b.data, b.len);
	ak_buf_release(&b);
	if (rc == 0)
		(void)transcript_add(l->transcript, &m, NULL);
	if (rc == 0)
		rc = history_join(l->hist, &m);
	msg_release(&m);
	return rc;
}

void structured_finish(struct structured *s, struct loop *l)
{
	struct ak_err why = { 0 };
	int rc;

	if (!s->schema || l->result->end != RUN_DONE)
		return;
	rc = check(s, l, &why);
	if (rc == -EBADMSG && ask_again(l, &why) == 0) {
		run_out_note(l->out, "the answer does not match the schema: %s", why.msg);
		loop_run(l);
		if (l->result->end != RUN_DONE)
			return;
		rc = check(s, l, &why);
	}
	if (rc == 0)
		return;
	l->result->end = rc == -EBADMSG ? RUN_SCHEMA : RUN_ERROR;
	(void)ak_err_set(&l->result->err, rc == -EBADMSG ? EBADMSG : ENOMEM, "the answer does not match the schema: %s", why.msg);
}
