/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * html - a flame graph as one self-contained HTML page. The page contains all stacks with
 * all metrics. The reader can zoom, search, reverse the stacks and apply rules.
 */
#ifndef MS_RENDER_FLAME_HTML_H
#define MS_RENDER_FLAME_HTML_H

#include "base/strbuf.h"
#include "classify/profile/transform_rules.h"
#include "model/profile.h"

struct flame_page {
	const char *title;
	/* metric that is shown first, for which the profile must have values */
	enum profile_metric metric;
	/*
	 * `rules` contains the rules that are switched on when the page opens. These
	 * rules and the reader's own rules may refer to `sets`. Both pointers may be
	 * NULL. The page itself applies the rules, so no rules may have been applied to
	 * the profile before.
	 */
	const struct transform_list *rules;
	const struct transform_sets *sets;
};

/* Append a page with the flame graph of one profile. */
void flame_html_add(struct strbuf *out, const struct profile *profile,
		    const struct flame_page *page);

/*
 * Append a page with a differential flame graph, which compares the stacks of two
 * profiles whose function names match. Red means more than before, and blue means less.
 */
void flame_html_add_diff(struct strbuf *out, const struct profile *before,
			 const struct profile *after, const struct flame_page *page);

#endif
