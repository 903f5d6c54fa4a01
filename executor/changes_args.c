/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines of `ak diff`, `ak apply`, `ak discard` and `ak sessions`. Process: executor. Privilege: none. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor/changes.h"
#include "executor/named.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_path.h"
#include "executor/shared/ak_session_file.h"
#include "executor/workspace/protected.h"
#include "executor/workspace/state.h"

static int bad(const char *usage, const char *what, const char *word, struct ak_err *err)
{
	(void)ak_err_set(err, EINVAL, "%s%.100s", what, word);
	ak_err_hint(err, "%.*s", (int)strcspn(usage, "\n"), usage);
	return -EINVAL;
}

/* is @word one of the words of @list? */
static bool listed(const char *list, const char *word, size_t n)
{
	for (const char *p = list; *p; p += strspn(p, " ")) {
		size_t len = strcspn(p, " ");

		if (len == n && memcmp(p, word, n) == 0)
			return true;
		p += len;
	}
	return false;
}

/* does @path go above where it begins? */
static bool leaves(const char *path)
{
	int depth = 0;

	while (*path && depth >= 0) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.')
			depth--;
		else if (n > 1 || (n == 1 && path[0] != '.'))
			depth++;
		path += n + (path[n] == '/');
	}
	return depth < 0;
}

/* "src/", "./src" and "/src" of the workspace are "src"; "." is all of it; "../src" is not in it */
static int add_path(struct changes_args *a, const char *word, struct ak_err *err)
{
	char *clean = ak_path_normalize("/", word);
	char **v;

	if (!clean)
		return ak_err_sys(err, errno, "path \"%.100s\"", word);
	if (leaves(word)) {
		free(clean);
		return ak_err_set(err, EINVAL, "\"%.100s\" is no path in the workspace - paths are relative to it", word);
	}
	v = reallocarray(a->paths, a->npaths + 2, sizeof(*v));
	if (!v || a->npaths >= CHANGES_WORDS_MAX) {
		free(clean);
		if (v)
			a->paths = v;
		return ak_err_set(err, E2BIG, "too many paths");
	}
	memmove(clean, clean + 1, strlen(clean));
	a->paths = v;
	v[a->npaths++] = clean;
	v[a->npaths] = NULL;
	return 0;
}

static int add_allowed(struct changes_args *a, const char *name, struct ak_err *err)
{
	char **v = reallocarray(a->allow, a->nallow + 2, sizeof(*v));

	if (!v)
		return ak_err_set(err, ENOMEM, "not enough memory");
	a->allow = v;
	v[a->nallow++] = (char *)name;
	v[a->nallow] = NULL;
	if (name[0] == '\0')
		return ak_err_set(err, EINVAL, "--allow-protected: is empty");
	return 0;
}

struct parse {
	int argc;
	char *const *argv;
	const char *usage, *flags;
	bool paths;
	struct changes_args *a;
	struct ak_err *err;
};

static int take_option(struct parse *p, int *i)
{
	const char *word = p->argv[*i], *value = strchr(word, '=');
	size_t n = value ? (size_t)(value - word) : strlen(word);
	struct changes_args *a = p->a;

	if (!listed(p->flags, word, n))
		return bad(p->usage, "unknown option ", word, p->err);
	if (strncmp(word, "--allow-protected", n) == 0) {
		if (!value && *i + 1 >= p->argc)
			return bad(p->usage, word, " needs a name", p->err);
		return add_allowed(a, value ? value + 1 : p->argv[++*i], p->err);
	}
	if (value)
		return bad(p->usage, "takes no value: ", word, p->err);
	a->force = a->force || strcmp(word, "--force") == 0;
	a->stat = a->stat || strcmp(word, "--stat") == 0;
	a->json = a->json || strcmp(word, "--json") == 0;
	return 0;
}

static int take_word(struct parse *p, const char *word)
{
	if (!p->a->id && p->a->npaths == 0 && (state_id_ok(word, CHANGESET_PREFIX) || ak_session_id_ok(word))) {
		p->a->id = word;
		return 0;
	}
	if (!p->paths && !p->a->id) {
		p->a->id = word;	/* whatever it is: looking for it tells */
		return 0;
	}
	return p->paths ? add_path(p->a, word, p->err) : bad(p->usage, "one word too many: ", word, p->err);
}

int changes_parse(int argc, char *const argv[], const char *usage, const char *flags, bool paths, struct changes_args *ret,
		  struct ak_err *err)
{
	struct parse p = { argc, argv, usage, flags, paths, ret, err };
	bool options = true;
	int r = 0;

	*ret = (struct changes_args){ 0 };
	for (int i = 0; r == 0 && i < argc; i++) {
		if (options && strcmp(argv[i], "--") == 0)
			options = false;
		else if (options && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0))
			return named_print(usage, strlen(usage)) == 0 ? 1 : -EIO;
		else if (options && argv[i][0] == '-' && argv[i][1])
			r = take_option(&p, &i);
		else
			r = take_word(&p, argv[i]);
	}
	return r;
}

void changes_args_release(struct changes_args *a)
{
	for (size_t i = 0; i < a->npaths; i++)
		free(a->paths[i]);
	free(a->paths);
	free(a->allow);
	*a = (struct changes_args){ 0 };
}
