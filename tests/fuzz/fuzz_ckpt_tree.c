/* SPDX-License-Identifier: Apache-2.0 */
/* Law of a checkpoint's bytes: what decodes encodes back to a tree that is the same, and keeps to the bounds of paths and links. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_buf.h"
#include "executor/workspace/ckpt_compare.h"
#include "executor/workspace/ckpt_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct ckpt_tree *t)
{
	struct ak_buf out = {0};
	struct ckpt_tree again = {0};

	ckpt_tree_encode(t, &out);
	if (out.failed)
		return;
	if (ckpt_tree_decode(out.data, out.len, &again) < 0 || again.n != t->n)
		abort();
	for (size_t i = 0; i < t->n; i++) {
		if (strcmp(t->e[i].path, again.e[i].path) != 0 || (i > 0 && !ws_path_ok(t->e[i].path)) ||
		    !ckpt_same_xattrs(&t->e[i], &again.e[i]) || t->e[i].same_as != again.e[i].same_as)
			abort();
	}
	if (ckpt_tree_check(t) == 0) {
		for (size_t i = 0; i < t->n; i++)
			if (ckpt_tree_find(t, t->e[i].path) != &t->e[i])
				abort();
	}
	ckpt_tree_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ckpt_tree t = {0};
	char *copy = malloc(size + 1);
	uint64_t sum;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (size >= sizeof(sum)) {	/* else nearly nothing would get past it */
		sum = ckpt_file_sum(copy, size - sizeof(sum));
		memcpy(copy + size - sizeof(sum), &sum, sizeof(sum));
	}
	if (ckpt_tree_decode(copy, size, &t) == 0)
		check(&t);
	ckpt_tree_release(&t);
	return 0;
}
