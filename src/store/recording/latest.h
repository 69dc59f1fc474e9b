/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latest - find the values of a key as of a sample: those of its latest row
 * that is not after the sample. Internal to store/.
 */
#ifndef MS_STORE_RECORDING_LATEST_H
#define MS_STORE_RECORDING_LATEST_H

#include "store/recording/sql.h"

struct latest_facts;

/*
 * Prepare the queries. Returns 0, or -errno as
 * recording_sql_errno(). The caller closes *ret.
 */
int latest_facts_open(sqlite3 *db, struct latest_facts **ret);
void latest_facts_close(struct latest_facts *latest);

/*
 * Switch sequential reading on or off. While it is on, samples should be read in
 * ascending order: the rows of each key are then stepped through instead of searched for,
 * except those of mappings. A read transaction stays open meanwhile, so a program that
 * writes the file cannot reuse space in it.
 */
void latest_facts_scan(struct latest_facts *latest, bool is_on);

/*
 * Read the values of a key as of a sample into ret, which has the table's length. Returns
 * 0, -ENOENT if there are none, or -errno.
 */
int latest_facts_read(struct latest_facts *latest, enum fact_table table,
		      const int64_t keys[FACT_KEYS_MAX], int64_t sample, int64_t *ret);

#endif
