/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the price table. Process: agent. Privilege: none. */
#ifndef AK_AGENT_PRICES_INT_H
#define AK_AGENT_PRICES_INT_H

#include "agent/prices.h"

/** prices_row() - the row called exactly @id, made when there is none. Return: 0, -E2BIG, -ENOMEM. */
int prices_row(struct prices *t, const char *id, struct price **ret, struct ak_err *err);
/** prices_source() - a name that lives as long as the table; NULL: no memory */
const char *prices_source(struct prices *t, const char *name);
/** price_merge() - what @from says over what @to says; strings are moved. Tiers replace each other as a whole. */
void price_merge(struct price *to, struct price *from);
/** price_free_fields() - free what a row owns */
void price_free_fields(struct price *p);
/** rates_name() - "input", "cache_write_1h", ... */
const char *rates_name(enum rate r);
/** date_ok() - YYYY-MM-DD, month and day within their ranges */
bool date_ok(const char *s);

/** prices_add_litellm(), prices_add_models_dev() - a whole foreign file, parsed */
int prices_add_litellm(struct prices *t, const struct cJSON *doc, const char *source, struct ak_err *err);
int prices_add_models_dev(struct prices *t, const struct cJSON *doc, const char *source, struct ak_err *err);
/** prices_take() - merge a foreign row, or count it as skipped. @p is used up. Return: 0, -E2BIG, -ENOMEM. */
int prices_take(struct prices *t, const char *id, struct price *p, struct ak_err *err);
/** rates_sane() - cache reads cost no more than input, where both are known */
bool rates_sane(const struct rates *r);

#endif
