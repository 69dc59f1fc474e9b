/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * last_rise - measure how much a series rose since its last plateau or its last change of
 * pace, ignoring startup growth that ended long before. The functions are pure. The
 * series is reduced to windows of equal length, each with its minimum and maximum, so
 * that the teeth of a sawtooth curve do not count as growth.
 */
#ifndef MS_CLASSIFY_GROWTH_LAST_RISE_H
#define MS_CLASSIFY_GROWTH_LAST_RISE_H

#include <stddef.h>
#include <stdint.h>

#define RISE_WINDOWS 40

struct rise_series {
	uint64_t begin_ns, window_ns;
	double floors[RISE_WINDOWS], ceilings[RISE_WINDOWS];
	size_t count; /* number of windows filled so far */
	size_t sample_count;
	uint64_t first_bytes, last_ns, last_bytes;
};

struct rise {
	/* amounts before and after the rise; from_bytes <= to_bytes */
	uint64_t from_bytes, to_bytes;
	uint64_t ns; /* duration of the rise */
};

/* Initialise a series for samples taken between two times. */
void rise_series_init(struct rise_series *series, uint64_t begin_ns, uint64_t end_ns);

/* Add the next sample. The series is interpolated linearly between samples. */
void rise_series_add(struct rise_series *series, uint64_t time_ns, uint64_t bytes);

/*
 * Add a sample at which the amount jumps, for example because a process starts or ends.
 * Until then, the series keeps its previous value.
 */
void rise_series_jump(struct rise_series *series, uint64_t time_ns, uint64_t bytes);

/*
 * Find the last rise of a series. With fewer than eight samples, measure the rise since
 * the first sample. Without samples, set all members of *ret to 0.
 */
void rise_find(const struct rise_series *series, struct rise *ret);

#endif
