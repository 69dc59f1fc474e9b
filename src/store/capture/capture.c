/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/capture/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/key_lines.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "proc/system/file.h"
#include "store/capture/writer.h"

#define DESCRIPTION "memstate-capture"
#define FORMAT_VERSION 1

struct capture {
	const struct capture_writer *writer;
	void *data;
};

static bool is_tar_path(const char *path)
{
	size_t length = strlen(path);

	return length >= 4 && strcmp(path + length - 4, ".tar") == 0;
}

int capture_begin(const char *path, struct capture **ret)
{
	const struct capture_writer *writer = is_tar_path(path) ? &capture_tar_writer
								: &capture_dir_writer;
	struct capture *c;
	void *data;
	int r;

	if (path[0] == '\0')
		return -EINVAL;
	r = writer->begin(path, &data);
	if (r < 0)
		return r;
	c = xmalloc(sizeof(*c));
	*c = (struct capture){ writer, data };
	*ret = c;
	return 0;
}

int capture_add(struct capture *c, const struct capture_files *files)
{
	int r = 0;

	for (size_t i = 0; i < files->count && r == 0; i++)
		r = c->writer->add(c->data, &files->items[i]);
	return r;
}

int capture_finish(struct capture *c)
{
	return c->writer->finish(c->data);
}

void capture_free(struct capture *c)
{
	if (!c)
		return;
	c->writer->abandon(c->data);
	free(c);
}

/*
 * If the source is itself a capture, record the time of that capture, because its data
 * was read then.
 */
static void add_source(const struct procfs *fs, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *time;

	if (fs->is_live || procfs_read_path(fs, DESCRIPTION, MIB, &text) < 0)
		return;
	time = key_lines_find(strbuf_text(&text), "time:");
	if (time)
		strbuf_addf(out, "captured_from_capture_of: %.*s\n",
			    (int)strcspn(time, "\n"), time);
}

static void add_kernel(const struct procfs *fs, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (system_file_read(fs, SYSTEM_OSRELEASE, 4096, &text) == 0)
		strbuf_addf(out, "kernel: %.*s\n", (int)strcspn(strbuf_text(&text), "\n"),
			    strbuf_text(&text));
}

void capture_describe(const struct procfs *fs, bool is_redacted, size_t process_count,
		      const struct strbuf *notes, struct capture_files *files)
{
	struct strbuf *out = &capture_files_add(files, DESCRIPTION)->bytes;
	char time[CLOCK_TEXT_SIZE];

	strbuf_addf(out, "format: %d\nmemstate: %s\ntime: %s\n", FORMAT_VERSION,
		    PACKAGE_VERSION, clock_format_utc(clock_unix_ms(), time));
	add_source(fs, out);
	add_kernel(fs, out);
	strbuf_addf(out, "processes: %zu\nredacted: %s\n", process_count,
		    is_redacted ? "yes" : "no");
	strbuf_add(out, strbuf_text(notes), notes->length);
}
