/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * known - remember the values that were last recorded for each key, so that the recorder
 * writes only values that have changed.
 */
#ifndef MS_STORE_RECORDING_KNOWN_H
#define MS_STORE_RECORDING_KNOWN_H

#include "store/recording/sql.h"

struct known_fact {
	int64_t keys[FACT_KEYS_MAX]; /* the keys of the row; unused elements are 0 */
	uint64_t values_hash;
	/*
	 * The last sample in which the key had these values, whether or not that sample
	 * wrote a row.
	 */
	int64_t sample;
	uint8_t table;
	bool is_used;
};

struct known_facts {
	struct known_fact *items;
	size_t count, capacity; /* capacity: number of slots, a power of 2 or 0 */
};

void known_facts_release(struct known_facts *facts);

/*
 * Remember the values of a key in the current sample. Return true if they differ from the
 * values remembered before. The lengths of the arrays are the table's numbers of keys and
 * values. The arrays are not used after the call.
 */
bool known_facts_update(struct known_facts *facts, enum fact_table table,
			const int64_t *keys, const int64_t *values, int64_t sample);

/*
 * Find a key of the table for which known_facts_update() was not called in this sample,
 * and forget the key. Only keys that begin with first_key are considered, or all keys if
 * first_key is FACT_UNKNOWN. Return true with the key in ret_keys, or false if there is
 * no such key.
 */
bool known_facts_remove_stale(struct known_facts *facts, enum fact_table table,
			      int64_t first_key, int64_t sample,
			      int64_t ret_keys[FACT_KEYS_MAX]);

#endif
