/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_file - profiles in files: of memstate, and of other tools.
 */
#ifndef MS_STORE_PROFILE_FILE_H
#define MS_STORE_PROFILE_FILE_H

#include "base/strbuf.h"
#include "model/profile.h"

/*
 * Read a file of pprof's format, or of stacks as text, one a line, outermost first
 * ("main;parse;xmalloc 12"), gzipped or not. Which one it is its content says.
 *
 * The file is foreign: it is refused as a whole if a part of it makes no sense. The sum
 * of each metric is at most INT64_MAX. Text does not say what its numbers are: they are
 * taken as folded_metric.
 *
 * Returns 0, or -errno with the reason, for a line that names the file before it, added
 * to *reterr_why: -EBADMSG if it is no profile, -EFBIG if it is too large to be one,
 * -ENODATA if it has no stacks, -EOPNOTSUPP if this was built without protobuf-c and it is
 * no text.
 */
int profile_load(const char *path, enum profile_metric folded_metric, struct profile *ret,
		 struct strbuf *reterr_why);

/*
 * Write a profile as pprof reads it, gzipped: whole, or not at all. Stacks without values
 * are left out; else the same is loaded again. Returns 0, or -errno with the reason as
 * above.
 */
int profile_save(const char *path, const struct profile *profile, struct strbuf *reterr_why);

#endif
