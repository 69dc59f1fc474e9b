/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/capture/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/compat.h"
#include "base/io.h"
#include "base/xalloc.h"

/*
 * Block size of the ustar format (POSIX 1988), which every tar program reads. memstate
 * does not use libarchive, because libarchive and its dependencies would need more memory
 * than the rest of memstate.
 */
#define BLOCK_SIZE 512

struct tar_header {
	char name[100];
	char mode[8], uid[8], gid[8]; /* a tar header stores numbers as octal text */
	char size[12], mtime[12];
	char checksum[8];
	char type;
	char link_name[100];
	char magic[6];
	char version[2];
	char user_name[32], group_name[32];
	char device_major[8], device_minor[8];
	/* first part of the path; a slash between prefix and name is implied */
	char prefix[155];
	char padding[12];
};

_Static_assert(sizeof(struct tar_header) == BLOCK_SIZE, "a header is one block");

struct tar_data {
	char *path;
	char *temporary; /* path of the unfinished archive, or NULL */
	/* top directory in the archive: the archive's file name without ".tar" */
	char *top;
	int fd;
};

static void tar_abandon(void *context)
{
	struct tar_data *data = context;

	if (data->fd >= 0)
		close(data->fd);
	if (data->temporary)
		unlink(data->temporary);
	free(data->path);
	free(data->temporary);
	free(data->top);
	free(data);
}

static int open_temporary(struct tar_data *data)
{
	struct strbuf name = STRBUF_INIT;
	int r;

	strbuf_addf(&name, "%s.XXXXXX", data->path);
	data->fd = mkostemp(name.text, O_CLOEXEC);
	if (data->fd < 0) {
		r = -errno;
		strbuf_release(&name);
		return r;
	}
	data->temporary = strbuf_take(&name);
	return 0;
}

static int tar_begin(const char *path, void **ret_data)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	struct tar_data *data;
	struct stat st;
	int r;

	if (strcmp(name, ".tar") == 0)
		return -EINVAL;
	if (lstat(path, &st) == 0)
		return -EEXIST;
	data = xcalloc(1, sizeof(*data));
	data->fd = -1;
	data->path = xstrdup(path);
	data->top = xstrndup(name, strlen(name) - 4);
	r = open_temporary(data);
	if (r < 0) {
		tar_abandon(data);
		return r;
	}
	*ret_data = data;
	return 0;
}

/*
 * Set the checksum of a tar header: the sum of all its bytes, with spaces in place
 * of the checksum.
 */
static void add_checksum(struct tar_header *header)
{
	const unsigned char *bytes = (const unsigned char *)header;
	unsigned int sum = 0;

	memset(header->checksum, ' ', sizeof(header->checksum));
	for (size_t i = 0; i < sizeof(*header); i++)
		sum += bytes[i];
	snprintf(header->checksum, sizeof(header->checksum) - 1, "%06o", sum);
}

static int make_header(const struct tar_data *data, const struct capture_file *file,
		       struct tar_header *ret)
{
	size_t name_length = strlen(file->path), top_length = strlen(data->top);

	if (name_length > sizeof(ret->name))
		return -ENAMETOOLONG;
	/* the size field has only eleven octal digits */
	if (file->bytes.length >> 33)
		return -EFBIG;
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->name, file->path, name_length);
	/*
	 * truncate a directory name that is longer than the prefix field; the truncated
	 * name is still valid
	 */
	memcpy(ret->prefix, data->top,
	       top_length < sizeof(ret->prefix) ? top_length : sizeof(ret->prefix));
	snprintf(ret->mode, sizeof(ret->mode), "%07o", 0600);
	snprintf(ret->uid, sizeof(ret->uid), "%07o", 0);
	snprintf(ret->gid, sizeof(ret->gid), "%07o", 0);
	snprintf(ret->size, sizeof(ret->size), "%011llo",
		 (unsigned long long)file->bytes.length);
	snprintf(ret->mtime, sizeof(ret->mtime), "%011llo",
		 (unsigned long long)time(NULL));
	ret->type = '0';
	memcpy(ret->magic, "ustar", sizeof(ret->magic));
	memcpy(ret->version, "00", sizeof(ret->version));
	add_checksum(ret);
	return 0;
}

static const char zeros[2 * BLOCK_SIZE];

static int tar_add(void *context, const struct capture_file *file)
{
	struct tar_data *data = context;
	struct tar_header header;
	int r;

	r = make_header(data, file, &header);
	if (r == 0)
		r = io_write_all(data->fd, &header, sizeof(header));
	if (r == 0 && file->bytes.length > 0)
		r = io_write_all(data->fd, file->bytes.text, file->bytes.length);
	if (r == 0)
		r = io_write_all(data->fd, zeros,
				 (BLOCK_SIZE - file->bytes.length % BLOCK_SIZE) %
					 BLOCK_SIZE);
	return r;
}

static int tar_finish(void *context)
{
	struct tar_data *data = context;
	int r;

	/* two blocks of zeros mark the end of a tar archive */
	r = io_write_all(data->fd, zeros, sizeof(zeros));
	if (r < 0)
		return r;
	if (fsync(data->fd) < 0)
		return -errno;
	/*
	 * RENAME_NOREPLACE protects a file that another process has created in the
	 * meantime, but some file systems, such as vfat, do not support the flag
	 */
	if (renameat2(AT_FDCWD, data->temporary, AT_FDCWD, data->path, RENAME_NOREPLACE) <
		    0 &&
	    (errno != EINVAL || rename(data->temporary, data->path) < 0))
		return -errno;
	io_sync_parent(data->path);
	free(data->temporary);
	data->temporary = NULL;
	return 0;
}

const struct capture_writer capture_tar_writer = {
	.begin = tar_begin,
	.add = tar_add,
	.finish = tar_finish,
	.abandon = tar_abandon,
};
