/* SPDX-License-Identifier: Apache-2.0 */
/* Compiler attributes that not every compiler knows. */
#ifndef AK_SHARED_AK_ATTR_H
#define AK_SHARED_AK_ATTR_H

/* AK_UNINIT - a large buffer that is written before it is read: -ftrivial-auto-var-init need not touch its pages */
#if defined(__has_attribute)
#if __has_attribute(uninitialized)
#define AK_UNINIT __attribute__((uninitialized))
#endif
#endif
#ifndef AK_UNINIT
#define AK_UNINIT
#endif

#endif
