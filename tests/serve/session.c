/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shell texts and what a session carries from call to call. serve/session [-p] [EXEC OPTIONS]: with -p the sandbox has a POSIX shell
 * only, so what needs bash is not asked for.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/serve/say.h"

#define S INIT_EXEC_SESSION

/* A text by itself and the same in a session must do the same as a script file of it does */
struct as_script {
	const char *name;
	const char *text;
	int code;
	const char *out;
};

static const struct as_script same[] = {
	{ "heredoc", "x=1; cat <<'EOF'\n$x\nEOF\n", 0, "$x\n" },
	{ "heredoc-without-newline", "x=1; cat <<EOF\n$x\nEOF", 0, "1\n" },
	{ "heredoc-in-a-function", "f() {\ncat <<EOF\nin f\nEOF\n}\nf", 0, "in f\n" },
	{ "two-heredocs", "cat <<A; cat <<B\na\nA\nb\nB\n", 0, "a\nb\n" },
	{ "comment-at-the-end", "echo a # note", 0, "a\n" },
	{ "background-at-the-end", "true &", 0, "" },
	{ "empty", "", 0, "" },
	{ "only-a-comment", "# nothing", 0, "" },
	{ "no-newline-added", "printf foo", 0, "foo" },
	{ "newlines-kept", "printf '\\n\\n'", 0, "\n\n" },
	{ "several-lines", "echo a\nfalse\necho b", 0, "a\nb\n" },
	{ "code-of-the-last", "true\nfalse", 1, "" },
	{ "exit", "echo a; exit 3; echo b", 3, "a\n" },
	{ "set-e", "set -e; echo a; false; echo b", 1, "a\n" },
	{ "unclosed-quote", "echo \"abc", 2, "" },
	{ "unclosed-brace", "{ echo a", 2, "" },
	{ "syntax-error", "echo a\n)", 2, "a\n" },
	{ "exec", "exec sh -c 'echo x; exit 4'", 4, "x\n" },
	{ "kills-its-shell", "echo a; kill -9 $$; echo b", 137, "a\n" },
	{ "no-arguments", "echo $#", 0, "0\n" },
	{ "stdin-is-empty", "cat; cat /dev/stdin; cat /proc/self/fd/0; echo end", 0, "end\n" },
	{ "pipe-by-name", "seq 2 | cat /dev/stdin", 0, "1\n2\n" },
	{ "stdout-closed", "exec >&-; echo lost 2>/dev/null; exit 0", 0, "" },
	{ "starts-with-a-dash", "-x 2>/dev/null", 127, "" },
	{ "trap-at-the-end", "trap 'echo T' EXIT; echo a", 0, "a\nT\n" },
	{ "line-continuation", "echo a \\\n b", 0, "a b\n" },
	{ "ifs-as-usual", "x='a b'; set -- $x; echo $#", 0, "2\n" },
};

static void scripts(struct drv *d, bool bash)
{
	char name[80];

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		(void)snprintf(name, sizeof(name), "text-%s", same[i].name);
		want(drv_text(d, same[i].text, 0), name, same[i].code, same[i].out);
		(void)snprintf(name, sizeof(name), "session-%s", same[i].name);
		want(drv_text(d, same[i].text, S), name, same[i].code, same[i].out);
	}
	if (!bash)
		return;
	want(drv_text(d, "echo a \\", S), "session-backslash-at-the-end", 0, NULL);
	want(drv_text(d, "python3 - <<PY\nprint(6*7)\nPY", S), "session-python-heredoc", 0, "42\n");
	want(drv_text(d, "nosuch", S), "session-line-number", 127, "");
}

/* ---- state ---- */

