/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/helper_answer.h"

void helper_answer_release(struct helper_answer *answer)
{
	allocator_stats_release(&answer->stats);
	*answer = (struct helper_answer){ .was_requested = false };
}
