/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/run/pid_set.h"

#include "base/xalloc.h"

bool pid_set_contains(const struct pid_set *set, int pid)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->items[i] == pid)
			return true;
	return false;
}

void pid_set_add(struct pid_set *set, int pid)
{
	if (pid_set_contains(set, pid))
		return;
	set->items =
		xgrow(set->items, &set->capacity, set->count + 1, sizeof(*set->items));
	set->items[set->count++] = pid;
}

void pid_set_remove(struct pid_set *set, int pid)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->items[i] == pid)
			set->items[i] = set->items[--set->count];
}
