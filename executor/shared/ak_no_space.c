/* SPDX-License-Identifier: Apache-2.0 */
/* What to do when a disk is full. Pure; any process, no privilege. */
#include "executor/shared/ak_no_space.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "executor/shared/ak_err.h"

void ak_no_space(struct ak_err *err, const char *fmt, ...)
{
	char text[AK_ERR_HINT_MAX];
	va_list ap;

	if (!err || (err->code != ENOSPC && err->code != EDQUOT) || err->hint[0])
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ak_err_hint(err, "%s", text);
}
