/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/stacks.h"

#include <stdlib.h>

void stacks_release(struct stacks *stacks)
{
	for (size_t i = 0; i < stacks->module_count; i++)
		free(stacks->modules[i].path);
	free(stacks->modules);
	free(stacks->nodes);
	*stacks = (struct stacks){ 0 };
}
