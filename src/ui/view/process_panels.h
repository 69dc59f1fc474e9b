/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_panels - the graphs of the selected process, and the panels that wide screens
 * show beside and below the matrix. Internal to the process view.
 */
#ifndef MS_UI_VIEW_PROCESS_PANELS_H
#define MS_UI_VIEW_PROCESS_PANELS_H

#include "ui/view/process.h"

#define GRAPH_HEIGHT_MIN 4

/*
 * Minimum size in characters of a screen with panels, and width of the left side
 * of such a screen.
 */
#define PANEL_SCREEN_WIDTH 150
#define PANEL_SCREEN_HEIGHT 24
#define PANEL_LEFT_WIDTH 108

/* Draw graphs of Rss and of the amount under the cursor side by side if there is room. */
void graphs_draw(const struct process_view *v, struct canvas *c, const struct area *area);

/*
 * Draw graphs one below the other: first Rss, then the amount under the cursor, then the
 * owners with the most memory.
 */
void panel_draw_graphs(const struct process_view *v, struct canvas *c,
		       const struct area *area);

/* Draw as many of the largest mappings as fit. */
void panel_draw_mappings(const struct process_view *v, struct canvas *c,
			 const struct area *area);

#endif
