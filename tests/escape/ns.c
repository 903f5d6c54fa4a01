/* SPDX-License-Identifier: Apache-2.0 */
/* Namespaces are new and give no handle to their parents. Runs in a sandbox; user=LINK, mnt=LINK ... are the
 * host's values. */
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include "tests/escape/esc.h"

static void check_new(struct esc *e)
{
	static const char *const names[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"};
	char path[64], name[64], link[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *host = esc_arg(e, names[i]);

		snprintf(path, sizeof(path), "/proc/self/ns/%s", names[i]);
		snprintf(name, sizeof(name), "%s:new_%s", !strcmp(names[i], "user") ? "1+52" : "52",
			 names[i]);
		ssize_t n = readlink(path, link, sizeof(link) - 1);
		link[n < 0 ? 0 : n] = 0;
		if (!host)
			esc_skip(name, "the host's value was not given");
		else
			esc_is(e, name, n > 0 && strcmp(host, link) != 0, "%s, host %s", link, host);
	}
}

static void check_handles(struct esc *e)
{
	int user = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	int pid = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);

	esc_err(e, "55:parent_of_user", ioctl(user, NS_GET_PARENT), EPERM);
	esc_err(e, "55:owner_of_user", ioctl(user, NS_GET_USERNS), EPERM);
	esc_err(e, "55:parent_of_pid", ioctl(pid, NS_GET_PARENT), EPERM);
}

/* the second line of defence behind the filter: the limits of our own user namespace */
static void check_limits(struct esc *e)
{
	static const char *const names[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"};
	char path[64], name[64], v[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "/proc/sys/user/max_%s_namespaces", names[i]);
		snprintf(name, sizeof(name), "53:max_%s_namespaces", names[i]);
		esc_line(path, "", v, sizeof(v));
		esc_is(e, name, !strcmp(v, "0"), "%s", v);
	}
}

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);

	check_new(&e);
	check_handles(&e);
	check_limits(&e);
	esc_is(&e, "12:pid_small", getpid() < 100 && getppid() >= 0, "pid %d", getpid());
	return esc_end(&e);
}
