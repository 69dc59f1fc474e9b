/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * answer - what the helper says, as an allocator's figures. Pure.
 */
#ifndef MS_PROBE_ANSWER_H
#define MS_PROBE_ANSWER_H

#include "model/allocator_stats.h"
#include "probe/ctlpage.h"

/* An allocator that can be asked, and how. */
struct asked_allocator {
	enum allocator allocator;
	enum agent_command figures, text;
	bool is_slow; /* it goes through its free chunks, and keeps others from allocating meanwhile */
};

/*
 * The one whose malloc the process uses, by the commands that its helper has; NULL: there
 * is none.
 */
const struct asked_allocator *answer_allocator(uint32_t commands);

/* The text, if there is one, stays the answer's. */
void answer_read(const struct asked_allocator *asked, const struct ctlpage_answer *answer,
		 struct allocator_stats *ret);

#endif
