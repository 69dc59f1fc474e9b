/* SPDX-License-Identifier: GPL-2.0-or-later */
/* estimate - estimate the duration of a pause in which a heap is copied. */
#ifndef MS_SAMPLE_HEAP_ESTIMATE_H
#define MS_SAMPLE_HEAP_ESTIMATE_H

#include <stdint.h>

#include "base/units.h"
#include "model/mapping.h"
#include "model/usage.h"

/* An upper bound on the time for copying 1 GiB, measured on a busy machine. */
#define HEAP_COPY_NS_PER_GIB (400 * NS_PER_MS)

/*
 * Return an upper bound, in ns, on a pause in which scanned_bytes are scanned and
 * copied_bytes are copied.
 */
uint64_t heap_estimate_pause_ns(const struct usage *u,
				const struct mapping_list *mappings,
				uint64_t scanned_bytes, uint64_t copied_bytes);

#endif
