/* SPDX-License-Identifier: Apache-2.0 */
/* JSON's equality, and which elements of an array are equal, without comparing all with all. Pure. Process: agent. */
#include "agent/schema_int.h"

#include <stdlib.h>
#include <string.h>

#include "agent/json.h"

#define FNV_START UINT64_C(14695981039346656037)
#define FNV_PRIME UINT64_C(1099511628211)

static bool spend(uint64_t *work, uint64_t n)
{
	*work = *work > n ? *work - n : 0;
	return *work > 0;
}

static uint64_t hash_text(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * FNV_PRIME;
	return h;
}

static uint64_t hash_parts(const struct cJSON *item, bool ordered, uint64_t *work)
{
	uint64_t h = FNV_START;
	uint64_t sum = 0;

	for (const struct cJSON *c = json_first(item); c && *work > 0; c = json_next(c)) {
		uint64_t part = schema_hash(c, work);

		if (ordered)
			h = (h ^ part) * FNV_PRIME;
		else
			sum += (hash_text(FNV_START, json_name(c)) ^ part) * FNV_PRIME;
	}
	return h ^ sum;
}

uint64_t schema_hash(const struct cJSON *item, uint64_t *work)
{
	enum json_kind kind = json_kind(item);
	struct decimal d;

	(void)spend(work, 1);
	switch (kind) {
	case JSON_NUMBER:
		decimal_read(json_num(item), &d);
		return decimal_hash(&d);
	case JSON_STRING:
		(void)spend(work, strlen(json_str(item)) / 64);
		return hash_text(FNV_START + 1, json_str(item));
	case JSON_ARRAY:
		return hash_parts(item, true, work) + 2;
	case JSON_OBJECT:
		return hash_parts(item, false, work) + 3;
	case JSON_BOOL:
		return json_true(item) ? 5 : 4;
	default:
		return 6;
	}
}

static bool equal_arrays(const struct cJSON *a, const struct cJSON *b, uint64_t *work)
{
	a = json_first(a);
	b = json_first(b);
	for (; a && b; a = json_next(a), b = json_next(b)) {
		if (!schema_equal(a, b, work))
			return false;
	}
	return !a && !b;
}

static bool equal_objects(const struct cJSON *a, const struct cJSON *b, uint64_t *work)
{
	size_t n = json_count(b);

	if (json_count(a) != n)
		return false;
	for (const struct cJSON *c = json_first(a); c; c = json_next(c)) {
		const struct cJSON *other = json_get(b, json_name(c));

		/* a look-up passes the whole object */
		if (!other || !spend(work, n) || !schema_equal(c, other, work))
			return false;
	}
	return true;
}

bool schema_equal(const struct cJSON *a, const struct cJSON *b, uint64_t *work)
{
	enum json_kind kind = json_kind(a);
	struct decimal x, y;

	if (kind != json_kind(b) || !spend(work, 1))
		return false;
	switch (kind) {
	case JSON_NUMBER:
		decimal_read(json_num(a), &x);
		decimal_read(json_num(b), &y);
		return decimal_compare(&x, &y) == 0;
	case JSON_STRING:
		return spend(work, strlen(json_str(a)) / 64) && strcmp(json_str(a), json_str(b)) == 0;
	case JSON_ARRAY:
		return equal_arrays(a, b, work);
	case JSON_OBJECT:
		return equal_objects(a, b, work);
	case JSON_BOOL:
		return json_true(a) == json_true(b);
	default:
		return true;
	}
}

struct element {
	uint64_t hash;
	const struct cJSON *item;
	size_t i;
};

static int by_hash(const void *a, const void *b)
{
	const struct element *x = a;
	const struct element *y = b;

	if (x->hash != y->hash)
		return x->hash > y->hash ? 1 : -1;
	return x->i > y->i ? 1 : -1;
}

bool schema_is_unique(const struct cJSON *array, uint64_t *work, size_t *ret_i, size_t *ret_k)
{
	size_t n = json_count(array);
	struct element *v = n > 1 ? calloc(n, sizeof(*v)) : NULL;
	bool unique = true;
	size_t i = 0;

	if (n < 2)
		return true;
	if (!v) {
		*work = 0;
		return true;
	}
	for (const struct cJSON *c = json_first(array); c; c = json_next(c), i++)
		v[i] = (struct element){ schema_hash(c, work), c, i };
	qsort(v, n, sizeof(*v), by_hash);
	for (i = 0; i < n && unique && *work > 0; i++) {
		for (size_t k = i + 1; k < n && v[k].hash == v[i].hash && unique && *work > 0; k++) {
			unique = !schema_equal(v[i].item, v[k].item, work);
			*ret_i = v[i].i;
			*ret_k = v[k].i;
		}
	}
	free(v);
	return unique;
}
