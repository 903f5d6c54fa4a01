/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `ak exec` and `ak create`: one table that parses and that prints the help. Process: executor. Privilege:
 * none. */
#include "executor/args.h"

#include <stdint.h>
#include <string.h>

#include "executor/args_int.h"
#include "executor/opts.h"

#define AT(field) offsetof(struct exec_opts, field)

/*
 * Where an option means something. With --in the sandbox exists, so nothing that shapes one can be said any more; a job
 * has no caller it could talk to; `ak create` runs no command.
 */
#define WHERE_ALL (ARG_RUN | ARG_IN | ARG_JOB | ARG_CREATE)
#define WHERE_SHAPE (ARG_RUN | ARG_CREATE)
#define WHERE_COMMAND (ARG_RUN | ARG_IN | ARG_JOB)
#define WHERE_TALK (ARG_RUN | ARG_IN)
#define WHERE_NAMED (ARG_IN | ARG_JOB)
#define WHERE_FRESH ARG_IN
#define WHERE_JOB ARG_JOB
#define WHERE_KEPT ARG_CREATE
#define WHERE_ONCE ARG_RUN
#define WHERE_TAKEN (ARG_RUN | ARG_SERVE)

/* X(name, letter, has a value, field, handler, where, help); a synonym has no help of its own */
/* clang-format off */
#define EXEC_OPTIONS(X) \
	X("--shell", 'c', true, 0, arg_shell, COMMAND, \
	  "  -c, --shell TEXT           run `sh -c TEXT` instead of COMMAND\n") \
	X("--workspace", 'C', true, 0, arg_workspace, SHAPE, \
	  "  -C, --workspace DIR        the workspace, also the working directory (default: .)\n") \
	X("--write", 0, true, 0, arg_write, SHAPE, \
	  "      --write direct|cow|none  how the workspace is mounted: as it is, as a copy, read-only (default: direct)\n") \
	X("--apply", 0, true, 0, arg_apply, TAKEN, \
	  "      --apply always|never   with --write cow: take the changes over when it exited 0 (default: never)\n") \
	X("--allow-protected", 0, true, 0, arg_allow_protected, SHAPE, \
	  "      --allow-protected NAME leave this protected name of the workspace writable; --apply: take it too\n") \
	X("--workdir", 'w', true, AT(workdir), arg_text, ALL, \
	  "  -w, --workdir DIR          working directory inside (default: the workspace)\n") \
	X("--rootfs", 0, true, 0, arg_rootfs, SHAPE, \
	  "      --rootfs host|DIR      the root file system (default: host)\n") \
	X("--rootfs-write", 0, true, 0, arg_rootfs_write, SHAPE, \
	  "      --rootfs-write none|tmp  tmp: changes to --rootfs DIR go to memory and are lost (default: none)\n") \
	X("--backend", 0, true, 0, arg_backend, SHAPE, \
	  "      --backend native|docker|local  docker: the docker CLI (needs --image); local: no isolation\n") \
	X("--image", 0, true, AT(image), arg_image, SHAPE, \
	  "      --image NAME           image of a container, with --backend docker\n") \
	X("--ro", 0, true, 0, arg_ro, SHAPE, \
	  "      --ro SRC[:DST]         show SRC read-only, at DST\n") \
	X("--rw", 0, true, 0, arg_rw, SHAPE, \
	  "      --rw SRC[:DST]         show SRC writable, at DST\n") \
	X("--ro-try", 0, true, 0, arg_ro_try, SHAPE, \
	  "      --ro-try SRC[:DST]     as --ro, but SRC may be missing\n") \
	X("--rw-try", 0, true, 0, arg_rw_try, SHAPE, \
	  "      --rw-try SRC[:DST]     as --rw, but SRC may be missing\n") \
	X("-v", 'v', true, 0, arg_volume, SHAPE, \
	  "  -v SRC:DST[:ro|:rw]        show SRC at DST, writable unless :ro\n") \
	X("--tmpfs", 0, true, 0, arg_tmpfs, SHAPE, \
	  "      --tmpfs DST[:SIZE]     private memory file system\n") \
	X("--hide", 0, true, 0, arg_hide, SHAPE, \
	  "      --hide PATH            make PATH unreadable and unwritable\n") \
	X("--dev", 0, true, 0, arg_dev, SHAPE, \
	  "      --dev PATH             show a device\n") \
	X("--env", 'e', true, 0, arg_env, ALL, \
	  "  -e, --env K=V | K          set a variable, or pass the caller's\n") \
	X("--env-file", 0, true, 0, arg_env_file, ALL, \
	  "      --env-file FILE        the same from lines of a file\n") \
	X("--net", 0, true, 0, arg_net, SHAPE, \
	  "      --net none|host        own empty network, or the host's (default: none; also --network)\n") \
	X("--network", 0, true, 0, arg_net, SHAPE, "") \
	X("--memory", 'm', true, 0, arg_memory, SHAPE, \
	  "  -m, --memory SIZE|max      memory of the whole sandbox (default: 512m)\n") \
	X("--cpus", 0, true, 0, arg_cpus, SHAPE, \
	  "      --cpus X|max           processors (default: 1.0)\n") \
	X("--pids", 0, true, 0, arg_pids, SHAPE, \
	  "      --pids N|max           processes and threads (default: 256; also --pids-limit)\n") \
	X("--pids-limit", 0, true, 0, arg_pids, SHAPE, "") \
	X("--cpu-time", 0, true, AT(cpu_time_ms), arg_duration, ALL, \
	  "      --cpu-time DUR         processor time of the whole sandbox\n") \
	X("--nofile", 0, true, 0, arg_nofile, ALL, \
	  "      --nofile N             open files of a process\n") \
	X("--fsize", 0, true, 0, arg_fsize, ALL, \
	  "      --fsize SIZE           size of a file that is written\n") \
	X("--disk", 0, true, 0, arg_disk, SHAPE, \
	  "      --disk SIZE            bytes that may be added (with --write cow or none)\n") \
	X("--timeout", 't', true, AT(timeout_ms), arg_duration, COMMAND, \
	  "  -t, --timeout DUR          end the command after this time\n") \
	X("--kill-after", 0, true, 0, arg_kill_after, COMMAND, \
	  "      --kill-after DUR       from SIGTERM to SIGKILL (default: 2s; 0: kill at once)\n") \
	X("--max-output", 0, true, 0, arg_max_output, TALK, \
	  "      --max-output SIZE      bytes passed of stdout and of stderr (default with --json: 16m)\n") \
	X("--seccomp", 0, true, 0, arg_seccomp, SHAPE, \
	  "      --seccomp default|strict|FILE  system call profile; FILE: Docker-format JSON\n") \
	X("--isolation", 0, true, 0, arg_isolation, SHAPE, \
	  "      --isolation namespaces|landlock  landlock: weaker, needs no namespaces (default: namespaces)\n") \
	X("--nesting", 0, false, AT(nesting), arg_flag, SHAPE, \
	  "      --nesting              let the command make namespaces, so that sandboxes run inside\n") \
	X("--user", 'u', true, 0, arg_user, SHAPE, \
	  "  -u, --user UID[:GID]       ids inside (default: the caller's; 1000 for root)\n") \
	X("--identity", 0, true, 0, arg_identity, SHAPE, \
	  "      --identity auto|root   root: keep host uid 0 where ids cannot be mapped (default: auto)\n") \
	X("--fd", 0, true, 0, arg_fd, TALK, \
	  "      --fd N                 pass an open pipe (N from 3)\n") \
	X("--in", 0, true, 0, arg_in, NAMED, \
	  "      --in NAME              run in the sandbox that `ak create NAME` made\n") \
	X("--fresh", 0, false, AT(fresh), arg_flag, FRESH, \
	  "      --fresh                with --in: a sandbox of its own, like NAME, gone after the command\n") \
	X("--detach", 0, false, AT(detach), arg_flag, JOB, \
	  "      --detach               with --in: start a background job and print its id\n") \
	X("--ttl", 0, true, 0, arg_ttl, KEPT, \
	  "      --ttl DUR              end after so long without a command (default: 1h)\n") \
	X("--pool", 0, true, 0, arg_pool, KEPT, \
	  "      --pool N               keep N fresh sandboxes ready for --fresh (default: 0)\n") \
	X("--stdin", 'i', false, AT(stdin_always), arg_flag, TALK, \
	  "  -i, --stdin                pass stdin even when it is a terminal\n") \
	X("--tty", 0, false, AT(tty), arg_flag, TALK, \
	  "      --tty                  give the command a terminal of its own\n") \
	X("--raw", 0, false, AT(raw), arg_flag, TALK, \
	  "      --raw                  do not filter terminal sequences\n") \
	X("--json", 0, false, AT(json), arg_flag, TALK, \
	  "      --json                 stdout is one result object, which holds the command's output\n") \
	X("--report", 0, true, AT(report), arg_text, TALK, \
	  "      --report FILE          write the result object, without output, to FILE\n") \
	X("--explain", 0, false, AT(explain), arg_flag, SHAPE, \
	  "      --explain              print the plan and exit\n") \
	X("--config", 0, true, AT(config), arg_text, ALL, \
	  "      --config FILE          in place of the user's config file; /dev/null: none\n") \
	X("--profile", 0, true, AT(profile), arg_text, ALL, \
	  "      --profile NAME         with the settings profiles.NAME of that file\n") \
	X("--quiet", 'q', false, AT(quiet), arg_flag, ALL, \
	  "  -q, --quiet                no messages about how the command ended\n") \
	X("--verbose", 0, false, AT(verbose), arg_flag, ALL, \
	  "      --verbose              say more: warnings, times\n") \
	X("--help", 'h', false, 0, arg_help, ALL, \
	  "  -h, --help                 this text\n")

