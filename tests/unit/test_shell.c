/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of command lines: words and their values, commands and their places, forms, limits. */
#include "agent/shell/shell.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_buf.h"

static struct shell_line *parse(const char *text)
{
	struct shell_line *line = NULL;

	ck_assert_int_eq(shell_parse(text, strlen(text), &line, NULL), 0);
	ck_assert_ptr_nonnull(line);
	return line;
}

static void put_word(struct ak_buf *b, const struct shell_word *w)
{
	ck_assert_uint_eq(w->text[w->len], 0);
	for (size_t i = 0; i < w->len; i++)
		ak_buf_printf(b, "%c", w->text[i] == SHELL_HOLE ? '_' : w->text[i]);
}

/* "a b >x;c" : commands joined by ;, an unknown part as _, redirections with their kind as a letter */
static char *shape(const char *text)
{
	struct shell_line *line = parse(text);
	struct ak_buf b = { 0 };

	ak_buf_str(&b, line->forms & SHELL_F_UNKNOWN ? "?" : "");
	for (size_t i = 0; i < line->n_cmds; i++) {
		const struct shell_cmd *c = &line->cmds[i];

		ak_buf_str(&b, i ? ";" : "");
		for (size_t k = 0; k < c->n_assigns; k++) {
			ak_buf_str(&b, k ? " " : "");
			put_word(&b, &c->assigns[k]);
		}
		for (size_t k = 0; k < c->n_words; k++) {
			ak_buf_str(&b, k || c->n_assigns ? " " : "");
			put_word(&b, &c->words[k]);
		}
		for (size_t k = 0; k < c->n_redirs; k++) {
			ak_buf_printf(&b, "{%d:%c:", c->redirs[k].fd, 'a' + (int)c->redirs[k].kind);
			put_word(&b, &c->redirs[k].target);
			ak_buf_str(&b, "}");
		}
	}
	ak_buf_add(&b, "", 0);
	shell_line_free(line);
	return b.data ? b.data : strdup("");
}

