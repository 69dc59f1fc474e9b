/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/allocator_stats.h"

#include <stdlib.h>

void allocator_stats_release(struct allocator_stats *stats)
{
	free(stats->text);
	*stats = (struct allocator_stats){ 0 };
}