static void carries(struct drv *d, bool bash)
{
	want(drv_text(d, "mkdir -p d; cd d; export A=1 B='x  y'\nN='line\nline'; export N; unset HOME; C=3; pwd", S), "state-set", 0, NULL);
	want(drv_text(d, "basename \"$PWD\"; echo \"$A|$B|$N|${C-none}\"", S), "state-folder-and-variables", 0, "d\n1|x  y|line\nline|none\n");
	want(drv_text(d, "cd ..; cd - >/dev/null; basename \"$PWD\"", S), "state-old-folder", 0, "d\n");
	want(drv_text(d, "echo ${A-none}; pwd", 0), "state-only-in-the-session", 0, NULL);
	want(drv_text(d, "cd /nowhere; sh -c 'exit 3'", S), "state-after-an-error", 3, "");
	want(drv_text(d, "basename \"$PWD\"; echo $A", S), "state-still-there", 0, "d\n1\n");
	if (!bash)
		return;
	want(drv_text(d, "f() { echo \"f $A $1\"; }; g() { cat <<E\n$1\nE\n}; export -f g", S), "state-functions-set", 0, "");
	want(drv_text(d, "f x; g y; bash -c 'g z'; echo ${HOME-none}", S), "state-functions-and-unset", 0, "f 1 x\ny\nz\nnone\n");
	want(drv_text(d, "cd() { builtin cd \"$@\" && echo moved; }; echo() { printf 'mine\\n'; }; trap() { :; }; unset() { :; }; export() { :; }", S),
	     "state-functions-named-as-builtins", 0, "");
	want(drv_text(d, "cd .; echo x; pwd | sed 's|.*/||'", S), "state-with-such-functions", 0, "mine\nmine\nd\n");
	want(drv_text(d, "unset -f cd echo trap unset export; echo x", S | INIT_EXEC_RESET), "state-reset", 0, "x\n");
	want(drv_text(d, "echo ${A-none} ${HOME:+home}", S), "state-after-reset", 0, "none home\n");
}

/* What a call does to its shell stays there */
static void disturbs(struct drv *d, bool bash)
{
	want(drv_text(d, "export A=1; mkdir -p d; cd d", S | INIT_EXEC_RESET), "disturb-before", 0, "");
	want(drv_text(d, "alias echo=false; set -u; PROMPT_COMMAND=exit; PS1=x; IFS=x; set -f; exec 2>/dev/null", S), "disturb-options", 0, "");
	want(drv_text(d, "printf x; x='a b'; set -- $x; echo $# $UNSET", S), "disturb-options-next", 0, "x2\n");
	want(drv_text(d, "exec >&- 2>&- <&-", S), "disturb-closed", 0, "");
	want(drv_text(d, "echo fine; echo err >&2", S), "disturb-closed-next", 0, "fine\n");
	want(drv_text(d, "export A=2; kill -9 $$", S), "disturb-killed", 137, "");
	want(drv_text(d, "echo $A; basename \"$PWD\"", S), "disturb-killed-keeps-the-old", 0, "1\nd\n");
	want(drv_text(d, "export A=2; exec true", S), "disturb-exec", 0, "");
	want(drv_text(d, "echo $A", S), "disturb-exec-keeps-the-old", 0, "1\n");
	want(drv_text(d, "export A=3; exit 9", S), "disturb-exit", 9, "");
	want(drv_text(d, "echo $A", S), "disturb-exit-is-kept", 0, "3\n");
	want(drv_text(d, "set -e; export A=4; false", S), "disturb-set-e", 1, "");
	want(drv_text(d, "false; echo $A", S), "disturb-set-e-is-kept", 0, "4\n");
	want(drv_text(d, "export A=5; echo \"", S), "disturb-syntax", 2, "");
	want(drv_text(d, "echo ok; sleep 300 & setsid sleep 300 & ", S), "disturb-background", 0, "ok\n");
	want(drv_text(d, "echo ok", S), "disturb-background-next", 0, "ok\n");
	if (!bash)
		return;
	want(drv_text(d, "trap 'echo T' DEBUG EXIT; true", S), "disturb-traps", 0, NULL);
	want(drv_text(d, "printf x", S), "disturb-traps-next", 0, "x");
	want(drv_text(d, "shopt -s expand_aliases\nalias builtin=false eval=false unset=false\necho a", S), "disturb-aliases", 0, "a\n");
	want(drv_text(d, "printf x", S), "disturb-aliases-next", 0, "x");
	want(drv_text(d, "set -x; readonly R=1; export R; exit 0", S), "disturb-readonly", 0, "");
	want(drv_text(d, "echo $R", S), "disturb-readonly-next", 0, "1\n");
	want(drv_text(d, "ulimit -f 0; export A=6; true", S), "disturb-file-size-limit", 0, "");
	want(drv_text(d, "echo fine", S), "disturb-file-size-limit-next", 0, "fine\n");
}