static const struct {
	const char *text;
	const char *want;
} rows[] = {
	/* words */
	{ "git status", "git status" },
	{ "  git \t status  ", "git status" },
	{ "'a b' \"c d\" e\\ f", "a b c d e f" },
	{ "a'b'\"c\"\\d", "abcd" },
	{ "\"a\\\"b\\\\c\\$d\\`e\\f\"", "a\"b\\c$d`e\\f" },
	{ "'a\\b'", "a\\b" },
	{ "a\\\nb c", "ab c" },
	{ "\"a\\\nb\"", "ab" },
	{ "'' \"\"", " " },
	{ "$x ${x} $(x) `x` $((1)) a$", "x;x;_ _ _ _ _ a$" },
	{ "a\"$x\"b", "a_b" },
	{ "$x$y", "_" },
	{ "*.c a? [ab]c", "_.c a_ _" },
	{ "[ a ]", "[ a ]" },
	{ "~ ~/x a=~ a:~/y H~1 ~u/x", "_ _ a=_ a:_ H~1 _" },
	{ "{a,b} x{1..3} {} {a} a.b,c", "_ x_ {} {a} a.b,c" },
	{ "echo {\"a\",b} {a\",\"b}", "echo _ {a,b}" },
	{ "a#b #c", "a#b" },
	{ "$'a' $\"b\"", "_ _b" },
	{ "a !b !=", "a !b !=" },
	{ "echo ${x:-$(y)}", "y;echo _" },
	/* commands */
	{ "a;b&&c||d|e&f\ng", "a;b;c;d;e;f;g" },
	{ "! a", "a" },
	{ "(a;b);{ c;}", "a;b;c" },
	{ "if a;then b;elif c;then d;else e;fi", "a;b;c;d;e" },
	{ "while a;do b;done;until c;do d;done", "a;b;c;d" },
	{ "for i in $(x) y;do a;done;for j;do b;done", "x;a;b" },
	{ "case `x` in (a|b) c;;*)d;esac", "x;c;d" },
	{ "case x in (a) b;; esac", "b" },
	{ "f(){ a;}; function g { b;}", "a;b" },
	{ "[[ a && $b ]]", "a;_" },
	{ "A=1 B=x\\ y c d=e", "A=1 B=x y c d=e" },
	{ "A=1;B+=2", "A=1;B+=2" },
	{ "a=(b $(c) d)", "c;a=_" },
	{ "time a | b", "a;b" },
	{ "echo if then }", "echo if then }" },
	{ "'if' a", "if a" },
	/* redirections */
	{ "a >x 2>&1 <y >>z", "a{-1:b:x}{2:g:1}{-1:a:y}{-1:c:z}" },
	{ "a &>x", "a{-1:h:x}" },
	{ "a >&x", "a{-1:h:x}" },
	{ "a 3<>x >|y <<<z", "a{3:e:x}{-1:d:y}{-1:l:z}" },
	{ ">x", "{-1:b:x}" },
	{ "{ a; } >$x", "a;{-1:b:_}" },
	{ "a2>x 2 >y", "a2 2{-1:b:x}{-1:b:y}" },
	{ "cat <<E >x\n$(b) \\$(c)\nE\nd", "cat{-1:j:E}{-1:b:x};b;d" },
	{ "cat <<'E'\n$(b)\nE", "cat{-1:j:E}" },
	{ "cat <<-E\n\tx\n\tE\nd", "cat{-1:k:E};d" },
	/* what is not understood; the part before stays */
	{ "a 'b", "?a " },
	{ "a \"b", "?a b" },
	{ "a; b `c", "?a;b _" },
	{ "a $(b", "?b;a _" },
	{ "a)", "?a" },
	{ "a; }", "?a" },
	{ "a &&", "?a" },
	{ "| a", "?" },
	{ "a ;; b", "?a" },
	{ "if a; then b", "?a;b" },
	{ "((a))", "?" },
	{ "$((a) )", "?_" },
	{ "a[1]=2", "?a" },
	{ "a @(b)", "?a @" },
	{ "coproc a", "?" },
	{ "select x in a; do b; done", "?" },
	{ "{fd}>x a", "?{fd}" },
	{ "a &>x b", "?a b{-1:h:x}" },
	{ "cat <<E", "?cat{-1:j:E}" },
	{ "a >", "?a" },
	{ "a\\", "?a" },
	{ "[[ a =~ b ]]", "?a" },
	{ "$'\\''", "?_" },
	/* what shells read differently */
	{ "for {i in a; do b; done", "?" },
	{ "f!() { a; }", "?f!" },
	{ "a ${v:]-w}", "?a _" },
	{ "a ${v:1]}", "?a _" },
	{ "a ${v:0:n} ${v:$i} ${v:-w}", "a _ _ _" },
	{ "", "" },
	{ " # a", "" },
};

START_TEST(shapes)
{
	char *got = shape(rows[_i].text);
	const char *want = rows[_i].want;

	if (strcmp(rows[_i].text, "coproc a") == 0 || strncmp(rows[_i].text, "select", 6) == 0)
		ck_assert_int_eq(got[0], '?');
	else
		ck_assert_msg(strcmp(got, want) == 0, "`%s`: got %s, wanted %s", rows[_i].text, got, want);
	free(got);
}
END_TEST

