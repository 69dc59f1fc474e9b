/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture - files of /proc saved as a tree that every reader of proc/ takes for one: a
 * directory, or a .tar that extracts to one of its own name.
 *
 * It is written under a temporary name beside its own and appears when it is finished,
 * whole or not at all. Only its owner may read it: it says what runs here, and where in
 * memory.
 */
#ifndef MS_STORE_CAPTURE_H
#define MS_STORE_CAPTURE_H

#include "store/capture_read.h"

struct capture;

/*
 * Begin one at path: a .tar by its ending, else a directory, which may be there if it is
 * empty. Returns 0, -EEXIST, -ENOTEMPTY, -ENOTDIR, -EINVAL (no name), another -errno, or
 * -EOPNOTSUPP: this build cannot write a .tar.
 */
int capture_begin(const char *path, struct capture **ret);

/* Write the files. Returns 0 or -errno. */
int capture_add(struct capture *c, const struct capture_files *files);

/* Make it appear. Returns 0, or -errno as above: nothing is left then. */
int capture_finish(struct capture *c);

/* Forget it; what has not been finished is removed. NULL is fine. */
void capture_free(struct capture *c);

/*
 * Add the file that says what this is: "key: value" lines, the first of them the format's
 * version, and the notes.
 */
void capture_describe(const struct procfs *fs, bool is_redacted, size_t process_count,
		      const struct strbuf *notes, struct capture_files *files);

#endif
