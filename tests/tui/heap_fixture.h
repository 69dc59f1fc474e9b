/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_fixture - made-up heap findings for the screens, for process
 * 100 of the captured system.
 */
#ifndef MS_TESTS_HEAP_FIXTURE_H
#define MS_TESTS_HEAP_FIXTURE_H

#include "sample/heap/findings.h"
#include "ui/state.h"

/*
 * Make the findings that name selects: "known", "detailed" (with types and pages),
 * "leaky" (with leaks, too), "swapped" (partly uncertain), "running" (read without a
 * stop), "asked" (walked, and the allocator queried), "said" (only queried), "gated" (the
 * query was not possible), "jemalloc", "bound", "unknown", "stopped" (reading would have
 * taken too long), or "refused". Returns false if the name is unknown. The findings
 * belong to d's only process and to the time now_ns.
 */
bool heap_fixture_make(const char *name, const struct data *d, uint64_t now_ns,
		       struct heap_findings *ret);

#endif
