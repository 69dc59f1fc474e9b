/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * processes_panel - a panel beside the list of processes on wide screens. It shows the
 * figures of the process under the cursor.
 */
#ifndef MS_UI_VIEW_PROCESSES_PANEL_H
#define MS_UI_VIEW_PROCESSES_PANEL_H

#include "model/usage.h"
#include "ui/screen/canvas.h"

/*
 * Return the width of the panel on a screen of the given size, or 0 if there is no panel.
 */
int processes_panel_width(int screen_width, int screen_height);

void processes_panel_draw(const struct usage *u, struct canvas *c,
			  const struct area *area);

#endif