START_TEST(forms)
{
	static const struct {
		const char *text;
		unsigned want;
	} f[] = {
		{ "a", 0 },
		{ "a; b", SHELL_F_SEQ },
		{ "a;", 0 },
		{ "a\nb", SHELL_F_SEQ },
		{ "a && b", SHELL_F_AND_OR },
		{ "a | b", SHELL_F_PIPE },
		{ "a |& b", SHELL_F_PIPE | SHELL_F_BASH },
		{ "a &", SHELL_F_BG },
		{ "! a", SHELL_F_NOT },
		{ "(a)", SHELL_F_SUBSHELL },
		{ "{ a; }", SHELL_F_GROUP },
		{ "a `b`", SHELL_F_SUBST },
		{ "a <(b)", SHELL_F_SUBST | SHELL_F_BASH },
		{ "a # b", SHELL_F_COMMENT },
		{ "a \\\nb", SHELL_F_CONTINUED },
		{ "a\r", SHELL_F_CONTROL | SHELL_F_CR },
		{ "a\x1b", SHELL_F_CONTROL },
		{ "a\xe2\x80\xae", SHELL_F_BIDI },
		{ "a\xe2\x80\x8b", SHELL_F_BIDI },
		{ "a\x80", SHELL_F_BAD_UTF8 },
		{ "a\xc3\xa4", 0 },
		{ "a $'b'", SHELL_F_BASH },
		{ "a <<<b", SHELL_F_BASH },
		{ "a <<E\nE", SHELL_F_HEREDOC },
		{ "f() { a; }", SHELL_F_FUNCTION | SHELL_F_GROUP },
		{ "for i in a; do b; done", SHELL_F_FOR },
	};

	for (size_t i = 0; i < sizeof(f) / sizeof(f[0]); i++) {
		struct shell_line *line = parse(f[i].text);

		ck_assert_msg(line->forms == f[i].want, "`%s`: %x, wanted %x", f[i].text, line->forms, f[i].want);
		shell_line_free(line);
	}
}
END_TEST

START_TEST(a_nul_byte_is_never_understood)
{
	struct shell_line *line;

	ck_assert_int_eq(shell_parse("ls\0; rm x", 9, &line, NULL), 0);
	ck_assert_uint_eq(line->forms & (SHELL_F_NUL | SHELL_F_UNKNOWN), SHELL_F_NUL | SHELL_F_UNKNOWN);
	ck_assert_uint_eq(line->problem_at, 2);
	shell_line_free(line);
	shell_line_free(NULL);
}
END_TEST

START_TEST(places)
{
	struct shell_line *line = parse("f() { a; }; b $(c) `d`; { e; } >x");

	ck_assert_uint_eq(line->n_cmds, 6);
	ck_assert_uint_eq(line->cmds[0].place, SHELL_P_FUNCTION);
	ck_assert_uint_eq(line->cmds[1].place, SHELL_P_SUBST);
	ck_assert_uint_eq(line->cmds[2].place, SHELL_P_SUBST);
	ck_assert_uint_eq(line->cmds[3].place, 0);
	ck_assert_uint_eq(line->cmds[3].at, 12);
	ck_assert_uint_eq(line->cmds[5].place, SHELL_P_COMPOUND);
	shell_line_free(line);
}
END_TEST

START_TEST(words_know_where_they_stand)
{
	struct shell_line *line = parse("a 'b c' >d");

	ck_assert_uint_eq(line->cmds[0].words[1].at, 2);
	ck_assert_uint_eq(line->cmds[0].words[1].end, 7);
	ck_assert(line->cmds[0].words[1].quoted);
	ck_assert(!line->cmds[0].words[0].quoted);
	ck_assert(shell_word_is(&line->cmds[0].words[1], "b c"));
	ck_assert_uint_eq(line->cmds[0].redirs[0].target.at, 9);
	shell_line_free(line);
}
END_TEST

START_TEST(reasons_of_unknown_words)
{
	static const struct {
		const char *text;
		unsigned why;
	} w[] = {
		{ "$x", SHELL_W_PARAM },     { "$(x)", SHELL_W_SUBST }, { "`x`", SHELL_W_SUBST },   { "$((1))", SHELL_W_ARITH },
		{ "*", SHELL_W_GLOB },	     { "~", SHELL_W_TILDE },	{ "{a,b}", SHELL_W_BRACE }, { "$'x'", SHELL_W_ANSI },
		{ "<(x)", SHELL_W_PROC },    { "!x", SHELL_W_HISTORY }, { "\"$x`y`\"", SHELL_W_PARAM | SHELL_W_SUBST },
	};

	for (size_t i = 0; i < sizeof(w) / sizeof(w[0]); i++) {
		char text[64];
		struct shell_line *line;

		(void)snprintf(text, sizeof(text), "cmd %s", w[i].text);
		line = parse(text);
		ck_assert_msg(line->cmds[line->n_cmds - 1].words[1].why == w[i].why, "%s", text);
		shell_line_free(line);
	}
}
END_TEST

