/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ak checkpoint list|restore` on a session of the agent: the checkpoints of its copy of the workspace, one before each turn that might
 * change something. They lie in the changeset that its last run kept, and go with it. Process: executor; what is changed is done by a child
 * that owns the workspace. Privilege: the caller's.
 */
#ifndef AK_CHECKPOINT_SESSION_H
#define AK_CHECKPOINT_SESSION_H

struct checkpoint_args;

/** checkpoint_session_list() - @a: its first word is a session. Return: exit code; what is wrong has been said. */
int checkpoint_session_list(const struct checkpoint_args *a, char *const env[]);

/**
 * checkpoint_session_restore() - make the kept changes what they were; the second word is a checkpoint's number
 * What is there now becomes a checkpoint first. Return: exit code; what is wrong has been said.
 */
int checkpoint_session_restore(const struct checkpoint_args *a, char *const env[]);

#endif
