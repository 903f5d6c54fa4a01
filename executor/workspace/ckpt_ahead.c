/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at the files of a known tree by further threads. Process: the commands around checkpoints. Privilege: the caller's. */
#include "executor/workspace/ckpt_ahead.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_fd.h"
#include "executor/workspace/ckpt_tree.h"

enum state {
	AHEAD_FREE,
	AHEAD_TAKEN,
	AHEAD_DONE,
};

/* all but the blocks, which are not written down */
static bool exactly(const struct ws_ident *a, const struct ws_ident *b)
{
	return a->mode == b->mode && a->uid == b->uid && a->gid == b->gid && a->nlink == b->nlink && a->dev == b->dev && a->ino == b->ino &&
	       a->size == b->size && a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns && a->rdev == b->rdev;
}

static void look(struct ckpt_ahead *a, uint32_t folder)
{
	const struct ckpt_entry *e = a->known->e;
	AK_AUTO_FD fd = ws_open_dir(a->root, e[folder].path);
	struct ws_ident now;

	if (fd < 0 || ws_fstat(fd, &now) < 0 || !exactly(&now, &e[folder].id))
		return;
	for (uint32_t i = a->below->first[folder]; i < a->below->end[folder]; i++) {
		const char *slash = strrchr(e[i].path, '/');

		a->same[i] = ws_stat(fd, slash ? slash + 1 : e[i].path, &now) == 0 && exactly(&now, &e[i].id);
	}
	atomic_store_explicit(&a->folder[folder], AHEAD_DONE, memory_order_release);
}

/* the next folder from the end of the walk. Return: its index; SIZE_MAX: none, or the walk has come that far */
static size_t next(struct ckpt_ahead *a)
{
	size_t left = atomic_load(&a->left), folder;
	unsigned char is = AHEAD_FREE;

	do {
		if (left == 0)
			return SIZE_MAX;
	} while (!atomic_compare_exchange_weak(&a->left, &left, left - 1));
	folder = a->below->order[left - 1];
	return atomic_compare_exchange_strong(&a->folder[folder], &is, AHEAD_TAKEN) ? folder : SIZE_MAX;
}

static void *work(void *arg)
{
	struct ckpt_ahead *a = arg;

	while (!atomic_load(&a->stop)) {
		size_t folder = next(a);

		if (folder == SIZE_MAX)
			break;
		look(a, (uint32_t)folder);
	}
	return NULL;
}

static size_t spare_processors(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	return n > (int)CKPT_AHEAD_THREADS ? CKPT_AHEAD_THREADS : (size_t)n - 1;
}

void ckpt_ahead_start(struct ckpt_ahead *a, int root, const struct ckpt_tree *known, const struct ckpt_below *below)
{
	size_t want = known->n < CKPT_AHEAD_FROM ? 0 : spare_processors();

	if (want == 0)
		return;
	a->root = root;
	a->known = known;
	a->below = below;
	a->same = calloc(known->n, sizeof(*a->same));
	a->folder = calloc(known->n, sizeof(*a->folder));
	atomic_store(&a->left, below->folders);
	while (a->same && a->folder && a->threads < want && pthread_create(&a->thread[a->threads], NULL, work, a) == 0)
		a->threads++;
}

void ckpt_ahead_take(struct ckpt_ahead *a, size_t folder)
{
	unsigned char is = AHEAD_FREE;

	if (a->threads > 0)
		(void)atomic_compare_exchange_strong(&a->folder[folder], &is, AHEAD_TAKEN);
}

bool ckpt_ahead_seen(struct ckpt_ahead *a, size_t folder, size_t i)
{
	return a->threads > 0 && atomic_load_explicit(&a->folder[folder], memory_order_acquire) == AHEAD_DONE && a->same[i];
}

void ckpt_ahead_stop(struct ckpt_ahead *a)
{
	atomic_store(&a->stop, true);
	while (a->threads > 0)
		(void)pthread_join(a->thread[--a->threads], NULL);
	free(a->same);
	free(a->folder);
	a->same = NULL;
	a->folder = NULL;
}
