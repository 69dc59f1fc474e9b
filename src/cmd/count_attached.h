/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_attached - count the allocations of running processes (memstate count -p).
 */
#ifndef MS_CMD_COUNT_ATTACHED_H
#define MS_CMD_COUNT_ATTACHED_H

#include "cmd/options.h"
#include "render/column.h"

/* Returns an enum exit_status. */
int count_attached_run(struct options *o, const struct column_list *columns);

#endif
