/* SPDX-License-Identifier: Apache-2.0 */
/* Where prices come from: the table in the program, files of the user's, --price. Process: agent. Privilege: none. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/env.h"
#include "agent/json.h"
#include "agent/prices_int.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_parse.h"

#define PATH_BYTES 4096u

extern const char ak_prices_json[];
extern const char ak_prices_json_end[];

static int add_file(struct prices *t, const char *path, bool must_exist, struct ak_err *err)
{
	char *text;
	size_t len;
	int rc = ak_read_file(path, PRICES_FILE_MAX, &text, &len);

	if (rc == -ENOENT && !must_exist)
		return 0;
	if (rc < 0)
		return ak_err_sys(err, -rc, "price file %s", path);
	rc = prices_add(t, text, len, path, err);
	free(text);
	if (rc < 0)
		(void)ak_err_wrap(err, "price file %s", path);
	return rc;
}

int prices_load(struct prices *t, char *const env[], struct ak_err *err)
{
	const char *named = env_get(env, "AK_PRICES_FILE");
	const char *config = env_get(env, "XDG_CONFIG_HOME");
	const char *home = env_get(env, "HOME");
	char path[PATH_BYTES] = "";
	/* the two symbols come from the assembler, one object in truth */
	/* cppcheck-suppress comparePointers */
	size_t built_in = (size_t)(ak_prices_json_end - ak_prices_json);
	int rc = prices_add(t, ak_prices_json, built_in, "built-in", err);

	if (rc < 0)
		return rc;
	if (config && *config == '/')
		(void)snprintf(path, sizeof(path), "%s/ak/prices.json", config);
	else if (home && *home == '/')
		(void)snprintf(path, sizeof(path), "%s/.config/ak/prices.json", home);
	if (*path)
		rc = add_file(t, path, false, err);
	if (rc == 0 && named && *named)
		rc = add_file(t, named, true, err);
	return rc;
}

static const struct {
	const char *name;
	enum rate rate;
} options[] = {
	{ "in", RATE_INPUT },
	{ "out", RATE_OUTPUT },
	{ "cache_read", RATE_CACHE_READ },
	{ "cache_write", RATE_CACHE_WRITE },
	{ "cache_write_1h", RATE_CACHE_WRITE_1H },
};

/* One "name=dollars" */
static int read_option(const char *text, size_t len, struct rates *r, struct ak_err *err)
{
	const char *eq = memchr(text, '=', len);
	size_t n = eq ? (size_t)(eq - text) : len;
	struct cJSON *doc = NULL;
	char wrapped[64];
	size_t i = 0;
	int rc;

	while (i < sizeof(options) / sizeof(options[0]) &&
	       (strlen(options[i].name) != n || memcmp(options[i].name, text, n) != 0))
		i++;
	if (!eq || i == sizeof(options) / sizeof(options[0]))
		return ak_err_set(err, EINVAL, "--price: \"%.*s\" is not in=, out=, cache_read=, cache_write= or cache_write_1h=",
				  (int)len, text);
	if (r->has & 1u << options[i].rate)
		return ak_err_set(err, EINVAL, "--price: %s is given twice", options[i].name);
	(void)snprintf(wrapped, sizeof(wrapped), "{\"v\":%.*s}", (int)(len - n - 1), eq + 1);
	rc = json_parse(wrapped, strlen(wrapped), 0, NULL, &doc, NULL);
	if (rc == 0)
		rc = json_need_scaled(doc, "v", 6, &r->v[options[i].rate], NULL);
	json_free(doc);
	if (rc < 0)
		return ak_err_set(err, EINVAL, "--price: %s=%.*s is not dollars per million tokens", options[i].name,
				  (int)(len - n - 1), eq + 1);
	r->has |= 1u << options[i].rate;
	return 0;
}

int prices_set(struct prices *t, const char *model, const char *text, struct ak_err *err)
{
	struct price p = { .source = prices_source(t, "--price") };
	const char *field;
	size_t left = strlen(text);
	size_t n;
	struct price *row = NULL;
	int rc = p.source ? 0 : ak_err_set(err, ENOMEM, "no memory for the price table");

	while (rc == 0 && ak_field(&text, &left, ',', &field, &n))
		rc = read_option(field, n, &p.rates, err);
	if (rc == 0)
		rc = prices_row(t, model, &row, err);
	if (rc < 0 || !row)
		return rc;
	price_merge(row, &p);
	row->ntiers = 0; /* what the user gives is the price, whatever the size of the prompt */
	if (!price_known(row))
		return ak_err_set(err, EINVAL, "--price: in= and out= are both needed for %s, which has no price", model);
	if (!rates_sane(&row->rates))
		return ak_err_set(err, EINVAL, "--price: reading the cache costs more than input");
	return 0;
}
