/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the options that decide which config files are read, before any option is parsed. Process: executor. Privilege: none. */
#include <string.h>

#include "executor/args_int.h"
#include "executor/config.h"

static void found(struct config_scan *s, const struct arg_def *d, const char *value)
{
	if (strcmp(d->name, "--config") == 0)
		s->config = value;
	else if (strcmp(d->name, "--profile") == 0)
		s->profile = value;
	else if (strcmp(d->name, "--workspace") == 0)
		s->workspace = value;
	else if (strcmp(d->name, "--in") == 0)
		s->in = true;
	else if (strcmp(d->name, "--detach") == 0)
		s->detach = true;
	else if (strcmp(d->name, "--help") == 0)
		s->help = true;
}

/* @at: the word itself. Return: index of the last word that belongs to it */
static int long_word(int argc, char *const argv[], int at, struct config_scan *s)
{
	const char *word = argv[at];
	size_t len = strcspn(word, "=");
	const struct arg_def *d = arg_by_name(word, len);
	const char *value = word[len] == '=' ? word + len + 1 : NULL;

	if (!d)	/* the parser skips a value behind an unknown option as well; this run ends with its complaint */
		return at;
	if (d->has_value && !value)
		value = ++at < argc ? argv[at] : NULL;
	if (!d->has_value || (value && *value))
		found(s, d, value);
	return at;
}

static int short_word(int argc, char *const argv[], int at, struct config_scan *s)
{
	for (const char *p = argv[at] + 1; *p; p++) {
		const struct arg_def *d = arg_by_letter(*p);
		const char *value = p[1] ? p + 1 : NULL;

		if (!d)
			return at;
		if (!d->has_value) {
			found(s, d, NULL);
			continue;
		}
		if (!value)
			value = ++at < argc ? argv[at] : NULL;
		if (value && *value)
			found(s, d, value);
		return at;
	}
	return at;
}

void config_scan(int argc, char *const argv[], bool words_go_on, struct config_scan *ret)
{
	*ret = (struct config_scan){ 0 };
	for (int i = 0; i < argc; i++) {
		const char *word = argv[i];

		if (word[0] != '-' || word[1] == '\0') {
			if (!words_go_on)
				return;
		} else if (strcmp(word, "--") == 0) {
			return;
		} else {
			i = word[1] == '-' ? long_word(argc, argv, i, ret) : short_word(argc, argv, i, ret);
		}
	}
}
