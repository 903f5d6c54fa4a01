/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a value against a compiled schema. Pure. Process: agent. Privilege: none.
 *
 * Every step is counted: alternatives in alternatives, and references that lead back, end with an error and not with time.
 */
#include "agent/schema.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/pattern.h"
#include "agent/schema_int.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

#define DEPTH_MAX 400u /* checks within each other: depth of the value, times what is nested in the schema */
#define PATTERN_WORK 50u

/* The way to a value, from the inside out */
struct place {
	const struct place *up;
	const char *name; /* NULL: an element, or the top */
	size_t i;
};

/* @err: NULL while alternatives are tried, whose failures are no errors */
struct check {
	uint64_t work;
	unsigned depth;
	int error; /* latched: -E2BIG, -ENOMEM */
	struct ak_err *err;
};

/* true: the value matches. On false look at c->error. */
static bool check(struct check *c, const struct node *n, const struct cJSON *v, const struct place *at);

static void put_place(const struct place *at, struct ak_buf *b)
{
	if (!at->up)
		return;
	put_place(at->up, b);
	if (at->name)
		ak_buf_printf(b, "%s%.80s", b->len > 0 ? "." : "", at->name);
	else
		ak_buf_printf(b, "[%zu]", at->i);
}

__attribute__((format(printf, 3, 4))) static bool fault(struct check *c, const struct place *at, const char *fmt, ...)
{
	struct ak_buf b = { 0 };
	char text[300];
	va_list ap;

	if (!c->err || c->error)
		return false;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	put_place(at, &b);
	(void)ak_err_set(c->err, EBADMSG, "%.200s: %s", b.len > 0 ? b.data : "(top)", text);
	ak_buf_release(&b);
	return false;
}

static bool give_up(struct check *c, int code)
{
	if (!c->error)
		c->error = -code;
	return false;
}

static bool spend(struct check *c, uint64_t n)
{
	if (c->work <= n) {
		c->work = 0;
		return give_up(c, E2BIG);
	}
	c->work -= n;
	return true;
}

/* An alternative: whether it matches is all that counts */
static bool quietly(struct check *c, const struct node *n, const struct cJSON *v, const struct place *at)
{
	struct ak_err *err = c->err;
	bool ok;

	c->err = NULL;
	ok = check(c, n, v, at);
	c->err = err;
	return ok && !c->error;
}

static bool matches(struct check *c, const struct pattern *p, const char *text)
{
	size_t len = strlen(text);
	int rc;

	if (!spend(c, PATTERN_WORK + len / 16))
		return false;
	rc = pattern_match(p, text, len);
	if (rc < 0 && rc != -EILSEQ)
		(void)give_up(c, -rc);
	return rc > 0;
}

/* --- every kind --- */

static unsigned type_of(const struct cJSON *v)
{
	struct decimal d;

	switch (json_kind(v)) {
	case JSON_BOOL:
		return SCHEMA_BOOL;
	case JSON_NUMBER:
		decimal_read(json_num(v), &d);
		return decimal_is_whole(&d) ? SCHEMA_NUMBER | SCHEMA_INTEGER : SCHEMA_NUMBER;
	case JSON_STRING:
		return SCHEMA_STRING;
	case JSON_ARRAY:
		return SCHEMA_ARRAY;
	case JSON_OBJECT:
		return SCHEMA_OBJECT;
	default:
		return SCHEMA_NULL;
	}
}

static bool wrong_type(struct check *c, const struct node *n, const struct cJSON *v, const struct place *at)
{
	static const char *const names[] = { "null", "a boolean", "a number", "an integer", "a string", "an array", "an object" };
	struct ak_buf b = { 0 };

	for (unsigned i = 0; c->err && i < sizeof(names) / sizeof(names[0]); i++) {
		if (n->types & 1u << i)
			ak_buf_printf(&b, "%s%s", b.len > 0 ? " or " : "", names[i]);
	}
	(void)fault(c, at, "expected %s, got %s", b.data ? b.data : "", json_kind(v) == JSON_NUMBER ? json_num(v) : json_kind_name(json_kind(v)));
	ak_buf_release(&b);
	return false;
}

static bool equal(struct check *c, const struct cJSON *a, const struct cJSON *b)
{
	bool same = schema_equal(a, b, &c->work);

	if (c->work == 0)
		return give_up(c, E2BIG);
	return same;
}

static bool check_enum(struct check *c, const struct node *n, const struct cJSON *v, const struct place *at)
{
	struct ak_buf b = { 0 };

	for (const struct cJSON *e = json_first(n->enums); e; e = json_next(e)) {
		if (equal(c, e, v))
			return true;
		if (c->error)
			return false;
	}
	if (c->err)
		json_print(n->enums, 0, &b);
	(void)fault(c, at, "expected one of %.200s", b.data ? b.data : "[]");
	ak_buf_release(&b);
	return false;
}

