/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * answer - convert the helper's answer to a query into allocator statistics. The
 * functions have no side effects.
 */
#ifndef MS_PROBE_HELPER_ANSWER_H
#define MS_PROBE_HELPER_ANSWER_H

#include "model/allocator_stats.h"
#include "probe/helper/ctlpage.h"

/* An allocator that the helper can query, and the helper's commands for the query. */
struct asked_allocator {
	enum allocator allocator;
	enum agent_command figures, text;
	/*
	 * true if the query visits all free chunks, during which other
	 * threads cannot allocate
	 */
	bool is_slow;
};

/*
 * Return the allocator of the process according to the commands that its helper supports,
 * or NULL if the helper supports none.
 */
const struct asked_allocator *answer_allocator(uint32_t commands);

/* Convert the helper's answer to figures. The caller still owns the answer's text. */
void answer_read(const struct asked_allocator *asked, const struct ctlpage_answer *answer,
		 struct allocator_stats *ret);

#endif
