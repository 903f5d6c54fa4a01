/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a folder without the heap: opendir(3) takes 32 kB, whose pages cost more than the reading. Any process. */
#ifndef AK_SHARED_AK_DIR_H
#define AK_SHARED_AK_DIR_H

#include <stdbool.h>
#include <stddef.h>

#define AK_DIR_BYTES 4096

struct ak_dir {
	int fd;			/* owned; -1: not open */
	size_t pos, len;
	int error;		/* positive errno that ended the reading; 0: none */
	_Alignas(8) char buf[AK_DIR_BYTES];
};

/**
 * ak_dir_open() - begin to read @path
 * Return: 0 or negative errno. Release with ak_dir_close() after success.
 */
int ak_dir_open(struct ak_dir *d, const char *path);

/**
 * ak_dir_next() - the next entry but "." and ".."
 * @ret_name:	points into @d, until the next call
 * @ret_type:	DT_* of dirent.h; DT_UNKNOWN where the file system does not say
 * Return: false at the end; an error while reading ends it as well, and is in @d->error.
 */
bool ak_dir_next(struct ak_dir *d, const char **ret_name, unsigned char *ret_type);
void ak_dir_close(struct ak_dir *d);

#endif
