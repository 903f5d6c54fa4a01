/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets text and harmless sequences through to a terminal and drops the rest. Pure. Process: executor.
 * Privilege: none.
 *
 * Everything is allow-listed: a byte or sequence that no rule names is dropped. A sequence is collected whole
 * and judged at its last byte, so that never a part of one is shown. 8-bit controls are dropped one by one
 * and start nothing: after that the terminal does not see a sequence either, and text in an old character set
 * does not vanish behind a byte that looks like one.
 * Sources: ECMA-48 (5th ed.) 5.4-5.6; Xterm Control Sequences (ctlseqs).
 */
#include "executor/term_filter.h"

#include <string.h>

enum { ESC = 0x1b, BEL = 0x07, CAN = 0x18, SUB = 0x1a, SO = 0x0e, SI = 0x0f, DEL = 0x7f };

enum state {
	ST_GROUND,
	ST_ESC,		/* after ESC */
	ST_ESC_INTER,	/* after ESC and intermediate bytes, which are in seq */
	ST_CSI,		/* after ESC [; what follows is in seq */
	ST_CSI_LONG,	/* as before, but too long: dropped to its end */
	ST_OSC,		/* after ESC ]; what follows is in seq as long as it fits */
	ST_STRING,	/* in DCS, SOS, PM, APC or an over-long OSC: dropped to its end */
	ST_OSC_ESC,	/* ESC in ST_OSC: the end if \ follows */
	ST_STRING_ESC,
};

/*
 * Modes that may be changed; the bit number in term_filter.modes is the row. Mouse, focus and paste reports
 * answer the user.
 */
struct mode {
	uint16_t number;
	bool dec;	/* private: CSI ? */
	bool start;	/* state of a fresh terminal */
};

/* clang-format off: one row a line */
static const struct mode modes[] = {
	{ 4, false, false },	/* insert */
	{ 1, true, false },	/* cursor keys send application codes */
	{ 5, true, false },	/* reverse video */
	{ 6, true, false },	/* origin */
	{ 7, true, true },	/* auto-wrap */
	{ 9, true, false },	/* mouse: X10 */
	{ 12, true, false },	/* blinking cursor */
	{ 25, true, true },	/* cursor shown */
	{ 47, true, false },	/* alternate screen */
	{ 66, true, false },	/* application keypad */
	{ 1000, true, false },	/* mouse: buttons */
	{ 1002, true, false },	/* mouse: drags */
	{ 1003, true, false },	/* mouse: all motion */
	{ 1004, true, false },	/* focus reports */
	{ 1005, true, false },	/* mouse: UTF-8 coordinates */
	{ 1006, true, false },	/* mouse: SGR coordinates */
	{ 1007, true, false },	/* alternate scroll */
	{ 1015, true, false },	/* mouse: urxvt coordinates */
	{ 1047, true, false },	/* alternate screen, cleared */
	{ 1048, true, false },	/* saved cursor: its reset only moves the cursor */
	{ 1049, true, false },	/* alternate screen and saved cursor */
	{ 2004, true, false },	/* bracketed paste */
	{ 2026, true, false },	/* synchronised output */
};

/* clang-format on */
#define NMODES (sizeof(modes) / sizeof(modes[0]))
#define MODE_CHARSET (1u << 30)		/* G0 is not ASCII */
#define MODE_SHIFT (1u << 31)		/* SO: G1 is shown */

/*
 * CSI sequences without a private marker that the interactive policy passes: final, intermediate, parameters
 * at most
 */
/* clang-format off: as above */
static const struct {
	char final;
	char inter;
	uint8_t params;
} csi_rules[] = {
	{ '@', 0, 1 },	/* insert characters */
	{ 'A', 0, 1 },	{ 'B', 0, 1 }, { 'C', 0, 1 }, { 'D', 0, 1 },	/* cursor up, down, right, left */
	{ 'E', 0, 1 },	{ 'F', 0, 1 }, { 'G', 0, 1 }, { 'H', 0, 2 },	/* next, previous line, column, position */
	{ 'I', 0, 1 },	{ 'Z', 0, 1 },	/* tab forward, back */
	{ 'J', 0, 1 },	{ 'K', 0, 1 }, { 'X', 0, 1 },	/* erase in screen, in line, characters */
	{ 'L', 0, 1 },	{ 'M', 0, 1 }, { 'P', 0, 1 },	/* insert and delete lines, delete characters */
	{ 'S', 0, 1 },	{ 'T', 0, 1 },	/* scroll (T with more parameters is mouse tracking) */
	{ '`', 0, 1 },	{ 'a', 0, 1 }, { 'd', 0, 1 }, { 'e', 0, 1 }, { 'f', 0, 2 },	/* positions */
	{ 'b', 0, 1 },	/* repeat */
	{ 'g', 0, 1 },	/* clear tab stops */
	{ 'r', 0, 2 },	/* scroll region */
	{ 's', 0, 0 },	{ 'u', 0, 0 },	/* save and restore the cursor */
	{ 'q', ' ', 1 },	/* cursor style */
	{ 'p', '!', 0 },	/* soft reset */
};
/* clang-format on */

