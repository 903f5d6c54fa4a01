/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines with a few flags and words. Process: a client. Privilege: none. */
#include <errno.h>
#include <string.h>

#include "executor/cmd_named.h"
#include "executor/named.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_parse.h"

static bool take_flag(const struct cmd_flag *flags, const char *word)
{
	for (; flags->name; flags++) {
		if (strcmp(word, flags->name) == 0 || (flags->letter && strcmp(word, flags->letter) == 0)) {
			*flags->set = true;
			return true;
		}
	}
	return false;
}

static int bad(const char *usage, struct ak_err *err, const char *what, const char *word)
{
	(void)ak_err_set(err, EINVAL, "%s%.60s", what, word);
	ak_err_hint(err, "%.*s", (int)strcspn(usage, "\n"), usage);
	return -EINVAL;
}

int cmd_words(int argc, char *const argv[], const char *usage, const struct cmd_flag *flags, size_t want,
	      const char *ret[static CMD_WORDS_MAX], struct ak_err *err)
{
	bool options = true;
	size_t n = 0;

	for (int i = 0; i < argc; i++) {
		const char *word = argv[i];

		if (options && strcmp(word, "--") == 0) {
			options = false;
			continue;
		}
		if (options && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0))
			return named_print(usage, strlen(usage)) == 0 ? 1 : -EINVAL;
		if (options && word[0] == '-' && word[1] != '\0') {
			if (!take_flag(flags, word))
				return bad(usage, err, "unknown option ", word);
			continue;
		}
		if (n == want)
			return bad(usage, err, "one word too many: ", word);
		ret[n++] = word;
	}
	return n == want ? 0 : bad(usage, err, n == 0 ? "a NAME is missing" : "a JOB is missing", "");
}

int cmd_job_id(const char *word, uint32_t *ret, struct ak_err *err)
{
	uint64_t v = 0;

	if (ak_parse_u64(word, 1, UINT32_MAX, &v) < 0) {
		(void)ak_err_set(err, EINVAL, "\"%.60s\" is no job", word);
		ak_err_hint(err, "`ak jobs NAME` shows their numbers");
		return -EINVAL;
	}
	*ret = (uint32_t)v;
	return 0;
}
