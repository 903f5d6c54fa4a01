/* SPDX-License-Identifier: Apache-2.0 */
/* What is said about changes that cannot be taken over. Process: executor or its child. Privilege: none. */
#ifndef AK_WORKSPACE_APPLY_TEXT_H
#define AK_WORKSPACE_APPLY_TEXT_H

struct ak_err;
struct apply;

#define APPLY_NAMES_SHOWN 3u	/* in one line; lists are for `ak apply` */

/**
 * apply_refuse() - record that changes are kept because of conflicts or protected names, with the first of them and what to do
 * @id:		of the changeset
 * Return: -EBUSY (conflicts) or -EPERM (protected names only).
 */
int apply_refuse(const struct apply *a, const char *id, struct ak_err *err);

#endif
