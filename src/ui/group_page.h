/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group_page - the parts of the view of a group. Each takes lines from the top of what is
 * left.
 */
#ifndef MS_UI_GROUP_PAGE_H
#define MS_UI_GROUP_PAGE_H

#include "base/units.h"
#include "ui/view.h"

#define GROUP_GRAPH_HEIGHT_MIN 5

struct group_page {
	struct group_view *view;
	const struct data_group *group;
	const struct oom_figures *figures;
	struct canvas *canvas;
	struct area rest;
};

struct pen group_page_line(struct group_page *p);

/* "1.5M", exactly if that is wanted; "none" as a limit. Returns buf. */
const char *group_page_format(const struct group_page *p, uint64_t bytes,
			      char buf[UNITS_TEXT_SIZE]);

/* Unknown if there is none. */
uint64_t group_page_limit(const struct group_page *p);

/* Which group, its bar, what follows from the figures, whether need grows. */
void group_page_figures(struct group_page *p);

/* The groups from it up, with their limits, in at most so many lines and a heading. */
void group_page_levels(struct group_page *p, size_t room);

/* Its processes, in what is left; a graph may need some of that. */
void group_page_processes(struct group_page *p);

#endif
