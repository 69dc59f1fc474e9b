/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * processes_head - the lines above the list of processes: the sums over the processes,
 * the page states of the process under the cursor, and the legend of the page states.
 * Internal to the view of processes.
 */
#ifndef MS_UI_VIEW_PROCESSES_HEAD_H
#define MS_UI_VIEW_PROCESSES_HEAD_H

#include "ui/view/processes.h"

#define PROCESSES_HEAD_HEIGHT 3

/*
 * Draw the sums over all processes. In an area of PROCESSES_HEAD_HEIGHT lines, also draw
 * the page states of the process under the cursor.
 */
void processes_head_draw(const struct processes_view *v, struct canvas *c,
			 const struct area *area);

#endif
