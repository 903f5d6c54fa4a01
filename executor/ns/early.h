/* SPDX-License-Identifier: Apache-2.0 */
/* The set-up child of `ak exec`, cloned before libc has begun. Process: executor. Privilege: none. */
#ifndef AK_NS_EARLY_H
#define AK_NS_EARLY_H

#include <stdbool.h>

struct ahead;

/*
 * glibc asks the processor some sixty questions before main() (init_cpu_features(), cacheinfo), static or not. In a virtual machine each
 * is an exit to the hypervisor, together a tenth of a start, during which a second processor is idle. So the program begins in
 * early_entry, which has a look at what it was started with, clones the set-up child where a plain sandbox without a cgroup of its own
 * is likely to be wanted, and goes on to libc's _start. The child makes namespaces meanwhile (ahead.h). What was a wrong guess costs
 * the time to end that child; nothing but its own namespaces was touched.
 *
 * Built with AK_EARLY only, which the Makefile sets where the linker is told to begin there: x86_64, static.
 */

/**
 * early_take() - the child, if there is one; the caller's to ahead_adopt() or ahead_end(). NULL: there is none, or it was taken.
 */
struct ahead *early_take(void);

/** early_fd() - a descriptor that belongs to the child and is nobody else's; -1: there is none */
int early_fd(const struct ahead *a);

/**
 * early_likely() - may this command line and environment want the sandbox that ahead_begin() prepares?
 * Text alone is looked at: false for every option and variable that may ask for another kind. No libc is needed.
 */
bool early_likely(int argc, char *const argv[], char *const env[]);

#endif
