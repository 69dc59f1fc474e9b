/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/estimate.h"

/* Upper bounds on the duration of the steps of a pause, measured on a busy machine. */
#define PAUSE_BASE_NS (2 * NS_PER_MS)
#define PAUSE_THREAD_NS (200 * NS_PER_US)
#define PAUSE_MAPPING_NS (4 * NS_PER_US)
/*
 * time in ns per GiB of memory for finding the resident pages, when only some of them
 * are copied
 */
#define PAUSE_SCAN_NS_PER_GIB (20 * NS_PER_MS)

uint64_t heap_estimate_pause_ns(const struct usage *u,
				const struct mapping_list *mappings,
				uint64_t scanned_bytes, uint64_t copied_bytes)
{
	return PAUSE_BASE_NS + u->process.thread_count * PAUSE_THREAD_NS +
	       mappings->count * PAUSE_MAPPING_NS +
	       (scanned_bytes >> 10) * PAUSE_SCAN_NS_PER_GIB / (1 << 20) +
	       (copied_bytes >> 10) * HEAP_COPY_NS_PER_GIB / (1 << 20);
}
