/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs that drive serve mode say, one line a claim as the suites read them: "ALLOWED name" (it works), "BROKEN name why"
 * (it does not), "BLOCKED name" and "OPEN name" for attacks, "SKIP name why".
 */
#ifndef AK_TESTS_SERVE_SAY_H
#define AK_TESTS_SERVE_SAY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/serve/drv.h"

__attribute__((format(printf, 4, 5))) static inline void say(bool good, const char *yes, const char *name, const char *fmt, ...)
{
	char text[1200];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (char *p = text; *p; p++) {
		if ((unsigned char)*p < 0x20)
			*p = '|';
	}
	(void)printf("%s %s %s\n", good ? yes : strcmp(yes, "BLOCKED") == 0 ? "OPEN" : "BROKEN", name, good ? "" : text);
	(void)fflush(stdout);
}

/* @c ended with @code and wrote exactly @out; frees it */
static inline void want(struct call *c, const char *name, int code, const char *out)
{
	bool good = c && drv_code(c) == code && (!out || strcmp(c->data[0], out) == 0);

	say(good, "ALLOWED", name, "code %d want %d, out '%.200s' want '%.100s', err '%.300s', text '%s'", drv_code(c), code,
	    c ? c->data[0] : "", out ? out : "*", c ? c->data[1] : "", c ? c->text : "");
	drv_free(c);
}

/* @c was not started: exit code, stage, and a word of the text; frees it */
static inline void want_failed(struct call *c, const char *name, int code, unsigned stage, const char *word)
{
	bool good = c && drv_code(c) == 1000 + code && c->end.stage == stage && strstr(c->text, word);

	say(good, "ALLOWED", name, "code %d, stage %u, text '%s', out '%.200s'", drv_code(c), c ? c->end.stage : 0, c ? c->text : "",
	    c ? c->data[0] : "");
	drv_free(c);
}

#endif
