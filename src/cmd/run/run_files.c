/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/run/run_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "cmd/core/message.h"
#include "proc/system/procfs.h"

void run_files_close(struct run_files *files)
{
	cleanup_close(&files->input_fd);
	cleanup_close(&files->output_fd);
	cleanup_close(&files->error_fd);
	*files = (struct run_files)RUN_FILES_INIT;
}

int run_files_make_folder(const char *path)
{
	_cleanup_closedir_ DIR *dir = NULL;
	const struct dirent *entry;
	int r;

	if (mkdir(path, 0777) == 0)
		return 0;
	dir = errno == EEXIST ? opendir(path) : NULL;
	if (!dir) {
		r = -errno;
		message_error(path, r);
		return r;
	}
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			message("%s: not empty; --output-dir does not overwrite files",
				path);
			return -ENOTEMPTY;
		}
	return 0;
}

/*
 * Append the name of a run's folder, such as "warm-up-1-jemalloc_dirty_decay_ms=0", with
 * '_' in place of characters that are unsuitable in a path.
 */
static void add_run_name(struct strbuf *out, const struct variant *variant,
			 const struct run *run)
{
	strbuf_addf(out, "%s%u-",
		    run->is_warm_up    ? "warm-up-"
		    : run->is_counting ? "count-"
				       : "",
		    run->number);
	for (const char *c = variant->name; *c; c++)
		strbuf_add_char(
			out, isalnum((unsigned char)*c) || strchr("-=.", *c) ? *c : '_');
}

/*
 * Open the file again instead of duplicating the descriptor, so that the run has its own
 * file offset, which starts at 0.
 */
int run_files_open_input(void)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode)) {
		int fd = procfs_reopen(STDIN_FILENO, O_RDONLY | O_CLOEXEC);

		if (fd >= 0)
			return fd;
	}
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int open_output(const struct strbuf *folder, const char *name)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	int fd, r;

	if (folder->length == 0)
		return open("/dev/null", O_WRONLY | O_CLOEXEC);
	strbuf_addf(&path, "%s/%s", strbuf_text(folder), name);
	fd = open(strbuf_text(&path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd >= 0)
		return fd;
	r = -errno;
	message_error(strbuf_text(&path), r);
	return r;
}

int run_files_open(const char *folder, const struct variant *variant,
		   const struct run *run, bool is_workload, struct run_files *ret)
{
	struct run_files files = RUN_FILES_INIT;
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	int r;

	if (folder) {
		strbuf_addf(&path, "%s/", folder);
		add_run_name(&path, variant, run);
		if (mkdir(strbuf_text(&path), 0777) < 0 && errno != EEXIST) {
			r = -errno;
			message_error(strbuf_text(&path), r);
			return r;
		}
	}
	files.input_fd = is_workload ? open("/dev/null", O_RDONLY | O_CLOEXEC)
				     : run_files_open_input();
	files.output_fd = open_output(&path, is_workload ? "workload.stdout" : "stdout");
	files.error_fd = open_output(&path, is_workload ? "workload.stderr" : "stderr");
	if (files.input_fd < 0 || files.output_fd < 0 || files.error_fd < 0) {
		run_files_close(&files);
		return -EIO;
	}
	*ret = files;
	return 0;
}
