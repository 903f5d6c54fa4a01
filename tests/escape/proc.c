/* SPDX-License-Identifier: Apache-2.0 */
/* /proc, /sys and the identifiers of the machine: init is closed, the kernel cannot be written to. Runs in a
 * sandbox. */
#include <dirent.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include "tests/escape/esc.h"

static void check_init(struct esc *e)
{
	static const char *const files[] = {"environ",	  "mem",      "maps",	 "smaps",
					    "auxv",	  "exe",      "syscall", "task/1/environ",
					    "task/1/mem", "map_files"};
	static const char *const links[] = {"exe", "cwd", "root", "ns/mnt", "fd/0", "task/1/cwd"};
	char path[64], name[64], buf[256];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "/proc/1/%s", files[i]);
		snprintf(name, sizeof(name), "14:init_%s", files[i]);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		esc_err(e, name, fd < 0 ? -1 : read(fd, buf, 1), EACCES);
	}
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		snprintf(path, sizeof(path), "/proc/1/%s", links[i]);
		snprintf(name, sizeof(name), "14:init_link_%s", links[i]);
		esc_err(e, name, readlink(path, buf, sizeof(buf)), EACCES);
	}
	esc_err(e, "14:init_fd_list", opendir("/proc/1/fd") ? 0 : -1, EACCES);
	esc_err(e, "14:init_cwd_enter", chdir("/proc/1/cwd"), EACCES);
	esc_err(e, "14:init_root_enter", open("/proc/1/root/etc", O_RDONLY | O_CLOEXEC), EACCES);
	esc_err(e, "15:init_exe_write", open("/proc/1/exe", O_WRONLY | O_CLOEXEC), EACCES);
	esc_err(e, "14:init_mem_write", open("/proc/1/mem", O_RDWR | O_CLOEXEC), EACCES);
	esc_err(e, "14:init_oom", open("/proc/1/oom_score_adj", O_WRONLY | O_CLOEXEC), EACCES);
}

/* opened only, never written: a hole must not hurt the machine that runs the test */
static void check_sysctl(struct esc *e)
{
	static const char *const files[] = {"sys/kernel/core_pattern",
					    "sys/kernel/ns_last_pid",
					    "sys/kernel/printk_ratelimit",
					    "sys/vm/overcommit_memory",
					    "sys/vm/drop_caches",
					    "sys/net/ipv4/ip_forward",
					    "sys/net/ipv4/ping_group_range",
					    "sys/fs/binfmt_misc/register",
					    "sys/kernel/modprobe",
					    "sys/user/max_user_namespaces",
					    "sys/kernel/hostname",
					    "sysrq-trigger",
					    "irq/0/smp_affinity",
					    "irq/default_smp_affinity"};
	char path[96], name[96];
	struct statvfs sv;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "/proc/%s", files[i]);
		snprintf(name, sizeof(name), "39:write_%s", files[i]);
		int fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
			printf("BLOCKED %s absent\n", name);
		else
			esc_err2(e, name, fd, EROFS, EACCES);
	}
	static const char *const ro[] = {"/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs",
					 "/proc/sysrq-trigger"};
	for (size_t i = 0; i < sizeof(ro) / sizeof(*ro); i++) {
		snprintf(name, sizeof(name), "39:readonly_%s", ro[i] + 6);
		if (statvfs(ro[i], &sv))
			printf("BLOCKED %s absent\n", name);
		else
			esc_is(e, name, sv.f_flag & ST_RDONLY, "mount flags 0x%lx", sv.f_flag);
	}
}

/* what the kernel tells there is empty or cannot be read */
static void check_masked(struct esc *e)
{
	static const char *const files[] = {"interrupts", "kallsyms",	"kcore",	 "keys",
					    "key-users",  "kmsg",	"latency_stats", "sched_debug",
					    "slabinfo",	  "timer_list", "timer_stats",	 "vmallocinfo",
					    "kpagecount", "kpageflags", "kpagecgroup",	 "config.gz",
					    "iomem",	  "ioports",	"mtrr",		 "partitions"};
	static const char *const dirs[] = {"acpi", "asound", "scsi"};
	char path[64], name[64], c;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "/proc/%s", files[i]);
		snprintf(name, sizeof(name), "39:masked_%s", files[i]);
		int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		long n = fd < 0 ? -1 : read(fd, &c, 1);
		esc_is(e, name, n <= 0, "%ld bytes", n);
	}
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		int n = 0;
		struct dirent *de;

		snprintf(path, sizeof(path), "/proc/%s", dirs[i]);
		snprintf(name, sizeof(name), "39:masked_%s", dirs[i]);
		DIR *d = opendir(path);
		while (d && (de = readdir(d)))
			n += de->d_name[0] != '.';
		esc_is(e, name, n == 0, "%d entries", n);
	}
}