struct sink {
	uint8_t *p;
	size_t n;
};

static void put(struct sink *o, const void *p, size_t n)
{
	memcpy(o->p + o->n, p, n);
	o->n += n;
}

static void put_byte(struct sink *o, uint8_t b)
{
	o->p[o->n++] = b;
}

static void put_text(struct sink *o, const char *s)
{
	put(o, s, strlen(s));
}

static void put_number(struct sink *o, unsigned v)
{
	uint8_t digits[10];
	size_t n = 0;

	do {
		digits[n++] = (uint8_t)('0' + v % 10);
		v /= 10;
	} while (v);
	while (n)
		put_byte(o, digits[--n]);
}

void term_filter_init(struct term_filter *f, enum term_policy policy)
{
	*f = (struct term_filter){ .policy = policy, .state = ST_GROUND };
}

/* --- CSI --- */

#define CSI_PARAMS_MAX 32u
#define CSI_NUMBER_MAX 9999u	/* no screen is larger, and no terminal shall be busy with a repeat of 10^9 */

struct csi {
	uint8_t marker;	/* one of < = > ?, or 0 */
	uint8_t inter;	/* intermediate byte, or 0 */
	uint8_t final;
	size_t params;	/* 0: none given */
	uint16_t param[CSI_PARAMS_MAX];
};

/* Return: false for a form no rule can match */
static bool csi_parse(const uint8_t *s, size_t n, struct csi *ret)
{
	struct csi c = { .final = s[n - 1] };
	size_t i = 0;
	unsigned v = 0;

	if (s[0] >= '<' && s[0] <= '?')
		c.marker = s[i++];
	for (size_t first = i; i < n - 1 && s[i] >= '0' && s[i] <= ';'; i++) {
		if (i == first)
			c.params = 1;
		if (s[i] <= '9') {
			v = v * 10 + s[i] - '0';
			if (v > CSI_NUMBER_MAX)
				return false;
			c.param[c.params - 1] = (uint16_t)v;
			continue;
		}
		if (++c.params > CSI_PARAMS_MAX)	/* ; or, in colours, : */
			return false;
		v = 0;
	}
	if (i < n - 1 && s[i] >= 0x20 && s[i] <= 0x2f)
		c.inter = s[i++];
	*ret = c;
	return i == n - 1;
}

static void csi_sgr(struct term_filter *f, const struct csi *c, struct sink *o)
{
	put_text(o, "\033[");
	put(o, f->seq, f->seq_len);
	f->sgr = c->params > 1 || (c->params == 1 && c->param[0] != 0);
}

/* Set or reset modes: the allowed ones of the list are passed, each on its own */
static void csi_modes(struct term_filter *f, const struct csi *c, struct sink *o)
{
	for (size_t i = 0; i < c->params; i++) {
		for (size_t m = 0; m < NMODES; m++) {
			if (modes[m].number != c->param[i] || modes[m].dec != (c->marker == '?'))
				continue;
			if ((c->final == 'h') != modes[m].start)
				f->modes |= 1u << m;
			else
				f->modes &= ~(1u << m);
			put_text(o, modes[m].dec ? "\033[?" : "\033[");
			put_number(o, modes[m].number);
			put_byte(o, c->final);
		}
	}
}

static void csi_end(struct term_filter *f, struct sink *o)
{
	struct csi c;

	if (!csi_parse(f->seq, f->seq_len, &c))
		return;
	if (c.final == 'm' && !c.marker && !c.inter) {
		csi_sgr(f, &c, o);
		return;
	}
	if (f->policy == TERM_STRICT || memchr(f->seq, ':', f->seq_len))
		return;
	if ((c.final == 'h' || c.final == 'l') && !c.inter && (!c.marker || c.marker == '?')) {
		csi_modes(f, &c, o);
		return;
	}
	for (size_t i = 0; !c.marker && i < sizeof(csi_rules) / sizeof(csi_rules[0]); i++) {
		if (c.final != (uint8_t)csi_rules[i].final || c.inter != (uint8_t)csi_rules[i].inter ||
		    c.params > csi_rules[i].params)
			continue;
		put_text(o, "\033[");
		put(o, f->seq, f->seq_len);
		return;
	}
}

