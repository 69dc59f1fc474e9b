/* SPDX-License-Identifier: GPL-2.0-or-later */
/* group - the view that shows a cgroup and its processes. */
#ifndef MS_UI_VIEW_GROUP_H
#define MS_UI_VIEW_GROUP_H

#include "ui/screen/canvas.h"
#include "ui/screen/list.h"

struct data;
struct usage;

struct group_view {
	const struct data *data;
	bool exact_bytes;
	struct list list; /* cursor in the list of processes */
	/* pid that the cursor follows; 0: the cursor stays in the first line */
	int cursor_pid;
	const struct usage **order;
	size_t order_capacity, count;
	int first_y; /* screen line of the first process when last drawn */
};

void group_view_init(struct group_view *v, const struct data *data, bool exact_bytes);
void group_view_release(struct group_view *v);
void group_view_update(struct group_view *v);
bool group_view_act(struct group_view *v, enum action action);
/* Return the usage of the process under the cursor, or NULL. */
const struct usage *group_view_chosen(const struct group_view *v);
/* Move the cursor to the process in line y of the screen, if there is one. */
void group_view_choose_line(struct group_view *v, int y);
void group_view_draw(struct group_view *v, struct canvas *c, const struct area *area);

#endif
