/* SPDX-License-Identifier: Apache-2.0 */
/* Lines edited on the terminal. Process: agent. Privilege: none. Source: editline(3), termios(3), xterm's "bracketed paste mode". */
#include "agent/line.h"

#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "agent/cancel.h"
#include "agent/chat_words.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_json_out.h"

#define KEY_INTERRUPT 0x03 /* Ctrl-C */
#define KEY_SUSPEND 0x1a   /* Ctrl-Z */
#define PASTE_BEGIN "\033[200~"
#define PASTE_END "\033[201~"
#define PASTE_ON "\033[?2004h"
#define PASTE_OFF "\033[?2004l"
#define REPLACEMENT 0xfffd

/* why a line ended before its end */
enum broken { WHOLE, DROPPED, ENDED, CANCELLED, GONE };

struct line {
	EditLine *el;
	History *history;
	FILE *nowhere;		/* for what libedit has to say about the terminal's description */
	const struct cancel *cancel;
	int signals;		/* SIGWINCH, SIGTSTP, SIGCONT */
	struct termios found;	/* the terminal's modes while no line is read */
	bool pastes_marked;	/* the terminal can mark pastes */
	const char *prompt;
	bool more;		/* it is not the message's first line */
	struct chat_pastes pastes;
	enum broken broken;
	int signal;
	/* bytes that were read and not used yet. One is read at a time, so that the rest stays the terminal's, but for a paste */
	unsigned char in[4096];
	size_t at, have;
	bool many;
};

static struct line *of(EditLine *el)
{
	struct line *l = NULL;

	(void)el_get(el, EL_CLIENTDATA, &l);
	return l;
}

static void print(const char *text)
{
	(void)ak_write_all(STDOUT_FILENO, text, strlen(text));
}

static char *prompt_of(EditLine *el)
{
	return (char *)(uintptr_t)of(el)->prompt;
}

/* ---- the terminal's modes, and signals ---- */

static void give_back(struct line *l)
{
	(void)el_set(l->el, EL_PREP_TERM, 0);
	if (l->pastes_marked)
		print(PASTE_OFF);
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &l->found);
}

static void hold(int how, int signo)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, signo);
	(void)sigprocmask(how, &set, NULL);
}

/* Return: a signal that waits; 0: none */
static int next_signal(struct line *l)
{
	struct signalfd_siginfo info;

	return read(l->signals, &info, sizeof(info)) == (ssize_t)sizeof(info) ? (int)info.ssi_signo : 0;
}

static void take_up(struct line *l)
{
	struct termios now;

	/* what the user has set meanwhile is what is given back */
	if (tcgetattr(STDIN_FILENO, &now) == 0 && (now.c_lflag & ICANON))
		l->found = now;
	if (l->pastes_marked)
		print(PASTE_ON);
	(void)el_set(l->el, EL_PREP_TERM, 1);
}

/* until somebody says SIGCONT; a process group that nobody could continue is not stopped by the kernel */
static void stop_here(struct line *l)
{
	give_back(l);
	print("\n");
	hold(SIG_UNBLOCK, SIGTSTP);
	(void)raise(SIGTSTP);
	hold(SIG_BLOCK, SIGTSTP);
	while (next_signal(l) != 0)
		;
	take_up(l);
	(void)el_set(l->el, EL_REFRESH);
}

static void on_signals(struct line *l)
{
	for (int signo; (signo = next_signal(l)) != 0;) {
		if (signo == SIGTSTP) {
			stop_here(l);
			return;
		}
		/* stopped without being asked: whoever did it may have changed the modes */
		if (signo == SIGCONT)
			take_up(l);
		el_resize(l->el);
		(void)el_set(l->el, EL_REFRESH);
	}
}

/* ---- bytes ---- */

static void on_cancel(struct line *l)
{
	int what = cancel_take(l->cancel);

	l->broken = what == SIGINT || what == 0 ? DROPPED : CANCELLED;
	l->signal = what;
}

static void on_interrupt(struct line *l)
{
	const LineInfo *li = el_line(l->el);

	l->broken = li->lastchar == li->buffer && !l->more ? ENDED : DROPPED;
}

/* Return: 1 with a byte; 0: the time passed; -1: the line is broken */
static int next_byte(struct line *l, unsigned char *ret, int timeout_ms)
{
	if (l->at < l->have) {
		*ret = l->in[l->at++];
		return 1;
	}
	for (;;) {
		struct pollfd p[3] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .fd = l->cancel->fd, .events = POLLIN },
				       { .fd = l->signals, .events = POLLIN } };
		int n = poll(p, 3, timeout_ms);

		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR)
			break;
		if (n < 0)
			continue;
		if (p[1].revents) {
			on_cancel(l);
			return -1;
		}
		if (p[2].revents)
			on_signals(l);
		if (!p[0].revents)
			continue;

		ssize_t got = read(STDIN_FILENO, l->in, l->many ? sizeof(l->in) : 1);

		if (got > 0) {
			l->have = (size_t)got;
			l->at = 1;
			*ret = l->in[0];
			return 1;
		}
		if (got == 0 || (errno != EINTR && errno != EAGAIN))
			break;
	}
	l->broken = GONE;
	return -1;
}