static bool check_const(struct check *c, const struct node *n, const struct cJSON *v, const struct place *at)
{
	struct ak_buf b = { 0 };

	if (equal(c, n->constant, v))
		return true;
	if (c->err)
		json_print(n->constant, 0, &b);
	(void)fault(c, at, "expected %.200s", b.data ? b.data : "");
	ak_buf_release(&b);
	return false;
}

/* --- numbers and strings --- */

static bool check_number(struct check *c, const struct node *n, const struct cJSON *v, const struct place *at)
{
	const char *text = json_num(v);
	struct decimal d;

	decimal_read(text, &d);
	if (n->maximum.set && decimal_compare(&d, &n->maximum.d) > 0)
		return fault(c, at, "%.40s is more than the maximum of %.40s", text, n->maximum.text);
	if (n->exclusive_maximum.set && decimal_compare(&d, &n->exclusive_maximum.d) >= 0)
		return fault(c, at, "%.40s is not less than %.40s", text, n->exclusive_maximum.text);
	if (n->minimum.set && decimal_compare(&d, &n->minimum.d) < 0)
		return fault(c, at, "%.40s is less than the minimum of %.40s", text, n->minimum.text);
	if (n->exclusive_minimum.set && decimal_compare(&d, &n->exclusive_minimum.d) <= 0)
		return fault(c, at, "%.40s is not more than %.40s", text, n->exclusive_minimum.text);
	if (n->multiple_of.set && !decimal_multiple(&d, &n->multiple_of.d))
		return fault(c, at, "%.40s is no multiple of %.40s", text, n->multiple_of.text);
	return true;
}

static bool in_range(struct check *c, const struct range *r, uint64_t n, const char *what, const struct place *at)
{
	if (n < r->min)
		return fault(c, at, "has %" PRIu64 " %s, at least %" PRIu64 " are needed", n, what, r->min);
	if (n > r->max)
		return fault(c, at, "has %" PRIu64 " %s, at most %" PRIu64 " are allowed", n, what, r->max);
	return true;
}

static bool check_string(struct check *c, const struct node *n, const struct cJSON *v, const struct place *at)
{
	const char *text = json_str(v);
	uint64_t chars = 0;

	for (const char *p = text; *p; p++)
		chars += (*p & 0xc0) != 0x80;
	if (!spend(c, 1 + chars / 64) || !in_range(c, &n->length, chars, "characters", at))
		return false;
	if (n->pattern && !matches(c, n->pattern, text))
		return fault(c, at, "does not match the pattern");
	return true;
}

/* --- arrays --- */

static bool check_contains(struct check *c, const struct node *n, const struct cJSON *v, const struct place *at)
{
	uint64_t found = 0;
	size_t i = 0;

	for (const struct cJSON *e = json_first(v); e && !c->error; e = json_next(e), i++) {
		struct place here = { .up = at, .i = i };

		found += quietly(c, n->contains, e, &here);
	}
	return !c->error && in_range(c, &n->contains_count, found, "of the elements looked for", at);
}

static bool check_array(struct check *c, const struct node *n, const struct cJSON *v, const struct place *at)
{
	size_t i = 0;
	size_t k = 0;

	if (!in_range(c, &n->items_count, json_count(v), "elements", at))
		return false;
	for (const struct cJSON *e = json_first(v); e; e = json_next(e), i++) {
		const struct node *sub = i < n->prefix.n ? n->prefix.v[i].node : n->items;
		struct place here = { .up = at, .i = i };

		if (!spend(c, 1) || (sub && !check(c, sub, e, &here)))
			return false;
	}
	if (n->contains && !check_contains(c, n, v, at))
		return false;
	if (!n->unique)
		return true;
	if (!schema_is_unique(v, &c->work, &i, &k))
		return fault(c, at, "elements %zu and %zu are equal", i < k ? i : k, i < k ? k : i);
	return c->work > 0 || give_up(c, E2BIG);
}

/* --- objects --- */

static bool has_names(struct check *c, const struct cJSON *v, size_t n, const struct cJSON *names, const struct place *at)
{
	for (const struct cJSON *e = json_first(names); e; e = json_next(e)) {
		if (!spend(c, 1 + n))
			return false;
		if (!json_get(v, json_str(e)))
			return fault(c, at, "missing property \"%.80s\"", json_str(e));
	}
	return true;
}

static int by_name(const void *name, const void *b)
{
	return strcmp(name, ((const struct branch *)b)->name);
}

/* One member: its own schema, those whose pattern its name matches, else the one for all others */
static bool check_member(struct check *c, const struct node *n, const struct cJSON *e, const struct place *at)
{
	struct place here = { .up = at, .name = json_name(e) };
	const struct branch *b = n->properties.n ? bsearch(here.name, n->properties.v, n->properties.n, sizeof(*b), by_name) : NULL;
	bool known = b != NULL;

	if (b && !check(c, b->node, e, &here))
		return false;
	for (size_t i = 0; i < n->patterns.n; i++) {
		bool hit = matches(c, n->patterns.v[i].pattern, here.name);

		known = known || hit;
		if (c->error || (hit && !check(c, n->patterns.v[i].node, e, &here)))
			return false;
	}
	if (known || !n->additional)
		return true;
	if (n->additional->never)
		return fault(c, at, "unknown property \"%.80s\"", here.name);
	return check(c, n->additional, e, &here);
}

