/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peak - what the samples of a run show of its peak.
 */
#ifndef MS_CMD_COMPARE_PEAK_H
#define MS_CMD_COMPARE_PEAK_H

#include <stddef.h>
#include <stdint.h>

#include "model/comparison.h"

/*
 * Return the index of the largest sample. Prefer the last of the samples that are hardly
 * smaller, if it knows the owners of the memory better: where Rss stays high, such a
 * sample shows what became of the memory.
 */
size_t compare_find_peak(const struct run *run);

/*
 * Return how long Rss was above the limit until end_ns, or BYTES_UNKNOWN if limit_bytes
 * is.
 */
uint64_t compare_find_above_ns(const struct run *run, uint64_t limit_bytes,
			       uint64_t end_ns);

#endif
