/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes secrets out of text before it is stored or shown to a model. Pure. Process: agent. Privilege: none.
 *
 * Replaced by "[REDACTED]", in one pass over the bytes:
 * - tokens by their shape: sk-ant- sk- ghp_ gho_ ghs_ ghr_ ghu_ github_pat_ glpat- xox?- AKIA AIza hf_ sk_live_ rk_live_ and what
 *   stands behind, if it looks like the random part of a real one;
 * - PEM private keys, from the BEGIN line to the END line, also where they stand in one line or behind a prefix; BEGIN lines
 *   without a key stay;
 * - the rest of such a key where its BEGIN line is missing (tail, sed -n): lines of base64 in front of its END line, base64 that
 *   starts as private keys in DER or of OpenSSH do, and four or more lines of just 64 or 70 characters of base64 that are in no
 *   other block (CERTIFICATE, PUBLIC KEY, PGP MESSAGE). The last may be other data: base64 of 76 characters a line is none;
 * - the value of an Authorization header, to the end of the line or the closing quote;
 * - the value of a labelled assignment: a name that ends with key, secret, token or password, = or :, 12 or more characters
 *   (API_KEY=..., "client_secret": "...", password: ..., apiKey := "..."). The label stays. In quotes everything is a value but
 *   references ("${TOKEN}"), formats, file names and URLs; without quotes what is plainly code is left alone: calls, members,
 *   references, and names of several words in an assignment with spaces. See docs/architecture.md;
 * - values that the caller knows (redact_known()).
 * Everything else passes byte for byte. The result does not depend on how the text was cut into pieces.
 */
#ifndef AK_AGENT_REDACT_H
#define AK_AGENT_REDACT_H

#include <stdbool.h>
#include <stddef.h>

struct ak_buf;

#define REDACT_MARK "[REDACTED]"
#define REDACT_KNOWN_MAX 16u
#define REDACT_KNOWN_LEN 4096u
#define REDACT_HOLD 16384u /* bytes of text that may be held back until it is clear what they are */
#define REDACT_TAIL 128u  /* bytes written last, which may be a label */

struct redact_known {
	const char *text;
	size_t len;
};

/*
 * Where a line of base64 stands: behind others that were judged, in a block that is no private key. @judged: bytes up to the start of
 * the last line that was looked at, and one. Private.
 */
struct redact_body {
	bool full;
	bool other;
	unsigned long long judged;
};

/* A secret that starts at byte @at of the text; what stands in front of it, such as its label, is still to be looked at. Private. */
struct redact_ahead {
	bool on;
	unsigned char next;
	unsigned char quote;
	bool escaped;
	unsigned long long at;
	size_t drop;
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
	unsigned char state;
	unsigned char quote;
	bool escaped;
	struct redact_body body;
	struct redact_ahead ahead;
	unsigned long long base; /* bytes of the text in front of hold[] */
	size_t tail_len;
	char tail[REDACT_TAIL];
	size_t want; /* bytes in hold before it is worth another look */
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
