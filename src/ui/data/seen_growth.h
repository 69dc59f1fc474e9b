/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seen_growth - the history of one amount since memstate first observed it, and whether
 * the amount is growing.
 */
#ifndef MS_UI_DATA_SEEN_GROWTH_H
#define MS_UI_DATA_SEEN_GROWTH_H

#include "classify/growth/series.h"

struct seen_growth {
	struct growth_series series;
	/* growth of the series; valid if is_found is true */
	struct growth growth;
	bool is_found;
};

/* Free the series. An all-zero struct is an empty series. */
void seen_growth_release(struct seen_growth *s);

/* Remove all samples. */
void seen_growth_clear(struct seen_growth *s);

/*
 * Add a sample to the series. Ignore it if the amount is unknown, or if the time is not
 * later than that of the last sample.
 */
void seen_growth_add(struct seen_growth *s, uint64_t time_ns, uint64_t bytes);

/*
 * Return the growth of the series. The kind is GROWTH_TOO_SHORT if the series has
 * too few samples.
 */
const struct growth *seen_growth_find(struct seen_growth *s);

#endif