static void folder_gone(struct drv *d)
{
	struct call *c;

	want(drv_text(d, "mkdir -p gone; cd gone", S | INIT_EXEC_RESET), "folder-before", 0, "");
	want(drv_text(d, "rmdir ../gone", S), "folder-removed", 0, "");
	c = drv_text(d, "pwd; ls >/dev/null && echo works", S);
	say(drv_code(c) == 0 && strstr(c->data[0], "works") && !strstr(c->data[0], "gone") && strstr(c->data[1], "ak: the working directory") &&
		    strstr(c->data[1], "gone is gone"),
	    "ALLOWED", "folder-gone-is-told", "out %s err %s", c->data[0], c->data[1]);
	drv_free(c);
	c = drv_text(d, "true", S);
	say(drv_code(c) == 0 && c->len[1] == 0, "ALLOWED", "folder-gone-is-told-once", "%s", c->data[1]);
	drv_free(c);
	c = drv_run(d, &(struct spec){ .argv = (const char *const[]){ "pwd", NULL }, .cwd = "/tmp", .flags = INIT_EXEC_SHELL | S });
	want(c, "folder-asked-for", 0, "/tmp\n");
}

/* Variables of one call are not in the state, whatever it was before */
static void overrides(struct drv *d, bool bash)
{
	const char *const show[] = { "echo \"$A|$T|${HOME-none}\"", NULL }, *const set[] = { "A=over", "T=secret", NULL };
	const char *const unset[] = { "HOME", NULL };

	want(drv_text(d, "export A=1", S | INIT_EXEC_RESET), "override-before", 0, "");
	want(drv_run(d, &(struct spec){ .argv = show, .env = set, .unset = unset, .flags = INIT_EXEC_SHELL | S }), "override", 0, "over|secret|none\n");
	want(drv_text(d, bash ? "echo \"$A|${T-none}|${HOME:+home}\"" : "echo \"${T-none}|${HOME:+home}\"", S), "override-is-gone", 0,
	     bash ? "1|none|home\n" : "none|home\n");
}

static void many_sessions(struct drv *d)
{
	for (uint32_t i = 0; i < AK_INIT_SESSIONS_MAX; i++) {
		char text[64];

		(void)snprintf(text, sizeof(text), "export A=%u", i);
		drv_free(drv_run(d, &(struct spec){ .argv = (const char *const[]){ text, NULL }, .flags = INIT_EXEC_SHELL | S | INIT_EXEC_RESET, .session = i }));
	}
	for (uint32_t i = 0; i < AK_INIT_SESSIONS_MAX; i++) {
		char out[16];

		(void)snprintf(out, sizeof(out), "%u\n", i);
		want(drv_run(d, &(struct spec){ .argv = (const char *const[]){ "echo $A", NULL }, .flags = INIT_EXEC_SHELL | S, .session = i }),
		     i == 0 ? "sessions-are-apart" : "sessions-are-apart-more", 0, out);
	}
}

static void big(struct drv *d)
{
	static char text[400000];
	size_t n = 0;
	char out[32];

	while (n < 300000)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "x=%zu # \xc3\xa4\xc3\xb6\xc3\xbc some words to make it long\n", n);
	(void)snprintf(text + n, sizeof(text) - n, "echo $x");
	(void)snprintf(out, sizeof(out), "%zu\n", n - strlen("x=299990 # \xc3\xa4\xc3\xb6\xc3\xbc some words to make it long\n"));
	want(drv_text(d, text, 0), "text-of-300-kb", 0, NULL);
	want(drv_text(d, text, S), "session-of-300-kb", 0, NULL);
	n = 0;
	n += (size_t)snprintf(text, sizeof(text), "printf '%%s' '");
	memset(text + n, 'y', 300000);
	(void)snprintf(text + n + 300000, sizeof(text) - n - 300000, "' | wc -c");
	want(drv_text(d, text, 0), "text-with-a-long-word", 0, "300000\n");
	want(drv_text(d, text, S), "session-with-a-long-word", 0, "300000\n");
}

