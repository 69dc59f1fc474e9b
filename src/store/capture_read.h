/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_read - the files that a capture is made of, read into memory: those of one
 * process at a time, so that a process is captured whole or not at all.
 */
#ifndef MS_STORE_CAPTURE_READ_H
#define MS_STORE_CAPTURE_READ_H

#include <stddef.h>

#include "base/strbuf.h"
#include "model/process.h"
#include "proc/procfs.h"
#include "store/redact.h"

struct capture_file {
	char *path; /* below the root of the capture */
	struct strbuf bytes;
};

struct capture_files {
	struct capture_file *items;
	size_t count;
	size_t capacity;
};

#define CAPTURE_FILES_INIT { NULL, 0, 0 }

void capture_files_release(struct capture_files *files);

/* Append an empty file. Borrowed until the next add. */
struct capture_file *capture_files_add(struct capture_files *files, const char *path);

/*
 * Append the files of the process that readers use; paths and arguments hidden if there
 * is a redactor. A file that is not there or may not be read is left out, and `notes`
 * gets a line that says so. Returns 0, or what kept the process from being captured:
 * -ESRCH (ended, or another one has its pid now), -EACCES, -EOPNOTSUPP (no smaps),
 * -ESTALE (exec'd each time it was tried), -EBADMSG, -EFBIG. On failure *files is as it
 * was.
 */
int capture_read_process(const struct procfs *fs, const struct process *p, struct redactor *redactor,
			 struct capture_files *files, struct strbuf *notes);

/* Append the files that are about the machine. What is missing is noted likewise. */
void capture_read_machine(const struct procfs *fs, struct capture_files *files,
			  struct strbuf *notes);

/* "left_out: 12/smaps: Permission denied" */
void capture_note(struct strbuf *notes, const char *path, int err);

#endif
