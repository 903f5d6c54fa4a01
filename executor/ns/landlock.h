/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel's Landlock can do. Process: executor. Privilege: none. */
#ifndef AK_NS_LANDLOCK_H
#define AK_NS_LANDLOCK_H

/** landlock_abi() - the kernel's ABI; 0 where Landlock is absent or switched off. Source: landlock(7). */
int landlock_abi(void);

#define LANDLOCK_ABI_SCOPES 6	/* the first that bounds signals and abstract sockets */

#endif
