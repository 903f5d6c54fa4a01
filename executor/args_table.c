/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `ak exec`: one table that parses and that prints the help. Process: executor. Privilege:
 * none. */
#include "executor/args.h"

#include <stdint.h>
#include <string.h>

#include "executor/args_int.h"
#include "executor/opts.h"

#define AT(field) offsetof(struct exec_opts, field)

/* X(name, letter, has a value, field, handler, help); a synonym has no help of its own */
/* clang-format off */
#define EXEC_OPTIONS(X) \
	X("--shell", 'c', true, 0, arg_shell, \
	  "  -c, --shell TEXT           run `sh -c TEXT` instead of COMMAND\n") \
	X("--workspace", 'C', true, 0, arg_workspace, \
	  "  -C, --workspace DIR        the workspace, also the working directory (default: .)\n") \
	X("--write", 0, true, 0, arg_write, \
	  "      --write direct|none    how the workspace is mounted (default: direct)\n") \
	X("--allow-protected", 0, true, 0, arg_allow_protected, \
	  "      --allow-protected NAME leave this protected name of the workspace writable\n") \
	X("--workdir", 'w', true, AT(workdir), arg_text, \
	  "  -w, --workdir DIR          working directory inside (default: the workspace)\n") \
	X("--rootfs", 0, true, 0, arg_rootfs, \
	  "      --rootfs host|DIR      the root file system (default: host)\n") \
	X("--rootfs-write", 0, true, 0, arg_rootfs_write, \
	  "      --rootfs-write none|tmp  tmp: changes to --rootfs DIR go to memory and are lost (default: none)\n") \
	X("--ro", 0, true, 0, arg_ro, \
	  "      --ro SRC[:DST]         show SRC read-only, at DST\n") \
	X("--rw", 0, true, 0, arg_rw, \
	  "      --rw SRC[:DST]         show SRC writable, at DST\n") \
	X("--ro-try", 0, true, 0, arg_ro_try, \
	  "      --ro-try SRC[:DST]     as --ro, but SRC may be missing\n") \
	X("--rw-try", 0, true, 0, arg_rw_try, \
	  "      --rw-try SRC[:DST]     as --rw, but SRC may be missing\n") \
	X("-v", 'v', true, 0, arg_volume, \
	  "  -v SRC:DST[:ro|:rw]        show SRC at DST, writable unless :ro\n") \
	X("--tmpfs", 0, true, 0, arg_tmpfs, \
	  "      --tmpfs DST[:SIZE]     private memory file system\n") \
	X("--hide", 0, true, 0, arg_hide, \
	  "      --hide PATH            make PATH unreadable and unwritable\n") \
	X("--dev", 0, true, 0, arg_dev, \
	  "      --dev PATH             show a device\n") \
	X("--env", 'e', true, 0, arg_env, \
	  "  -e, --env K=V | K          set a variable, or pass the caller's\n") \
	X("--env-file", 0, true, 0, arg_env_file, \
	  "      --env-file FILE        the same from lines of a file\n") \
	X("--net", 0, true, 0, arg_net, \
	  "      --net none|host        own empty network, or the host's (default: none; also --network)\n") \
	X("--network", 0, true, 0, arg_net, "") \
	X("--memory", 'm', true, 0, arg_memory, \
	  "  -m, --memory SIZE|max      memory of the whole sandbox (default: 512m)\n") \
	X("--cpus", 0, true, 0, arg_cpus, \
	  "      --cpus X|max           processors (default: 1.0)\n") \
	X("--pids", 0, true, 0, arg_pids, \
	  "      --pids N|max           processes and threads (default: 256; also --pids-limit)\n") \
	X("--pids-limit", 0, true, 0, arg_pids, "") \
	X("--cpu-time", 0, true, AT(cpu_time_ms), arg_duration, \
	  "      --cpu-time DUR         processor time of the whole sandbox\n") \
	X("--nofile", 0, true, 0, arg_nofile, \
	  "      --nofile N             open files of a process\n") \
	X("--fsize", 0, true, 0, arg_fsize, \
	  "      --fsize SIZE           size of a file that is written\n") \
	X("--disk", 0, true, 0, arg_disk, \
	  "      --disk SIZE            bytes that may be added in private file systems (needs --write none)\n") \
	X("--timeout", 't', true, AT(timeout_ms), arg_duration, \
	  "  -t, --timeout DUR          end the command after this time\n") \
	X("--kill-after", 0, true, 0, arg_kill_after, \
	  "      --kill-after DUR       from SIGTERM to SIGKILL (default: 2s; 0: kill at once)\n") \
	X("--max-output", 0, true, 0, arg_max_output, \
	  "      --max-output SIZE      bytes passed of stdout and of stderr (default with --json: 16m)\n") \
	X("--seccomp", 0, true, 0, arg_seccomp, \
	  "      --seccomp default|strict|FILE  system call profile; FILE: Docker-format JSON\n") \
	X("--isolation", 0, true, 0, arg_isolation, \
	  "      --isolation namespaces    kind of isolation (default: namespaces)\n") \
	X("--user", 'u', true, 0, arg_user, \
	  "  -u, --user UID[:GID]       ids inside (default: the caller's; 1000 for root)\n") \
	X("--identity", 0, true, 0, arg_identity, \
	  "      --identity auto|root   root: keep host uid 0 where ids cannot be mapped (default: auto)\n") \
	X("--fd", 0, true, 0, arg_fd, \
	  "      --fd N                 pass an open pipe (N from 3)\n") \
	X("--stdin", 'i', false, AT(stdin_always), arg_flag, \
	  "  -i, --stdin                pass stdin even when it is a terminal\n") \
	X("--tty", 0, false, AT(tty), arg_flag, \
	  "      --tty                  give the command a terminal of its own\n") \
	X("--raw", 0, false, AT(raw), arg_flag, \
	  "      --raw                  do not filter terminal sequences\n") \
	X("--json", 0, false, AT(json), arg_flag, \
	  "      --json                 stdout is one result object, which holds the command's output\n") \
	X("--report", 0, true, AT(report), arg_text, \
	  "      --report FILE          write the result object, without output, to FILE\n") \
	X("--explain", 0, false, AT(explain), arg_flag, \
	  "      --explain              print the plan and exit\n") \
	X("--quiet", 'q', false, AT(quiet), arg_flag, \
	  "  -q, --quiet                no messages about how the command ended\n") \
	X("--verbose", 0, false, AT(verbose), arg_flag, \
	  "      --verbose              say more: warnings, times\n") \
	X("--help", 'h', false, 0, arg_help, \
	  "  -h, --help                 this text\n")

#define AS_ROW(name, letter, has_value, field, set, help) { name, letter, has_value, field, set },
#define AS_HELP(name, letter, has_value, field, set, help) help
/* clang-format on */

static const struct arg_def table[] = {EXEC_OPTIONS(AS_ROW)};

#define NROWS (sizeof(table) / sizeof(table[0]))

const char *args_exec_help(void)
{
	return "usage: ak exec [OPTIONS] [--] COMMAND [ARG...]\n"
	       "       ak exec [OPTIONS] -c TEXT\n"
	       "Run one command in a sandbox.\n\n" EXEC_OPTIONS(
		       AS_HELP) "\n"
				"SIZE: bytes, or with k, m, g (1024-based). DUR: seconds, or 500ms, 30s, 5m, "
				"1h.\n"
				"Exit code: the command's own; 124 timed out; 125 ak failed or refused; 126 "
				"not executable;\n"
				"127 not found; 128+N killed by signal N.\n";
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