/* the rest of a character of several bytes. Return: as next_byte() */
static int next_rest(struct line *l, unsigned char first, wchar_t *ret)
{
	size_t need = ak_utf8_need(first), n = 1;
	char buf[8] = { (char)first };
	mbstate_t state = { 0 };

	*ret = REPLACEMENT;
	while (n < need) {
		unsigned char c = 0;
		int rc = next_byte(l, &c, LINE_PASTE_END_MS);

		if (rc <= 0)
			return rc < 0 ? rc : 1;
		buf[n++] = (char)c;
	}
	if (need > 1 && ak_utf8_valid(buf, need) && mbrtowc(ret, buf, need, &state) != need)
		*ret = REPLACEMENT;
	return 1;
}

/* for libedit: the next character, in every mode that it has. Return: 1; 0: no more */
static int get_char(EditLine *el, wchar_t *ret)
{
	struct line *l = of(el);

	for (;;) {
		unsigned char c = 0;

		if (l->broken != WHOLE || next_byte(l, &c, -1) < 0)
			return 0;
		if (c == KEY_SUSPEND) {
			stop_here(l);
			continue;
		}
		if (c == KEY_INTERRUPT) {
			on_interrupt(l);
			return 0;
		}
		if (c >= 0x80)
			return next_rest(l, c, ret) == 1;
		*ret = c;
		return 1;
	}
}

/* ---- pastes ---- */

/* nothing but Ctrl-C was read at once: a key, and not a byte of what is pasted */
static bool is_key(const struct line *l)
{
	for (size_t i = 0; i < l->have; i++) {
		if (l->in[i] != KEY_INTERRUPT)
			return false;
	}
	return l->at == 1;
}

/* up to its end mark, which is left out; Ctrl-C drops one that has none. Return: -1: the line is broken */
static int read_paste(struct line *l, struct ak_buf *out)
{
	static const char end[] = PASTE_END;
	size_t have = 0; /* of the end mark */

	while (have < sizeof(end) - 1) {
		unsigned char c = 0;
		int rc = next_byte(l, &c, LINE_PASTE_END_MS);

		if (rc < 0)
			return rc;
		if (rc == 0)
			break;
		if (c == KEY_INTERRUPT && is_key(l)) {
			l->have = l->at = 0;
			l->broken = DROPPED;
			return -1;
		}
		if (c == (unsigned char)end[have]) {
			have++;
			continue;
		}
		ak_buf_add(out, end, have); /* it was none; no part of it but its first byte can begin one */
		have = c == (unsigned char)end[0];
		if (!have)
			ak_buf_add(out, &c, 1);
	}
	return 0;
}

static unsigned char paste(EditLine *el, int key)
{
	struct line *l = of(el);
	struct ak_buf text = { .max = LINE_MAX_BYTES };
	const char *shown = NULL;
	int rc;

	(void)key;
	l->many = true;
	rc = read_paste(l, &text);
	l->many = false;
	if (rc < 0) {
		ak_buf_release(&text);
		return CC_EOF;
	}
	if (text.len > 0) {
		text.len = chat_paste_clean(text.data, text.len);
		if (chat_paste_plain(text.data, text.len)) {
			text.data[strcspn(text.data, "\n")] = '\0';
			shown = text.data;
		} else {
			shown = chat_paste_keep(&l->pastes, text.data, text.len);
		}
	}
	if (shown && *shown && el_insertstr(el, shown) == 0) {
		ak_buf_release(&text);
		return CC_REFRESH;
	}
	ak_buf_release(&text);
	return CC_REFRESH_BEEP;
}

static unsigned char line_break(EditLine *el, int key)
{
	(void)key;
	return el_insertstr(el, "\n") == 0 ? CC_REFRESH : CC_ERROR;
}

/* ---- opening ---- */

static int take_signals(struct line *l, struct ak_err *err)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGWINCH);
	(void)sigaddset(&set, SIGCONT);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)sigaddset(&set, SIGTSTP);
	l->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return l->signals < 0 ? ak_err_sys(err, errno, "take signals as a descriptor") : 0;
}

