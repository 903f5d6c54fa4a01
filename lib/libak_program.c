/* SPDX-License-Identifier: Apache-2.0 */
/* libak: a program that is handed to a sandbox with the request to run it. Any process, no privilege. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "lib/libak.h"

/* linux/memfd.h and linux/fcntl.h, Linux 6.3 */
#define PROGRAM_MFD_EXEC 0x0010u
#define PROGRAM_SEAL_EXEC 0x0020
#define PROGRAM_MODE 0111

static int copy(int from, int to, off_t size)
{
	off_t at = 0;

	while (at < size) {
		ssize_t n = sendfile(to, from, &at, (size_t)(size - at));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOEXEC; /* it has become shorter */
	}
	return 0;
}

static int seal(int fd)
{
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) < 0)
		return -errno;
	(void)fcntl(fd, F_ADD_SEALS, PROGRAM_SEAL_EXEC);
	return fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL) < 0 ? -errno : 0;
}

int ak_program(const char *name, int fd, struct ak_err *err)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	AK_AUTO_FD to = -1;
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return ak_err_sys(err, errno, "look at the program %s", name);
	if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		return ak_err_set(err, ENOEXEC, "%s is no program", name);
	if (st.st_size > (off_t)AK_PROGRAM_MAX)
		return ak_err_set(err, EFBIG, "the program %s is larger than %u MiB", name,
				  AK_PROGRAM_MAX >> 20);
	to = memfd_create(name, flags | PROGRAM_MFD_EXEC);
	if (to < 0 && errno == EINVAL)
		to = memfd_create(name, flags);
	if (to < 0)
		return ak_err_sys(err, errno, "make an executable file in memory for %s", name);
	r = copy(fd, to, st.st_size);
	if (r == 0 && fchmod(to, PROGRAM_MODE) < 0)
		r = -errno;
	if (r == 0)
		r = seal(to);
	return r < 0 ? ak_err_sys(err, -r, "keep the program %s in memory", name) : ak_fd_take(&to);
}
