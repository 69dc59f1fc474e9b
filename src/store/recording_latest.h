/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_latest - what was true of a key as of a sample: its latest row that is not
 * after it. For store/ alone.
 */
#ifndef MS_STORE_RECORDING_LATEST_H
#define MS_STORE_RECORDING_LATEST_H

#include "store/recording_sql.h"

struct latest_facts;

/* Returns 0 or -errno of recording_sql_errno(). */
int latest_facts_open(sqlite3 *db, struct latest_facts **ret);
void latest_facts_close(struct latest_facts *latest);

/*
 * Samples will be asked for as they rise: the rows of each key but those of mappings are
 * walked through then, not searched for. Until it is switched off the rows are being read
 * as SQLite sees it, and a program that writes the file cannot use their room again.
 */
void latest_facts_scan(struct latest_facts *latest, bool is_on);

/* Returns 0, -ENOENT if there was nothing, or -errno. ret has the table's length. */
int latest_facts_read(struct latest_facts *latest, enum fact_table table,
		      const int64_t keys[FACT_KEYS_MAX], int64_t sample, int64_t *ret);

#endif
