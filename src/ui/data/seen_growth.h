/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seen_growth - the history of one amount since it was first
 * observed, and whether the amount grows.
 */
#ifndef MS_UI_DATA_SEEN_GROWTH_H
#define MS_UI_DATA_SEEN_GROWTH_H

#include "classify/growth/series.h"

struct seen_growth {
	struct growth_series series;
	struct growth growth; /* growth of the series; valid if is_found */
	bool is_found;
};

/* Free the series. An object with all members 0 is an empty series. */
void seen_growth_release(struct seen_growth *s);

/* Remove all samples. */
void seen_growth_clear(struct seen_growth *s);

/*
 * Add a sample. Ignore it if the amount is unknown or the time is not later than the
 * last sample's.
 */
void seen_growth_add(struct seen_growth *s, uint64_t time_ns, uint64_t bytes);

/*
 * Return the growth of the series, or GROWTH_TOO_SHORT if it has so few samples that each
 * floor would cover only one sample.
 */
const struct growth *seen_growth_find(struct seen_growth *s);

#endif