static bool check_name(struct check *c, const struct node *n, const char *name, const struct place *at)
{
	struct cJSON *s = json_new_str(name, strlen(name));
	bool ok;

	if (!s)
		return give_up(c, ENOMEM);
	ok = quietly(c, n->names, s, at);
	json_free(s);
	return ok || fault(c, at, "\"%.80s\" is no allowed name of a property", name);
}

static bool check_object(struct check *c, const struct node *n, const struct cJSON *v, const struct place *at)
{
	size_t count = json_count(v);

	if (!in_range(c, &n->properties_count, count, "properties", at) || !has_names(c, v, count, n->required, at))
		return false;
	for (const struct cJSON *e = json_first(v); e; e = json_next(e)) {
		if (!spend(c, 1) || !check_member(c, n, e, at) || (n->names && !check_name(c, n, json_name(e), at)))
			return false;
	}
	for (const struct cJSON *d = json_first(n->dependent_required); d; d = json_next(d)) {
		if (!spend(c, 1 + count) || (json_get(v, json_name(d)) && !has_names(c, v, count, d, at)))
			return false;
	}
	for (size_t i = 0; i < n->dependents.n; i++) {
		const struct branch *b = &n->dependents.v[i];

		if (!spend(c, 1 + count) || (json_get(v, b->name) && !check(c, b->node, v, at)))
			return false;
	}
	return true;
}

/* --- schemas in schemas --- */

static bool check_alternatives(struct check *c, const struct node *n, const struct cJSON *v, const struct place *at)
{
	size_t any = 0;
	size_t one = 0;

	for (size_t i = 0; i < n->all.n; i++) {
		if (!check(c, n->all.v[i].node, v, at))
			return false;
	}
	for (size_t i = 0; i < n->any.n && any == 0 && !c->error; i++)
		any += quietly(c, n->any.v[i].node, v, at);
	if (!c->error && n->any.n > 0 && any == 0)
		return fault(c, at, "matches none of %zu alternatives", n->any.n);
	for (size_t i = 0; i < n->one.n && !c->error; i++)
		one += quietly(c, n->one.v[i].node, v, at);
	if (!c->error && n->one.n > 0 && one != 1)
		return fault(c, at, "matches %zu of %zu alternatives, not exactly one", one, n->one.n);
	return !c->error;
}

static bool check_logic(struct check *c, const struct node *n, const struct cJSON *v, const struct place *at)
{
	if (n->ref && !check(c, n->ref, v, at))
		return false;
	if (!check_alternatives(c, n, v, at))
		return false;
	if (n->not_node && quietly(c, n->not_node, v, at))
		return fault(c, at, "matches what it must not match");
	if (n->if_node && !c->error) {
		const struct node *then = quietly(c, n->if_node, v, at) ? n->then_node : n->else_node;

		if (!c->error && then && !check(c, then, v, at))
			return false;
	}
	return !c->error;
}

static bool check_kind(struct check *c, const struct node *n, const struct cJSON *v, const struct place *at)
{
	switch (json_kind(v)) {
	case JSON_NUMBER:
		return check_number(c, n, v, at);
	case JSON_STRING:
		return check_string(c, n, v, at);
	case JSON_ARRAY:
		return check_array(c, n, v, at);
	case JSON_OBJECT:
		return check_object(c, n, v, at);
	default:
		return true;
	}
}

static bool check(struct check *c, const struct node *n, const struct cJSON *v, const struct place *at)
{
	bool ok;

	if (!spend(c, 1))
		return false;
	if (c->depth == DEPTH_MAX)
		return give_up(c, E2BIG);
	if (n->never)
		return fault(c, at, "nothing is allowed here");
	if (n->types && !(n->types & type_of(v)))
		return wrong_type(c, n, v, at);
	if (n->enums && !check_enum(c, n, v, at))
		return false;
	if (n->constant && !check_const(c, n, v, at))
		return false;
	c->depth++;
	ok = check_kind(c, n, v, at) && check_logic(c, n, v, at);
	c->depth--;
	return ok;
}

int schema_check(const struct schema *s, const struct cJSON *value, struct ak_err *err)
{
	struct ak_err dummy = { 0 };
	struct check c = { .work = SCHEMA_WORK_MAX, .err = err ? err : &dummy };
	struct place top = { 0 };
	bool ok = check(&c, s->top, value, &top);

	if (c.error == -ENOMEM)
		return ak_err_set(err, ENOMEM, "no memory to check a value");
	if (c.error)
		return ak_err_set(err, E2BIG, "the value takes too long to check against its schema");
	return ok ? 0 : -EBADMSG;
}
