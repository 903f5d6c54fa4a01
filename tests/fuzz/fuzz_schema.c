/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Laws of the schema validator: whatever schema and value, it ends; allOf of one schema says the same, not of it the opposite;
 * a value matches itself as const, and is equal to its copy. Input: schema, NUL, value.
 */
#include "agent/schema.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

#define LAW(x)                                                                                                         \
	do {                                                                                                           \
		if (!(x))                                                                                              \
			abort();                                                                                       \
	} while (0)

static const struct json_limits limits = {.bytes = 20000, .depth = 40, .items = 2000};

/* The value against @before, the text of @schema, @after. 1: no such schema, for which a reference may be the reason */
static int checked(const char *before, const struct cJSON *schema, const char *after, const struct cJSON *value)
{
	struct schema *s = NULL;
	struct ak_err err = {0};
	struct ak_buf b = {0};
	int rc;

	ak_buf_str(&b, before);
	json_print(schema, 0, &b);
	ak_buf_str(&b, after);
	LAW(!b.failed);
	rc = schema_parse(b.data, b.len, &s, &err);
	LAW(rc == 0 || rc == -EOPNOTSUPP || rc == -EBADMSG || rc == -E2BIG);
	LAW((rc == 0) == (s != NULL) && (rc == 0 || err.msg[0]));
	if (rc == 0) {
		rc = schema_check(s, value, &err);
		LAW(rc == 0 || rc == -EBADMSG || rc == -E2BIG);
		LAW(rc == schema_check(s, value, NULL));
	} else {
		rc = 1;
	}
	schema_free(s);
	ak_buf_release(&b);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, 0, size);
	struct cJSON *schema = NULL;
	struct cJSON *value = NULL;
	int plain, other;

	if (!nul || json_parse((const char *)data, (size_t)(nul - data), 0, &limits, &schema, NULL) < 0)
		return 0;
	if (json_parse((const char *)nul + 1, size - (size_t)(nul - data) - 1, 0, &limits, &value, NULL) == 0) {
		plain = checked("", schema, "", value);
		/* where references are, the wrapped schema is another one */
		if (plain <= 0 && !memmem(data, size, "$", 1)) {
			other = checked("{\"allOf\":[", schema, "]}", value);
			LAW(other == plain || other == -E2BIG || other == 1);
			other = checked("{\"not\":", schema, "}", value);
			LAW(other == (plain == 0 ? -EBADMSG : plain == -EBADMSG ? 0 : plain) || other == -E2BIG || other == 1);
		}
		LAW(checked("{\"const\":", value, "}", value) == 0);
	}
	json_free(schema);
	json_free(value);
	return 0;
}
