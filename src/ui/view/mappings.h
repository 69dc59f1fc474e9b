/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mappings - the view that shows the mappings of the selected process, one by one or
 * in groups.
 */
#ifndef MS_UI_VIEW_MAPPINGS_H
#define MS_UI_VIEW_MAPPINGS_H

#include "model/mapping.h"
#include "ui/screen/grid.h"
#include "ui/view/selection.h"

struct data;

enum grouping {
	GROUP_NONE,
	GROUP_FILE,
	GROUP_OWNER,
	GROUPING_COUNT_
};

struct mappings_view {
	const struct data *data;
	bool exact_bytes;
	struct grid grid;
	struct selection selection;
	enum grouping grouping;
	/* owner whose mappings are shown; OWNER_COUNT_: all owners */
	enum owner only_owner;
	int width;	      /* screen width for which the columns were chosen */
	uint64_t cursor_addr; /* address of the mapping that the cursor follows */
	bool is_following;
	/* groups of mappings, whose names the view owns */
	struct mapping *groups;
	size_t group_count, group_capacity;
	const void **order;
	size_t order_capacity;
	size_t count;
};

void mappings_init(struct mappings_view *v, const struct data *data, bool exact_bytes);
void mappings_release(struct mappings_view *v);
void mappings_update(struct mappings_view *v);

/*
 * Show the mappings of one owner, or all mappings if the owner is OWNER_COUNT_. If the
 * owner is part of the heap, show all mappings of the allocator.
 */
void mappings_show_owner(struct mappings_view *v, enum owner owner);
bool mappings_act(struct mappings_view *v, enum action action);
bool mappings_search(struct mappings_view *v, int step);
void mappings_choose_row(struct mappings_view *v, size_t row);
void mappings_draw(struct mappings_view *v, struct canvas *c, const struct area *area);

#endif