static void venv(struct drv *d)
{
	static const char make[] = "mkdir -p v/bin; printf 'deactivate() { PATH=$_OLD_VIRTUAL_PATH; export PATH; unset _OLD_VIRTUAL_PATH VIRTUAL_ENV; "
				   "unset -f deactivate; }\\nVIRTUAL_ENV=%s/v; export VIRTUAL_ENV\\n_OLD_VIRTUAL_PATH=$PATH\\nPATH=$VIRTUAL_ENV/bin:$PATH; export PATH\\n' "
				   "\"$PWD\" >v/bin/activate; printf '#!/bin/sh\\necho venv\\n' >v/bin/tool; chmod +x v/bin/tool";

	want(drv_text(d, make, S | INIT_EXEC_RESET), "venv-made", 0, "");
	want(drv_text(d, ". v/bin/activate; tool", S), "venv-activated", 0, "venv\n");
	want(drv_text(d, "tool; basename $VIRTUAL_ENV", S), "venv-is-carried-over", 0, "venv\nv\n");
	want(drv_text(d, "deactivate; command -v tool || echo off", S), "venv-deactivated", 0, "off\n");
	want(drv_text(d, "command -v tool || echo ${VIRTUAL_ENV-off}", S), "venv-stays-off", 0, "off\n");
}

/* The state's descriptors are nobody's business: closed where possible, out of the way else */
static void descriptors(struct drv *d)
{
	want(drv_text(d, "ls /proc/self/fd | awk '$1 > 9' | wc -l", S), "one-state-descriptor-at-most", 0, "1\n");
	want(drv_text(d, "echo garbage >/proc/self/fd/1023; export A=9", S), "state-with-garbage", 0, "");
	want(drv_text(d, "echo fine", S), "state-with-garbage-next", 0, "fine\n");
	/* a state that looks whole, by somebody who then kills the shell; one that is no text */
	want(drv_text(d, "export B=1", S), "state-before-forgery", 0, "");
	want(drv_text(d, "(printf 'export B=2\\n\\n#ak\\n' >/proc/$$/fd/1023; kill -9 $$)", S), "state-forged-and-shell-killed", 137, "");
	want(drv_text(d, "echo $B", S), "state-forged-and-shell-killed-next", 0, "1\n");
	want(drv_text(d, "printf 'export B=3\\n\\0\\n#ak\\n' >/proc/$$/fd/1023; exec true", S), "state-that-is-no-text", 0, "");
	want(drv_text(d, "echo $B", S), "state-that-is-no-text-next", 0, "1\n");
	want(drv_text(d, "printf 'export B=4\\n\\n#ak\\n' >/proc/$$/fd/1023; true", S), "state-forged-before-the-end", 0, "");
	want(drv_text(d, "echo $B", S), "state-is-the-shells-own", 0, "1\n");
}

int main(int argc, char *argv[])
{
	const bool bash = argc < 2 || strcmp(argv[1], "-p") != 0;
	static struct drv d;

	drv_start(&d, argc - (bash ? 1 : 2), argv + (bash ? 1 : 2));
	want(drv_text(&d, "echo ${BASH_VERSION:+bash}", 0), "the-shell", 0, bash ? "bash\n" : "\n");
	scripts(&d, bash);
	carries(&d, bash);
	disturbs(&d, bash);
	folder_gone(&d);
	overrides(&d, bash);
	many_sessions(&d);
	big(&d);
	if (bash) {
		venv(&d);
		descriptors(&d);
	}
	say(d.bad == 0, "ALLOWED", "every-message-was-expected", "%zu were not", d.bad);
	say(drv_stop(&d) >= 0, "ALLOWED", "stopped", "it was not");
	return 0;
}
