/* SPDX-License-Identifier: Apache-2.0 */
/* Capabilities, through libcap. Process: set-up child (caps_drop_all) and root-mode executor (caps_keep). */
#ifndef AK_NS_CAPS_H
#define AK_NS_CAPS_H

#include <stddef.h>
#include <sys/capability.h>

struct ak_err;

/**
 * caps_drop_all() - empty all five sets for ever
 * Securebits are set and locked first (no root fix-ups, no kept capabilities, no ambient ones), the bounding set is emptied
 * up to the running kernel's last capability, then ambient, inheritable, permitted and effective; the last three are read back.
 * Requires: CAP_SETPCAP in the current user namespace. Leaves: nothing. Source: capabilities(7).
 * Return: 0 or negative errno; -EPERM when a capability is left.
 */
int caps_drop_all(struct ak_err *err);

/**
 * caps_drop_rest() - the same for a process whose bounding set prework_do() has emptied
 * Until its exec an empty one takes nothing from it.
 */
int caps_drop_rest(struct ak_err *err);

/**
 * caps_drop_held() - the same for a process that may have none to begin with
 * Without CAP_SETPCAP the bounding set and the securebits stay as they are: with no_new_privs and no user namespace to be made
 * nothing comes from them.
 * Return: as caps_drop_all().
 */
int caps_drop_held(struct ak_err *err);

/**
 * caps_keep() - reduce permitted and effective to @keep, empty the rest
 * @keep:	capabilities to leave; n of them
 * Inheritable, ambient and bounding set are emptied; used by the executor after it entered its own user namespace.
 */
int caps_keep(const cap_value_t *keep, int n, struct ak_err *err);

#endif
