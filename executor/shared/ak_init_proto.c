/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wire form of init's configuration and messages; executor, set-up child and ak-init, no privilege. Encoding
 * is canonical: what decodes encodes back to the same bytes.
 */
#include "executor/shared/ak_init_proto.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "executor/shared/ak_init_int.h"
#include "executor/shared/ak_wire.h"

#define INSN_BYTES 8u	/* sizeof(struct sock_filter), linux/filter.h */

/* ---- configuration ---- */

static bool counts_fit(const struct init_config *c)
{
	return c->argc <= AK_INIT_STRINGS_MAX && c->envc <= AK_INIT_STRINGS_MAX &&
	       c->npaths <= AK_INIT_PATHS_MAX && c->nrlimits <= AK_INIT_RLIMITS_MAX &&
	       c->nkeep_fds <= AK_INIT_FDS_MAX && c->nroots <= AK_INIT_ROOTS_MAX && c->profile.count <= AK_INIT_FILTER_MAX &&
	       c->floor.count <= AK_INIT_FILTER_MAX && c->joined.count <= AK_INIT_FILTER_MAX;
}

static bool strings_valid(const char *const *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!v[i])
			return false;
	}
	return true;
}

/* what is held by others has nothing of ours on it */
static bool bare_valid(const struct init_config *c)
{
	if (!(c->flags & INIT_BARE))
		return !(c->flags & INIT_OWN_ENV);
	return c->profile.count == 0 && c->floor.count == 0 && !(c->flags & (INIT_LANDLOCK | INIT_LATE_FILTERS | INIT_LEAVES | INIT_LEARN)) &&
	       (!(c->flags & INIT_OWN_ENV) || c->envc == 0);
}

/* What belongs to serve mode stands only there, and what belongs to one command not there */
static bool mode_valid(const struct init_config *c)
{
	if ((c->flags & INIT_LEARN) && c->joined.count == 0)
		return false;
	if (!(c->flags & INIT_SERVE))
		return c->argc > 0 && c->nroots == 0 && !(c->flags & (INIT_LATE_FILTERS | INIT_LEAVES | INIT_ONCE | INIT_BARE | INIT_OWN_ENV));
	for (uint32_t i = 0; i < c->nroots; i++) {
		if (!c->roots[i] || c->roots[i][0] != '/')
			return false;
	}
	return c->argc == 0 && c->nkeep_fds == 0 && c->joined.count == 0 && !(c->flags & (INIT_TTY | INIT_PLAIN)) && bare_valid(c);
}

/* Everything the bytes could get wrong but their sizes; the counts are known to fit */
static bool config_valid(const struct init_config *c)
{
	if ((c->flags & ~(uint32_t)INIT_FLAGS_ALL) || !mode_valid(c) || !c->cwd || c->cwd[0] != '/')
		return false;
	if ((c->flags & (INIT_NO_TCP | INIT_SCOPES)) && !(c->flags & INIT_LANDLOCK))
		return false;
	for (uint32_t i = 0; i < c->npaths; i++) {
		const struct init_path *p = &c->paths[i];

		if (!p->path || p->access < INIT_PATH_RX || p->access > INIT_PATH_DEV)
			return false;
	}
	for (uint32_t i = 0; i < c->nrlimits; i++) {
		if (c->rlimits[i].resource >= AK_INIT_RLIMITS_MAX)
			return false;
	}
	for (uint32_t i = 0; i < c->nkeep_fds; i++) {
		if (c->keep_fds[i] < INIT_FIRST_KEPT_FD)
			return false;
	}
	return strings_valid(c->argv, c->argc) && strings_valid(c->envp, c->envc);
}