/* --- ESC x, ESC ( x --- */

static void esc_end(struct term_filter *f, uint8_t final, struct sink *o)
{
	bool charset;

	if (f->policy == TERM_STRICT || f->seq_len > 1)
		return;
	/* save and restore cursor, index, next line, tab stop, reverse index, keypad modes */
	if (f->seq_len == 0 && strchr("78DEHM=>", final)) {
		put_byte(o, ESC);
		put_byte(o, final);
	}
	charset = f->seq_len == 1 && strchr("()*+", f->seq[0]) && strchr("0AB", final);
	if (!charset)
		return;
	put_byte(o, ESC);
	put_byte(o, f->seq[0]);
	put_byte(o, final);
	if (f->seq[0] == '(')
		f->modes = final == 'B' ? f->modes & ~MODE_CHARSET : f->modes | MODE_CHARSET;
}

/* --- UTF-8 --- */

static void utf8_drop(struct term_filter *f, struct sink *o)
{
	if (f->utf8_len)
		put_text(o, "\xef\xbf\xbd");	/* U+FFFD */
	f->utf8_len = 0;
	f->utf8_left = 0;
}

static bool utf8_start(struct term_filter *f, uint8_t b)
{
	if (b < 0xc2 || b > 0xf4)
		return false;
	f->utf8[0] = b;
	f->utf8_len = 1;
	f->utf8_left = b < 0xe0 ? 1 : b < 0xf0 ? 2 : 3;
	return true;
}

/*
 * May @b stand second after @first? Rules out over-long forms, surrogates and what is beyond U+10FFFF (RFC
 * 3629 section 4)
 */
static bool utf8_second_ok(uint8_t first, uint8_t b)
{
	switch (first) {
	case 0xe0:
		return b >= 0xa0;
	case 0xed:
		return b < 0xa0;
	case 0xf0:
		return b >= 0x90;
	case 0xf4:
		return b < 0x90;
	default:
		return true;
	}
}

/* Return: true when @b was the next byte of the character */
static bool utf8_next(struct term_filter *f, uint8_t b, struct sink *o)
{
	if ((b & 0xc0) != 0x80 || (f->utf8_len == 1 && !utf8_second_ok(f->utf8[0], b))) {
		utf8_drop(f, o);
		return false;
	}
	f->utf8[f->utf8_len++] = b;
	if (--f->utf8_left)
		return true;
	if (f->utf8[0] != 0xc2 || f->utf8[1] >= 0xa0)	/* else C1 */
		put(o, f->utf8, f->utf8_len);
	f->utf8_len = 0;
	return true;
}

/* Length of the valid character at @s that is no control; 0: none */
static size_t utf8_valid(const uint8_t *s, size_t n)
{
	struct term_filter f = { 0 };
	uint8_t buf[16];
	struct sink o = { .p = buf };
	size_t i = 0;

	if (s[0] >= 0x20 && s[0] < DEL)
		return 1;
	if (!utf8_start(&f, s[0]))
		return 0;
	while (f.utf8_left && ++i < n)
		if (!utf8_next(&f, s[i], &o))
			return 0;
	return f.utf8_left || o.n == 0 ? 0 : i + 1;
}

/* --- control strings --- */

/* Only OSC 0 and 2, the title, with nothing but text in it */
static void osc_end(struct term_filter *f, struct sink *o)
{
	size_t i = 2, k;

	if (f->policy == TERM_STRICT || f->seq_len < 2 || (f->seq[0] != '0' && f->seq[0] != '2') ||
	    f->seq[1] != ';')
		return;
	put_text(o, "\033]");
	put(o, f->seq, 2);
	while (i < f->seq_len) {
		k = utf8_valid(f->seq + i, f->seq_len - i);
		put(o, f->seq + i, k);
		i += k ? k : 1;
	}
	put_byte(o, BEL);
}

static void enter(struct term_filter *f, enum state s)
{
	f->state = s;
	f->seq_len = 0;
	f->str_len = 0;
}

static void in_string(struct term_filter *f, uint8_t b, struct sink *o)
{
	if (b == BEL || b == CAN || b == SUB) {
		if (b == BEL && f->state == ST_OSC)
			osc_end(f, o);
		enter(f, ST_GROUND);
	} else if (b == ESC) {
		f->state = f->state == ST_OSC ? ST_OSC_ESC : ST_STRING_ESC;
	} else if (f->state == ST_OSC && f->seq_len < TERM_SEQ_MAX) {
		f->seq[f->seq_len++] = b;
	} else {
		f->state = ST_STRING;
		if (++f->str_len >= TERM_STRING_MAX)
			enter(f, ST_GROUND);
	}
}

