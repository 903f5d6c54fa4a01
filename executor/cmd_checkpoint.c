/* SPDX-License-Identifier: Apache-2.0 */
/* `ak checkpoint`: its command line, and what all of its subcommands share. Process and privilege: see the header. */
#include "executor/cmd_checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "executor/busy.h"
#include "executor/checkpoint_session.h"
#include "executor/named.h"
#include "executor/ns/sysmount.h"
#include "executor/plan.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_path.h"
#include "executor/shared/ak_session_file.h"
#include "executor/workspace/ckpt_open.h"

static const char usage[] =
	"usage: ak checkpoint save [-C DIR] [-m TEXT] [--live] [--json]\n"
	"       ak checkpoint list [-C DIR] [--json]\n"
	"       ak checkpoint diff [-C DIR] [ID [ID]] [--stat | --json]\n"
	"       ak checkpoint restore [-C DIR] ID [PATH...] [--live] [--json]\n"
	"       ak checkpoint rm [-C DIR] ID...\n"
	"       ak checkpoint list SESSION [--json]\n"
	"       ak checkpoint restore SESSION N [--json]\n"
	"Keep a workspace as it is now, and take it back to that: contents, modes, links, empty folders, attributes.\n\n"
	"  save     keeps it and prints the checkpoint's ID; what has not changed since the last one is not read again\n"
	"  list     shows the checkpoints of this workspace\n"
	"  diff     shows what changed between a checkpoint (the newest one) and the workspace, or another checkpoint\n"
	"  restore  makes the workspace, or only PATH in it, exactly what it was; what is there now is kept first\n"
	"  rm       forgets checkpoints, and frees what only they hold\n"
	"  SESSION  of ak run (s-...): list and restore are about the changes that it kept, before each turn that might change something\n\n"
	"  -C, --workspace DIR   the workspace; without it, the current folder\n"
	"  -m, --message TEXT    a note for the list\n"
	"      --live            also while a command or a named sandbox is at work in the workspace\n"
	"      --stat            diff: one line a path\n"
	"      --json            one object on standard output\n"
	"  -q, --quiet           no remarks on standard error\n"
	"  -h, --help            this text\n";

static const struct {
	const char *name;
	int (*run)(struct checkpoint *c, char *const env[], struct ak_buf *out, struct ak_err *err);
	size_t least, most;	/* words */
	bool note, live, stat;	/* takes -m, --live, --stat */
} table[] = {
	{"save", checkpoint_save, 0, 0, true, true, false},
	{"list", checkpoint_list, 0, 1, false, false, false},
	{"diff", checkpoint_diff, 0, 2, false, false, true},
	{"restore", checkpoint_restore, 1, CHECKPOINT_WORDS, false, true, false},
	{"rm", checkpoint_rm, 1, CHECKPOINT_WORDS, false, false, false},
};

#define SUBCOMMANDS (sizeof(table) / sizeof(table[0]))

static int bad(struct ak_err *err, const char *what, const char *word)
{
	(void)ak_err_set(err, EINVAL, "checkpoint: %s%.100s", what, word);
	ak_err_hint(err, "see ak checkpoint --help");
	return -EINVAL;
}

/* an option with a value: the next word, or behind "=". Return: 1 taken, 0 another option, -EINVAL */
static int take_value(const char *name, const char *letter, char *const argv[], int argc, int *i, const char **ret, struct ak_err *err)
{
	const char *word = argv[*i];
	size_t n = strlen(name);

	if (strncmp(word, name, n) == 0 && word[n] == '=') {
		*ret = word + n + 1;
		return 1;
	}
	if (strcmp(word, name) != 0 && strcmp(word, letter) != 0)
		return 0;
	if (*i + 1 >= argc)
		return bad(err, "a value is missing for ", word);
	*ret = argv[++*i];
	return 1;
}