static void set_up(struct line *l)
{
	HistEvent ev;

	(void)el_set(l->el, EL_CLIENTDATA, l);
	(void)el_set(l->el, EL_SIGNAL, 0);
	(void)el_set(l->el, EL_EDITOR, "emacs");
	(void)el_set(l->el, EL_PROMPT, prompt_of);
	(void)el_set(l->el, EL_GETCFN, get_char);
	/* keys are no signals and stop no output, and line ends of a paste stay what they are */
	(void)el_set(l->el, EL_SETTY, "-d", "-isig", "-icrnl", "-inlcr", "-ixon", NULL);
	(void)el_set(l->el, EL_ADDFN, "ak-paste", "take a paste as a whole", paste);
	(void)el_set(l->el, EL_ADDFN, "ak-line-break", "a line break in the message", line_break);
	(void)el_set(l->el, EL_BIND, PASTE_BEGIN, "ak-paste", NULL);
	(void)el_set(l->el, EL_BIND, "\033\r", "ak-line-break", NULL);
	(void)el_set(l->el, EL_BIND, "\033\n", "ak-line-break", NULL);
	(void)el_set(l->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
	(void)el_set(l->el, EL_BIND, "^I", "ed-insert", NULL);
	/* commands to libedit itself, which can rebind every key; its reader of them does not stand everything that can be typed */
	(void)el_set(l->el, EL_BIND, "\033x", "ed-unassigned", NULL);
	(void)el_set(l->el, EL_BIND, "\033X", "ed-unassigned", NULL);
	(void)history(l->history, &ev, H_SETSIZE, LINE_HISTORY);
	(void)history(l->history, &ev, H_SETUNIQUE, 1);
	(void)el_set(l->el, EL_HIST, history, l->history);
}

int line_open(const struct cancel *cancel, struct line **ret, struct ak_err *err)
{
	struct line *l = calloc(1, sizeof(*l));
	const char *term = getenv("TERM");
	int rc;

	if (!l)
		return ak_err_set(err, ENOMEM, "no memory for the line editor");
	l->signals = -1;
	l->cancel = cancel;
	l->prompt = "";
	l->pastes_marked = term && *term && strcmp(term, "dumb") != 0;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		(void)setlocale(LC_CTYPE, "");
	rc = tcgetattr(STDIN_FILENO, &l->found) < 0 ? ak_err_sys(err, errno, "ask for the terminal's modes") : take_signals(l, err);
	if (rc == 0) {
		l->history = history_init();
		l->nowhere = fopen("/dev/null", "we");
		l->el = l->history && l->nowhere ? el_init("ak", stdin, stdout, l->nowhere) : NULL;
		if (!l->el)
			rc = ak_err_set(err, ENOMEM, "no memory for the line editor");
	}
	if (rc < 0) {
		line_close(l);
		return rc;
	}
	set_up(l);
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &l->found);
	*ret = l;
	return 0;
}

void line_close(struct line *l)
{
	if (!l)
		return;
	if (l->el) {
		el_end(l->el);
		(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &l->found);
	}
	if (l->history)
		history_end(l->history);
	if (l->nowhere)
		(void)fclose(l->nowhere);
	chat_pastes_release(&l->pastes);
	ak_fd_close(&l->signals);
	free(l);
}

int line_remember(struct line *l, const char *text)
{
	HistEvent ev;

	return history(l->history, &ev, H_ENTER, text) < 0 ? -ENOMEM : 0;
}

/* ---- reading ---- */

/* one line, with its pastes in place. Return: false: it is broken, or the message's last */
static bool read_one(struct line *l, struct ak_buf *out)
{
	const char *text;
	bool more = false;
	int n = 0;

	text = el_gets(l->el, &n);
	if (!text || n <= 0) {
		/* the end of input behind a line that goes on takes back the message, not the chat */
		if (l->broken == WHOLE)
			l->broken = l->more ? DROPPED : ENDED;
	} else if (l->broken == WHOLE) {
		size_t len = (size_t)n - (text[n - 1] == '\n');
		char *line = strndup(text, len);

		more = line && chat_goes_on(line, len);
		if (more)
			line[len - 1] = '\n';
		if (line)
			chat_paste_expand(&l->pastes, line, out);
		else
			out->failed = true;
		free(line);
	}
	return more && !out->failed;
}

/* l->broken says whether it is whole */
static void read_message(struct line *l, const char *prompt, struct ak_buf *out)
{
	l->broken = WHOLE;
	l->more = false;
	l->prompt = prompt;
	chat_pastes_release(&l->pastes);
	while (read_one(l, out)) {
		l->more = true;
		l->prompt = "... ";
	}
}

enum line_end line_read(struct line *l, const char *prompt, struct ak_buf *out, int *ret_signal)
{
	size_t start = out->len;

	hold(SIG_BLOCK, SIGTSTP);
	while (next_signal(l) != 0)
		;
	take_up(l);
	for (;;) {
		read_message(l, prompt, out);
		if (l->broken != DROPPED)
			break;
		print(" [dropped]\n");
		out->len = start;
		if (out->data)
			out->data[start] = '\0';
		(void)el_set(l->el, EL_PREP_TERM, 1);
	}
	give_back(l);
	hold(SIG_UNBLOCK, SIGTSTP);
	*ret_signal = l->signal;
	if (l->broken == WHOLE)
		return out->failed ? LINE_MEMORY : LINE_TEXT;
	print("\n");
	return l->broken == CANCELLED ? LINE_CANCELLED : l->broken == GONE ? LINE_GONE : LINE_EOF;
}
