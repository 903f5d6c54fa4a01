/* SPDX-License-Identifier: Apache-2.0 */
/* Diffs for terminals. Process and privilege: see diff_view.h. */
#include "executor/diff_view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/workspace/visible.h"

#define BLOCK 16384u
#define CUT_MAX 4u	/* bytes of a character that a block's end has cut */

int diff_view_open(struct diff_view *v, struct ak_err *err)
{
	int p[2];

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (pipe2(p, O_CLOEXEC) < 0)
		return ak_err_sys(err, errno, "pipe");
	*v = (struct diff_view){ p[0], p[1] };
	return 0;
}

void diff_view_child(struct diff_view *v)
{
	if (v->to < 0)
		return;
	if (dup2(v->to, STDOUT_FILENO) < 0)
		_exit(1);
	ak_fd_close(&v->to);
	ak_fd_close(&v->from);
}

void diff_view_copy(struct diff_view *v)
{
	char block[BLOCK + CUT_MAX] AK_UNINIT;
	struct ak_buf b = { 0 };
	size_t len = 0;
	bool end = v->from < 0;

	ak_fd_close(&v->to);
	while (!end) {
		ssize_t n = read(v->from, block + len, BLOCK);
		size_t taken;

		if (n < 0 && errno == EINTR)
			continue;
		end = n <= 0;
		len += end ? 0 : (size_t)n;
		taken = visible_text(&b, block, len, end);
		len -= taken;
		memmove(block, block + taken, len);
		/* a terminal that has gone ends the loop, and the closed pipe the child */
		if (b.failed || (b.len && ak_write_all(STDOUT_FILENO, b.data, b.len) < 0))
			break;
		ak_buf_release(&b);
	}
	ak_buf_release(&b);
	ak_fd_close(&v->from);
}
