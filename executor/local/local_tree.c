/* SPDX-License-Identifier: Apache-2.0 */
/* Ends what a warden of the local backend looks after. Process: warden. Privilege: the caller's. */
#include "executor/local/local_int.h"

#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "executor/watch_tree.h"

#define SWEEPS_MAX 200u		/* rounds */
#define SWEEP_WAIT_NS 5000000

/*
 * Ends the warden's children. Whoever loses its parent by that becomes one, wherever it has moved to, so the next round ends it.
 * Only children are signalled: until the warden waits for one, its pid is nobody else's. Return: descendants that were seen.
 */
static size_t kill_children(void)
{
	struct tree t = { 0 };
	bool no_children = false;
	size_t n = 0;

	tree_read(&t, (int)getpid(), &no_children);
	for (size_t i = 0; i < t.n; i++) {
		char stat[512];
		uint64_t own, waited;
		int ppid = 0;

		if (t.v[i].pid == (int)getpid())
			continue;
		n++;
		if (tree_read_file(t.v[i].pid, "stat", stat, sizeof(stat)) > 0 &&
		    tree_parse_stat(stat, &ppid, &own, &waited) && ppid == (int)getpid())
			(void)kill(t.v[i].pid, SIGKILL);
	}
	tree_release(&t);
	return n;
}

bool local_end_children(void)
{
	struct timespec pause = { .tv_nsec = SWEEP_WAIT_NS };

	for (unsigned i = 0; i < SWEEPS_MAX; i++) {
		size_t left = kill_children();

		while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
			;
		if (left == 0)
			return true;
		(void)nanosleep(&pause, NULL);
	}
	return false;
}
