/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes secrets out of text before it is stored or shown to a model. Pure. Process: agent. Privilege: none.
 *
 * Replaced by "[REDACTED]", in one pass over the bytes:
 * - tokens by their shape: sk-ant-, sk-, ghp_ gho_ ghs_ ghr_ ghu_, github_pat_, glpat-, xox?-, AKIA, AIza, hf_, sk_live_, rk_live_ with
 *   as many characters behind them as real ones have;
 * - PEM private keys, from the BEGIN line to the END line or the end of the text;
 * - the value of an Authorization header, to the end of the line or the closing quote;
 * - the value of a labelled assignment: a name that is or ends with key, secret, token or password (API_KEY=, "client_secret":, --token=), = or :,
 *   12 or more characters. The label stays. See docs/architecture.md for what is taken for a value and what for code.
 * - values that the caller knows (redact_known()).
 * Everything else passes byte for byte. The result does not depend on how the text was cut into pieces, and redacting twice
 * changes nothing.
 */
#ifndef AK_AGENT_REDACT_H
#define AK_AGENT_REDACT_H

#include <stdbool.h>
#include <stddef.h>

struct ak_buf;

#define REDACT_MARK "[REDACTED]"
#define REDACT_KNOWN_MAX 16u
#define REDACT_KNOWN_LEN 4096u
#define REDACT_HOLD 8192u /* bytes of text that may be held back until it is clear what they are */

struct redact_known {
	const char *text;
	size_t len;
};

/**
 * struct redact - one text, in pieces; private
 * @out:	borrowed; what is clear is appended to it. It may have a sink.
 * @count:	what was replaced so far; may be read
 */
struct redact {
	struct ak_buf *out;
	struct redact_known known[REDACT_KNOWN_MAX];
	size_t nknown;
	unsigned long count;
	unsigned char prev;	/* byte before the ones held; 0 at the start */
	unsigned char state;
	unsigned char quote;
	bool last;
	size_t len;
	char hold[REDACT_HOLD];
};

/** redact_init() - a new text that goes to @out */
void redact_init(struct redact *r, struct ak_buf *out);
/**
 * redact_known() - replace this value wherever it stands; for the run's own keys. Borrowed until redact_finish().
 * Return: 0; -EINVAL (under 8 bytes, or over REDACT_KNOWN_LEN); -ENOSPC (over REDACT_KNOWN_MAX values).
 */
int redact_known(struct redact *r, const char *value, size_t len);
/** redact_feed() - the next piece. Failures latch in the output buffer. Takes linear time. */
void redact_feed(struct redact *r, const char *p, size_t n);
/** redact_finish() - the text is over: what is held back is written. The struct may then be used for redact_init() again. */
void redact_finish(struct redact *r);

/** redact_text() - a whole text at once, without known values. Return: how many were replaced. */
unsigned long redact_text(const char *p, size_t n, struct ak_buf *out);

#endif
