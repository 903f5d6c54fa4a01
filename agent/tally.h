/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over records of traces: by day, model and tool. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_TALLY_H
#define AK_AGENT_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_NAME 128u
#define TALLY_ROWS_MAX 1000u /* of one kind; what is more is counted as "(others)" */
#define TALLY_DATE 11u	     /* "YYYY-MM-DD" and NUL */

/**
 * struct tally_row - one day, model or tool, or all
 * @turns:	of the model; its other calls (judge, summariser) are in the tokens and the cost only
 * @unpriced:	calls whose cost is unknown
 * @calls, @errors, @denied: of tools
 */
struct tally_row {
	char name[TALLY_NAME];
	uint64_t turns;
	uint64_t input, cached, output;
	uint64_t cost_picousd;
	uint64_t unpriced;
	uint64_t calls, errors, denied;
};

struct tally_rows {
	struct tally_row *v;
	size_t n, cap;
};

/**
 * struct tally - all zeros is empty
 * @since:	records before this day do not count; "" all do
 * @skipped:	lines that are no records
 */
struct tally {
	char since[TALLY_DATE];
	struct tally_row all;
	struct tally_rows days, models, tools;
	uint64_t skipped;
};

/**
 * tally_line() - add one line of a trace, without its newline
 * Return: 1 (counted), 0 (before @since, empty, or no record: see @skipped), -ENOMEM.
 */
int tally_line(struct tally *t, const char *line, size_t len);
/** tally_sort() - days by date, models by cost, tools by calls, the largest first */
void tally_sort(struct tally *t);
void tally_release(struct tally *t);

#endif
