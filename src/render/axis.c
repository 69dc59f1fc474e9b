/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/axis.h"

/* Axes are at least four of these high. */
#define AXIS_STEP_BYTES (UINT64_C(1) << 10)

uint64_t axis_top_bytes(uint64_t max_bytes)
{
	uint64_t step = AXIS_STEP_BYTES;

	if (max_bytes <= 4 * step)
		return 4 * step;
	/* eighths of the power of two that holds it, so that it moves seldom */
	while (step * 8 < max_bytes && step < UINT64_C(1) << 60)
		step *= 2;
	if (max_bytes > UINT64_MAX - step)
		return UINT64_MAX - 1;
	return (max_bytes + step - 1) / step * step;
}
