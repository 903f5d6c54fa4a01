/* SPDX-License-Identifier: Apache-2.0 */
/* File operations of serve mode: init's side, and the dispatch in the worker; no privilege. */
#include "executor/init/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

uint32_t files_count(const struct box *b)
{
	uint32_t n = 0;

	for (size_t i = 0; i < AK_INIT_FILES_MAX; i++)
		n += b->workers[i].pid != 0;
	return n;
}

bool files_init(struct box *b)
{
	struct worker_mem *m = mmap(NULL, sizeof(*m) * AK_INIT_FILES_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (m == MAP_FAILED)
		return false;
	for (size_t i = 0; i < AK_INIT_FILES_MAX; i++)
		b->workers[i].mem = &m[i];
	for (uint32_t i = 0; i < b->cfg->nroots; i++)
		b->roots[i] = open(b->cfg->roots[i], O_PATH | O_CLOEXEC);
	return true;
}

/* ---- the worker ---- */

static int dispatch(struct fileop *f)
{
	static int (*const ops[])(struct fileop *f) = {
		[INIT_FILE_READ] = fileop_read,	    [INIT_FILE_WRITE] = fileop_write,	[INIT_FILE_LIST] = fileop_list,
		[INIT_FILE_STAT] = fileop_stat,	    [INIT_FILE_MKDIR] = fileop_mkdir,	[INIT_FILE_REMOVE] = fileop_remove,
		[INIT_FILE_RENAME] = fileop_rename, [INIT_FILE_WALK] = fileop_walk,
	};

	return ops[f->q->op](f);	/* the decoder lets no other through */
}

static void answer_failed(struct fileop *f, int err)
{
	struct failure why = { .stage = INIT_STAGE_SETUP, .err = err, .hint = f->hint };

	text_name(&why.text, f->q->path);
	text_raw(&why.text, ": ");
	text_raw(&why.text, err == EXDEV && f->hint ? "leads out of the folder it is served from" : strerror(err));
	failure_store(&f->m->failure, &why);
	f->m->rep = (struct init_rep){ .code = (uint32_t)err };
}

static _Noreturn void worker_main(struct box *b, struct worker *w, const struct held *h)
{
	struct fileop f = { .b = b, .q = &h->req, .data = h->nfds ? h->fds[0] : -1, .m = w->mem };
	int r;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)umask(0);
	signals_set_mask(0);
	r = dispatch(&f);
	if (r < 0)
		answer_failed(&f, -r);
	_exit(0);
}

/* ---- init ---- */

static struct worker *free_worker(struct box *b)
{
	for (size_t i = 0; i < AK_INIT_FILES_MAX; i++) {
		if (b->workers[i].id == 0)
			return &b->workers[i];
	}
	return NULL;
}

static void say_failed(struct box *b, uint32_t id, int err, const char *text, const char *hint)
{
	(void)box_say(b, &(struct init_rep){ .type = INIT_REP_FILE, .id = id, .code = (uint32_t)err, .text = text, .hint = hint }, -1);
}

void files_start(struct box *b, struct held *h)
{
	struct worker *w = free_worker(b);
	long pid = -1;
	int err = EAGAIN;

	if (w) {
		w->mem->failure.stage = 0;
		w->mem->rep = (struct init_rep){ .code = EINTR };
		/* a table of its own, so that it alone holds the data's descriptor */
		pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		err = errno;
	}
	if (pid == 0)
		worker_main(b, w, h);
	for (uint32_t i = 0; i < h->nfds; i++)
		(void)close(h->fds[i]);
	if (pid > 0) {
		w->pid = (pid_t)pid;
		w->id = h->req.id;
		return;
	}
	if (w)
		say_failed(b, h->req.id, err, "no process can be made for a file operation", "end what runs in the sandbox");
	else
		say_failed(b, h->req.id, EAGAIN, "too many file operations at a time", "wait for one to end");
}

bool files_reaped(struct box *b, pid_t pid, int status)
{
	for (size_t i = 0; i < AK_INIT_FILES_MAX; i++) {
		struct worker *w = &b->workers[i];

		if (w->pid != pid)
			continue;
		w->pid = 0;
		if (status != 0) {
			w->mem->rep = (struct init_rep){ .code = EINTR };
			w->mem->failure.stage = 0;
		}
		return true;
	}
	return false;
}

void files_report(struct box *b)
{
	for (size_t i = 0; i < AK_INIT_FILES_MAX && b->nout + 2 < BOX_OUT_MAX; i++) {
		struct worker *w = &b->workers[i];
		struct init_rep rep;

		if (w->id == 0 || w->pid != 0)
			continue;
		rep = w->mem->rep;
		rep.type = INIT_REP_FILE;
		rep.id = w->id;
		if (rep.code) {
			rep.text = w->mem->failure.stage ? w->mem->failure.text : "the file operation was ended";
			rep.hint = w->mem->failure.stage ? w->mem->failure.hint : "";
		}
		(void)box_say(b, &rep, -1);
		w->id = 0;
	}
}

bool files_to_report(const struct box *b)
{
	for (size_t i = 0; i < AK_INIT_FILES_MAX; i++) {
		if (b->workers[i].id != 0 && b->workers[i].pid == 0)
			return true;
	}
	return false;
}

void files_kill(struct box *b, uint32_t id)
{
	for (size_t i = 0; i < AK_INIT_FILES_MAX; i++) {
		if (b->workers[i].id == id && b->workers[i].pid > 0)
			(void)kill(b->workers[i].pid, SIGKILL);
	}
}