static int take_option(struct checkpoint_args *a, size_t sub, char *const argv[], int argc, int *i, struct ak_err *err)
{
	const char *word = argv[*i];
	int r = take_value("--workspace", "-C", argv, argc, i, &a->dir, err);

	if (r == 0 && table[sub].note)
		r = take_value("--message", "-m", argv, argc, i, &a->note, err);
	if (r != 0)
		return r;
	if (strcmp(word, "--json") == 0)
		a->json = true;
	else if (strcmp(word, "--quiet") == 0 || strcmp(word, "-q") == 0)
		a->quiet = true;
	else if (strcmp(word, "--live") == 0 && table[sub].live)
		a->live = true;
	else if (strcmp(word, "--stat") == 0 && table[sub].stat)
		a->stat = true;
	else
		return bad(err, "unknown option ", word);
	return 1;
}

/* Return: 0; 1 for --help; -EINVAL */
static int parse(int argc, char *const argv[], size_t sub, struct checkpoint_args *a, struct ak_err *err)
{
	bool options = true;

	for (int i = 0; i < argc; i++) {
		if (options && strcmp(argv[i], "--") == 0) {
			options = false;
		} else if (options && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) {
			return 1;
		} else if (options && argv[i][0] == '-' && argv[i][1] != '\0') {
			if (take_option(a, sub, argv, argc, &i, err) < 0)
				return -EINVAL;
		} else if (a->nwords == table[sub].most) {
			return bad(err, "one word too many: ", argv[i]);
		} else {
			a->word[a->nwords++] = argv[i];
		}
	}
	if (a->nwords > 0 && ak_session_id_ok(a->word[0]))
		return table[sub].run == checkpoint_list || table[sub].run == checkpoint_restore ?
			       0 : bad(err, "only list and restore are about a session: ", a->word[0]);
	if (table[sub].run == checkpoint_list && a->nwords > 0)
		return bad(err, "one word too many: ", a->word[0]);
	if (a->nwords < table[sub].least)
		return bad(err, "the ID of a checkpoint is missing", "");
	if (a->stat && a->json)
		return bad(err, "--stat and --json exclude each other", "");
	if (a->dir && !*a->dir)
		return bad(err, "-C: an empty name is no folder", "");
	if (a->note && strlen(a->note) > CKPT_NOTE_MAX)
		return bad(err, "-m: the text is longer than 200 bytes", "");
	return 0;
}

void checkpoint_tell(const struct checkpoint *c, const char *fmt, ...)
{
	struct ak_buf b = {0};
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = c->args->quiet ? -1 : vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	ak_text_clean(text);
	ak_buf_printf(&b, "ak: %s\n", text);
	if (!b.failed)
		(void)ak_write_all(STDERR_FILENO, b.data, b.len);	/* nobody else can be told */
	ak_buf_release(&b);
	free(text);
}

void checkpoint_tell_scan(const struct checkpoint *c, const struct ckpt_scan *s)
{
	for (size_t i = 0; i < s->ntold; i++)
		checkpoint_tell(c, "not kept whole: %s", s->told[i]);
	if (s->left + s->busy > s->ntold)
		checkpoint_tell(c, "and %zu more", s->left + s->busy - s->ntold);
}

