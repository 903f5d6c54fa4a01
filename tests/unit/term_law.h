/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The law of the terminal filter's output, told a second time and in another way: a scanner that accepts what
 * a policy lets through and nothing else. For the unit test and the fuzz target.
 */
#ifndef AK_TESTS_TERM_LAW_H
#define AK_TESTS_TERM_LAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Length of the UTF-8 character at @s, 0 when it is malformed or a control */
static inline size_t law_char(const uint8_t *s, size_t n)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
	uint32_t cp = len > 1 ? s[0] & (0x7fu >> len) : s[0];

	if (len == 0 || len > n)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		cp = cp << 6 | (s[i] & 0x3f);
	}
	if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp > 0x10ffff || (cp >= 0xd800 && cp < 0xe000))
		return 0;
	return len > 1 && cp < least[len] ? 0 : len;
}

/* Length of the CSI sequence at @s (after ESC [) if it is one that may pass, else 0 */
static inline size_t law_csi(const uint8_t *s, size_t n, bool interactive)
{
	static const char *const modes[] = { "1", "5", "6", "7", "9", "12", "25", "47", "66", "1000", "1002", "1003", "1004", "1005",
					     "1006", "1007", "1015", "1047", "1048", "1049", "2004", "2026" };
	size_t i = 0;

	while (i < n && s[i] < 0x40)
		i++;
	if (i == n || i > 255)
		return 0;
	if (s[i] == 'm' && strspn((const char *)s, "0123456789;:") == i)
		return i + 1;
	if (!interactive)
		return 0;
	if (s[i] == 'h' || s[i] == 'l') {
		if (i == 1 && s[0] == '4')
			return i + 1;
		for (size_t m = 0; s[0] == '?' && m < sizeof(modes) / sizeof(modes[0]); m++)
			if (strlen(modes[m]) == i - 1 && memcmp(s + 1, modes[m], i - 1) == 0)
				return i + 1;
		return 0;
	}
	if (i > 0 && ((s[i] == 'q' && s[i - 1] == ' ') || (s[i] == 'p' && s[i - 1] == '!')))
		return strspn((const char *)s, "0123456789") == i - 1 ? i + 1 : 0;
	return strspn((const char *)s, "0123456789;") == i && strchr("@ABCDEFGHIJKLMPSTXZ`abdefgrsu", s[i]) ? i + 1 : 0;
}

/* Length of the escape sequence at @s (at ESC), else 0 */
static inline size_t law_escape(const uint8_t *s, size_t n, bool interactive)
{
	size_t k;

	if (n < 2)
		return 0;
	if (s[1] == '[') {
		k = law_csi(s + 2, n - 2, interactive);
		return k ? k + 2 : 0;
	}
	if (!interactive)
		return 0;
	if (strchr("78DEHM=>", s[1]))
		return 2;
	if (strchr("()*+", s[1]))
		return n > 2 && s[2] && strchr("0AB", s[2]) ? 3 : 0;
	if (s[1] != ']' || n < 5 || (s[2] != '0' && s[2] != '2') || s[3] != ';')
		return 0;
	for (size_t i = 4; i < n; i += k) {
		if (s[i] == 0x07)
			return i <= 4 + 254 ? i + 1 : 0;
		k = law_char(s + i, n - i);
		if (k == 0)
			return 0;
	}
	return 0;
}

/* Is @s, followed by a NUL byte, an output that the policy allows? */
static inline bool law_holds(const uint8_t *s, size_t n, bool interactive)
{
	for (size_t i = 0, k; i < n; i += k) {
		if (s[i] == 0x1b)
			k = law_escape(s + i, n - i, interactive);
		else if (s[i] && s[i] < 0x20 && strchr(interactive ? "\n\t\r\b\007\016\017" : "\n\t\r\b", s[i]))
			k = 1;
		else
			k = law_char(s + i, n - i);
		if (k == 0)
			return false;
	}
	return true;
}

#endif
