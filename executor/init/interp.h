/* SPDX-License-Identifier: Apache-2.0 */
/* Which interpreter a file asks for: only to explain a failed exec. Command's child, no privilege; the file
 * is hostile. */
#ifndef AK_INIT_INTERP_H
#define AK_INIT_INTERP_H

#include <stdbool.h>

#define INTERP_MAX 256 /* BINPRM_BUF_SIZE, linux/binfmts.h: no #! line is longer */

/**
 * interp_of() - the program named by a #! line or by PT_INTERP of an ELF file
 * Return: false if there is none, it is cut off or the file cannot be read.
 */
bool interp_of(const char *file, char ret[INTERP_MAX]);
/** interp_is_elf() - Return: whether the file begins as an ELF file does. */
bool interp_is_elf(const char *file);

#endif
