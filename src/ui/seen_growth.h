/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seen_growth - one amount over all the time that it was looked at, and whether it grows.
 */
#ifndef MS_UI_SEEN_GROWTH_H
#define MS_UI_SEEN_GROWTH_H

#include "classify/growth_series.h"

struct seen_growth {
	struct growth_series series;
	struct growth growth; /* of the series, if it is_found */
	bool is_found;
};

/* All 0 is an empty one. */
void seen_growth_release(struct seen_growth *s);

/* Forget everything. */
void seen_growth_clear(struct seen_growth *s);

/* What is unknown is left out, and so is what is no later than the one before. */
void seen_growth_add(struct seen_growth *s, uint64_t time_ns, uint64_t bytes);

/* Too short while floors would be of one sample each. */
const struct growth *seen_growth_find(struct seen_growth *s);

#endif
