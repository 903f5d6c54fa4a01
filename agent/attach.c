/* SPDX-License-Identifier: Apache-2.0 */
/* Images for the model, from files of the caller's. Process: agent, before it is confined. Privilege: none. */
#include "agent/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "agent/msg.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

const char *attach_type(const void *p, size_t n)
{
	static const struct {
		const char *type;
		size_t at, n;
		const char *bytes;
		const char *before; /* what the file starts with, where @bytes come later */
	} types[] = {
		{ "image/png", 0, 8, "\x89PNG\r\n\x1a\n", "" },	 /* W3C PNG, 5.2 */
		{ "image/jpeg", 0, 3, "\xff\xd8\xff", "" },	 /* ISO 10918-1, SOI and the first marker */
		{ "image/gif", 0, 6, "GIF87a", "" },		 /* GIF89a specification, 17 */
		{ "image/gif", 0, 6, "GIF89a", "" },
		{ "image/webp", 8, 4, "WEBP", "RIFF" },		 /* RFC 9649, 2.4 */
	};
	const char *bytes = p;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		size_t before = strlen(types[i].before);

		if (n >= types[i].at + types[i].n && memcmp(bytes, types[i].before, before) == 0 &&
		    memcmp(bytes + types[i].at, types[i].bytes, types[i].n) == 0)
			return types[i].type;
	}
	return NULL;
}

static int too_large(const char *path, struct ak_err *err)
{
	(void)ak_err_set(err, EFBIG, "run: --attach: %.300s is larger than the %u bytes that an image may have", path, ATTACH_BYTES_MAX);
	ak_err_hint(err, "make it smaller: models see no more than about two megapixels anyway");
	return -EFBIG;
}

/* Return: 0 with malloc'ed bytes */
static int read_file(const char *path, unsigned char **ret, size_t *ret_len, struct ak_err *err)
{
	AK_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	unsigned char *bytes;
	struct stat st;
	size_t n = 0;
	ssize_t k = 1;

	if (fd < 0 || fstat(fd, &st) < 0)
		return ak_err_sys(err, errno, "run: --attach: open %.300s", path);
	if (!S_ISREG(st.st_mode))
		return ak_err_set(err, EINVAL, "run: --attach: %.300s is no regular file", path);
	if (st.st_size > (off_t)ATTACH_BYTES_MAX)
		return too_large(path, err);
	bytes = malloc(ATTACH_BYTES_MAX + 1);
	if (!bytes)
		return ak_err_set(err, ENOMEM, "run: not enough memory for an image");
	/* it may grow meanwhile */
	while (n <= ATTACH_BYTES_MAX && (k = read(fd, bytes + n, ATTACH_BYTES_MAX + 1 - n)) != 0) {
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			break;
		n += (size_t)k;
	}
	if (k < 0 || n > ATTACH_BYTES_MAX) {
		int e = k < 0 ? errno : 0;

		free(bytes);
		return e ? ak_err_sys(err, e, "run: --attach: read %.300s", path) : too_large(path, err);
	}
	*ret = bytes;
	*ret_len = n;
	return 0;
}

static int add(struct msg *m, const char *path, const unsigned char *bytes, size_t n, struct ak_err *err)
{
	const char *type = attach_type(bytes, n);
	unsigned char *text;
	int rc;

	if (!type) {
		(void)ak_err_set(err, EINVAL, "run: --attach: %.300s is %s", path,
				 n == 0 ? "empty" : "no image that models take: PNG, JPEG, GIF or WebP");
		ak_err_hint(err, "a text is named in the prompt, or given on standard input");
		return -EINVAL;
	}
	text = malloc((n + 2) / 3 * 4 + 1);
	if (!text)
		return ak_err_set(err, ENOMEM, "run: not enough memory for an image");
	(void)EVP_EncodeBlock(text, bytes, (int)n); /* no larger than ATTACH_BYTES_MAX; ends with NUL */
	rc = msg_add_image(m, type, (const char *)text);
	free(text);
	return rc < 0 ? ak_err_set(err, ENOMEM, "run: not enough memory for an image") : 0;
}

int attach_files(const char *const paths[], size_t n, struct msg *m, struct ak_err *err)
{
	size_t total = 0;

	if (n > ATTACH_FILES_MAX)
		return ak_err_set(err, E2BIG, "run: --attach: given %zu times, and a prompt takes %u images", n, ATTACH_FILES_MAX);
	for (size_t i = 0; i < n; i++) {
		unsigned char *bytes = NULL;
		size_t len = 0;
		int rc = read_file(paths[i], &bytes, &len, err);

		total += len;
		if (rc == 0 && total > ATTACH_TOTAL_MAX)
			rc = ak_err_set(err, E2BIG, "run: --attach: with %.300s the images are over %u bytes together", paths[i], ATTACH_TOTAL_MAX);
		if (rc == 0)
			rc = add(m, paths[i], bytes, len, err);
		free(bytes);
		if (rc < 0)
			return rc;
	}
	return 0;
}

void attach_note(const char *const paths[], size_t n, struct ak_buf *out)
{
	for (size_t i = 0; i < n; i++) {
		const char *slash = strrchr(paths[i], '/');

		ak_buf_str(out, i == 0 ? "\n\n(Attached images, in this order: " : ", ");
		for (const char *p = slash ? slash + 1 : paths[i]; *p; p++) {
			char c = (unsigned char)*p < 0x20 || *p == 0x7f ? '?' : *p;

			ak_buf_add(out, &c, 1);
		}
	}
	if (n > 0)
		ak_buf_str(out, ")");
}
