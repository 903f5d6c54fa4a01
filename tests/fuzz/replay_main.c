/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without a fuzzer: on each file named (or in each folder named) and on every truncation
 * of it. Ends with the number of files; a law that does not hold aborts.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "executor/shared/ak_parse.h"

#define INPUT_MAX (1u << 20)
#define TRUNCATIONS_MAX 4096u /* of a longer file only so many heads are tried */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each input lies in a block of its own size, so that a tool such as valgrind sees a read behind its end */
static int run_one(const char *text, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	if (!copy)
		return -1;
	memcpy(copy, text, len);
	(void)LLVMFuzzerTestOneInput(copy, len);
	free(copy);
	return 0;
}

static int replay_file(const char *path)
{
	char *text;
	size_t len;
	int rc = ak_read_file(path, INPUT_MAX, &text, &len);

	if (rc < 0) {
		(void)fprintf(stderr, "%s: %s\n", path, strerror(-rc));
		return -1;
	}
	(void)fprintf(stderr, "replay %s\n", path); /* the last line names the file when a law fails */
	rc = run_one(text, len);
	for (size_t n = 0; rc == 0 && n < len && n < TRUNCATIONS_MAX; n++)
		rc = run_one(text, n);
	free(text);
	return rc;
}

static int replay_folder(const char *path, unsigned *count)
{
	struct dirent **names;
	int n = scandir(path, &names, NULL, alphasort);
	int failed = n < 0;

	for (int i = 0; i < n; i++) {
		char file[4096];

		if (names[i]->d_name[0] != '.') {
			(void)snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
			failed |= replay_file(file) < 0;
			++*count;
		}
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return failed ? -1 : 0;
}

int main(int argc, char *argv[])
{
	unsigned count = 0;
	int failed = 0;

	for (int i = 1; i < argc; i++) {
		struct stat st;

		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode)) {
			failed |= replay_folder(argv[i], &count) < 0;
			continue;
		}
		failed |= replay_file(argv[i]) < 0;
		count++;
	}
	(void)printf("%u files\n", count);
	return failed;
}