#define AS_ROW(name, letter, has_value, field, set, where, help) { name, letter, has_value, field, WHERE_##where, set },
#define AS_EXEC_HELP(name, letter, has_value, field, set, where, help) EXEC_HELP_##where(help)
#define AS_CREATE_HELP(name, letter, has_value, field, set, where, help) CREATE_HELP_##where(help)

#define EXEC_HELP_ALL(help) help
#define EXEC_HELP_SHAPE(help) help
#define EXEC_HELP_COMMAND(help) help
#define EXEC_HELP_TALK(help) help
#define EXEC_HELP_NAMED(help) help
#define EXEC_HELP_FRESH(help) help
#define EXEC_HELP_JOB(help) help
#define EXEC_HELP_KEPT(help)
#define EXEC_HELP_ONCE(help) help
#define EXEC_HELP_TAKEN(help) help

#define CREATE_HELP_ALL(help) help
#define CREATE_HELP_SHAPE(help) help
#define CREATE_HELP_COMMAND(help)
#define CREATE_HELP_TALK(help)
#define CREATE_HELP_NAMED(help)
#define CREATE_HELP_FRESH(help)
#define CREATE_HELP_JOB(help)
#define CREATE_HELP_KEPT(help) help
#define CREATE_HELP_ONCE(help)
#define CREATE_HELP_TAKEN(help)
/* clang-format on */