static void put_limits(struct ak_wr *w, const struct init_config *c)
{
	ak_wr_u32(w, c->landlock_abi);
	ak_wr_u32(w, c->npaths);
	for (uint32_t i = 0; i < c->npaths; i++) {
		ak_wr_str(w, c->paths[i].path);
		ak_wr_u32(w, c->paths[i].access);
	}
	ak_wr_u32(w, c->nrlimits);
	for (uint32_t i = 0; i < c->nrlimits; i++) {
		ak_wr_u32(w, c->rlimits[i].resource);
		ak_wr_u64(w, c->rlimits[i].soft);
		ak_wr_u64(w, c->rlimits[i].hard);
	}
	ak_wr_bytes(w, c->profile.insns, (size_t)c->profile.count * INSN_BYTES);
	ak_wr_bytes(w, c->floor.insns, (size_t)c->floor.count * INSN_BYTES);
	ak_wr_bytes(w, c->joined.insns, (size_t)c->joined.count * INSN_BYTES);
	ak_wr_u32(w, c->canary_skip);
	ak_wr_u32(w, c->nkeep_fds);
	for (uint32_t i = 0; i < c->nkeep_fds; i++)
		ak_wr_u32(w, (uint32_t)c->keep_fds[i]);
}

static void put_roots(struct ak_wr *w, const struct init_config *c)
{
	ak_wr_u32(w, c->nroots);
	for (uint32_t i = 0; i < c->nroots; i++)
		ak_wr_str(w, c->roots[i]);
}

long init_config_encode(const struct init_config *c, void *buf, size_t cap)
{
	struct ak_wr w;
	long n;

	if (!counts_fit(c))
		return -E2BIG;
	if (!config_valid(c))
		return -EINVAL;
	ak_wr_init(&w, buf, cap);
	/* the counts come first, where init_config_counts() finds them without reading the rest */
	ak_wr_u32(&w, AK_INIT_MAGIC);
	ak_wr_u32(&w, c->argc);
	ak_wr_u32(&w, c->envc);
	ak_wr_u32(&w, c->flags);
	ak_wr_u32(&w, c->weaken);
	ak_wr_str(&w, c->cwd);
	ak_wr_u32(&w, (uint32_t)c->tty_rows << 16 | c->tty_cols);
	put_limits(&w, c);
	if (c->flags & INIT_SERVE)
		put_roots(&w, c);
	for (uint32_t i = 0; i < c->argc; i++)
		ak_wr_str(&w, c->argv[i]);
	for (uint32_t i = 0; i < c->envc; i++)
		ak_wr_str(&w, c->envp[i]);
	n = ak_wr_done(&w);
	return n > (long)AK_INIT_CONFIG_MAX ? -E2BIG : n;
}

uint32_t init_get_count(struct ak_rd *r, uint32_t max)
{
	uint32_t n = ak_rd_u32(r);

	if (n <= max)
		return n;
	r->failed = true;
	return 0;
}

static struct init_filter get_filter(struct ak_rd *r)
{
	size_t len;
	const uint8_t *insns = ak_rd_bytes(r, &len);

	if (len % INSN_BYTES != 0 || len / INSN_BYTES > AK_INIT_FILTER_MAX) {
		r->failed = true;
		return (struct init_filter){ 0 };
	}
	return (struct init_filter){ .insns = insns, .count = (uint32_t)(len / INSN_BYTES) };
}

static void get_limits(struct ak_rd *r, struct init_config *c)
{
	c->landlock_abi = ak_rd_u32(r);
	c->npaths = init_get_count(r, AK_INIT_PATHS_MAX);
	for (uint32_t i = 0; i < c->npaths; i++) {
		c->paths[i].path = ak_rd_str(r);
		c->paths[i].access = ak_rd_u32(r);
	}
	c->nrlimits = init_get_count(r, AK_INIT_RLIMITS_MAX);
	for (uint32_t i = 0; i < c->nrlimits; i++) {
		c->rlimits[i].resource = ak_rd_u32(r);
		c->rlimits[i].soft = ak_rd_u64(r);
		c->rlimits[i].hard = ak_rd_u64(r);
	}
	c->profile = get_filter(r);
	c->floor = get_filter(r);
	c->joined = get_filter(r);
	c->canary_skip = ak_rd_u32(r);
	c->nkeep_fds = init_get_count(r, AK_INIT_FDS_MAX);
	for (uint32_t i = 0; i < c->nkeep_fds; i++)
		c->keep_fds[i] = (int32_t)ak_rd_u32(r);
}

