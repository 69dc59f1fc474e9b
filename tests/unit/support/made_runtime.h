/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made_runtime - evidence about programs that limit their own memory.
 */
#ifndef MS_TESTS_UNIT_MADE_RUNTIME_H
#define MS_TESTS_UNIT_MADE_RUNTIME_H

#include "classify/oom/evidence.h"

/*
 * Make the evidence: a program with this command line has rss_bytes resident, in a
 * group with a limit of 64 MiB.
 */
void made_runtime(struct oom_evidence *e, enum oom_end end, const char *command,
		  uint64_t rss_bytes);

void made_heap_above_limit(struct oom_evidence *e);
void made_heap_below_limit(struct oom_evidence *e);
void made_heap_of_all(struct oom_evidence *e);
void made_heap_of_a_small_process(struct oom_evidence *e);
void made_heap_that_may_outgrow(struct oom_evidence *e);
void made_heap_that_fits(struct oom_evidence *e);

#endif
