/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline_html - a recording as one self-contained HTML page. Charts with stacked areas
 * show memory over time by owner, by process, and for the cgroup. Events are marked.
 */
#ifndef MS_RENDER_HTML_TIMELINE_HTML_H
#define MS_RENDER_HTML_TIMELINE_HTML_H

#include "base/strbuf.h"
#include "classify/growth/timeline_charts.h"

/* Append the HTML page for a recording. `name` is the name of the recording file. */
void timeline_html_add(struct strbuf *out, const char *name,
		       const struct timeline_charts *charts);

#endif
