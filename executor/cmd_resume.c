/* SPDX-License-Identifier: Apache-2.0 */
/* `ak resume [ID] [OPTIONS] [PROMPT]` in words of `ak run`. Process: executor. Privilege: none. */
#include "executor/cmd_resume.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/cmd_run.h"

/* "s-..." without a blank: also one that is mistyped, which is no prompt */
static bool is_id(const char *word)
{
	return word[0] == 's' && word[1] == '-' && word[2] != '\0' && !strpbrk(word, " \t\n");
}

int cmd_resume(int argc, char *const argv[], char *const env[])
{
	char **words = calloc((size_t)argc + 2, sizeof(*words));
	bool by_id = argc > 0 && is_id(argv[0]);
	int n = 0, code;

	if (!words)
		return 1;
	words[n++] = (char *)(uintptr_t)(by_id ? "--resume" : "--continue");
	for (int i = 0; i < argc; i++)
		words[n++] = argv[i];
	code = cmd_run(n, words, env);
	free(words);
	return code;
}
