/* SPDX-License-Identifier: Apache-2.0 */
/* Line formats and small files: the other half of ak_parse.h. Any process, no privilege. */
#include "executor/shared/ak_parse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/shared/ak_fd.h"

void ak_lines_init(struct ak_lines *l, const char *text, size_t len, size_t max)
{
	*l = (struct ak_lines){.text = text, .len = len, .max = max};
}

bool ak_lines_next(struct ak_lines *l, const char **ret_line, size_t *ret_len)
{
	if (l->error || l->pos >= l->len)
		return false;

	const char *line = l->text + l->pos;
	const char *end = memchr(line, '\n', l->len - l->pos);
	size_t n = end ? (size_t)(end - line) : l->len - l->pos;

	l->line_no++;
	if (n > l->max) {
		l->error = -EMSGSIZE;
		return false;
	}
	if (memchr(line, '\0', n)) {
		l->error = -EBADMSG;
		return false;
	}
	l->pos += n + (end != NULL);
	*ret_line = line;
	*ret_len = n;
	return true;
}

bool ak_field(const char **line, size_t *len, char sep, const char **ret_field, size_t *ret_len)
{
	if (!*line)
		return false;

	const char *end = memchr(*line, sep, *len);

	*ret_field = *line;
	*ret_len = end ? (size_t)(end - *line) : *len;
	*len -= *ret_len + (end != NULL);
	*line = end ? end + 1 : NULL;
	return true;
}

/* Everything up to @max bytes; files in /proc have no size to ask for */
static int read_up_to(int fd, size_t max, char **buf, size_t *ret_len)
{
	size_t len = 0;
	size_t cap = 0;

	for (;;) {
		if (cap - len < 2) {
			size_t want = cap ? cap * 2 : 4096;
			char *grown = realloc(*buf, want);

			if (!grown)
				return -ENOMEM;
			*buf = grown;
			cap = want;
		}

		ssize_t n = read(fd, *buf + len, cap - len - 1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
		if (len > max)
			return -EFBIG;
	}
	(*buf)[len] = '\0';
	*ret_len = len;
	return 0;
}

int ak_read_file(const char *path, size_t max, char **ret, size_t *ret_len)
{
	AK_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;

	char *buf = NULL;
	size_t len = 0;
	int rc = read_up_to(fd, max, &buf, &len);

	if (rc < 0) {
		free(buf);
		return rc;
	}
	*ret = buf;
	*ret_len = len;
	return 0;
}
