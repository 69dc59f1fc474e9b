/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture - save files of /proc as a tree that all readers in proc/ accept in place
 * of /proc. The tree is a directory, or a .tar that extracts to a directory of the
 * same name.
 *
 * A capture is written under a temporary name in the same directory and renamed when
 * complete, so the capture appears completely or not at all. Only its owner may read it,
 * because it reveals the running programs and their memory addresses.
 */
#ifndef MS_STORE_CAPTURE_CAPTURE_H
#define MS_STORE_CAPTURE_CAPTURE_H

#include "store/capture/read.h"

struct capture;

/*
 * Begin a capture at path: a .tar file if path ends in ".tar", otherwise a directory,
 * which may already exist if it is empty. Return 0, -EEXIST, -ENOTEMPTY, -ENOTDIR,
 * -EINVAL (path has no file name), -EOPNOTSUPP if this build cannot write .tar files, or
 * another -errno. The caller frees *ret with capture_free().
 */
int capture_begin(const char *path, struct capture **ret);

/* Write the files to the capture. Return 0 or -errno. */
int capture_add(struct capture *c, const struct capture_files *files);

/*
 * Complete the capture and rename it to path. Return 0 or -errno. On failure,
 * capture_free() removes the files written so far.
 */
int capture_finish(struct capture *c);

/* Free the capture, and remove its files if it is incomplete. NULL is allowed. */
void capture_free(struct capture *c);

/*
 * Add a file that describes the capture in lines of the form "key: value". The first line
 * contains the version of the format; the lines of `notes` are at the end.
 */
void capture_describe(const struct procfs *fs, bool is_redacted, size_t process_count,
		      const struct strbuf *notes, struct capture_files *files);

#endif
