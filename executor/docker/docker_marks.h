/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks in the standard error of `docker exec`: where the command's begins and where the command has ended, and with which code.
 * Pure: bytes in, bytes out. Process: executor. Privilege: none.
 *
 * docker exec ends with 125, 126 and 127 both for failures of its own and when the command ended so, and what it says goes to the
 * same stream as what the command says. So the script inside writes "\001MARK:s\n" before the command and "\001MARK:eCODE\n" after
 * it; MARK is made anew for each command. What comes before the first is docker's, what comes between is the command's, byte for
 * byte. A command that finds its MARK and lies with it lies about its own exit code only.
 */
#ifndef AK_DOCKER_MARKS_H
#define AK_DOCKER_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_err;

#define DOCKER_MARK_BYTES 36u		/* "ak-" and 32 hexadecimal digits, and NUL */
#define DOCKER_HELD_MAX 48u		/* longest mark in the stream: \001, MARK, ":e", three digits, newline */
#define DOCKER_BEFORE_MAX 8192u		/* of what docker says; the last bytes are kept */

struct docker_marks {
	char mark[DOCKER_MARK_BYTES];
	uint8_t held[DOCKER_HELD_MAX];	/* may be the beginning of a mark */
	size_t nheld;
	bool started;
	bool ended;
	unsigned code;			/* with ended: 0..255 */
	char before[DOCKER_BEFORE_MAX + 1];	/* what docker said; NUL-terminated */
	size_t nbefore;
};

/** docker_marks_make() - a new MARK from the kernel's random numbers. Return: 0, or negative errno. */
int docker_marks_make(struct docker_marks *m, struct ak_err *err);

/**
 * docker_marks_feed() - the next bytes of the stream
 * @out:	room for @n + DOCKER_HELD_MAX bytes
 * Return: bytes of the command's standard error that were written to @out.
 */
size_t docker_marks_feed(struct docker_marks *m, const uint8_t *in, size_t n, uint8_t *out);

/** docker_marks_end() - the stream is at its end: what was held back is no mark. @out as above. Return: bytes in @out. */
size_t docker_marks_end(struct docker_marks *m, uint8_t *out);

#endif