static void get_roots(struct ak_rd *r, struct init_config *c)
{
	c->nroots = init_get_count(r, AK_INIT_ROOTS_MAX);
	for (uint32_t i = 0; i < c->nroots; i++)
		c->roots[i] = ak_rd_str(r);
}

/* Reads the head; the sum of the counts, or -EBADMSG */
static long get_head(struct ak_rd *r, uint32_t *ret_argc, uint32_t *ret_envc)
{
	uint32_t magic = ak_rd_u32(r);

	*ret_argc = init_get_count(r, AK_INIT_STRINGS_MAX);
	*ret_envc = init_get_count(r, AK_INIT_STRINGS_MAX);
	if (r->failed || magic != AK_INIT_MAGIC || r->len > AK_INIT_CONFIG_MAX)
		return -EBADMSG;
	return (long)*ret_argc + (long)*ret_envc;
}

static const char **get_strings(struct ak_rd *r, const char **to, uint32_t n)
{
	for (uint32_t i = 0; i < n && !r->failed; i++)
		to[i] = ak_rd_str(r);
	to[n] = NULL;
	return to;
}

/* all but the arrays, of which the counts say how much is meant */
static void clear(struct init_config *c)
{
	memset(c, 0, offsetof(struct init_config, rlimits));
}

static int decode(struct ak_rd *r, const char **strv, size_t nstrv, struct init_config *ret)
{
	uint32_t size;
	long n = get_head(r, &ret->argc, &ret->envc);

	if (n < 0)
		return (int)n;
	if ((size_t)n + 2 > nstrv)
		return -ENOSPC;
	ret->flags = ak_rd_u32(r);
	ret->weaken = ak_rd_u32(r);
	ret->cwd = ak_rd_str(r);
	size = ak_rd_u32(r);
	ret->tty_rows = (uint16_t)(size >> 16);
	ret->tty_cols = (uint16_t)size;
	get_limits(r, ret);
	if (ret->flags & INIT_SERVE)
		get_roots(r, ret);
	ret->argv = get_strings(r, strv, ret->argc);
	ret->envp = get_strings(r, strv + ret->argc + 1, ret->envc);
	return ak_rd_done(r) < 0 || !config_valid(ret) ? -EBADMSG : 0;
}

int init_config_decode(const void *buf, size_t len, const char **strv, size_t nstrv, struct init_config *ret)
{
	struct ak_rd r;
	int e;

	ak_rd_init(&r, buf, len);
	clear(ret);
	e = decode(&r, strv, nstrv, ret);
	if (e < 0)
		clear(ret);
	return e;
}

long init_config_counts(const void *buf, size_t len)
{
	uint32_t argc, envc;
	struct ak_rd r;

	ak_rd_init(&r, buf, len);
	return get_head(&r, &argc, &envc);
}

/* ---- messages ---- */

bool init_is_end(uint32_t wstatus)
{
	uint32_t sig = wstatus & 0x7f;

	/* wait(2): exited has no signal and a code above, killed has one and only the core bit; 0x7f means
	 * stopped */
	return sig == 0 ? wstatus <= 0xff00 && (wstatus & 0xff) == 0 : sig != 0x7f && wstatus <= 0xff;
}

static bool msg_valid(const struct init_msg *m)
{
	switch (m->type) {
	case INIT_MSG_FAILED:
		return m->stage >= INIT_STAGE_SETUP && m->stage <= INIT_STAGE_EXEC && m->code <= INIT_ERRNO_MAX &&
		       m->exit_code >= 125 && m->exit_code <= 127;
	case INIT_MSG_EXITED:
		return init_is_end(m->wstatus) && m->end_ns >= m->start_ns;
	case INIT_MSG_SIGNAL:
		return m->signo >= 1 && m->signo <= INIT_SIGNO_MAX;
	case INIT_MSG_LISTENER:
		return m->code <= INIT_ERRNO_MAX;
	case INIT_MSG_LEARNED:
		return m->learned != NULL;
	case INIT_MSG_PTY:
	case INIT_MSG_GO:
		return true;
	default:
		return false;
	}
}

