/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * last_rise - how much a series rose since its last plateau, or since it last changed its
 * pace: growth at startup that ended long before is left out. Pure.
 *
 * The series is reduced to windows of equal length, each with its lowest and highest value,
 * so that the teeth of a sawtooth are not taken for growth.
 */
#ifndef MS_CLASSIFY_LAST_RISE_H
#define MS_CLASSIFY_LAST_RISE_H

#include <stddef.h>
#include <stdint.h>

#define RISE_WINDOWS 40

struct rise_series {
	uint64_t begin_ns, window_ns;
	double floors[RISE_WINDOWS], ceilings[RISE_WINDOWS];
	size_t count; /* windows filled so far */
	size_t sample_count;
	uint64_t first_bytes, last_ns, last_bytes;
};

struct rise {
	uint64_t from_bytes, to_bytes; /* from: never more than to */
	uint64_t ns;		       /* how long it took */
};

/* For samples between two times. */
void rise_series_init(struct rise_series *series, uint64_t begin_ns, uint64_t end_ns);

/* The next sample; between two samples the series is taken as a straight line. */
void rise_series_add(struct rise_series *series, uint64_t time_ns, uint64_t bytes);

/*
 * The same, but the series jumped to this value: it was unchanged until now, as is the
 * memory of a process before it starts or after it ends.
 */
void rise_series_jump(struct rise_series *series, uint64_t time_ns, uint64_t bytes);

/* All zero without a sample; with fewer than eight samples the rise is since the first. */
void rise_find(const struct rise_series *series, struct rise *ret);

#endif
