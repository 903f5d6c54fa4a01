/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles from outside. Laws: what is refused has a text and a place; what compiles is a program that the kernel takes, lets
 * seccomp(2) through, and kills for another architecture. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "seccomp/docker.h"
#include "seccomp/sim.h"

#define LAW(x)                                                                                               \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_program(const struct prog *p, const struct docker_host *host)
{
	struct seccomp_data d = { .arch = host->target->scmp, .nr = seccomp_syscall_resolve_name_arch(host->target->scmp, "seccomp") };

	LAW(bpf_sim_check(p->insns, p->count));
	LAW(bpf_sim_run(p->insns, p->count, &d) == SECCOMP_RET_ALLOW);
	d.arch ^= 1;
	LAW(bpf_sim_run(p->insns, p->count, &d) == SECCOMP_RET_KILL_PROCESS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct docker_host host = { target_find(size % 2 ? "x86_64" : "aarch64"), 6, 1 };
	struct docker_notes notes = { .file = "f" };
	struct docker_profile p = { 0 };
	struct json_error err = { 0 };
	struct json_doc doc;
	struct prog *prog = calloc(1, sizeof(*prog));
	int rc = json_read((const char *)data, size, size % 3 ? 0 : JSON_RELAXED, &doc, &err);

	LAW(prog);
	if (rc == 0)
		rc = docker_read(&doc, &host, &p, &notes, &err);
	if (rc == 0)
		rc = docker_compile(&p, &host, prog, &notes, &err);
	LAW(rc == 0 || (err.text[0] && err.line >= 1 && err.col >= 1));
	if (rc == 0)
		check_program(prog, &host);
	docker_release(&p);
	docker_notes_release(&notes);
	json_release(&doc);
	free(prog);
	return 0;
}
