/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of one provider: which one is used next. Values appear in no message. Process: agent. Privilege: none. */
#include "agent/keys.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/keys_int.h"
#include "executor/shared/ak_err.h"

int keys_new(struct keys **ret, struct ak_err *err)
{
	struct keys *k = calloc(1, sizeof(*k));

	if (!k)
		return ak_err_set(err, ENOMEM, "out of memory");
	*ret = k;
	return 0;
}

static void key_wipe(struct pool_key *key)
{
	if (key->value) {
		explicit_bzero(key->value, strlen(key->value));
		free(key->value);
	}
	*key = (struct pool_key){0};
}

void keys_cut(struct keys *k, size_t count)
{
	while (k->count > count)
		key_wipe(&k->key[--k->count]);
}

void keys_free(struct keys *k)
{
	if (!k)
		return;
	keys_cut(k, 0);
	free(k);
}

/*
 * Into no swap and no core file, as far as the limits allow: a page that cannot be locked is no reason to do without a key. Neighbours
 * on the page share its fate, which harms nobody.
 */
static void hide(const char *value, size_t len)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (uintptr_t)value & ~(page - 1);

	(void)mlock(value, len);
	(void)madvise((void *)from, (uintptr_t)value + len - from, MADV_DONTDUMP);
}

static bool known(const struct keys *k, const char *value, size_t len)
{
	for (size_t i = 0; i < k->count; i++) {
		if (strncmp(k->key[i].value, value, len) == 0 && k->key[i].value[len] == '\0')
			return true;
	}
	return false;
}

static bool visible(const char *value, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (value[i] < 0x21 || value[i] > 0x7e)
			return false;
	}
	return true;
}

/* One key of a list. Return: 1 added, 0 known already, or an error. */
static int add_one(struct keys *k, const char *value, size_t len, enum key_scheme scheme, const char *source,
		   struct ak_err *err)
{
	struct pool_key *key = &k->key[k->count];

	if (len > KEYS_VALUE_MAX)
		return ak_err_set(err, EINVAL, "%s: a key of more than %u bytes", source, KEYS_VALUE_MAX);
	if (!visible(value, len))
		return ak_err_set(err, EINVAL, "%s: a key with a space, a control character or a character that is not ASCII",
				  source);
	if (known(k, value, len))
		return 0;
	if (k->count == KEYS_MAX)
		return ak_err_set(err, E2BIG, "%s: more than %u keys", source, KEYS_MAX);
	key->value = malloc(len + 1);
	if (!key->value)
		return ak_err_set(err, ENOMEM, "out of memory");
	hide(key->value, len + 1);
	memcpy(key->value, value, len);
	key->value[len] = '\0';
	key->scheme = scheme;
	(void)snprintf(key->name, sizeof(key->name), "%s", source);
	k->count++;
	return 1;
}

/* "NAME (2 of 3)" where one source has several */
static void number_names(struct keys *k, size_t from, const char *source)
{
	size_t n = k->count - from;

	for (size_t i = 0; n > 1 && i < n; i++)
		(void)snprintf(k->key[from + i].name, sizeof(k->key[from + i].name), "%s (%zu of %zu)", source, i + 1, n);
}

int keys_add_list(struct keys *k, const char *list, size_t len, enum key_scheme scheme, const char *source,
		  struct ak_err *err)
{
	static const char space[] = " \t\r\n";
	size_t from = k->count;
	size_t at = 0;

	while (at < len) {
		const char *p = list + at;
		const char *comma = memchr(p, ',', len - at);
		size_t n = comma ? (size_t)(comma - p) : len - at;
		int rc;

		at += n + 1;
		while (n > 0 && strchr(space, p[0]) && p[0]) {
			p++;
			n--;
		}
		while (n > 0 && strchr(space, p[n - 1]) && p[n - 1])
			n--;
		rc = n > 0 ? add_one(k, p, n, scheme, source, err) : 0;
		if (rc < 0)
			return rc;
	}
	number_names(k, from, source);
	return 0;
}

size_t keys_count(const struct keys *k)
{
	return k->count;
}

bool keys_current(const struct keys *k, struct key *ret)
{
	const struct pool_key *key = &k->key[k->current];

	if (k->current >= k->count || key->refused)
		return false;
	*ret = (struct key){.value = key->value, .scheme = key->scheme, .name = key->name};
	return true;
}

/*
 * The key to go on with, in turn from the one behind the current: one that is free now, else the one that is free first.
 * Return: when it is free.
 */
static uint64_t choose(struct keys *k, uint64_t now_ms)
{
	size_t best = k->current;
	uint64_t best_at = UINT64_MAX;

	for (size_t i = 1; i <= k->count; i++) {
		size_t n = (k->current + i) % k->count;

		if (!k->key[n].refused && k->key[n].free_at_ms < best_at) {
			best = n;
			best_at = k->key[n].free_at_ms;
		}
		if (best_at <= now_ms)
			break;
	}
	k->current = best;
	return best_at;
}

uint64_t keys_limited(struct keys *k, uint64_t now_ms, uint64_t wait_ms)
{
	struct pool_key *key = &k->key[k->current];
	uint64_t free_at;

	if (k->count == 0)
		return wait_ms;
	if (__builtin_add_overflow(now_ms, wait_ms, &key->free_at_ms))
		key->free_at_ms = UINT64_MAX - 1;
	free_at = choose(k, now_ms);
	return free_at > now_ms ? free_at - now_ms : 0;
}

bool keys_refused(struct keys *k)
{
	if (k->count == 0)
		return false;
	k->key[k->current].refused = true;
	return choose(k, UINT64_MAX - 1) != UINT64_MAX;
}
