/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folded - a profile as text, one stack a line: "main;parse;xmalloc 12", as flamegraph.pl and
 * most viewers of profiles read it.
 */
#ifndef MS_RENDER_FOLDED_H
#define MS_RENDER_FOLDED_H

#include "base/strbuf.h"
#include "model/profile.h"

/*
 * Stacks with the metric, sorted by names from the outermost on: the same profile is the same
 * text. Their numbers add up to the metric's sum. In names ';' becomes ':', control characters and
 * bytes that are not UTF-8 become \xHH.
 */
void folded_add(struct strbuf *out, const struct profile *profile, enum profile_metric metric);

#endif
