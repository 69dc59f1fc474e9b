/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/table/axis.h"

/*
 * Smallest distance between two marks on an axis, in bytes. An axis is at least
 * four times as long.
 */
#define AXIS_STEP_BYTES (UINT64_C(1) << 10)

uint64_t axis_top_bytes(uint64_t max_bytes)
{
	uint64_t step = AXIS_STEP_BYTES;

	if (max_bytes <= 4 * step)
		return 4 * step;
	/*
	 * Use a power of two between 1/8 and 1/4 of the maximum as the distance between
	 * marks. The end of the axis is a multiple of this distance and therefore rarely
	 * changes.
	 */
	while (step * 8 < max_bytes && step < UINT64_C(1) << 60)
		step *= 2;
	if (max_bytes > UINT64_MAX - step)
		return UINT64_MAX - 1;
	return (max_bytes + step - 1) / step * step;
}