static const struct arg_def table[] = {EXEC_OPTIONS(AS_ROW)};

#define NROWS (sizeof(table) / sizeof(table[0]))
_Static_assert(NROWS <= 64, "struct args marks what was given in 64 bits");

const char *args_exec_help(void)
{
	return "usage: ak exec [OPTIONS] [--] COMMAND [ARG...]\n"
	       "       ak exec [OPTIONS] -c TEXT\n"
	       "       ak exec --in NAME [OPTIONS] [--] COMMAND [ARG...] | -c TEXT\n"
	       "Run one command in a sandbox of its own, or in one that `ak create` made.\n\n" EXEC_OPTIONS(
		       AS_EXEC_HELP) "\n"
				     "SIZE: bytes, or with k, m, g (1024-based). DUR: seconds, or 500ms, 30s, 5m, "
				     "1h.\n"
				     "Exit code: the command's own; 124 timed out; 125 ak failed or refused; 126 "
				     "not executable;\n"
				     "127 not found; 128+N killed by signal N.\n";
}

const char *args_create_help(void)
{
	return "usage: ak create NAME [OPTIONS]\n"
	       "Make a sandbox that stays; `ak exec --in NAME` runs commands in it, `ak rm NAME` ends it.\n"
	       "NAME: up to 64 letters, digits and . _ - (no . or - at its start).\n\n" EXEC_OPTIONS(
		       AS_CREATE_HELP) "\n"
				       "SIZE: bytes, or with k, m, g (1024-based). DUR: seconds, or 500ms, 30s, 5m, "
				       "1h.\n"
				       "Exit code: 0; 1 failed or refused; 2 usage.\n";
}

const struct arg_def *arg_row(size_t i)
{
	return i < NROWS ? &table[i] : NULL;
}

size_t arg_index(const struct arg_def *d)
{
	return (size_t)(d - table);
}

const struct arg_def *arg_by_name(const char *name, size_t len)
{
	for (size_t i = 0; i < NROWS; i++) {
		if (len > 2 && strlen(table[i].name) == len && memcmp(table[i].name, name, len) == 0)
			return &table[i];
	}
	return NULL;
}

const struct arg_def *arg_by_letter(char letter)
{
	for (size_t i = 0; i < NROWS; i++) {
		if (letter != '\0' && table[i].letter == letter)
			return &table[i];
	}
	return NULL;
}

#define TYPO_LEN_MAX 32u

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* Levenshtein distance of two short words */
static size_t edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
	size_t row[TYPO_LEN_MAX + 1];

	for (size_t k = 0; k <= nb; k++)
		row[k] = k;
	for (size_t i = 1; i <= na; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t k = 1; k <= nb; k++) {
			size_t above = row[k];

			row[k] = min3(above + 1, row[k - 1] + 1, diagonal + (a[i - 1] != b[k - 1]));
			diagonal = above;
		}
	}
	return row[nb];
}

const char *arg_nearest(const char *typed)
{
	typed += strspn(typed, "-");

	size_t len = strcspn(typed, "=");
	size_t best = len < 5 ? len / 2 : 3; /* a word that would have to be replaced whole is no typing error */
	const char *name = NULL;

	if (len > TYPO_LEN_MAX)
		return NULL;
	for (size_t i = 0; i < NROWS; i++) {
		const char *word = table[i].name + strspn(table[i].name, "-");
		size_t d = edit_distance(typed, len, word, strlen(word));

		/* two errors, one of them in the first letter, are another word */
		if (d < best && (d < 2 || word[0] == typed[0])) {
			best = d;
			name = table[i].name;
		}
	}
	return name;
}
