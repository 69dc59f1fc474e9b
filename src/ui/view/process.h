/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process - the view of the selected process, with bars, graphs, and a matrix of memory
 * by owner and page state.
 */
#ifndef MS_UI_VIEW_PROCESS_H
#define MS_UI_VIEW_PROCESS_H

#include "ui/data/history.h"
#include "ui/screen/canvas.h"
#include "ui/screen/graph.h"
#include "ui/screen/keymap.h"

struct data;

enum cells_mode {
	CELLS_AMOUNT,
	CELLS_CHANGE,
	CELLS_RATE,
	CELLS_MODE_COUNT_
};

struct process_view {
	const struct data *data;
	bool exact_bytes;
	enum cells_mode mode;
	/* style of the graphs if the terminal is not limited to ASCII */
	enum graph_style graph_style;
	/*
	 * The amount under the cursor, which the second graph shows. Until the user moves
	 * the cursor, it is on the most important owner.
	 */
	enum part chosen;
	bool has_chosen; /* true if the user has moved the cursor */
	/*
	 * Bit set of the amounts that have ever been above 0. Their lines stay visible.
	 */
	uint32_t seen;
	int seen_pid;
};

void process_init(struct process_view *v, const struct data *data, bool exact_bytes);
void process_update(struct process_view *v);
bool process_act(struct process_view *v, enum action action);
void process_draw(struct process_view *v, struct canvas *c, const struct area *area,
		  uint64_t now_ns);

/*
 * Return the owner in the line of the cursor, or OWNER_COUNT_ if the line does not show
 * an owner.
 */
enum owner process_chosen_owner(const struct process_view *v);

/* Return the role for drawing an owner or a page state. */
static inline enum role part_role(enum part part)
{
	return part < PART_STATE ? (enum role)(ROLE_OWNER + (part - PART_OWNER))
				 : (enum role)(ROLE_STATE + (part - PART_STATE));
}

/* Return true if the amount is on the screen. */
bool process_shows(const struct process_view *v, enum part part);

#endif
