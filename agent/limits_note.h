/* SPDX-License-Identifier: Apache-2.0 */
/* Which limits of its sandbox a command has met, in words. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_LIMITS_NOTE_H
#define AK_AGENT_LIMITS_NOTE_H

#include <stddef.h>
#include <stdint.h>

struct ak_json;
struct ak_result;

#define LIMITS_NOTE_MAX 600u

/**
 * limits_note() - lines in brackets, one for each limit that the command was ended by or that was met on the way; "" for none
 * What only its own messages tell (files that are open, a refused fork that nothing here counts) is not among them, and output
 * that was dropped is told where it is missing.
 * Return: bits of 1 << enum ak_limit_kind, of all limits that were met.
 */
uint32_t limits_note(const struct ak_result *res, char *text, size_t size);

/** limits_note_json() - @hit, as limits_note() gives it, as "limits_hit": names as in the limits of ak-exec/1 */
void limits_note_json(struct ak_json *j, uint32_t hit);

#endif
