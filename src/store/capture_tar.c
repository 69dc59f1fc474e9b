/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/capture_writer.h"

#include <errno.h>

#if HAVE_LIBARCHIVE

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/xalloc.h"

struct tar_data {
	char *path;
	char *temporary; /* NULL while there is none */
	char *top;	 /* the folder that everything is in: the name without .tar */
	int fd;
	struct archive *archive;
};

static int archive_result(struct archive *archive, int r)
{
	int err = archive_errno(archive);

	if (r == ARCHIVE_OK)
		return 0;
	return err > 0 ? -err : -EIO;
}

static void tar_abandon(void *context)
{
	struct tar_data *data = context;

	/* without archive_write_fail(), after which libarchive 3.6 leaks its buffer */
	if (data->archive)
		archive_write_free(data->archive);
	if (data->fd >= 0)
		close(data->fd);
	if (data->temporary)
		unlink(data->temporary);
	free(data->path);
	free(data->temporary);
	free(data->top);
	free(data);
}

static int open_archive(struct tar_data *data)
{
	struct archive *archive = archive_write_new();

	if (!archive)
		return -ENOMEM;
	data->archive = archive;
	if (archive_write_set_format_pax_restricted(archive) != ARCHIVE_OK ||
	    archive_write_open_fd(archive, data->fd) != ARCHIVE_OK)
		return archive_result(archive, ARCHIVE_FATAL);
	return 0;
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
	if (r == 0)
		r = open_archive(data);
	if (r < 0) {
		tar_abandon(data);
		return r;
	}
	*ret_data = data;
	return 0;
}

static int add_entry(struct tar_data *data, struct archive_entry *entry,
		     const struct capture_file *file)
{
	struct strbuf path = STRBUF_INIT;
	la_ssize_t n;
	int r;

	strbuf_addf(&path, "%s/%s", data->top, file->path);
	archive_entry_set_pathname(entry, path.text);
	strbuf_release(&path);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0600);
	archive_entry_set_size(entry, (la_int64_t)file->bytes.length);
	archive_entry_set_mtime(entry, time(NULL), 0);
	r = archive_result(data->archive, archive_write_header(data->archive, entry));
	if (r < 0 || file->bytes.length == 0)
		return r;
	n = archive_write_data(data->archive, file->bytes.text, file->bytes.length);
	if (n < 0)
		return archive_result(data->archive, ARCHIVE_FATAL);
	return (size_t)n == file->bytes.length ? 0 : -EIO;
}

static int tar_add(void *context, const struct capture_file *file)
{
	struct archive_entry *entry = archive_entry_new();
	int r;

	if (!entry)
		return -ENOMEM;
	r = add_entry(context, entry, file);
	archive_entry_free(entry);
	return r;
}

static int tar_finish(void *context)
{
	struct tar_data *data = context;
	int r;

	r = archive_result(data->archive, archive_write_close(data->archive));
	if (r < 0)
		return r;
	if (fsync(data->fd) < 0)
		return -errno;
	/* a name that has been taken meanwhile is not replaced; vfat and others know no such flag */
	if (renameat2(AT_FDCWD, data->temporary, AT_FDCWD, data->path, RENAME_NOREPLACE) < 0 &&
	    (errno != EINVAL || rename(data->temporary, data->path) < 0))
		return -errno;
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

#else

static int refuse(const char *path, void **ret_data)
{
	(void)path;
	(void)ret_data;
	return -EOPNOTSUPP;
}

const struct capture_writer capture_tar_writer = { .begin = refuse };

#endif
