/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file - load and save profiles in the formats of memstate and other tools. */
#ifndef MS_STORE_PROFILE_FILE_H
#define MS_STORE_PROFILE_FILE_H

#include "base/strbuf.h"
#include "model/profile.h"

/*
 * Load a file in pprof's format, or a text file with one call stack per line, outermost
 * function first ("main;parse;xmalloc 12"). Either may be gzipped. The format is detected
 * from the content.
 *
 * The file is not trusted: it is rejected as a whole if any part of it is invalid. The
 * sum of each metric is at most INT64_MAX. A text file does not name its metric, so its
 * numbers become values of folded_metric.
 *
 * Return 0, or -errno with the reason appended to *reterr_why, worded to follow the
 * file's name in a message: -EBADMSG if the file is not a profile, -EFBIG if it is too
 * large, -ENODATA if it has no stacks, -EOPNOTSUPP if it is not text and memstate was
 * built without protobuf-c.
 */
int profile_load(const char *path, enum profile_metric folded_metric, struct profile *ret,
		 struct strbuf *reterr_why);

/*
 * Write a profile in pprof's format, gzipped. The file is written completely or not at
 * all. Stacks without values are omitted; everything else is preserved. Return 0, or
 * -errno with the reason appended to *reterr_why.
 */
int profile_save(const char *path, const struct profile *profile,
		 struct strbuf *reterr_why);

#endif