/* the store would hold itself, and grow with every checkpoint */
static int check_place(const struct checkpoint *c, struct ak_err *err)
{
	static const struct {
		uint32_t magic;
		const char *name;
	} kernels_own[] = {
		{0x9fa0, "proc"}, {0x62656572, "sysfs"}, {0x63677270, "cgroup2"}, {0x27e0eb, "cgroup"}, {0x64626720, "debugfs"},
		{0x74726163, "tracefs"}, {0x73636673, "securityfs"}, {0xcafe4a11, "bpf"},
	};
	const char *const own[] = {c->host.state_dir, c->host.config_dir};
	struct statfs fs;

	for (size_t i = 0; i < 2; i++) {
		if (!ak_path_below(own[i], c->workspace))
			continue;
		(void)ak_err_set(err, EPERM, "workspace \"%.300s\": contains ak's own folder %.300s", c->workspace, own[i]);
		ak_err_hint(err, "name a project folder with -C, or set %s to a folder outside of it",
			    i ? "XDG_CONFIG_HOME" : "XDG_STATE_HOME");
		return -EPERM;
	}
	if (fstatfs(c->root, &fs) < 0)
		return ak_err_sys(err, errno, "workspace \"%.300s\"", c->workspace);
	for (size_t i = 0; i < sizeof(kernels_own) / sizeof(kernels_own[0]); i++) {
		if ((uint32_t)fs.f_type == kernels_own[i].magic)
			return ak_err_set(err, EPERM, "workspace \"%.300s\": is on %s, which holds no files of yours", c->workspace,
					  kernels_own[i].name);
	}
	return 0;
}

int checkpoint_open(struct checkpoint *c, char *const env[], bool make, bool still, bool stay, struct ak_err *err)
{
	int r = hostinfo_get(env, &c->host, err);

	if (r == 0)
		r = plan_find_workspace(&c->host, c->args->dir, &c->workspace, err);
	if (r < 0)
		return r;
	c->root = sys_openat2(AT_FDCWD, c->workspace, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC, AK_RESOLVE_NO_SYMLINKS);
	if (c->root < 0)
		return ak_err_sys(err, errno, "workspace \"%.300s\"", c->workspace);
	r = check_place(c, err);
	/* first, as it waits for another `ak checkpoint`, which would look like a command at work there */
	if (r == 0)
		r = ckpt_store_open(&c->host, c->workspace, make, &c->store, err);
	if (r == 0 && still && !c->args->live)
		r = busy_alone(&c->host, c->root, c->workspace, stay, err);
	if (r == 0)
		ckpt_open_recover(c->root, &c->store);
	return r;
}

void checkpoint_close(struct checkpoint *c)
{
	ak_fd_close(&c->root);	/* before the store, which others wait for */
	ckpt_store_close(&c->store);
	free(c->workspace);
	hostinfo_release(&c->host);
}

static int run(size_t sub, const struct checkpoint_args *args, char *const env[])
{
	struct checkpoint c = {.args = args, .root = -1, .store = CKPT_STORE_NONE};
	struct ak_err err = {0};
	struct ak_buf out = {0};
	int r = table[sub].run(&c, env, &out, &err);

	checkpoint_close(&c);
	if (r >= 0 && out.failed)
		r = ak_err_set(&err, ENOMEM, "out of memory");
	if (r >= 0 && out.len > 0 && named_print(out.data, out.len) != 0)
		r = 1;
	ak_buf_release(&out);
	return r < 0 ? named_fail(&err) : r;
}

int cmd_checkpoint(int argc, char *const argv[], char *const env[])
{
	struct checkpoint_args args = {0};
	struct ak_err err = {0};
	size_t sub = 0;
	int r;

	if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0))
		return named_print(usage, sizeof(usage) - 1);
	while (argc > 0 && sub < SUBCOMMANDS && strcmp(table[sub].name, argv[0]) != 0)
		sub++;
	if (argc == 0 || sub == SUBCOMMANDS) {
		(void)bad(&err, argc == 0 ? "save, list, diff, restore or rm is missing" : "unknown word ", argc == 0 ? "" : argv[0]);
		return named_usage(&err);
	}
	r = parse(argc - 1, argv + 1, sub, &args, &err);
	if (r != 0)
		return r == 1 ? named_print(usage, sizeof(usage) - 1) : named_usage(&err);
	if (args.nwords > 0 && ak_session_id_ok(args.word[0]))
		return table[sub].run == checkpoint_list ? checkpoint_session_list(&args, env) : checkpoint_session_restore(&args, env);
	return run(sub, &args, env);
}
