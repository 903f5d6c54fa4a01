/* SPDX-License-Identifier: Apache-2.0 */
/* Names what is new in a git configuration and starts programs. Process: executor; the reading is done by ak-policy. */
#ifndef AK_WORKSPACE_PROTECTED_KEYS_H
#define AK_WORKSPACE_PROTECTED_KEYS_H

#define PROTECTED_KEYS_MAX 16u	/* keys that are told of one configuration */

struct protected_mark;
struct protected_report;

/**
 * protected_keys() - fill the keys of the reported configurations
 * @m:	for what .git/config held before; of other configurations every key that starts programs is told
 * @program:	ak-policy as companion_open() gives it; -1: it is looked for
 *
 * The executor reads no such text itself: ak-policy does, which has given up everything but reading its input. What comes back
 * is one key a line, cleaned for a terminal here. Where ak-policy cannot be run, or refuses, keys_unknown says so.
 */
void protected_keys(const struct protected_mark *m, int program, struct protected_report *r);

#endif
