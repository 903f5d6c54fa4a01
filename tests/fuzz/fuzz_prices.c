/* SPDX-License-Identifier: Apache-2.0 */
/* Price files. Laws: a row is found by its own name; what is known has rates that are filled; a bound is never below a cost. */
#include "agent/prices.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/usage.h"
#include "executor/shared/ak_err.h"

#define LAW(x)                                                                                               \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct prices *t, const struct price *p)
{
	struct usage u = { .cache_read = 3, .cache_write_5m = 2, .cache_write_1h = 5, .output = 7, .prompt_total = 10 };
	char text[256];

	LAW(prices_find(t, NULL, p->id) == p);
	price_charge(p, "2026-11-30", &u);
	LAW((u.cost_source == COST_TABLE) == price_known(p));
	LAW(price_bound(p, "2026-11-30", 10, 7) >= u.cost_picousd);
	LAW(strlen(price_warning(p, "2027-11-30", text, sizeof(text))) < sizeof(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct prices t = { 0 };
	struct ak_err err = { 0 };
	int rc;

	if (size > 65536)
		return 0;
	rc = prices_add(&t, (const char *)data, size, "fuzz", &err);
	LAW(rc == 0 || ((rc == -EBADMSG || rc == -E2BIG) && err.msg[0] != '\0'));
	for (size_t i = 0; i < t.n; i++)
		check(&t, &t.v[i]);
	if (size < 200) {
		char *s = strndup((const char *)data, size);

		LAW(s);
		(void)prices_find(&t, "p", s);
		rc = prices_set(&t, "set", s, &err);
		LAW(rc == 0 ? price_known(prices_find(&t, NULL, "set")) : rc == -EINVAL);
		free(s);
	}
	prices_release(&t);
	return 0;
}
