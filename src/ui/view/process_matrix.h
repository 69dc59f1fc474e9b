/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_matrix - the matrix of the selected process: memory by owner and page state.
 * Internal to the process view.
 */
#ifndef MS_UI_VIEW_PROCESS_MATRIX_H
#define MS_UI_VIEW_PROCESS_MATRIX_H

#include "ui/view/process.h"

/*
 * Draw the matrix at the top of the area, with or without two lines of changes below it.
 * Return the number of lines used.
 */
int matrix_draw(const struct process_view *v, struct canvas *c, const struct area *area,
		bool has_changes);

/* Return the number of lines of the matrix, including the lines of changes. */
int matrix_height(const struct process_view *v);

/* Return the heading of a page state, such as "PDIRTY", as in tables of processes. */
const char *state_heading(enum page_state state);

#endif
