/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads command lines (one file each, named on standard input, or texts separated by NUL) and prints what the parser makes of
 * each as one line of JSON, for comparison with another parser.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/shell/shell.h"

static void put(const char *text, size_t len)
{
	putchar('"');
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20 || c == '"' || c == '\\' || c >= 0x7f)
			printf("\\u%04x", c); /* bytes as Latin-1 */
		else
			putchar(c);
	}
	putchar('"');
}

static void words(const char *name, const struct shell_word *w, size_t n)
{
	printf("\"%s\":[", name);
	for (size_t i = 0; i < n; i++) {
		printf("%s{\"t\":", i ? "," : "");
		put(w[i].text, w[i].len);
		printf(",\"why\":%u,\"q\":%d}", w[i].why, w[i].quoted);
	}
	printf("],");
}

static void dump(const struct shell_line *l)
{
	printf("{\"forms\":%u,\"problem\":", l->forms);
	if (l->problem)
		put(l->problem, strlen(l->problem));
	else
		printf("null");
	printf(",\"at\":%zu,\"cmds\":[", l->problem_at);
	for (size_t i = 0; i < l->n_cmds; i++) {
		const struct shell_cmd *c = &l->cmds[i];

		printf("%s{", i ? "," : "");
		words("assigns", c->assigns, c->n_assigns);
		words("words", c->words, c->n_words);
		printf("\"place\":%u,\"redirs\":[", c->place);
		for (size_t k = 0; k < c->n_redirs; k++) {
			printf("%s{\"kind\":%d,\"fd\":%d,\"writes\":%d,\"t\":", k ? "," : "", (int)c->redirs[k].kind, c->redirs[k].fd,
			       shell_redir_writes(&c->redirs[k]));
			put(c->redirs[k].target.text, c->redirs[k].target.len);
			printf(",\"why\":%u}", c->redirs[k].target.why);
		}
		printf("]}");
	}
	printf("]}\n");
}

int main(void)
{
	char *text = NULL;
	size_t cap = 0;
	ssize_t len;

	while ((len = getdelim(&text, &cap, '\0', stdin)) > 0) {
		struct shell_line *line;

		if (text[len - 1] == '\0')
			len--;
		if (shell_parse(text, (size_t)len, &line, NULL) < 0)
			return 1;
		dump(line);
		shell_line_free(line);
		fflush(stdout);
	}
	free(text);
	return 0;
}
