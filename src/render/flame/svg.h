/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svg - a flame graph of one metric as a self-contained SVG. A browser that opens
 * the file on its own runs the script in it, for zooming, searching and inverting. Every
 * other viewer shows the whole graph with names cut to fit.
 *
 * Boxes narrower than a tenth of a pixel are left out; the picture states how many. The
 * HTML page (html.h) contains all of them.
 */
#ifndef MS_RENDER_FLAME_SVG_H
#define MS_RENDER_FLAME_SVG_H

#include "base/strbuf.h"
#include "model/profile.h"

/*
 * Append an SVG. The profile must have known values for the metric;
 * `title` says what was measured.
 */
void flame_svg_add(struct strbuf *out, const struct profile *profile,
		   enum profile_metric metric, const char *title);

/*
 * Append an SVG with a differential flame graph. Stacks with the same function
 * names are compared; red means more than before, blue less. A box is as wide
 * as the larger of its two values.
 */
void flame_svg_add_diff(struct strbuf *out, const struct profile *before,
			const struct profile *after, enum profile_metric metric,
			const char *title);

#endif
