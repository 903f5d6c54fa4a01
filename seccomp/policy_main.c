/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ak-policy: reads what users write (JSON) for the executor, which reads none. It gets its input as descriptor 0, gives its
 * answer on descriptor 1, confines itself first, and lives for one answer. Privilege: none.
 *
 *   ak-policy compile NAME	a profile from 0, a struct ak_filter_file on 1; NAME is for messages only
 *   ak-policy check NAME	what the profile allows and refuses, as text
 *   ak-policy dump NAME	the same in full, and the program; for both, NAME may be a shipped profile's: then 0 is not read
 *   ak-policy learn NAME	a struct ak_learned from 0, a profile in JSON on 1; NAME is the shipped profile that the run was under
 *   ak-policy config LAYER NAME	a config file from 0, a struct ak_cfg_file on 1; LAYER: policy, user, workspace
 *   ak-policy gitkeys NAME	keys of a git configuration that start programs, one a line: those of the second text on 0 that are not
 *				in the first one, whose length stands before it (4 bytes, little end first)
 *   ak-policy gitident NAME	name and mail of the git configuration on 0 (git_ident_files_encode()), two lines; either may be empty;
 *				then a line for each file that it includes and that is not among those on 0
 *
 * Exit: 0; 1 with one line on descriptor 2 that names the place; 2 usage.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_filter_file.h"
#include "seccomp/docker.h"
#include "seccomp/gitident.h"
#include "seccomp/gitkeys.h"
#include "seccomp/policy.h"
#include "seccomp/policy_config.h"

extern const char policy_shipped_default[], policy_shipped_default_end[];
extern const char policy_shipped_strict[], policy_shipped_strict_end[];
extern const char policy_shipped_nested[], policy_shipped_nested_end[];

/* the text of a profile that comes with ak, or NULL */
static const char *shipped(const char *name, size_t *ret_len)
{
	const char *from = NULL, *to = NULL;

	if (strcmp(name, "default") == 0) {
		from = policy_shipped_default;
		to = policy_shipped_default_end;
	} else if (strcmp(name, "strict") == 0) {
		from = policy_shipped_strict;
		to = policy_shipped_strict_end;
	} else if (strcmp(name, "nested") == 0) {
		from = policy_shipped_nested;
		to = policy_shipped_nested_end;
	}
	*ret_len = (size_t)(to - from);
	return from;
}

static int complain(const char *name, const struct json_error *e)
{
	fprintf(stderr, "%.120s:%u:%u: %s\n", name, e->line, e->col, e->text);
	return 1;
}

static char *read_input(size_t *ret_len, struct json_error *err)
{
	size_t cap = JSON_BYTES_MAX + 1, n = 0;
	char *buf = malloc(cap);
	ssize_t k = 1;

	*err = (struct json_error){ .line = 1, .col = 1 };
	while (buf && n < cap && (k = read(STDIN_FILENO, buf + n, cap - n)) != 0) {
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			break;
		n += (size_t)k;
	}
	if (!buf || k < 0)
		snprintf(err->text, sizeof(err->text), "%s", buf ? strerror(errno) : "out of memory");
	else if (n > JSON_BYTES_MAX)
		snprintf(err->text, sizeof(err->text), "longer than %u bytes", JSON_BYTES_MAX);
	else
		return *ret_len = n, buf;
	free(buf);
	return NULL;
}

static void host_facts(struct docker_host *h, struct utsname *u)
{
	if (uname(u) < 0)
		abort();	/* cannot fail: uname(2) */
	h->target = target_find(u->machine);
	if (json_version(u->release, false, &h->kernel_major, &h->kernel_minor) < 0)
		h->kernel_major = h->kernel_minor = 0;	/* then no rule with a least version applies */
}

/* everything up to the finished filter; on failure @err says why */
static int build(const char *text, size_t len, const struct docker_host *host, struct policy_result *res, struct json_error *err)
{
	struct json_doc doc;
	int rc = json_read(text, len, 0, &doc, err);

	if (rc == 0)
		rc = docker_read(&doc, host, &res->profile, &res->notes, err);
	if (rc == 0)
		rc = docker_compile(&res->profile, host, &res->prog, &res->notes, err);
	if (rc == 0)
		rc = policy_usable(res, err);
	/* the profile points into the document, which therefore lives as long as the process */
	return rc;
}

static int write_compiled(const struct policy_result *res, const struct utsname *u)
{
	struct ak_filter_file f = { .maker = AK_VERSION, .arch = u->machine, .release = u->release, .insns = res->prog.insns,
				    .count = res->prog.count };
	char *buf = malloc(AK_FILTER_FILE_MAX);
	char more[64];
	long n;

	for (size_t i = 0; i < res->notes.n; i++)
		f.notes[f.n_notes++] = res->notes.line[i];
	if (res->notes.more) {
		snprintf(more, sizeof(more), "%zu more remarks: see ak seccomp check", res->notes.more);
		f.notes[f.n_notes++] = more;
	}
	n = buf ? ak_filter_file_encode(&f, buf, AK_FILTER_FILE_MAX) : -ENOMEM;
	if (n > 0)
		n = ak_write_all(STDOUT_FILENO, buf, (size_t)n);
	free(buf);
	return n < 0;
}

/* The calls of a run, in the place of a profile's text */
static int answer_learned(const char *bytes, size_t len, const struct policy_result *res, const struct docker_host *host)
{
	struct ak_learned l;

	if (len != sizeof(l)) {
		fprintf(stderr, "ak-policy: what was learned has a wrong size: ak and ak-policy are of different versions\n");
		return 1;
	}
	memcpy(&l, bytes, sizeof(l));
	policy_print_learned(&res->profile, host, &l, stdout);
	return fflush(stdout) != 0 || ferror(stdout);
}

