// SPDX-License-Identifier: Apache-2.0
// First process of the test machine's initramfs: loads the modules listed in /order, mounts the disk image and the shared
// folders, and hands over to the image's init (the kernel parameter akinit=, which the kernel passes as a variable).
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define P9 "trans=virtio,version=9p2000.L,msize=512000"

static _Noreturn void die(const char *what)
{
	printf("init: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	_exit(1);
}

static void load_modules(void)
{
	FILE *f = fopen("/order", "re");
	char line[256];

	if (!f)
		die("/order");
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		int fd = open(line, O_RDONLY | O_CLOEXEC);

		if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
			die(line);
		close(fd);
	}
	fclose(f);
}

static void must_mount(const char *src, const char *dst, const char *type, unsigned long flags, const char *opts)
{
	if (mount(src, dst, type, flags, opts))
		die(dst);
}

int main(void)
{
	static const char *const move[] = { "dev", "proc", "sys" };
	const char *next = getenv("akinit");

	must_mount("proc", "/proc", "proc", 0, NULL);
	must_mount("sys", "/sys", "sysfs", 0, NULL);
	must_mount("dev", "/dev", "devtmpfs", 0, NULL);
	load_modules();
	must_mount("/dev/vda", "/root", "ext4", MS_NOATIME, "prjquota,noinit_itable");
	must_mount("job", "/root/job", "9p", 0, P9 ",access=any");
	must_mount("modules", "/root/usr/lib/modules", "9p", MS_RDONLY, P9 ",cache=loose");
	// only when the machine was started with --host
	if (mount("host", "/root/host", "9p", MS_RDONLY, P9 ",cache=loose,access=any"))
		(void)rmdir("/root/host");
	if (chdir("/root"))
		die("/root");
	for (size_t i = 0; i < sizeof(move) / sizeof(*move); i++) {
		char from[16];

		snprintf(from, sizeof(from), "/%s", move[i]);
		must_mount(from, move[i], NULL, MS_MOVE, NULL);
	}
	// a real move of the root, not only a chroot: the kernel refuses user namespaces to processes in a chroot
	must_mount(".", "/", NULL, MS_MOVE, NULL);
	if (chroot(".") || chdir("/"))
		die("chroot");
	execl(next, next, (char *)NULL);
	die(next ? next : "akinit= is missing");
}
