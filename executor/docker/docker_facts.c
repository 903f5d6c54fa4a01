/* SPDX-License-Identifier: Apache-2.0 */
/* What holds a container, as a script in it tells; and who made it. Pure. Process: executor. Privilege: none. */
#include "executor/docker/docker_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_parse.h"

/* the kernel rounds a memory limit down to pages and shows "no limit" as the greatest whole number of pages below 2^63 */
#define V1_UNLIMITED ((uint64_t)1 << 60)

const char *docker_facts_script(void)
{
	return "r() { [ -r \"$2\" ] && read -r x y <\"$2\" && echo \"$1 $x $y\"; }; "
	       "g=/sys/fs/cgroup; "
	       "r memory $g/memory.max; r memory $g/memory/memory.limit_in_bytes; "
	       "r pids $g/pids.max; r pids $g/pids/pids.max; "
	       "r cpu $g/cpu.max; r quota $g/cpu/cpu.cfs_quota_us; r period $g/cpu/cpu.cfs_period_us; "
	       "while read -r k v; do case $k in Seccomp:) echo seccomp $v;; NoNewPrivs:) echo nnp $v;; CapBnd:) echo caps $v;; "
	       "esac; done </proc/self/status; "
	       "command -v timeout >/dev/null 2>&1 && echo timeout yes; exit 0";
}

/* a number, or "max" */
static bool number(const char *word, uint64_t *ret)
{
	if (strcmp(word, "max") == 0 || strcmp(word, "-1") == 0) {
		*ret = UINT64_MAX;
		return true;
	}
	return ak_parse_u64(word, 0, UINT64_MAX - 1, ret) == 0;
}

static bool hex(const char *word, uint64_t *ret)
{
	size_t n = strspn(word, "0123456789abcdef");

	if (n == 0 || n > 16 || word[n])
		return false;
	*ret = strtoull(word, NULL, 16);
	return true;
}

struct cpu_time {
	uint64_t quota, period;
};

static void read_line(const char *name, const char *a, const char *b, struct docker_facts *f, struct cpu_time *cpu)
{
	uint64_t v;

	if (strcmp(name, "timeout") == 0) {
		f->has_timeout = true;
	} else if (strcmp(name, "memory") == 0 && number(a, &v)) {
		f->has_memory = true;
		f->memory_bytes = v >= V1_UNLIMITED ? UINT64_MAX : v;
	} else if (strcmp(name, "pids") == 0 && number(a, &v)) {
		f->has_pids = true;
		f->pids = v;
	} else if ((strcmp(name, "quota") == 0 || (strcmp(name, "cpu") == 0 && ak_parse_u64(b, 1, UINT32_MAX, &cpu->period) == 0)) &&
		   number(a, &v)) {
		cpu->quota = v;
	} else if (strcmp(name, "period") == 0) {
		(void)ak_parse_u64(a, 1, UINT32_MAX, &cpu->period);
	} else if (strcmp(name, "seccomp") == 0 && ak_parse_u64(a, 0, 2, &v) == 0) {
		f->has_seccomp = true;
		f->seccomp = (unsigned)v;
	} else if (strcmp(name, "nnp") == 0 && ak_parse_u64(a, 0, 1, &v) == 0) {
		f->has_nnp = true;
		f->nnp = (unsigned)v;
	} else if (strcmp(name, "caps") == 0 && hex(a, &v)) {
		f->has_caps = true;
		f->caps = v;
	}
}

void docker_facts_read(const char *text, struct docker_facts *ret)
{
	struct docker_facts f = {0};
	struct cpu_time cpu = {.quota = 0, .period = 0};

	while (text && *text) {
		size_t len = strcspn(text, "\n");
		char line[128], *save = NULL;
		const char *name, *a, *b;

		if (len < sizeof(line)) {
			memcpy(line, text, len);
			line[len] = '\0';
			name = strtok_r(line, " ", &save);
			a = strtok_r(NULL, " ", &save);
			b = strtok_r(NULL, " ", &save);
			if (name && a)
				read_line(name, a, b ? b : "", &f, &cpu);
		}
		text += len + (text[len] == '\n');
	}
	if (cpu.quota && cpu.period) {
		f.has_cpu = true;
		f.cpu_milli = cpu.quota > UINT64_MAX / 1000 ? UINT64_MAX : cpu.quota * 1000 / cpu.period;
	}
	*ret = f;
}

/* digits up to @end, which is skipped */
static bool part(const char **p, char end, uint64_t *ret)
{
	char text[24];
	size_t n = strspn(*p, "0123456789");

	if (n == 0 || n >= sizeof(text) || (*p)[n] != end)
		return false;
	memcpy(text, *p, n);
	text[n] = '\0';
	*p += n + 1;
	return ak_parse_u64(text, 0, UINT64_MAX, ret) == 0;
}

bool docker_owner_read(const char *text, struct docker_owner *ret)
{
	struct docker_owner o = {0};
	size_t n;

	if (!part(&text, '-', &o.pid) || !part(&text, '-', &o.start) || !part(&text, '-', &o.pidns))
		return false;
	n = strspn(text, "0123456789abcdef-");
	if (n == 0 || n >= sizeof(o.boot) || text[n])
		return false;
	memcpy(o.boot, text, n);
	*ret = o;
	return true;
}

void docker_owner_write(const struct docker_owner *o, char *ret)
{
	(void)snprintf(ret, DOCKER_OWNER_BYTES, "%" PRIu64 "-%" PRIu64 "-%" PRIu64 "-%.39s", o->pid, o->start, o->pidns, o->boot);
}

bool docker_owner_dead(const struct docker_owner *o, const struct docker_owner *self, uint64_t start_now)
{
	if (strcmp(o->boot, self->boot) != 0)
		return true;
	return o->pidns == self->pidns && o->start != start_now;
}
