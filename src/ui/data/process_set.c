/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/data/process_set.h"

#include <stdlib.h>

#include "base/xalloc.h"

void process_set_release(struct process_set *set)
{
	free(set->items);
	*set = (struct process_set){ NULL, 0, 0 };
}

void process_set_clear(struct process_set *set)
{
	set->count = 0;
}

static struct process_id *find(const struct process_set *set, const struct process *p)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->items[i].pid == p->pid &&
		    set->items[i].start_ticks == p->start_ticks)
			return &set->items[i];
	return NULL;
}

bool process_set_has(const struct process_set *set, const struct process *p)
{
	return find(set, p) != NULL;
}

void process_set_add(struct process_set *set, const struct process *p)
{
	if (find(set, p))
		return;
	set->items =
		xgrow(set->items, &set->capacity, set->count + 1, sizeof(*set->items));
	set->items[set->count++] = (struct process_id){ p->pid, p->start_ticks };
}

void process_set_remove(struct process_set *set, const struct process *p)
{
	struct process_id *id = find(set, p);

	if (id)
		*id = set->items[--set->count];
}
