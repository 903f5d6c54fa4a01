/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compile ARCH PROFILEDIR OUT.c [PREFIX] - writes the shipped profiles and the floors as C arrays. PREFIX
 * names the two symbols (default: seccomp_gen). Process: the build. Privilege: none.
 */
#include "seccomp/compile.h"

#include "seccomp/filters_gen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const profile_names[] = {"default", "strict", "nested"};

static const struct {
	enum seccomp_floor_kind kind;
	const char *name;
} floors[] = {
	{SECCOMP_FLOOR_USER, "user"},
	{SECCOMP_FLOOR_ROOT, "root"},
	{SECCOMP_FLOOR_SETID, "setid"},
	{SECCOMP_FLOOR_NESTED, "nested"},
	{SECCOMP_FLOOR_NESTED_SETID, "nested_setid"},
	{SECCOMP_FLOOR_PLAIN, "plain"},
	{SECCOMP_FLOOR_PLAIN_NET, "plain_net"},
};

#define N_PROFILES (sizeof(profile_names) / sizeof(profile_names[0]))
#define N_FLOORS (sizeof(floors) / sizeof(floors[0]))
#define PER_LINE 5

struct output {
	struct prog profiles[N_PROFILES];
	struct prog floors[N_FLOORS];
};

static int compile_all(const struct target *t, const char *dir, struct output *o)
{
	char path[4096];
	int rc = nr_check(t);

	for (size_t i = 0; i < N_PROFILES && !rc; i++) {
		if ((size_t)snprintf(path, sizeof(path), "%s/%s.json", dir, profile_names[i]) >= sizeof(path))
			return -ENAMETOOLONG;
		rc = profile_compile(path, t, &o->profiles[i]);
	}
	for (size_t i = 0; i < N_FLOORS && !rc; i++)
		rc = floor_compile(floors[i].kind, t, &o->floors[i]);
	return rc;
}

/* As 64-bit words: aligned for struct sock_filter, and both targets are little endian. */
static void write_array(FILE *f, const char *kind, const char *name, const struct prog *p)
{
	fprintf(f, "static const uint64_t %s_%s[] = {", kind, name);
	for (uint32_t i = 0; i < p->count; i++) {
		const struct sock_filter *s = &p->insns[i];
		uint64_t word =
			(uint64_t)s->k << 32 | (uint64_t)s->jf << 24 | (uint64_t)s->jt << 16 | s->code;

		fprintf(f, "%s0x%016llxu,", i % PER_LINE ? " " : "\n\t", (unsigned long long)word);
	}
	fprintf(f, "\n};\n\n");
}

static void write_entry(FILE *f, const char *kind, const char *name, const char *shown, const struct prog *p)
{
	fprintf(f, "\t{ \"%s\", (const uint8_t *)%s_%s, %u },\n", shown, kind, name, p->count);
}

/* one text and where each name begins in it: an array of pointers would have to be relocated at every start */
static void write_names(FILE *f, const struct target *t, const char *prefix)
{
	uint16_t at[SECCOMP_GEN_NUMBERS] = {0};
	uint16_t len = 1; /* 0: no name */

	fprintf(f, "\nextern const char %s_names[];\nextern const uint16_t %s_name_at[];\n\n", prefix, prefix);
	fprintf(f, "const char %s_names[] =\n\t\"\\0\"", prefix);
	for (int nr = 0; nr < SECCOMP_GEN_NUMBERS; nr++) {
		char *lib = seccomp_syscall_resolve_num_arch(t->scmp, nr);
		const char *name = nr_name(t, nr);

		name = name ? name : lib;
		if (name) {
			fprintf(f, "\n\t\"%s\\0\"", name);
			at[nr] = len;
			len = (uint16_t)(len + strlen(name) + 1);
		}
		free(lib);
	}
	fprintf(f, ";\n\nconst uint16_t %s_name_at[] = {", prefix);
	for (int nr = 0; nr < SECCOMP_GEN_NUMBERS; nr++)
		fprintf(f, "%s%u,", nr % 16 ? " " : "\n\t", at[nr]);
	fprintf(f, "\n};\n");
}

static void write_c(FILE *f, const struct target *t, const char *prefix, const struct output *o)
{
	char shown[32];

	fprintf(f,
		"/* Written by seccomp/compile for %s; do not edit. */\n#include "
		"\"seccomp/filters_gen.h\"\n\n",
		t->name);
	fprintf(f, "extern const struct seccomp_filter %s_profiles[], %s_floors[];\n\n", prefix, prefix);
	for (size_t i = 0; i < N_PROFILES; i++)
		write_array(f, "profile", profile_names[i], &o->profiles[i]);
	for (size_t i = 0; i < N_FLOORS; i++)
		write_array(f, "floor", floors[i].name, &o->floors[i]);
	fprintf(f, "const struct seccomp_filter %s_profiles[] = {\n", prefix);
	for (size_t i = 0; i < N_PROFILES; i++)
		write_entry(f, "profile", profile_names[i], profile_names[i], &o->profiles[i]);
	fprintf(f, "\t{ 0, 0, 0 },\n};\n\nconst struct seccomp_filter %s_floors[] = {\n", prefix);
	for (size_t i = 0; i < N_FLOORS; i++) {
		snprintf(shown, sizeof(shown), "floor-%s", floors[i].name);
		write_entry(f, "floor", floors[i].name, shown, &o->floors[i]);
	}
	fprintf(f, "\t{ 0, 0, 0 },\n};\n");
	write_names(f, t, prefix);
}

int main(int argc, char **argv)
{
	const struct target *t = argc >= 4 ? target_find(argv[1]) : NULL;
	struct output *o = calloc(1, sizeof(*o));
	FILE *f;
	int rc;

	if (!t || argc > 5 || !o) {
		fprintf(stderr, "usage: compile x86_64|aarch64 PROFILEDIR OUT.c [PREFIX]\n");
		free(o);
		return 2;
	}
	rc = compile_all(t, argv[2], o);
	if (rc < 0) {
		free(o);
		return 1;
	}
	f = fopen(argv[3], "we");
	if (f) {
		write_c(f, t, argc == 5 ? argv[4] : "seccomp_gen", o);
		rc = ferror(f);
	}
	if (!f || fclose(f) || rc) {
		fprintf(stderr, "compile: %s: %s\n", argv[3], strerror(errno));
		rc = 1;
	}
	free(o);
	return rc;
}
