/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame_svg - a flame graph of one metric as one SVG that needs nothing but itself. A
 * browser in which it is opened alone can zoom, search and turn it over, by the script in
 * it; any other viewer shows it all, cut to what fits.
 *
 * A box that would be narrower than a tenth of a pixel is left out, and it is said how
 * many are: see flame_html.h for a page with all of them.
 */
#ifndef MS_RENDER_FLAME_SVG_H
#define MS_RENDER_FLAME_SVG_H

#include "base/strbuf.h"
#include "model/profile.h"

/* The metric is one that is known. title: what was measured. */
void flame_svg_add(struct strbuf *out, const struct profile *profile, enum profile_metric metric,
		   const char *title);

/*
 * What changed from before to after, by stacks of the same names: red is more, blue is
 * less. As wide as the larger of both.
 */
void flame_svg_add_diff(struct strbuf *out, const struct profile *before,
			const struct profile *after, enum profile_metric metric,
			const char *title);

#endif
