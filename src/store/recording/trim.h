/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trim - remove the oldest samples of a recording that exceeds its bounds. Values
 * recorded before the first remaining sample are kept if they are still valid in it.
 */
#ifndef MS_STORE_RECORDING_TRIM_H
#define MS_STORE_RECORDING_TRIM_H

#include "store/recording/recording.h"
#include "store/recording/sql.h"

/*
 * A recording with a bound only on its time is trimmed whenever 1/RECORDING_TRIM_SHARE of
 * this time has passed. If a recording exceeds the bound on its size, a trim removes the
 * oldest 1/RECORDING_TRIM_SHARE of its samples.
 */
#define RECORDING_TRIM_SHARE 10

/*
 * Trim a recording to its bounds, in the same transaction that adds the last sample.
 * unix_ms is the time of that sample. Return 0 or -errno.
 */
int recording_trim(sqlite3 *db, const struct recording_bounds *bounds, uint64_t unix_ms);

#endif
