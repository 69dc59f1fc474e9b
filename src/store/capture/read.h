/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read - read the files of a capture from /proc into memory, one process at a time. Each
 * process is captured completely or not at all.
 */
#ifndef MS_STORE_CAPTURE_READ_H
#define MS_STORE_CAPTURE_READ_H

#include <stddef.h>

#include "base/strbuf.h"
#include "model/process.h"
#include "proc/system/procfs.h"
#include "store/capture/redact.h"

struct capture_file {
	char *path; /* path relative to the root of the capture */
	struct strbuf bytes;
};

struct capture_files {
	struct capture_file *items;
	size_t count;
	size_t capacity;
};

#define CAPTURE_FILES_INIT \
	{                  \
		NULL, 0, 0 \
	}

void capture_files_release(struct capture_files *files);

/*
 * Append an empty file with the given path. The returned pointer is valid until the
 * next call.
 */
struct capture_file *capture_files_add(struct capture_files *files, const char *path);

/*
 * Append those files of a process that the readers in proc/ use. If redactor is not
 * NULL, replace paths and arguments. Omit a file that is missing or unreadable, and note
 * it in a line of *notes. Return 0, or the reason why the process cannot be captured:
 * -ESRCH (it ended, or its pid has been reused), -EACCES, -EOPNOTSUPP (no smaps),
 * -ESTALE (it called execve() during each attempt), -EBADMSG, or -EFBIG. On failure,
 * *files is unchanged.
 */
int capture_read_process(const struct procfs *fs, const struct process *p,
			 struct redactor *redactor, struct capture_files *files,
			 struct strbuf *notes);

/*
 * Append the files that describe the machine. Add a line to *notes for each missing file.
 */
void capture_read_machine(const struct procfs *fs, struct capture_files *files,
			  struct strbuf *notes);

/* Append a line such as "left_out: 12/smaps: Permission denied" to *notes. */
void capture_add_note(struct strbuf *notes, const char *path, int err);

#endif
