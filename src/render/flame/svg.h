/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svg - a flame graph of one metric as a self-contained SVG. If the file is opened
 * directly in a browser, its script offers zooming, searching and inverting. Other
 * viewers show the whole graph, with names cut to fit. Boxes narrower than a tenth of a
 * pixel are left out, and the picture states their number. The HTML page (html.h)
 * contains all boxes.
 */
#ifndef MS_RENDER_FLAME_SVG_H
#define MS_RENDER_FLAME_SVG_H

#include "base/strbuf.h"
#include "model/profile.h"

/*
 * Append an SVG of a flame graph. The profile must contain the metric. `title` describes
 * what was measured.
 */
void flame_svg_add(struct strbuf *out, const struct profile *profile,
		   enum profile_metric metric, const char *title);

/*
 * Append an SVG with a differential flame graph, which compares the stacks of two
 * profiles whose function names match. Red means more than before, and blue means less.
 * The width of a box is the larger of its two values.
 */
void flame_svg_add_diff(struct strbuf *out, const struct profile *before,
			const struct profile *after, enum profile_metric metric,
			const char *title);

#endif
