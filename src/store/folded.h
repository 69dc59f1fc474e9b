/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folded - stacks as text, one a line: "main;parse;xmalloc 12", as stackcollapse-*.pl and
 * many profilers write it.
 *
 * Blanks belong to names: the number is behind the last one. Lines that are empty or
 * begin with # say nothing.
 */
#ifndef MS_STORE_FOLDED_H
#define MS_STORE_FOLDED_H

#include "base/strbuf.h"
#include "model/profile.h"

/*
 * Add the stacks in text to an empty profile; their numbers are of this metric. Returns
 * 0, or -EBADMSG, -EFBIG, -ENODATA with the reason added to *reterr_why.
 */
int folded_read(const char *text, size_t length, enum profile_metric metric,
		struct profile *profile, struct strbuf *reterr_why);

#endif
