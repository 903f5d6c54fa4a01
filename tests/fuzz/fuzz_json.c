/* SPDX-License-Identifier: Apache-2.0 */
/* The strict JSON parser and its printer. Laws are at each check. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"

#define LAW(x)                                                                                               \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ak_buf printed(const struct cJSON *item, unsigned flags)
{
	struct ak_buf b = {0};

	json_print(item, flags, &b);
	LAW(!b.failed && b.data);
	return b;
}

/* Names are unique, strings and numbers are there; the typed functions agree with the kinds */
static void check_tree(const struct cJSON *item)
{
	uint64_t n = 7;
	const char *num = json_num(item);

	LAW(json_kind(item) != JSON_ABSENT);
	LAW((json_kind(item) == JSON_STRING) == (json_str(item) != NULL));
	LAW((json_kind(item) == JSON_NUMBER) == (num != NULL));
	for (const struct cJSON *c = json_first(item); c; c = json_next(c)) {
		const char *name = json_name(c);

		LAW((name != NULL) == (json_kind(item) == JSON_OBJECT));
		if (name) {
			LAW(json_get(item, name) == c);
			if (!strchr(name, '.') && json_num(c) && json_need_u64(item, name, &n, NULL) == 0) {
				uint64_t scaled = 0;

				LAW(json_need_scaled(item, name, 0, &scaled, NULL) == 0 && scaled == n);
				/* the double of the same text: equal as far as a double goes */
				LAW(c->valuedouble == (double)n);
			}
			(void)json_need_scaled(item, strchr(name, '.') ? "" : name, 12, &n, NULL);
		}
		check_tree(c);
	}
}

/* Longer numbers than cJSON's own parser takes */
static bool long_number(const struct cJSON *item)
{
	if (json_num(item) && strlen(json_num(item)) > 60)
		return true;
	for (const struct cJSON *c = json_first(item); c; c = json_next(c)) {
		if (long_number(c))
			return true;
	}
	return false;
}

/* An independent parser takes what ours takes, and sees the same */
static void check_peer(const char *text, size_t len, const struct cJSON *item)
{
	struct cJSON *peer = cJSON_ParseWithLengthOpts(text, len, NULL, 0);

	LAW(long_number(item) || (peer && cJSON_Compare(peer, item, 1)));
	cJSON_Delete(peer);
}

/* What is printed parses to what prints the same, and is UTF-8 */
static void check_round_trip(const struct cJSON *item, unsigned parse_flags, unsigned print_flags)
{
	struct ak_buf first = printed(item, print_flags);
	struct cJSON *again = NULL;
	struct ak_buf second;

	LAW(ak_utf8_valid(first.data, first.len));
	LAW(json_parse(first.data, first.len, parse_flags, NULL, &again, NULL) == 0);
	second = printed(again, print_flags);
	LAW(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
	ak_buf_release(&first);
	ak_buf_release(&second);
	json_free(again);
}

/* Strings of the tree as deltas: what comes out at the end is UTF-8 */
static void collect(const struct cJSON *item, struct ak_buf *b)
{
	if (json_str(item))
		json_text_add(b, json_str(item));
	for (const struct cJSON *c = json_first(item); c; c = json_next(c))
		collect(c, b);
}

static void check_deltas(const struct cJSON *item)
{
	struct ak_buf b = {0};

	collect(item, &b);
	(void)json_text_end(&b);
	LAW(!b.failed && ak_utf8_valid(b.data, b.len));
	ak_buf_release(&b);
}

static void check_strict(const char *text, size_t size, const struct cJSON *repaired)
{
	struct cJSON *item = NULL;
	struct ak_err err = {0};
	int rc = json_parse(text, size, 0, NULL, &item, &err);

	if (rc < 0) {
		LAW(!item && err.code == -rc && err.msg[0] && ak_utf8_valid(err.msg, strlen(err.msg)));
		LAW(!repaired || rc == -EILSEQ);
		return;
	}

	/* what is accepted strictly is accepted with repairs, and needs none */
	struct ak_buf a = printed(item, 0);
	struct ak_buf b;

	LAW(repaired);
	b = printed(repaired, 0);
	LAW(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
	ak_buf_release(&a);
	ak_buf_release(&b);
	check_peer(text, size, item);
	check_round_trip(item, 0, 0);
	check_round_trip(item, 0, JSON_SORTED);
	json_free(item);
}

static size_t count(const struct cJSON *item)
{
	size_t n = 1;

	for (const struct cJSON *c = json_first(item); c; c = json_next(c))
		n += count(c);
	return n;
}

/* Wherever the strings are put, the same is accepted, and refused in the same words; a copy outlives the text */
static void check_places(const uint8_t *data, size_t size, const struct cJSON *item, int rc, const struct ak_err *why)
{
	char *text = malloc(size + 1);
	struct cJSON *there = NULL;
	struct cJSON *copy;
	struct ak_err err = {0};

	LAW(text != NULL);
	LAW(json_parse((const char *)data, size, JSON_REPAIR | JSON_NO_TEXT, NULL, &there, &err) == rc);
	LAW(strcmp(err.msg, why->msg) == 0 && (rc < 0 || count(there) == count(item)));
	json_free(there);
	there = NULL;
	err = (struct ak_err){0};
	if (size > 0)
		memcpy(text, data, size);
	LAW(json_parse_in_place(text, size, JSON_REPAIR, NULL, &there, &err) == rc);
	LAW(strcmp(err.msg, why->msg) == 0);
	copy = json_dup(there);
	json_free(there);
	free(text);
	if (rc == 0) {
		struct ak_buf a = printed(item, 0);
		struct ak_buf b = printed(copy, 0);

		LAW(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
		ak_buf_release(&a);
		ak_buf_release(&b);
	}
	json_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cJSON *item = NULL;
	struct ak_err err = {0};
	int rc = json_parse((const char *)data, size, JSON_REPAIR, NULL, &item, &err);

	LAW(rc == -EBADMSG || rc == -EILSEQ || rc == -EEXIST || rc == -ERANGE || rc == -E2BIG || rc == 0);
	LAW((rc == 0) == (item != NULL));
	check_strict((const char *)data, size, item);
	check_places(data, size, item, rc, &err);
	if (item) {
		check_tree(item);
		check_round_trip(item, JSON_REPAIR, 0);
		check_deltas(item);
	}
	json_free(item);
	return 0;
}
