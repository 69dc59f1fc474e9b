/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peak - find the peak in the samples of a run. */
#ifndef MS_CMD_COMPARE_PEAK_H
#define MS_CMD_COMPARE_PEAK_H

#include <stddef.h>
#include <stdint.h>

#include "model/comparison.h"

/*
 * Return the index of the sample that represents the peak, normally the largest sample.
 * If other samples are almost as large, return the sample with the best heap figures; if
 * several have equally good figures, the last of them.
 */
size_t compare_find_peak(const struct run *run);

/*
 * Return for how long Rss exceeded the limit, up to the time end_ns. Return BYTES_UNKNOWN
 * if limit_bytes is unknown.
 */
uint64_t compare_find_above_ns(const struct run *run, uint64_t limit_bytes,
			       uint64_t end_ns);

#endif
