/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools a model gets: one table, and what every tool does the same way. A tool touches nothing but the sandbox, through
 * lib/libak.h. Process: agent. Privilege: none.
 *
 * A tool's text goes through tool_say() and its like only: there it is redacted, spooled where it is too long, and cut.
 */
#ifndef AK_AGENT_TOOL_H
#define AK_AGENT_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/exec_client.h"
#include "agent/redact.h"
#include "agent/spool.h"
#include "executor/shared/ak_buf.h"

struct cJSON;
struct points;
struct tool;

#define TOOL_PATH_MAX 4095u		/* bytes of a path */
#define TOOL_READ_MAX (64u << 20)	/* bytes of a file that are looked through for the lines asked for */
#define TOOL_EDIT_MAX (16u << 20)	/* bytes of a file that can be edited */
#define TOOL_LINES 2000u		/* lines of read_file that are shown when nothing is said */
#define TOOL_LIST_MAX 1000u		/* entries that list_dir shows */

/**
 * struct tool_env - what the tools of a run share; everything borrowed
 * @deadline_ms:	monotonic, of the run; 0: none
 * @known:		values that are redacted wherever they stand: the run's keys
 * @points:	checkpoints that rollback can go back to
 * @alone:	the call is the only one of its turn
 * @keeps:	the workspace is written directly, and what write_file and edit_file replace is kept
 * @sandbox_dead:	the sandbox has ended; the next call makes a new one
 */
struct tool_env {
	struct exec_client *xc;
	uint32_t limits_hit; /* by commands so far; as limits_note() gives it */
	struct spool_dir *spools;
	const struct redact_known *known;
	size_t nknown;
	uint64_t tool_timeout_ms;
	uint64_t max_tool_timeout_ms;
	uint64_t deadline_ms;
	const struct points *points;
	bool keeps;
	bool sandbox_dead;
	bool alone;
	int search; /* the program ak-search, ak_program(); -1: there is none */
};

enum tool_state { TOOL_WAITING, TOOL_RUNNING, TOOL_DONE };

/**
 * struct tool_run - one call on its way; tool_run_release()
 * @args:	borrowed; checked against the tool's schema
 * @text:	the result, when it is TOOL_DONE
 * @tag:	of the command's events while it is TOOL_RUNNING
 * @cmd:	its id once it has started; 0
 * @exit_code:	of a command; -1: there was none
 * @limits_hit:	of a command: 1 << N for enum ak_limit_kind
 */
struct tool_run {
	const struct tool *tool;
	struct tool_env *env;
	const struct cJSON *args;
	enum tool_state state;
	struct ak_buf text;
	bool is_error;
	uint32_t tag;
	uint32_t cmd;
	uint64_t timeout_ms;
	bool clamped;
	int exit_code;
	uint32_t limits_hit;
	uint64_t start_ms;
	uint64_t duration_ms;
};

/**
 * struct tool - one tool
 * @schema:	of its arguments, JSON Schema as text
 * @start:	begin; a tool that needs no waiting is done afterwards. Whatever goes wrong inside the sandbox is a result.
 *		Return: 0; -ENOMEM; -ECONNRESET (the executor is gone). The run ends with these.
 * @event:	an event with the call's tag came; NULL for a tool that never waits. Return: as @start.
 */
struct tool {
	const char *name;
	const char *description;
	const char *schema;
	bool writable_only; /* not offered where the workspace is read-only */
	const char *direct_description; /* of it where the workspace is written directly; NULL: the same */
	int (*start)(struct tool_run *r);
	int (*event)(struct tool_run *r, struct ak_event *ev);
};

/**
 * tool_search_load() - have ak-search, which lies beside ak-agent, for find_files and search_text
 * For before the agent closes itself in. Without it the two say so. Return: 0; errno of opening it.
 */
int tool_search_load(struct tool_env *env, struct ak_err *err);

extern const struct tool tool_find_files, tool_search_text;
extern const struct tool tool_bash, tool_job, tool_read_file, tool_write_file, tool_edit_file, tool_list_dir, tool_file_info, tool_rollback;

/** tool_at() - row @i of the table, in the order of the names. Return: NULL behind the last one. */
const struct tool *tool_at(size_t i);
/** tool_find() - Return: NULL for a name that no tool has */
const struct tool *tool_find(const char *name);

void tool_run_release(struct tool_run *r);

/* --- for the tools --- */

/** tool_ended() - take over what the result of the call's command says: exit code, limits that were hit */
void tool_ended(struct tool_run *r, const struct ak_result *res);

struct tool_piece {
	const void *p;
	size_t n;
};

/**
 * tool_finish() - the call is done, with this text
 * Redacts, spools, cuts; NUL bytes become U+FFFD. Return: 0, -ENOMEM.
 */
int tool_finish(struct tool_run *r, bool is_error, const struct tool_piece *v, size_t n);
/** tool_say() - the same with a formatted text */
int tool_say(struct tool_run *r, bool is_error, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/**
 * tool_failed() - a request to the executor failed: what the model is told about @path (NULL: about the command)
 * Return: 0 when it is told; -ECONNRESET, -ENOMEM.
 */
int tool_failed(struct tool_run *r, int rc, const char *path, const struct ak_err *err);

/**
 * tool_path() - the path of an argument as the executor gets it
 * "", "~", one over TOOL_PATH_MAX and one that leads out of the workspace by ".." is refused; "//", "." and a slash at the end
 * are taken out. Absolute paths stay so: what is not visible inside is refused there.
 * Return: malloc'ed; NULL when the call is done with the reason (or has no memory: state is not TOOL_DONE).
 */
char *tool_path(struct tool_run *r, const char *path);

/**
 * tool_place() - where a call is about: its path, as tool_path(), and the sandbox, as tool_sandbox()
 * @ret_path:	free() it in any case; NULL where there is none
 * Return: 0 with both; 1: the call is done with the reason; -ENOMEM; as tool_failed().
 */
int tool_place(struct tool_run *r, const char *shown, char **ret_path, uint32_t *ret_box);

/** tool_unavailable() - what the result of a call begins with whose sandbox cannot be had; static */
const char *tool_unavailable(const struct tool_run *r);

/** tool_sandbox() - the sandbox for a call; a new one where the last has died. Return: 0 with *@ret; 1: told; as tool_failed() */
int tool_sandbox(struct tool_run *r, uint32_t *ret);

/** tool_marks() - how often REDACT_MARK stands in a text */
size_t tool_marks(const char *p, size_t n);

uint64_t tool_now_ms(void);

#endif
