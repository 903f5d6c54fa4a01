/* SPDX-License-Identifier: Apache-2.0 */
/* Removes a folder that a hostile command has filled. Process: executor. Privilege: none. */
#ifndef AK_PLAIN_REMOVE_H
#define AK_PLAIN_REMOVE_H

/**
 * plain_remove() - remove folder @name of @base with all that is in it
 * @base:	directory that no command can write to; borrowed
 * Follows no link, however the tree was made: names of one component below held descriptors. Needs two descriptors and constant
 * memory, however deep it is: folders found on the way are moved up to @name and emptied there. Modes that keep the owner out are
 * changed. What is mounted there, or belongs to somebody else, stays.
 * Return: 0 (also when it is not there); -ENOTEMPTY and what unlinkat(2) gives.
 */
int plain_remove(int base, const char *name);

#endif
