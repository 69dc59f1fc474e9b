/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame_html - a flame graph as one page of HTML that needs nothing but itself: all stacks and
 * all their metrics are in it, to zoom, search, reverse, and change by rules while one looks.
 */
#ifndef MS_RENDER_FLAME_HTML_H
#define MS_RENDER_FLAME_HTML_H

#include "base/strbuf.h"
#include "classify/transform_rules.h"
#include "model/profile.h"

struct flame_page {
	const char *title;
	enum profile_metric metric; /* that is shown first: one that is known */
	/*
	 * Rules that are on when the page is opened, and sets that they and the reader may name;
	 * NULL: none. The profile is as it was before them.
	 */
	const struct transform_list *rules;
	const struct transform_sets *sets;
};

void flame_html_add(struct strbuf *out, const struct profile *profile,
		    const struct flame_page *page);

/* What changed from before to after, by stacks of the same names: red is more, blue is less. */
void flame_html_add_diff(struct strbuf *out, const struct profile *before,
			 const struct profile *after, const struct flame_page *page);

#endif
