/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attached - count the allocations of running processes (memstate count -p).
 */
#ifndef MS_CMD_COUNT_ATTACHED_H
#define MS_CMD_COUNT_ATTACHED_H

#include "cmd/core/options.h"
#include "render/table/column.h"

/*
 * Attach to the processes, count their allocations, and write the report. Return an enum
 * exit_status.
 */
int count_attached_run(struct options *o, const struct column_list *columns);

#endif
