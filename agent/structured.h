/* SPDX-License-Identifier: Apache-2.0 */
/* --output-schema: the final message is JSON that matches a schema of the user's. Process: agent. Privilege: none. */
#ifndef AK_AGENT_STRUCTURED_H
#define AK_AGENT_STRUCTURED_H

struct ak_err;
struct loop;
struct schema;

#define STRUCTURED_MAX (1u << 20) /* bytes of the file */

/** struct structured - start with zeroes; structured_release() */
struct structured {
	struct schema *schema;
	char *text; /* as the provider gets it */
};

/**
 * structured_open() - read the schema
 * Return: 0; -EINVAL (not JSON, no schema, a keyword that is not supported: @err names it); errno of reading; -ENOMEM.
 */
int structured_open(struct structured *s, const char *path, struct ak_err *err);
void structured_release(struct structured *s);

/** structured_prompt() - what is said behind the system prompt, so that it holds for providers whose API has no such format; static */
const char *structured_prompt(void);

/**
 * structured_finish() - check the final answer of a run that is done; where it does not match, the model gets one turn to repair it
 * A fence of Markdown around the JSON is taken off. l->result then has the answer as JSON, or its end is RUN_SCHEMA.
 */
void structured_finish(struct structured *s, struct loop *l);

#endif
