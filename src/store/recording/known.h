/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * known - remember the last recorded values of each key, so that the recorder writes only
 * values that have changed.
 */
#ifndef MS_STORE_RECORDING_KNOWN_H
#define MS_STORE_RECORDING_KNOWN_H

#include "store/recording/sql.h"

struct known_fact {
	int64_t keys[FACT_KEYS_MAX]; /* keys of the row; unused elements are 0 */
	uint64_t values_hash;
	/*
	 * last sample in which the key had these values, even if no row was written for
	 * that sample
	 */
	int64_t sample;
	uint8_t table;
	bool is_used;
};

struct known_facts {
	struct known_fact *items;
	size_t count, capacity; /* number of slots, a power of 2 or 0 */
};

void known_facts_release(struct known_facts *facts);

/*
 * Remember the values of a key in the current sample. Return true if they differ from the
 * remembered values. The arrays have one element per key column and per value column of
 * the table, and are not used after the call.
 */
bool known_facts_update(struct known_facts *facts, enum fact_table table,
			const int64_t *keys, const int64_t *values, int64_t sample);

/*
 * Find a key of the table for which the caller has not called known_facts_update()
 * in this sample. Forget the key, and store it in ret_keys. If first_key is not
 * FACT_UNKNOWN, consider only keys that begin with first_key. Return false if
 * there is no such key.
 */
bool known_facts_remove_stale(struct known_facts *facts, enum fact_table table,
			      int64_t first_key, int64_t sample,
			      int64_t ret_keys[FACT_KEYS_MAX]);

#endif
