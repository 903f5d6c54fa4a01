/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the result object share: report*.c only. Process: executor. Privilege: none. */
#ifndef AK_REPORT_INT_H
#define AK_REPORT_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/shared/ak_json_out.h"

struct ak_buf;
struct ak_facts;
struct ak_json;
struct capture;
struct report;

/* What went wrong, wherever it was recorded; texts are borrowed */
struct report_error {
	const char *stage;	/* NULL: nothing went wrong */
	int code;		/* 0: none */
	const char *message;
	const char *hint;	/* "": none */
};

/** report_error_of() - the error of a run: of ak itself, else what the set-up child or init said */
struct report_error report_error_of(const struct report *r);

/* How the bytes of one stream are shown */
struct report_output {
	struct ak_span v[3];	/* in order; no character lies across two of them when @utf8 */
	char bridge[4];		/* a character that lay across head and tail while nothing was dropped */
	bool utf8;		/* else base64 */
	size_t head_len;	/* bytes shown before the gap; meaningful when @dropped */
	uint64_t dropped;	/* with what was trimmed at the gap */
};

/**
 * report_output_of() - decide how a captured stream is shown
 * @ret:	filled; its spans point into @c and into itself, so it must not be copied
 *
 * When bytes were dropped and both sides of the gap are UTF-8 apart from a character that the gap cut, the pieces of that
 * character are trimmed and counted as dropped.
 */
void report_output_of(const struct capture *c, struct report_output *ret);

/** report_put_denied() - the member "denied" */
void report_put_denied(struct ak_json *j, const struct report *r);
enum hit { HIT_NO, HIT_YES, HIT_UNKNOWN };

/**
 * report_limit() - one entry of `limits`
 * @by:	NULL: no limit is set
 * @thousandths:	@value is one, else a whole number
 */
void report_limit(struct ak_json *j, const char *key, uint64_t value, bool thousandths, const char *by, enum hit hit);
/** report_backend_known() - has another backend than native come so far that something is known of what it holds? */
bool report_backend_known(const struct report *r);
/** report_backend_limits() - `limits` of a command that docker or nothing holds */
void report_backend_limits(struct ak_json *j, const struct report *r);
/** report_backend_isolation() - `isolation` of it */
void report_backend_isolation(struct ak_json *j, const struct report *r);
/** report_backend_far() - "backend" and "namespaces" of a sandbox that stays and that another backend than native holds */
void report_backend_far(struct ak_json *j, const struct ak_facts *f);
/** report_put_cow() - the field "changes" of a cow run. Return: false when it was none, and nothing was put. */
bool report_put_cow(struct ak_json *j, const struct report *r);
/** report_cow_bytes() - what it may need at most */
size_t report_cow_bytes(const struct report *r);

/** report_size_text() - bytes for people: "512 MiB", "1000 bytes" */
void report_size_text(uint64_t bytes, char *buf, size_t size);

#endif
