/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folded - write a profile as folded stacks, one per line, such as "main;parse;xmalloc
 * 12". flamegraph.pl and most profile viewers read this format.
 */
#ifndef MS_RENDER_PROFILE_FOLDED_H
#define MS_RENDER_PROFILE_FOLDED_H

#include "base/strbuf.h"
#include "model/profile.h"

/*
 * Append all stacks whose value of the metric is above 0, sorted by function name from
 * the outermost function on, so that equal profiles produce equal text. The numbers add
 * up to the metric's sum. In function names, ';' becomes ':', and control characters and
 * bytes that are not UTF-8 become \xHH.
 */
void folded_add(struct strbuf *out, const struct profile *profile,
		enum profile_metric metric);

#endif
