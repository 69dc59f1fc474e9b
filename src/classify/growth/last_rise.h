/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * last_rise - measure how much a series rose since its last plateau or its last change of
 * pace, ignoring startup growth that ended long before. The functions are pure. The
 * series is reduced to windows of equal length, each with its lowest and highest value,
 * so that the teeth of a sawtooth curve do not count as growth.
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
	uint64_t from_bytes, to_bytes; /* from_bytes is always <= to_bytes */
	uint64_t ns;		       /* duration of the rise */
};

/* Initialise a series for samples between two times. */
void rise_series_init(struct rise_series *series, uint64_t begin_ns, uint64_t end_ns);

/* Add the next sample. The series is interpolated linearly between samples. */
void rise_series_add(struct rise_series *series, uint64_t time_ns, uint64_t bytes);

/*
 * Add a sample at which the amount changes abruptly, as when a process starts or ends.
 * The series keeps its previous value until the time of the sample.
 */
void rise_series_jump(struct rise_series *series, uint64_t time_ns, uint64_t bytes);

/*
 * Find the last rise of a series. With fewer than eight samples, measure the rise from
 * the first sample. Without samples, set all members of *ret to 0.
 */
void rise_find(const struct rise_series *series, struct rise *ret);

#endif
