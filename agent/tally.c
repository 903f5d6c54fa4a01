/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over records of traces. Pure. Process: agent. Privilege: none. */
#include "agent/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/money.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"

#define OTHERS "(others)"

static const struct json_limits limits = { .bytes = 16u << 20, .depth = 16, .items = 100000 };

static void copy_name(char *to, const char *from)
{
	size_t n = strnlen(from, TALLY_NAME - 1);

	n -= ak_utf8_partial(from, n);
	memcpy(to, from, n);
	to[n] = '\0';
	ak_text_clean(to);
}

/* The row of that name; made when there is none. NULL: no memory */
static struct tally_row *row_of(struct tally_rows *rows, const char *raw)
{
	char name[TALLY_NAME];

	copy_name(name, raw);
	if (rows->n == TALLY_ROWS_MAX)
		memcpy(name, OTHERS, sizeof(OTHERS));
	for (size_t i = 0; i < rows->n; i++) {
		if (strcmp(rows->v[i].name, name) == 0)
			return &rows->v[i];
	}
	if (rows->n == rows->cap) {
		size_t cap = rows->cap ? rows->cap * 2 : 16;
		struct tally_row *v = realloc(rows->v, cap * sizeof(*v));

		if (!v)
			return NULL;
		rows->v = v;
		rows->cap = cap;
	}
	/* the last place is for all others */
	if (rows->n == TALLY_ROWS_MAX - 1)
		memcpy(name, OTHERS, sizeof(OTHERS));
	rows->v[rows->n] = (struct tally_row){ 0 };
	memcpy(rows->v[rows->n].name, name, sizeof(name));
	return &rows->v[rows->n++];
}

static void add(struct tally_row *to, const struct tally_row *r)
{
	to->turns += r->turns;
	to->input = money_add(to->input, r->input);
	to->cached = money_add(to->cached, r->cached);
	to->output = money_add(to->output, r->output);
	to->cost_picousd = money_add(to->cost_picousd, r->cost_picousd);
	to->unpriced += r->unpriced;
	to->calls += r->calls;
	to->errors += r->errors;
	to->denied += r->denied;
}

static bool is_date(const char *ts)
{
	static const char form[] = "dddd-dd-ddT";

	for (size_t i = 0; form[i]; i++) {
		if (form[i] == 'd' ? ts[i] < '0' || ts[i] > '9' : ts[i] != form[i])
			return false;
	}
	return true;
}

/* The figures of a record. false: it is none */
static bool read_record(const struct cJSON *doc, char *day, struct tally_row *r)
{
	const char *ts = json_str(json_get(doc, "ts"));
	const char *kind = json_str(json_get(doc, "kind"));
	uint64_t read = 0;
	uint64_t write = 0;

	if (!ts || !is_date(ts) || !json_str(json_get(doc, "session_id")) || json_opt_u64(doc, "input_tokens", &r->input, NULL) < 0 ||
	    json_opt_u64(doc, "output_tokens", &r->output, NULL) < 0 || json_opt_u64(doc, "cache_read_tokens", &read, NULL) < 0 ||
	    json_opt_u64(doc, "cache_write_tokens", &write, NULL) < 0 ||
	    json_opt_scaled(doc, "estimated_cost_usd", 12, &r->cost_picousd, NULL) < 0)
		return false;
	memcpy(day, ts, TALLY_DATE - 1);
	day[TALLY_DATE - 1] = '\0';
	r->cached = money_add(read, write);
	r->unpriced = json_kind(json_get(doc, "estimated_cost_usd")) != JSON_NUMBER;
	r->turns = !kind || strcmp(kind, "turn") == 0;
	return true;
}

static int add_tools(struct tally *t, const struct cJSON *calls, struct tally_row *r)
{
	for (const struct cJSON *c = json_first(calls); c; c = json_next(c)) {
		const char *name = json_str(json_get(c, "name"));
		const struct cJSON *approved = json_get(c, "approved");
		struct tally_row one = { .calls = 1, .errors = json_true(json_get(c, "is_error")),
					 .denied = json_kind(approved) == JSON_BOOL && !json_true(approved) };
		struct tally_row *row = row_of(&t->tools, name ? name : "?");

		if (!row)
			return -ENOMEM;
		add(row, &one);
		add(r, &one);
	}
	return 0;
}

static int add_record(struct tally *t, const struct cJSON *doc)
{
	const char *model = json_str(json_get(doc, "model"));
	struct tally_row r = { 0 };
	struct tally_row *rows[2];
	char day[TALLY_DATE];

	if (!read_record(doc, day, &r)) {
		t->skipped++;
		return 0;
	}
	if (strcmp(day, t->since) < 0)
		return 0;
	rows[0] = row_of(&t->days, day);
	rows[1] = row_of(&t->models, model ? model : "?");
	if (!rows[0] || !rows[1] || add_tools(t, json_get(doc, "tool_calls"), &r) < 0)
		return -ENOMEM;
	add(rows[0], &r);
	add(rows[1], &r);
	add(&t->all, &r);
	return 1;
}

int tally_line(struct tally *t, const char *line, size_t len)
{
	struct cJSON *doc = NULL;
	int rc;

	if (len == 0)
		return 0;
	rc = json_parse(line, len, 0, &limits, &doc, NULL);
	if (rc == -ENOMEM)
		return rc;
	if (rc < 0) {
		t->skipped++;
		return 0;
	}
	rc = add_record(t, doc);
	json_free(doc);
	return rc;
}

static int by_date(const void *a, const void *b)
{
	return strcmp(((const struct tally_row *)b)->name, ((const struct tally_row *)a)->name);
}

static int by_size(const void *a, const void *b)
{
	const struct tally_row *x = a;
	const struct tally_row *y = b;

	if (x->cost_picousd != y->cost_picousd)
		return x->cost_picousd < y->cost_picousd ? 1 : -1;
	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return strcmp(x->name, y->name);
}

void tally_sort(struct tally *t)
{
	if (t->days.n > 1)
		qsort(t->days.v, t->days.n, sizeof(*t->days.v), by_date);
	if (t->models.n > 1)
		qsort(t->models.v, t->models.n, sizeof(*t->models.v), by_size);
	if (t->tools.n > 1)
		qsort(t->tools.v, t->tools.n, sizeof(*t->tools.v), by_size);
}

void tally_release(struct tally *t)
{
	free(t->days.v);
	free(t->models.v);
	free(t->tools.v);
	*t = (struct tally){ 0 };
}