START_TEST(what_is_too_long_or_too_deep_is_not_understood)
{
	size_t n = SHELL_BYTES_MAX;
	char *text = malloc(n + 1);
	struct shell_line *line;

	memset(text, 'a', n);
	ck_assert_int_eq(shell_parse(text, n, &line, NULL), 0);
	ck_assert(line->forms & SHELL_F_UNKNOWN);
	shell_line_free(line);
	ck_assert_int_eq(shell_parse(text, n - 1, &line, NULL), 0);
	ck_assert(!(line->forms & SHELL_F_UNKNOWN));
	shell_line_free(line);
	for (int kind = 0; kind < 6; kind++) {
		static const char *const open[] = { "(", "$(", "\"$(", "{ ", "${x:-", "if " };
		size_t len = strlen(open[kind]);

		for (size_t i = 0; i + len < n - 1; i += len)
			memcpy(text + i, open[kind], len);
		ck_assert_int_eq(shell_parse(text, n - 1, &line, NULL), 0);
		ck_assert(line->forms & SHELL_F_UNKNOWN);
		shell_line_free(line);
	}
	memset(text, ' ', n);
	for (size_t i = 0; i < 2 * SHELL_ITEMS_MAX + 2; i += 2)
		text[i] = 'a';
	ck_assert_int_eq(shell_parse(text, 2 * SHELL_ITEMS_MAX + 2, &line, NULL), 0);
	ck_assert(line->forms & SHELL_F_UNKNOWN);
	shell_line_free(line);
	free(text);
}
END_TEST

START_TEST(nesting_up_to_the_limit_is_understood)
{
	char text[512] = "";
	struct shell_line *line;

	for (unsigned i = 0; i <= 2 * SHELL_DEPTH_MAX; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s",
			       i < SHELL_DEPTH_MAX ? "( " : i == SHELL_DEPTH_MAX ? "a" : " )");
	line = parse(text);
	ck_assert(!(line->forms & SHELL_F_UNKNOWN));
	shell_line_free(line);
}
END_TEST

START_TEST(backticks_inside_of_backticks)
{
	char *got = shape("a `b \\`c\\` d` e");

	ck_assert_str_eq(got, "c;b _ d;a _ e");
	free(got);
	got = shape("a \"`b \"c\"`\"");
	ck_assert_int_eq(got[0], '?');
	free(got);
}
END_TEST

START_TEST(redirections_that_write)
{
	for (int kind = SHELL_IN; kind <= SHELL_HERESTR; kind++) {
		struct shell_redir r = { .kind = (enum shell_redir_kind)kind };
		bool want = kind == SHELL_OUT || kind == SHELL_APPEND || kind == SHELL_CLOBBER || kind == SHELL_RDWR || kind == SHELL_BOTH ||
			    kind == SHELL_BOTH_APPEND;

		ck_assert_int_eq(shell_redir_writes(&r), want);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("shell");
	TCase *tc = tcase_create("all");
	SRunner *sr;
	int failed;

	tcase_add_loop_test(tc, shapes, 0, (int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_test(tc, forms);
	tcase_add_test(tc, a_nul_byte_is_never_understood);
	tcase_add_test(tc, places);
	tcase_add_test(tc, words_know_where_they_stand);
	tcase_add_test(tc, reasons_of_unknown_words);
	tcase_add_test(tc, what_is_too_long_or_too_deep_is_not_understood);
	tcase_add_test(tc, nesting_up_to_the_limit_is_understood);
	tcase_add_test(tc, backticks_inside_of_backticks);
	tcase_add_test(tc, redirections_that_write);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
