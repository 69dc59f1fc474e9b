/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_fixture - a heap that was never read, for the screens: process 100 of the captured system has it.
 */
#ifndef MS_TESTS_HEAP_FIXTURE_H
#define MS_TESTS_HEAP_FIXTURE_H

#include "ui/heap_job.h"
#include "ui/ui.h"

/*
 * "known", "detailed" (types and pages too), "leaky" (and leaks), "swapped" (of which not all is sure),
 * "running" (read without a stop), "asked" (walked, and its allocator asked), "said" (only asked), "gated" (it could
 * not be asked), "jemalloc", "bound", "unknown", "stopped" (it would have been, for too
 * long), or "refused". Returns false if there is none of that name. The findings are of d's one
 * process, of now_ns.
 */
bool heap_fixture_make(const char *name, const struct data *d, uint64_t now_ns,
		       struct heap_findings *ret);

#endif