/* --- the machine --- */

static void ground(struct term_filter *f, uint8_t b, struct sink *o)
{
	if (f->utf8_left && utf8_next(f, b, o))
		return;
	if (b == ESC) {
		enter(f, ST_ESC);
	} else if ((b >= 0x20 && b < DEL) || b == '\n' || b == '\t' || b == '\r' || b == '\b') {
		put_byte(o, b);
	} else if (b >= 0xa0) {
		if (!utf8_start(f, b))
			put_text(o, "\xef\xbf\xbd");
	} else if (f->policy == TERM_INTERACTIVE && (b == BEL || b == SO || b == SI)) {
		put_byte(o, b);
		if (b != BEL)
			f->modes = b == SO ? f->modes | MODE_SHIFT : f->modes & ~MODE_SHIFT;
	}
}

static void after_esc(struct term_filter *f, uint8_t b, struct sink *o)
{
	if (b == '[') {
		enter(f, ST_CSI);
	} else if (b == ']') {
		enter(f, ST_OSC);
	/* DCS SOS PM APC; k: title in screen and tmux */
	} else if (b == 'P' || b == 'X' || b == '^' || b == '_' || b == 'k') {
		enter(f, ST_STRING);
	} else if (b >= 0x20 && b < 0x30) {
		enter(f, ST_ESC_INTER);
		f->seq[f->seq_len++] = b;
	} else if (b >= 0x30 && b < DEL) {
		f->seq_len = 0;
		esc_end(f, b, o);
		enter(f, ST_GROUND);
	} else {	/* a control or 8-bit byte ends it */
		enter(f, ST_GROUND);
		ground(f, b, o);
	}
}

/* In the parameters of CSI or the intermediate bytes of ESC: collects, and judges at the final byte */
static void in_sequence(struct term_filter *f, uint8_t b, struct sink *o)
{
	bool csi = f->state != ST_ESC_INTER;
	uint8_t final = csi ? 0x40 : 0x30;

	if (b < 0x20 || b >= DEL) {
		enter(f, ST_GROUND);
		ground(f, b, o);
		return;
	}
	if (f->seq_len == TERM_SEQ_MAX - 3)	/* with ESC [ and the final byte: TERM_SEQ_MAX */
		f->state = csi ? ST_CSI_LONG : f->state;
	else if (csi || b < final)
		f->seq[f->seq_len++] = b;
	if (b < final)
		return;
	if (f->state == ST_CSI)
		csi_end(f, o);
	else if (!csi)
		esc_end(f, b, o);
	enter(f, ST_GROUND);
}

static void step(struct term_filter *f, uint8_t b, struct sink *o)
{
	switch (f->state) {
	case ST_ESC:
		after_esc(f, b, o);
		break;
	case ST_ESC_INTER:
	case ST_CSI:
	case ST_CSI_LONG:
		in_sequence(f, b, o);
		break;
	case ST_OSC:
	case ST_STRING:
		in_string(f, b, o);
		break;
	case ST_OSC_ESC:
	case ST_STRING_ESC:
		if (b == '\\') {
			if (f->state == ST_OSC_ESC)
				osc_end(f, o);
			enter(f, ST_GROUND);
		} else {
			enter(f, ST_ESC);
			after_esc(f, b, o);
		}
		break;
	default:
		ground(f, b, o);
	}
}

size_t term_filter_run(struct term_filter *f, const uint8_t *in, size_t len, uint8_t *out)
{
	struct sink o = { .p = out };
	size_t i = 0;

	while (i < len) {
		size_t n = i;

		if (f->state == ST_GROUND && !f->utf8_left)
			while (n < len && in[n] >= 0x20 && in[n] < DEL)
				n++;
		if (n > i) {
			put(&o, in + i, n - i);
			i = n;
		} else {
			step(f, in[i++], &o);
		}
	}
	return o.n;
}

size_t term_filter_end(struct term_filter *f, uint8_t *out)
{
	struct sink o = { .p = out };

	utf8_drop(f, &o);
	if (f->sgr)
		put_text(&o, "\033[0m");
	for (size_t m = 0; m < NMODES; m++) {
		if (!(f->modes & (1u << m)))
			continue;
		put_text(&o, modes[m].dec ? "\033[?" : "\033[");
		put_number(&o, modes[m].number);
		put_byte(&o, modes[m].start ? 'h' : 'l');
	}
	if (f->modes & MODE_CHARSET)
		put_text(&o, "\033(B");
	if (f->modes & MODE_SHIFT)
		put_byte(&o, SI);
	term_filter_init(f, f->policy);
	return o.n;
}
