/* SPDX-License-Identifier: Apache-2.0 */
/* The ak-init program, carried inside ak. Process: executor. Privilege: none. */
#ifndef AK_NS_INIT_IMAGE_H
#define AK_NS_INIT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

struct ak_err;

/**
 * sealed_memfd() - an immutable file in memory
 * @exec:	it is going to be executed (MFD_EXEC where the kernel knows it)
 * Sealed against writing, growing, shrinking and further seals. Source: memfd_create(2), fcntl(2).
 * Return: descriptor, owned by the caller; negative errno; the hint names vm.memfd_noexec when that forbids it.
 */
int sealed_memfd(const char *name, const void *data, size_t len, bool exec, struct ak_err *err);

/** init_image_open() - a sealed memfd that holds ak-init, @serve: the one with serve mode, which can also learn. Return: descriptor or negative errno. */
int init_image_open(bool serve, struct ak_err *err);

/** init_image_held() - the bytes of the ak-init for sandboxes that docker or nothing holds (INIT_BARE); live for ever */
const void *init_image_held(size_t *ret_len);

#endif
