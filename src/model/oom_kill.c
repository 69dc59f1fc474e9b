/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/oom_kill.h"

#include <stdlib.h>

void oom_kill_list_release(struct oom_kill_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].tasks);
	free(list->items);
	*list = (struct oom_kill_list)OOM_KILL_LIST_INIT;
}
