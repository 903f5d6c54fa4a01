/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel objects without a path: System V memory, POSIX queues, keys. Runs as a command in a sandbox. shm=KEY
 * is a segment of the host that everybody may read; key=NAME a key in the caller's session keyring. The key
 * is looked for only with `keyring`, since the filter refuses the calls: the test build without filters shows
 * that the keyring itself is another one.
 */
#include <linux/keyctl.h>
#include <mqueue.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include "tests/escape/esc.h"

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);
	const char *shm = esc_arg(&e, "shm"), *key = esc_arg(&e, "key"), *mq = esc_arg(&e, "mq");

	if (shm)
		esc_err(&e, "52:host_shm", shmget(strtol(shm, NULL, 0), 0, 0), ENOENT);
	if (mq)
		esc_err(&e, "52:host_mq", mq_open(mq, O_RDONLY), ENOENT);
	if (key)
		esc_err(&e, "9:session_keyring", syscall(SYS_keyctl, KEYCTL_SEARCH, -3, "user", key, 0),
			ENOKEY);
	int own = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	esc_need(&e, "52:own_shm", own >= 0 && shmat(own, NULL, 0) != (void *)-1);
	return esc_end(&e);
}
