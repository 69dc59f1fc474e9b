/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/growth/series.h"

#include <stdlib.h>

#include "base/units.h"
#include "base/xalloc.h"

void growth_series_release(struct growth_series *series)
{
	free(series->points);
	*series = (struct growth_series)GROWTH_SERIES_INIT;
}

void growth_series_clear(struct growth_series *series)
{
	series->count = 0;
	series->added_count = 0;
}

/*
 * Store the two points with the lowest and the highest amount in
 * kept[], in chronological order.
 */
static void keep_extremes(const struct growth_point *points, size_t count,
			  struct growth_point kept[2])
{
	size_t min = 0, max = 0;

	for (size_t i = 1; i < count; i++) {
		min = points[i].bytes < points[min].bytes ? i : min;
		max = points[i].bytes >= points[max].bytes ? i : max;
	}
	kept[0] = points[min < max ? min : max];
	kept[1] = points[min < max ? max : min];
}

/* Halve the number of points by merging each pair of neighbouring cells. */
static void halve(struct growth_series *series)
{
	size_t kept = 0;

	for (size_t i = 0; i < series->count; i += 4, kept += 2) {
		struct growth_point two[2];

		keep_extremes(&series->points[i], 4, two);
		series->points[kept] = two[0];
		series->points[kept + 1] = two[1];
	}
	series->count = kept;
	series->cell_samples *= 2;
}

static void append(struct growth_series *series, struct growth_point point)
{
	series->points = xgrow(series->points, &series->capacity, series->count + 1,
			       sizeof(*series->points));
	series->points[series->count++] = point;
}

/* Merge a point into the current cell, which already contains two points. */
static void merge(struct growth_series *series, struct growth_point point)
{
	struct growth_point *pair = &series->points[series->count - 2];
	const struct growth_point three[] = { pair[0], pair[1], point };

	keep_extremes(three, 3, pair);
}

void growth_series_add(struct growth_series *series, uint64_t time_ns, uint64_t bytes)
{
	struct growth_point point = { time_ns, bytes };
	size_t count_max = series->count_max ? series->count_max : GROWTH_POINTS_MAX;

	if (!bytes_known(bytes))
		return;
	if (series->count > 0 && series->points[series->count - 1].time_ns > time_ns)
		point.time_ns = series->points[series->count - 1].time_ns;
	if (series->added_count == 0)
		series->cell_samples = 2;
	if (series->added_count % series->cell_samples == 0 && series->count == count_max)
		halve(series);
	if (series->added_count % series->cell_samples < 2)
		append(series, point);
	else
		merge(series, point);
	series->last = point;
	series->added_count++;
}
