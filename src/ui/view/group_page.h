/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group_page - the parts of the group view. Each part is drawn in the top lines of the
 * area `rest`, and removes these lines from the area.
 */
#ifndef MS_UI_VIEW_GROUP_PAGE_H
#define MS_UI_VIEW_GROUP_PAGE_H

#include "base/units.h"
#include "ui/data/group.h"
#include "ui/screen/canvas.h"
#include "ui/view/group.h"

#define GROUP_GRAPH_HEIGHT_MIN 5

struct group_page {
	struct group_view *view;
	const struct data_group *group;
	const struct oom_figures *figures;
	struct canvas *canvas;
	struct area rest;
};

struct pen group_page_line(struct group_page *p);

/*
 * Format an amount such as "1.5M", or in bytes if exact_bytes is set. A missing limit is
 * "none". Return buf or a string constant.
 */
const char *group_page_format(const struct group_page *p, uint64_t bytes,
			      char buf[UNITS_TEXT_SIZE]);

/* Return the limit that applies to the cgroup, or BYTES_UNKNOWN if there is no limit. */
uint64_t group_page_limit(const struct group_page *p);

/*
 * Draw the path of the cgroup, the bar, the conclusions, and the growth of the memory
 * that the cgroup needs.
 */
void group_page_figures(struct group_page *p);

/*
 * Draw a heading and at most `room` levels of the cgroup hierarchy with their limits,
 * starting with the cgroup itself.
 */
void group_page_levels(struct group_page *p, size_t room);

/*
 * Draw the processes of the cgroup in the remaining area. If possible, leave lines for
 * a graph.
 */
void group_page_processes(struct group_page *p);

#endif
