/* SPDX-License-Identifier: Apache-2.0 */
/* `ak doctor`: what this host can enforce, tried and not guessed. Process: executor. Privilege: the caller's.
 */
#ifndef AK_DOCTOR_H
#define AK_DOCTOR_H

/**
 * doctor_main() - run every check and print the result on standard output
 * @argc:	number of arguments, without "ak" and "doctor"
 * @argv:	borrowed; --json and --help are known
 *
 * Each check runs in a child of its own, so that nothing of the host or of this process changes.
 * Return: 0 when sandboxes can be built here; 1 when something they need fails, or the output cannot be
 * written; 2 usage.
 */
int doctor_main(int argc, char *const argv[]);

#endif
