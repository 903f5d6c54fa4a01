/* SPDX-License-Identifier: Apache-2.0 */
/* The result object ak-exec/1 of CLI.md. Process: executor. Privilege: none. */
#ifndef AK_REPORT_H
#define AK_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct ak_buf;
struct ak_err;
struct ak_facts;
struct ak_json;
struct ak_result;
struct backend_facts;
struct denials;
struct cow;
struct exec_opts;
struct plan;
struct protected_report;
struct run_result;

struct report {
	const struct exec_opts *opts;	/* may be NULL when the command line did not parse */
	const struct plan *plan;	/* NULL when none was made; ignored when @stage is "usage" or "plan" and @error is set */
	const struct ak_facts *facts;	/* of a named sandbox, in the place of @plan; NULL: none */
	const struct ak_result *far;	/* with @facts: what its executor says of the command; NULL: nothing was started */
	const struct backend_facts *backend;	/* of a backend other than native, in the place of @plan; NULL: none */
	const struct run_result *run;	/* NULL when nothing was started */
	const struct denials *denials;	/* refused calls; NULL: not observed */
	const struct ak_err *error;	/* NULL: none */
	bool failed;			/* ak ends with 125, whatever became of the command */
	const char *stage;		/* "usage", "plan", "setup", "confine", "cwd", "exec", "report", "relay"; NULL */
	const struct protected_report *protected;	/* of a direct run; NULL: not looked at */
	uint64_t setup_ns;		/* start of ak to the command's fork */
	uint64_t total_ns;
	const struct cow *cow;		/* of a cow run; NULL: none */
	int landlock_abi;
	bool with_output;		/* --json: stdout and stderr are in the object */
};

/**
 * report_json() - write the object and a newline into @out
 * @out:	where `max` is 0 it is set to what the object may need at most
 *
 * Fields of CLI.md in its order. Values of time limits are seconds, as the options take them. Beyond CLI.md: limits
 * cpu_time, nofile, fsize, disk and output where they are set; `hit` null where a passed limit cannot be seen (rlimits);
 * stdout_head_bytes and stderr_head_bytes, the length of what stands before the gap, where bytes were dropped; the errno of each
 * refused call, and denied.hint: the refusal that probably made the command fail, else null. Without a
 * finished plan nothing was enforced: limits and isolation hold null.
 * Never fails but by @out->failed.
 */
void report_json(const struct report *r, struct ak_buf *out);

/**
 * report_exit_text() - one line for stderr that says why ak gives the code it gives, without "ak: " and newline; nothing is
 * added to @out when the command's own exit says all. Safe to show on a terminal.
 */
void report_exit_text(const struct report *r, struct ak_buf *out);

/**
 * report_denied_hint() - one line that says which refusal probably made the command fail; nothing is added when it did not fail, was
 * ended by ak, or nothing was refused that could explain it
 */
void report_denied_hint(const struct report *r, struct ak_buf *out);

/** report_denied_text() - the same and what was refused in all, for people; nothing is added when there is nothing to say */
void report_denied_text(const struct report *r, struct ak_buf *out);

/** report_put_protected() - the member "changes" of a direct run, in ak-exec/1 and ak-result/1: null when nothing changed; NULL: not looked at */
void report_put_protected(struct ak_json *j, const struct protected_report *p);

/**
 * report_protected_text() - one line for stderr that names the protected names that changed, without "ak: " and newline; nothing is
 * added to @out when there are none, or all of them were allowed by --allow-protected. Safe to show on a terminal.
 */
void report_protected_text(const struct report *r, struct ak_buf *out);

#endif
