/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_known - what the last row of each key said, so that the same is not written
 * again.
 */
#ifndef MS_STORE_RECORDING_KNOWN_H
#define MS_STORE_RECORDING_KNOWN_H

#include "store/recording_sql.h"

struct known_fact {
	int64_t keys[FACT_KEYS_MAX]; /* those that the table has not are 0 */
	uint64_t values_hash;
	int64_t sample; /* in which it was last said, written or not */
	uint8_t table;
	bool is_used;
};

struct known_facts {
	struct known_fact *items;
	size_t count, capacity; /* a power of 2, or 0 */
};

void known_facts_release(struct known_facts *facts);

/*
 * That these are the values as of this sample. Returns whether that is news. Borrowed
 * arrays, of the table's lengths.
 */
bool known_facts_say(struct known_facts *facts, enum fact_table table, const int64_t *keys,
		     const int64_t *values, int64_t sample);

/*
 * A key of the table and this first one (any with FACT_UNKNOWN) that was not said in this
 * sample: forgotten, and its keys in ret. False: there is none.
 */
bool known_facts_take_unsaid(struct known_facts *facts, enum fact_table table, int64_t first_key,
			     int64_t sample, int64_t ret_keys[FACT_KEYS_MAX]);

#endif
