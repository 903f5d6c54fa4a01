/* SPDX-License-Identifier: Apache-2.0 */
/* Signals that the caller ignores. Process: set-up child. No privilege. */
#ifndef AK_NS_SIGS_H
#define AK_NS_SIGS_H

/**
 * sigs_default() - no signal is ignored any more
 * An exec keeps what is ignored and makes the rest default, signal(7): so what this process executes starts with all of them default.
 * Requires: a /proc, or it takes some time more. Restricted as vthread()'s function is.
 */
void sigs_default(void);

#endif
