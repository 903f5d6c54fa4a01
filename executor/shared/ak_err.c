/* SPDX-License-Identifier: Apache-2.0 */
/* One error value that travels up. Any process, no privilege. */
#include "executor/shared/ak_err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "executor/shared/ak_json_out.h"

/* A terminal must not act on what a path or a command puts into a message: C0, DEL, C1 (U+0080..U+009F),
 * broken UTF-8 */
void ak_text_clean(char *text)
{
	size_t left = strlen(text);
	unsigned char *p = (unsigned char *)text;

	while (left > 0) {
		size_t n = ak_utf8_seq(p, left);
		bool c1 = n == 2 && p[0] == 0xc2 && p[1] < 0xa0;

		if (n == 0 || c1 || p[0] < 0x20 || p[0] == 0x7f) {
			memset(p, '?', n ? n : 1);
			n = n ? n : 1;
		}
		p += n;
		left -= n;
	}
}

/* vsnprintf into @buf; a text that does not fit is cut at the edge of a character */
__attribute__((format(printf, 3, 0))) static void put_text(char *buf, size_t size, const char *fmt,
							   va_list ap)
{
	int n = vsnprintf(buf, size, fmt, ap);

	if (n < 0)
		buf[0] = '\0';
	else if ((size_t)n >= size)
		buf[size - 1 - ak_utf8_partial(buf, size - 1)] = '\0';
	ak_text_clean(buf);
}

int ak_err_set(struct ak_err *err, int code, const char *fmt, ...)
{
	if (err) {
		char text[AK_ERR_MSG_MAX]; /* the arguments may point into @err */
		va_list ap;

		va_start(ap, fmt);
		put_text(text, sizeof(text), fmt, ap);
		va_end(ap);
		memcpy(err->msg, text, sizeof(text));
		err->code = code;
		err->hint[0] = '\0';
	}
	return -code;
}

int ak_err_sys(struct ak_err *err, int code, const char *fmt, ...)
{
	if (err) {
		const char *why = strerrordesc_np(code);
		char text[AK_ERR_MSG_MAX - 96]; /* the cause always finds room behind a long path */
		va_list ap;

		va_start(ap, fmt);
		put_text(text, sizeof(text), fmt, ap);
		va_end(ap);
		(void)snprintf(err->msg, sizeof(err->msg), "%s: %.70s (%s)", text,
			       why ? why : "unknown error", ak_errno_name(code));
		err->code = code;
		err->hint[0] = '\0';
	}
	return -code;
}

int ak_err_wrap(struct ak_err *err, const char *fmt, ...)
{
	if (!err || err->code == 0)
		return -EINVAL;

	char prefix[AK_ERR_MSG_MAX / 2];
	char old[AK_ERR_MSG_MAX];
	va_list ap;

	va_start(ap, fmt);
	put_text(prefix, sizeof(prefix), fmt, ap);
	va_end(ap);
	memcpy(old, err->msg, sizeof(old));
	if ((size_t)snprintf(err->msg, sizeof(err->msg), "%s: %s", prefix, old) >= sizeof(err->msg))
		err->msg[sizeof(err->msg) - 1 - ak_utf8_partial(err->msg, sizeof(err->msg) - 1)] = '\0';
	return -err->code;
}

void ak_err_hint(struct ak_err *err, const char *fmt, ...)
{
	if (!err)
		return;

	char text[AK_ERR_HINT_MAX];
	va_list ap;

	va_start(ap, fmt);
	put_text(text, sizeof(text), fmt, ap);
	va_end(ap);
	memcpy(err->hint, text, sizeof(text));
}

const char *ak_errno_name(int code)
{
	const char *name = code > 0 ? strerrorname_np(code) : NULL;

	return name ? name : "E?";
}
