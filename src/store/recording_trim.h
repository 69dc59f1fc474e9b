/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_trim - the oldest samples go where a recording is longer or larger than it may
 * be. What was true before the first sample that stays, and still was then, stays too.
 */
#ifndef MS_STORE_RECORDING_TRIM_H
#define MS_STORE_RECORDING_TRIM_H

#include "store/recording.h"
#include "store/recording_sql.h"

#define RECORDING_TRIM_SHARE 10 /* a bound may be passed by a tenth of it */

/* Within the transaction of the last sample, which is of this time. Returns 0 or -errno. */
int recording_trim(sqlite3 *db, const struct recording_bounds *bounds, uint64_t unix_ms);

#endif
