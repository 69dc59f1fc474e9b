/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limit_time - predict when growth reaches a limit. Pure. */
#ifndef MS_CLASSIFY_GROWTH_LIMIT_TIME_H
#define MS_CLASSIFY_GROWTH_LIMIT_TIME_H

#include "base/strbuf.h"
#include "classify/growth/growth.h"

/* Time until the limit is reached. UINT64_MAX: never at this rate. */
struct growth_time {
	uint64_t ns, soonest_ns, latest_ns;
};

/*
 * Predict how long after the last point a peak on top of the growing floor reaches the
 * limit. In at least nine of ten cases the actual time lies between soonest_ns and
 * latest_ns. These bounds account for the uncertainty of the rate, the height of peaks,
 * the phase of the cycle and, if growth comes in random steps, the next steps. Return
 * false if the amount does not grow or the time cannot be determined.
 */
bool growth_time_to(const struct growth *growth, uint64_t limit_bytes,
		    struct growth_time *ret);

/*
 * Append when the limit is reached: "reaches the limit in 1m49s (1m36s to 2m04s)",
 * "reaches the limit in 3.2s (now to never)", or "is at the limit now".
 */
void growth_time_add(struct strbuf *out, const struct growth_time *left);

#endif
