/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * growth_series - amounts over time for growth_find(), as many as there may come, in
 * bounded room: when there are too many, the least and the most of each while are kept. Pure.
 */
#ifndef MS_CLASSIFY_GROWTH_SERIES_H
#define MS_CLASSIFY_GROWTH_SERIES_H

#include "classify/growth.h"

#define GROWTH_POINTS_MAX 2048

struct growth_series {
	struct growth_point *points;
	size_t count, capacity;
	uint64_t added_count;  /* since it was cleared */
	uint64_t cell_samples; /* so many are told by two points */
	struct growth_point last;
};

#define GROWTH_SERIES_INIT     \
	{                      \
		.points = NULL \
	}

void growth_series_release(struct growth_series *series);
void growth_series_clear(struct growth_series *series);

/* A time before that of the last one counts as the same; BYTES_UNKNOWN is left out. */
void growth_series_add(struct growth_series *series, uint64_t time_ns, uint64_t bytes);

#endif
