/* SPDX-License-Identifier: Apache-2.0 */
/* One error value that travels up: code, one line of text, one line of advice. Any process, no privilege. */
#ifndef AK_SHARED_AK_ERR_H
#define AK_SHARED_AK_ERR_H

#define AK_ERR_MSG_MAX 512
#define AK_ERR_HINT_MAX 512

/**
 * struct ak_err - what failed, why, and what to do
 * @code:	positive errno of the cause; 0 when nothing failed
 * @msg:	one line, no final full stop, no newline, names the object
 * @hint:	what the user can do about it; "" when there is nothing to say
 */
struct ak_err {
	int code;
	char msg[AK_ERR_MSG_MAX];
	char hint[AK_ERR_HINT_MAX];
};

/**
 * ak_err_set() - record an error of our own finding
 * @err:	filled; may be NULL
 * @code:	positive errno
 *
 * The text is cut at AK_ERR_MSG_MAX, at the edge of a character; what ak_text_clean() replaces becomes '?'. An
 * earlier hint is dropped. Arguments may point into @err.
 * Return: -@code, so that callers can write `return ak_err_set(...)`.
 */
int ak_err_set(struct ak_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * ak_err_sys() - record a failed system call; ": <strerror> (<ENAME>)" is appended, and finds room after any text
 * Return: -@code.
 */
int ak_err_sys(struct ak_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * ak_err_wrap() - put "<text>: " in front of the message already there; code and hint stay
 * Return: -err->code (-EINVAL when @err is NULL or empty).
 */
int ak_err_wrap(struct ak_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * ak_err_hint() - set the advice; replaces an earlier one
 */
void ak_err_hint(struct ak_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * ak_errno_name() - symbolic name of an errno, such as "ENOENT"
 * Return: a static string; "E?" for an unknown number.
 */
const char *ak_errno_name(int code);

/**
 * ak_text_clean() - make text safe to show on a terminal, in place
 * Control characters (C0, DEL, C1) and bytes that are not UTF-8 become '?', byte for byte.
 */
void ak_text_clean(char *text);

#endif
