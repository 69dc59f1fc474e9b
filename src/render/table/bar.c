/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/table/bar.h"

#include "base/units.h"

static uint64_t known(uint64_t bytes)
{
	return bytes_known(bytes) ? bytes : 0;
}

/* Return the ideal number of cells for a part, in fixed point with 16 fractional bits. */
static uint64_t exact_cells(uint64_t part, uint64_t whole, size_t width)
{
	return (uint64_t)((unsigned __int128)part * width * 65536 / whole);
}

/* Return the index of the part that is furthest below its ideal number of cells. */
static size_t find_neediest(const uint64_t *parts, size_t count, uint64_t whole,
			    size_t width, const size_t *cells)
{
	int64_t max = INT64_MIN;
	size_t neediest = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t part = known(parts[i]);
		int64_t lack = (int64_t)exact_cells(part, whole, width) -
			       (int64_t)cells[i] * 65536;

		if (part > 0 && lack > max) {
			max = lack;
			neediest = i;
		}
	}
	return neediest;
}

void bar_split(const uint64_t *parts, size_t count, uint64_t whole, size_t width,
	       size_t *ret_cells)
{
	uint64_t sum = 0;
	size_t used = 0;
	size_t target;

	for (size_t i = 0; i < count; i++) {
		sum = bytes_add(sum, known(parts[i]));
		ret_cells[i] = 0;
	}
	if (!bytes_known(whole) || !bytes_known(sum) || whole == 0 || sum == 0)
		return;
	if (sum > whole)
		whole = sum;
	target = (size_t)((exact_cells(sum, whole, width) + 32768) / 65536);
	for (size_t i = 0; i < count && used < target; i++) {
		ret_cells[i] = known(parts[i]) > 0;
		used += ret_cells[i];
	}
	for (; used < target; used++)
		ret_cells[find_neediest(parts, count, whole, width, ret_cells)]++;
}
