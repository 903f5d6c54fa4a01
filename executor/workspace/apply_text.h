/* SPDX-License-Identifier: Apache-2.0 */
/* What is said about changes that cannot be taken over. Process: executor or its child. Privilege: none. */
#ifndef AK_WORKSPACE_APPLY_TEXT_H
#define AK_WORKSPACE_APPLY_TEXT_H

#include <stddef.h>

struct ak_buf;
struct ak_err;
struct apply;
struct journal;

#define APPLY_NAMES_SHOWN 3u	/* in one line; lists are for `ak apply` */

/**
 * apply_refuse() - record that changes are kept because of conflicts or protected names, with the first of them and what to do
 * @id:		of the changeset
 * Return: -EBUSY (conflicts) or -EPERM (protected names only).
 */
int apply_refuse(const struct apply *a, const char *id, struct ak_err *err);

/**
 * apply_special() - append one line: how many of the changes are FIFOs, sockets and devices, which are never taken over, and the first
 * @out:	started zeroed, owned by the caller; quoted as in visible.h
 * Return: how many; 0: nothing was appended.
 */
size_t apply_special(const struct journal *j, struct ak_buf *out);

#endif
