/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes a look at /proc/self/exe out of glibc's start, 50 us of every run. A static glibc program asks for its own folder
 * only to expand $ORIGIN when it loads shared objects; ak loads none. Process: executor. Privilege: none.
 */

/* elf/dl-origin.c of glibc; a libc without it never calls this. Return: as there for "unknown" */
const char *_dl_get_origin(void); /* NOLINT(bugprone-reserved-identifier): libc's name is the point */

const char *_dl_get_origin(void) /* NOLINT(bugprone-reserved-identifier) */
{
	return (const char *)-1; /* NOLINT(performance-no-int-to-ptr) */
}
