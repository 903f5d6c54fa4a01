/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the embedded ak-init into a sealed memfd, so that nothing in a sandbox can change what runs as pid 1. Executor. */
#include "executor/ns/init_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "executor/ns/kabi.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

extern const uint8_t ak_init_blob[] __attribute__((visibility("hidden")));
extern const uint8_t ak_init_blob_end[] __attribute__((visibility("hidden")));
extern const uint8_t ak_serve_blob[] __attribute__((visibility("hidden")));
extern const uint8_t ak_serve_blob_end[] __attribute__((visibility("hidden")));

extern const uint8_t ak_held_blob[] __attribute__((visibility("hidden")));
extern const uint8_t ak_held_blob_end[] __attribute__((visibility("hidden")));

#define SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)

static int create(const char *name, bool exec)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create(name, flags | (exec ? MFD_EXEC : MFD_NOEXEC_SEAL));

	/* Linux before 6.3 knows neither flag */
	return fd < 0 && errno == EINVAL ? memfd_create(name, flags) : fd;
}

int sealed_memfd(const char *name, const void *data, size_t len, bool exec, struct ak_err *err)
{
	AK_AUTO_FD fd = create(name, exec);
	int r;

	if (fd < 0 && errno == EACCES && exec) {
		(void)ak_err_sys(err, EACCES, "make an executable file in memory");
		ak_err_hint(err, "the sysctl vm.memfd_noexec is 2 here; ak needs it to be 0 or 1");
		return -EACCES;
	}
	if (fd < 0)
		return ak_err_sys(err, errno, "memfd_create %s", name);
	r = ak_write_all(fd, data, len);
	if (r < 0)
		return ak_err_sys(err, -r, "write %s", name);
	/* mode bits too, since Linux 6.3; an older kernel knows no such seal and sets none */
	if (fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_EXEC) < 0 && (errno != EINVAL || fcntl(fd, F_ADD_SEALS, SEALS) < 0))
		return ak_err_sys(err, errno, "seal %s", name);
	return ak_fd_take(&fd);
}

int init_image_open(bool serve, struct ak_err *err)
{
	if (serve)
		return sealed_memfd("ak-init", ak_serve_blob, (size_t)(ak_serve_blob_end - ak_serve_blob), true, err);
	return sealed_memfd("ak-init", ak_init_blob, (size_t)(ak_init_blob_end - ak_init_blob), true, err);
}

const void *init_image_held(size_t *ret_len)
{
	*ret_len = (size_t)(ak_held_blob_end - ak_held_blob);
	return ak_held_blob;
}
