/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * series - collect an unlimited number of amounts over time for growth_find()
 * in bounded memory. If there are too many amounts, only the lowest and the
 * highest of each interval are kept. Pure.
 */
#ifndef MS_CLASSIFY_GROWTH_SERIES_H
#define MS_CLASSIFY_GROWTH_SERIES_H

#include "classify/growth/growth.h"

#define GROWTH_POINTS_MAX 2048

struct growth_series {
	struct growth_point *points;
	size_t count, capacity;
	uint64_t added_count; /* number of samples since the series was cleared */
	/* number of samples that each pair of stored points represents */
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
 * Add a sample. If its time is before the previous sample's, the previous sample's
 * time is used. BYTES_UNKNOWN is ignored.
 */
void growth_series_add(struct growth_series *series, uint64_t time_ns, uint64_t bytes);

#endif
