/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * known - remember the values recorded last for each key, so that the recorder writes
 * only values that have changed.
 */
#ifndef MS_STORE_RECORDING_KNOWN_H
#define MS_STORE_RECORDING_KNOWN_H

#include "store/recording/sql.h"

struct known_fact {
	int64_t keys[FACT_KEYS_MAX]; /* the table's keys; the remaining elements are 0 */
	uint64_t values_hash;
	/*
	 * The last sample in which the key had these values, whether or not a
	 * row was written.
	 */
	int64_t sample;
	uint8_t table;
	bool is_used;
};

struct known_facts {
	struct known_fact *items;
	size_t count, capacity; /* size of items: a power of 2, or 0 */
};

void known_facts_release(struct known_facts *facts);

/*
 * Remember the values that a key has in this sample. Return true if they differ from the
 * values remembered before. The arrays have the lengths of the table's keys and values,
 * and are not used after the call.
 */
bool known_facts_update(struct known_facts *facts, enum fact_table table,
			const int64_t *keys, const int64_t *values, int64_t sample);

/*
 * Find a key of the table that was not passed to known_facts_update() in this sample, and
 * forget the key. Only keys that begin with first_key are considered, or all keys if
 * first_key is FACT_UNKNOWN. Return true with the key in ret_keys, or false if there is
 * no such key.
 */
bool known_facts_remove_stale(struct known_facts *facts, enum fact_table table,
			      int64_t first_key, int64_t sample,
			      int64_t ret_keys[FACT_KEYS_MAX]);

#endif
