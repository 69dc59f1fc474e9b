/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline_html - a recording as one page of HTML that needs nothing but itself: areas over
 * time by owner, state and process, and of the group, with events marked.
 */
#ifndef MS_RENDER_TIMELINE_HTML_H
#define MS_RENDER_TIMELINE_HTML_H

#include "base/strbuf.h"
#include "classify/timeline_charts.h"

/* name: the file's. */
void timeline_html_add(struct strbuf *out, const char *name, const struct timeline_charts *charts);

#endif
