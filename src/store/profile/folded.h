/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folded - read call stacks from text with one stack per line, such as
 * "main;parse;xmalloc 12", the format of stackcollapse-*.pl and many profilers.
 *
 * Names may contain spaces; the number follows the last space. Empty lines and lines that
 * begin with # are ignored.
 */
#ifndef MS_STORE_PROFILE_FOLDED_H
#define MS_STORE_PROFILE_FOLDED_H

#include "base/strbuf.h"
#include "model/profile.h"

/*
 * Add the stacks in text to an empty profile, with the numbers as values of the
 * given metric. Return 0, or -EBADMSG, -EFBIG or -ENODATA with the reason appended
 * to *reterr_why.
 */
int folded_read(const char *text, size_t length, enum profile_metric metric,
		struct profile *profile, struct strbuf *reterr_why);

#endif
