/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latest - find the values that a key had in a sample. They are in the key's last row at
 * or before the sample. Internal to store/.
 */
#ifndef MS_STORE_RECORDING_LATEST_H
#define MS_STORE_RECORDING_LATEST_H

#include "store/recording/schema.h"
#include "store/recording/sql.h"

struct latest_facts;

/*
 * Prepare the queries for the latest values of keys. Return 0 or -errno. The caller
 * closes *ret.
 */
int latest_facts_open(sqlite3 *db, const struct recording_tables *tables,
		      struct latest_facts **ret);
void latest_facts_close(struct latest_facts *latest);

/*
 * Switch sequential reading on or off. In this mode, the caller should read samples in
 * ascending order, and the reader steps through the rows of each key instead of
 * searching, except in FACT_MAPPING. A read transaction stays open until sequential
 * reading is switched off, so a program that writes to the file cannot reuse space in it.
 */
void latest_facts_scan(struct latest_facts *latest, bool is_on);

/*
 * Read the values that a key had in a sample. The array ret needs one element per value
 * column of the table. Return 0, -ENOENT if the key did not exist, or -errno.
 */
int latest_facts_read(struct latest_facts *latest, enum fact_table table,
		      const int64_t keys[FACT_KEYS_MAX], int64_t sample, int64_t *ret);

#endif