/* Length of @s cut to @max bytes, not inside a UTF-8 sequence */
static size_t cut(const char *s, size_t max)
{
	size_t n = strnlen(s, max + 1);

	if (n <= max)
		return n;
	n = max;
	while (n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80)
		n--;
	return n;
}

static bool is_control(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}

/* ak_wr_str() of the first @n bytes of @s, control bytes replaced */
static void put_text(struct ak_wr *w, const char *s, size_t n)
{
	char text[AK_INIT_MSG_MAX];

	for (size_t i = 0; i < n; i++)
		text[i] = is_control(s[i]) ? '?' : s[i];
	text[n] = 0;
	ak_wr_str(w, text);
}

void init_put_texts(struct ak_wr *w, const char *text, const char *hint)
{
	const size_t frame = 2 * (sizeof(uint32_t) + 1); /* two lengths, two NULs */
	size_t room = w->cap - w->len, n;

	text = text ? text : "";
	hint = hint ? hint : "";
	if (w->failed || room < frame) {
		w->failed = true;
		return;
	}
	room -= frame;
	n = cut(text, room);
	put_text(w, text, n);
	put_text(w, hint, cut(hint, room - n));
}

long init_msg_encode(const struct init_msg *m, void *buf, size_t cap)
{
	struct ak_wr w;

	if (!msg_valid(m))
		return -EINVAL;
	ak_wr_init(&w, buf, cap < AK_INIT_MSG_MAX ? cap : AK_INIT_MSG_MAX);
	ak_wr_u32(&w, m->type);
	switch (m->type) {
	case INIT_MSG_FAILED:
		ak_wr_u32(&w, m->stage);
		ak_wr_u32(&w, m->code);
		ak_wr_u32(&w, m->exit_code);
		init_put_texts(&w, m->text, m->hint);
		break;
	case INIT_MSG_EXITED:
		ak_wr_u32(&w, m->wstatus);
		ak_wr_u64(&w, m->start_ns);
		ak_wr_u64(&w, m->end_ns);
		break;
	case INIT_MSG_SIGNAL:
		ak_wr_u32(&w, m->signo);
		break;
	case INIT_MSG_LISTENER:
		ak_wr_u32(&w, m->code);
		break;
	case INIT_MSG_LEARNED:
		ak_wr_bytes(&w, m->learned, AK_INIT_LEARNED_BYTES);
		break;
	default: /* PTY and GO are their type alone */
		break;
	}
	return ak_wr_done(&w);
}

const char *init_get_text(struct ak_rd *r)
{
	const char *s = ak_rd_str(r);

	if (!s)
		r->failed = true;
	for (const char *p = s; p && *p; p++) {
		if (is_control(*p))
			r->failed = true;
	}
	return s;
}

int init_msg_decode(const void *buf, size_t len, struct init_msg *ret)
{
	struct init_msg m = { 0 };
	struct ak_rd r;
	size_t n;

	if (len > AK_INIT_MSG_MAX)
		return -EBADMSG;
	ak_rd_init(&r, buf, len);
	m.type = ak_rd_u32(&r);
	switch (m.type) {
	case INIT_MSG_FAILED:
		m.stage = ak_rd_u32(&r);
		m.code = ak_rd_u32(&r);
		m.exit_code = ak_rd_u32(&r);
		m.text = init_get_text(&r);
		m.hint = init_get_text(&r);
		break;
	case INIT_MSG_EXITED:
		m.wstatus = ak_rd_u32(&r);
		m.start_ns = ak_rd_u64(&r);
		m.end_ns = ak_rd_u64(&r);
		break;
	case INIT_MSG_SIGNAL:
		m.signo = ak_rd_u32(&r);
		break;
	case INIT_MSG_LISTENER:
		m.code = ak_rd_u32(&r);
		break;
	case INIT_MSG_LEARNED:
		m.learned = ak_rd_bytes(&r, &n);
		r.failed |= n != AK_INIT_LEARNED_BYTES;
		break;
	default: /* PTY and GO are their type alone; msg_valid() refuses every other */
		break;
	}
	if (ak_rd_done(&r) < 0 || !msg_valid(&m))
		return -EBADMSG;
	*ret = m;
	return 0;
}
