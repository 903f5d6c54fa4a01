/* SPDX-License-Identifier: Apache-2.0 */
/* The architecture that filters of this build let through. Header only. */
#ifndef AK_SECCOMP_OWN_ARCH_H
#define AK_SECCOMP_OWN_ARCH_H

#include <linux/audit.h>

#if defined(__x86_64__)
#define SECCOMP_OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define SECCOMP_OWN_ARCH AUDIT_ARCH_AARCH64
#else
#error "no filters for this machine"
#endif

#endif
