/* SPDX-License-Identifier: Apache-2.0 */
/* Images for the model, from files of the caller's (--attach). Process: agent, before it is confined. Privilege: none. */
#ifndef AK_AGENT_ATTACH_H
#define AK_AGENT_ATTACH_H

#include <stddef.h>

struct ak_buf;
struct ak_err;
struct msg;

/*
 * The least that a provider takes. Source: Anthropic, "Vision": 5 MB of base64 for an image, a request of 32 MB; OpenAI and those that
 * speak its formats take more.
 */
#define ATTACH_BYTES_MAX 3750000u	/* of one file: 5,000,000 as base64 */
#define ATTACH_TOTAL_MAX 15000000u	/* of all files of one prompt */
#define ATTACH_FILES_MAX 20u

/**
 * attach_type() - what an image is, by its first bytes; its name does not count
 * Return: "image/png", "image/jpeg", "image/gif", "image/webp"; NULL: none that models take.
 */
const char *attach_type(const void *p, size_t n);

/**
 * attach_files() - read files into a user's turn
 * @paths:	as typed
 * @m:		images are added; untouched on failure but for those before the one in error
 * Return: 0; -EINVAL (no regular file, no image, empty); -EFBIG, -E2BIG (too large, too many); errno of open(2) and read(2); -ENOMEM.
 * The message names the file.
 */
int attach_files(const char *const paths[], size_t n, struct msg *m, struct ak_err *err);

/** attach_note() - a line that names them in their order, for the turn's text; nothing without any */
void attach_note(const char *const paths[], size_t n, struct ak_buf *out);

#endif
