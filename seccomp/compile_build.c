/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects rules: in libseccomp for every call it knows, and in a list of our own for calls that are newer
 * than it and for conditions it cannot say. Process: the build. Privilege: none.
 */
#include "seccomp/compile.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define OPTIMIZE_BINARY_TREE 2
#define API_KILL_PROCESS                                                                                     \
	3 /* fixed, so that the result does not depend on the kernel of the build machine                    \
	   */
#define LOW32 0xffffffffull

int builder_init(struct builder *b, const struct target *t, uint32_t def_action)
{
	int rc;

	*b = (struct builder){.target = t, .def_action = def_action};
	rc = seccomp_api_set(API_KILL_PROCESS);
	if (rc < 0)
		return rc;
	b->ctx = seccomp_init(def_action);
	if (!b->ctx)
		return -ENOMEM;
	if (seccomp_arch_native() != t->scmp) {
		rc = seccomp_arch_add(b->ctx, t->scmp);
		if (!rc)
			rc = seccomp_arch_remove(b->ctx, SCMP_ARCH_NATIVE);
	}
	if (!rc)
		rc = seccomp_attr_set(b->ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (!rc)
		rc = seccomp_attr_set(b->ctx, SCMP_FLTATR_CTL_OPTIMIZE, OPTIMIZE_BINARY_TREE);
	return rc;
}

void builder_release(struct builder *b)
{
	if (b->ctx)
		seccomp_release(b->ctx);
	b->ctx = NULL;
}

static int add_extra(struct builder *b, uint32_t nr, uint32_t action, const struct scmp_arg_cmp *args,
		     unsigned int argc)
{
	struct extra *e = &b->extra[b->extras];

	if (action == b->def_action)
		return -EACCES; /* as the library does */
	if (b->extras == COMPILE_EXTRA_MAX || argc > COMPILE_ARGS_MAX)
		return -E2BIG;
	*e = (struct extra){.nr = nr, .action = action, .argc = argc};
	for (unsigned int i = 0; i < argc; i++) {
		bool masked = args[i].op == SCMP_CMP_MASKED_EQ;

		if ((!masked && args[i].op != SCMP_CMP_NE) || args[i].datum_a > LOW32 ||
		    args[i].datum_b > LOW32)
			return -EOPNOTSUPP;
		e->args[i] = args[i];
	}
	b->extras++;
	return RULE_ADDED;
}

int builder_rule(struct builder *b, const char *name, uint32_t action, const struct scmp_arg_cmp *args,
		 unsigned int argc)
{
	int nr = nr_extra(b->target, name);
	int rc;

	if (nr >= 0)
		return add_extra(b, (uint32_t)nr, action, args, argc);
	if (nr == -ENOSYS)
		return RULE_ABSENT;
	nr = seccomp_syscall_resolve_name(name);
	if (nr == __NR_SCMP_ERROR)
		return -ENOENT;
	if (seccomp_syscall_resolve_name_arch(b->target->scmp, name) < 0)
		return RULE_ABSENT;
	/* the library takes the native number and translates it */
	rc = seccomp_rule_add_array(b->ctx, action, nr, argc, args);
	return rc < 0 ? rc : RULE_ADDED;
}

int builder_rule_int(struct builder *b, const char *name, uint32_t action, const struct scmp_arg_cmp *args,
		     unsigned int argc)
{
	int nr = nr_extra(b->target, name);

	if (nr == -ENOENT)
		nr = seccomp_syscall_resolve_name_arch(b->target->scmp, name);
	if (nr == __NR_SCMP_ERROR)
		return -ENOENT;
	return nr < 0 ? RULE_ABSENT : add_extra(b, (uint32_t)nr, action, args, argc);
}

static int read_lib(int fd, struct prog *p)
{
	ssize_t n;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	n = read(fd, p->insns, sizeof(p->insns));
	if (n < 0)
		return -errno;
	if (!n || n % (ssize_t)sizeof(p->insns[0]))
		return -EIO;
	p->count = (uint32_t)((size_t)n / sizeof(p->insns[0]));
	/* a full buffer may be a cut one */
	return (size_t)n == sizeof(p->insns) ? -E2BIG : 0;
}

static int export_lib(struct builder *b, struct prog *ret)
{
	int fd = memfd_create("bpf", MFD_CLOEXEC);
	int rc;

	if (fd < 0)
		return -errno;
	rc = seccomp_export_bpf(b->ctx, fd);
	if (!rc)
		rc = read_lib(fd, ret);
	close(fd);
	return rc;
}

int builder_export(struct builder *b, struct prog *ret)
{
	struct prog *lib = calloc(1, sizeof(*lib));
	struct dag *d = calloc(1, sizeof(*d));
	int rc = -ENOMEM;

	if (lib && d)
		rc = export_lib(b, lib);
	if (!rc)
		rc = dag_build(d, b, lib);
	if (!rc)
		rc = layout(d, b->target, ret);
	free(d);
	free(lib);
	return rc;
}