static int answer(const char *verb, const struct policy_result *res, const struct utsname *u, const struct docker_host *host)
{
	if (strcmp(verb, "compile") == 0)
		return write_compiled(res, u);
	policy_print_check(res, host, stdout);
	if (strcmp(verb, "dump") == 0)
		policy_print_program(&res->prog, stdout);
	return fflush(stdout) != 0 || ferror(stdout);
}

/* the same key twice is said once */
static int put_keys(const struct gitkeys *old, const struct gitkeys *now)
{
	for (size_t i = 0; i < now->n; i++) {
		bool said = !gitkeys_new(old, now, i);

		for (size_t k = 0; k < i && !said; k++)
			said = strcmp(now->key[k].name, now->key[i].name) == 0 && gitkeys_new(old, now, k);
		if (!said)
			printf("%s\n", now->key[i].name);
	}
	return fflush(stdout) != 0 || ferror(stdout);
}

static int git_keys(const char *name)
{
	struct gitkeys *both = calloc(2, sizeof(*both));
	struct json_error err = { 0 };
	size_t len = 0, before;
	int rc;
	char *text = read_input(&len, &err);
	const unsigned char *u = (const unsigned char *)text;

	if (!text || !both) {	/* what is left of them goes with the process */
		free(both);
		return complain(name, &err);
	}
	before = len < 4 ? SIZE_MAX : u[0] | (size_t)u[1] << 8 | (size_t)u[2] << 16 | (size_t)u[3] << 24;
	if (before == SIZE_MAX || before > len - 4) {
		free(both);
		fprintf(stderr, "%.120s: the length of the first text is wrong\n", name);
		return 1;
	}
	gitkeys_read(text + 4, before, &both[0]);
	gitkeys_read(text + 4 + before, len - 4 - before, &both[1]);
	rc = put_keys(&both[0], &both[1]);
	free(both);
	return rc;
}

static int git_identity(const char *name)
{
	struct git_ident id = { "", "" };
	struct gitident_wanted *wanted = calloc(1, sizeof(*wanted));
	struct git_ident_files in;
	struct json_error err = { 0 };
	size_t len = 0;
	char *text = read_input(&len, &err);

	if (!text || !wanted) {	/* what is left of them goes with the process */
		free(wanted);
		return complain(name, &err);
	}
	if (git_ident_files_decode(text, len, &in) < 0) {
		free(wanted);
		fprintf(stderr, "%.120s: these are no files\n", name);
		return 1;
	}
	gitident_files(&in, &id, wanted);
	printf("%s\n%s\n", id.name, id.email);
	for (size_t i = 0; i < wanted->n; i++)
		printf("%s\n", wanted->path[i]);
	free(wanted);
	return fflush(stdout) != 0 || ferror(stdout);
}

static int serve(const char *verb, const char *name, struct policy_result *res)
{
	bool compile = strcmp(verb, "compile") == 0, learn = strcmp(verb, "learn") == 0;
	struct docker_host host = { 0 };
	struct json_error err = { 0 };
	const char *text = NULL, *learned = NULL;
	struct utsname u;
	size_t len = 0, learned_len = 0;

	host_facts(&host, &u);
	if (policy_confine() < 0) {
		fprintf(stderr, "ak-policy cannot confine itself: %s\n", strerror(errno));
		return 1;
	}
	if (strcmp(verb, "gitkeys") == 0)
		return git_keys(name);
	if (strcmp(verb, "gitident") == 0)
		return git_identity(name);
	res->notes.file = name;
	if (!compile)
		text = shipped(name, &len);
	if (learn && !text) {
		fprintf(stderr, "ak-policy: %.120s is no profile of ak's\n", name);
		return 1;
	}
	if (learn)
		learned = read_input(&learned_len, &err);
	else if (!text)
		text = read_input(&len, &err);
	if (!text || (learn && !learned))
		return complain(name, &err);
	if (!host.target) {
		fprintf(stderr, "no filters for this machine (%s)\n", u.machine);
		return 1;
	}
	if (build(text, len, &host, res, &err) < 0)
		return complain(name, &err);
	return learn ? answer_learned(learned, learned_len, res, &host) : answer(verb, res, &u, &host);
}

static int config(const char *layer, const char *name)
{
	if (policy_confine() < 0) {
		fprintf(stderr, "ak-policy cannot confine itself: %s\n", strerror(errno));
		return 1;
	}
	return policy_config_main(layer, name);
}

int main(int argc, char **argv)
{
	static const char *const verbs[] = { "compile", "check", "dump", "learn", "gitkeys", "gitident" };
	struct policy_result *res;
	size_t v = 0;
	int rc;

	if (argc == 4 && strcmp(argv[1], "config") == 0 && policy_config_layer(argv[2]) != AK_CFG_DEFAULT)
		return config(argv[2], argv[3]);
	while (argc == 3 && v < sizeof(verbs) / sizeof(verbs[0]) && strcmp(verbs[v], argv[1]) != 0)
		v++;
	if (argc != 3 || v == sizeof(verbs) / sizeof(verbs[0])) {
		fprintf(stderr, "usage: ak-policy compile|check|dump|learn|gitkeys|gitident NAME, ak-policy config LAYER NAME\n");
		return 2;
	}
	res = calloc(1, sizeof(*res));
	if (!res) {
		fprintf(stderr, "out of memory\n");
		return 1;
	}
	rc = serve(argv[1], argv[2], res);
	free(res);	/* what it points into goes with the process */
	return rc;
}
