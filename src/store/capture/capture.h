/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture - save files of /proc as a tree that all readers in proc/ accept in place of
 * /proc: a directory, or a .tar that extracts to a directory of the same name.
 *
 * A capture is written under a temporary name next to its destination and renamed when
 * complete, so it appears completely or not at all. Only its owner may read it, because
 * it shows which programs run here and their memory addresses.
 */
#ifndef MS_STORE_CAPTURE_CAPTURE_H
#define MS_STORE_CAPTURE_CAPTURE_H

#include "store/capture/read.h"

struct capture;

/*
 * Begin a capture at path: a .tar file if path ends in ".tar", else a directory, which
 * may exist if it is empty. Returns 0, -EEXIST, -ENOTEMPTY, -ENOTDIR, -EINVAL (no
 * name), -EOPNOTSUPP if this build cannot write .tar files, or another -errno. The
 * caller frees *ret with capture_free().
 */
int capture_begin(const char *path, struct capture **ret);

/* Write the files. Returns 0 or -errno. */
int capture_add(struct capture *c, const struct capture_files *files);

/*
 * Complete the capture and give it its name. Returns 0 or -errno as above; on failure
 * capture_free() removes what was written.
 */
int capture_finish(struct capture *c);

/* Free the capture. An unfinished one is removed. NULL is allowed. */
void capture_free(struct capture *c);

/*
 * Add a file that describes the capture: "key: value" lines, the first of which is the
 * version of the format, and the notes.
 */
void capture_describe(const struct procfs *fs, bool is_redacted, size_t process_count,
		      const struct strbuf *notes, struct capture_files *files);

#endif
