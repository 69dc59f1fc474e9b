/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * series - collect any number of samples for growth_find() in bounded memory. If
 * the buffer is full, only the lowest and the highest sample of each interval are
 * kept. The functions are pure.
 */
#ifndef MS_CLASSIFY_GROWTH_SERIES_H
#define MS_CLASSIFY_GROWTH_SERIES_H

#include "classify/growth/growth.h"

#define GROWTH_POINTS_MAX 2048

struct growth_series {
	struct growth_point *points;
	size_t count, capacity;
	/* maximum number of points, a multiple of 4; 0: GROWTH_POINTS_MAX */
	size_t count_max;
	/* number of samples added since the series was cleared */
	uint64_t added_count;
	/* number of samples that each stored pair of points represents */
	uint64_t cell_samples;
	struct growth_point last;
};

#define GROWTH_SERIES_INIT     \
	{                      \
		.points = NULL \
	}

void growth_series_release(struct growth_series *series);
void growth_series_clear(struct growth_series *series);

/*
 * Add a sample. If its time is before that of the previous sample, use the previous time.
 * BYTES_UNKNOWN is ignored.
 */
void growth_series_add(struct growth_series *series, uint64_t time_ns, uint64_t bytes);

#endif
