/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's confinement: files, memory, limits. Process: agent. Privilege: none. Source: landlock(7), prctl(2). */
#include "agent/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/confine_int.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

/* newer than the headers this may be built with */
#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif
#define MDWE_REFUSE_EXEC_GAIN 1
#define FS_REFER (UINT64_C(1) << 13)	/* ABI 2 */
#define FS_TRUNCATE (UINT64_C(1) << 14) /* ABI 3 */
#define FS_IOCTL_DEV (UINT64_C(1) << 15) /* ABI 5 */
#define SCOPE_ABSTRACT_SOCKET (UINT64_C(1) << 0) /* ABI 6 */
#define SCOPE_SIGNAL (UINT64_C(1) << 1)

#define FILES_MAX 256u
#define DATA_MAX (UINT64_C(2) << 30)

struct ruleset {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};

struct beneath {
	uint64_t allowed;
	int32_t parent_fd;
} __attribute__((packed));

#define FS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_OWN \
	(FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR | \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE)

/* What may be read beside the session: a missing one is no fault */
static const char *const readable[] = {
	/* certificates */
	"/etc/ssl", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/etc/pki", "/etc/ca-certificates", "/usr/lib/ssl",
	"/etc/gnutls",
	/* names */
	"/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols",
	"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/etc/localtime", "/usr/share/zoneinfo",
	/* modules that looking up names may load */
	"/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache",
	"/dev/null", "/dev/urandom",
};

static int landlock_abi_here(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

/* every right that this kernel can take away */
static uint64_t all_rights(int abi)
{
	uint64_t fs = (UINT64_C(1) << 13) - 1;

	if (abi >= 2)
		fs |= FS_REFER;
	if (abi >= 3)
		fs |= FS_TRUNCATE;
	if (abi >= 5)
		fs |= FS_IOCTL_DEV;
	return fs;
}

/* Return: 0, also when the file is not there; negative errno */
static int allow(int rules, const char *path, uint64_t rights)
{
	AK_AUTO_FD fd = open(path, O_PATH | O_CLOEXEC);
	struct beneath b = { .allowed = rights, .parent_fd = fd };
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	if (!S_ISDIR(st.st_mode))
		b.allowed &= ~(uint64_t)LANDLOCK_ACCESS_FS_READ_DIR;
	return syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &b, 0) < 0 ? -errno : 0;
}

static int add_rules(int rules, const struct confine *c, int abi)
{
	uint64_t own = FS_OWN | (abi >= 3 ? FS_TRUNCATE : 0);
	struct beneath b = { .allowed = own, .parent_fd = c->dir };
	int rc = 0;

	if (c->dir >= 0 && syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &b, 0) < 0)
		return -errno;
	for (size_t i = 0; rc == 0 && i < sizeof(readable) / sizeof(readable[0]); i++)
		rc = allow(rules, readable[i], FS_READ);
	if (rc == 0 && c->ca_file)
		rc = allow(rules, c->ca_file, FS_READ);
	return rc;
}

/* Return: enum confine_lack; negative errno */
static int restrict_files(const struct confine *c, struct ak_err *err)
{
	int abi = landlock_abi_here();
	struct ruleset attr = { .fs = all_rights(abi) };
	size_t size = sizeof(attr.fs);
	AK_AUTO_FD rules = -1;
	int rc;

	if (abi <= 0)
		return CONFINE_NO_LANDLOCK | CONFINE_NO_SCOPES;
	if (abi >= 6) {
		attr.scoped = SCOPE_ABSTRACT_SOCKET | SCOPE_SIGNAL;
		size = sizeof(attr);
	}
	rules = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
	if (rules < 0)
		return ak_err_sys(err, errno, "confine the agent: make Landlock rules");
	rc = add_rules(rules, c, abi);
	if (rc < 0)
		return ak_err_sys(err, -rc, "confine the agent: add a Landlock rule");
	if (syscall(SYS_landlock_restrict_self, rules, 0) < 0)
		return ak_err_sys(err, errno, "confine the agent: Landlock");
	return abi >= 6 ? 0 : CONFINE_NO_SCOPES;
}

static int limit(int resource, rlim_t value)
{
	struct rlimit now;

	if (getrlimit(resource, &now) < 0)
		return -errno;
	if (now.rlim_max < value)
		value = now.rlim_max;
	return setrlimit(resource, &(struct rlimit){ value, value }) < 0 ? -errno : 0;
}

/* ak starts us without any; whoever else does not get more. The bounding set needs a capability to change, and is no right */
static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[2] = { { 0 } };

	return syscall(SYS_capset, &head, none) < 0 ? -errno : 0;
}

int confine_apply(const struct confine *c, struct ak_err *err)
{
	int lack = 0, rc = drop_capabilities();

	if (rc < 0)
		return ak_err_sys(err, -rc, "confine the agent: drop capabilities");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return ak_err_sys(err, errno, "confine the agent: prctl");
	if (limit(RLIMIT_CORE, 0) < 0 || limit(RLIMIT_NOFILE, FILES_MAX) < 0 || limit(RLIMIT_DATA, DATA_MAX) < 0 ||
	    limit(RLIMIT_MSGQUEUE, 0) < 0)
		return ak_err_sys(err, errno, "confine the agent: set limits");
	if (prctl(PR_SET_MDWE, MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) < 0)
		lack |= CONFINE_NO_MDWE;
	rc = restrict_files(c, err);
	if (rc < 0)
		return rc;
	lack |= rc;
	rc = confine_seccomp(c->terminal, err);
	return rc < 0 ? rc : lack;
}