static bool absent(const char *path)
{
	char c;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	/* a folder, or a file with content, is there; an empty file that covers one is not */
	return fd < 0 || (read(fd, &c, 1) == 0);
}

static void check_machine(struct esc *e)
{
	static const char *const ids[] = {"/etc/machine-id",
					  "/var/lib/dbus/machine-id",
					  "/sys/class/dmi/id/product_uuid",
					  "/sys/firmware/acpi/tables/DSDT",
					  "/sys/devices/virtual/dmi/id/board_serial",
					  "/etc/hostid"};
	struct stat st;
	struct statfs fs;
	int n = 0;
	struct dirent *de;

	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		char name[96];

		snprintf(name, sizeof(name), "48:%s", ids[i]);
		esc_is(e, name, absent(ids[i]), "absent");
	}
	DIR *d = opendir("/sys");
	while (d && (de = readdir(d)))
		n += de->d_name[0] != '.';
	esc_is(e, "40:no_sysfs", n == 0, "%d entries in /sys", n);
	esc_err(e, "82:no_cgroupfs", stat("/sys/fs/cgroup", &st), ENOENT);
	esc_need(e, "13:proc_is_procfs", !statfs("/proc", &fs) && fs.f_type == 0x9fa0);
	static const char *const needed[] = {"/proc/uptime",	  "/proc/meminfo",
					     "/proc/cpuinfo",	  "/proc/stat",
					     "/proc/loadavg",	  "/proc/sys/kernel/pid_max",
					     "/proc/self/mounts", "/proc/filesystems"};
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		char name[96], c;
		int fd = open(needed[i], O_RDONLY | O_CLOEXEC);

		snprintf(name, sizeof(name), "13:%s", needed[i]);
		esc_need(e, name, fd >= 0 && read(fd, &c, 1) == 1);
	}
	char host[65] = "";
	gethostname(host, sizeof(host));
	esc_is(e, "48:hostname", !strcmp(host, "sandbox"), "%s", host);
}

/* no process shows a secret of the caller: secret=TEXT was put into its environment */
static void check_secret(struct esc *e)
{
	const char *secret = esc_arg(e, "secret");
	static const char *const files[] = {"environ", "cmdline", "auxv"};
	DIR *d = opendir("/proc");
	struct dirent *de;
	char path[320], buf[65536];
	int found = 0, own = getpid();

	if (!secret)
		return;
	while (d && (de = readdir(d))) {
		/* our own command line carries the text as an argument */
		if (de->d_name[0] < '0' || de->d_name[0] > '9' || esc_num(de->d_name) == own)
			continue;
		for (size_t i = 0; i < 3; i++) {
			snprintf(path, sizeof(path), "/proc/%s/%s", de->d_name, files[i]);
			int fd = open(path, O_RDONLY | O_CLOEXEC);
			long n = fd < 0 ? 0 : read(fd, buf, sizeof(buf));
			if (fd >= 0)
				close(fd);
			found += n > 0 && memmem(buf, n, secret, strlen(secret)) != NULL;
		}
	}
	snprintf(path, sizeof(path), "/proc/self/environ");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	long n = fd < 0 ? 0 : read(fd, buf, sizeof(buf));
	found += n > 0 && memmem(buf, n, secret, strlen(secret)) != NULL;
	esc_is(e, "28+29:secret_in_proc", found == 0, "%d files", found);
}

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);

	check_init(&e);
	check_sysctl(&e);
	check_masked(&e);
	check_machine(&e);
	check_secret(&e);
	return esc_end(&e);
}
