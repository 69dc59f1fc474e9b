/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * known - remember the values last recorded for each key, so that unchanged
 * values are not written again.
 */
#ifndef MS_STORE_RECORDING_KNOWN_H
#define MS_STORE_RECORDING_KNOWN_H

#include "store/recording/sql.h"

struct known_fact {
	int64_t keys[FACT_KEYS_MAX]; /* unused keys are 0 */
	uint64_t values_hash;
	/* the last sample with these values, whether or not a row was written */
	int64_t sample;
	uint8_t table;
	bool is_used;
};

struct known_facts {
	struct known_fact *items;
	size_t count, capacity; /* capacity is a power of 2, or 0 */
};

void known_facts_release(struct known_facts *facts);

/*
 * Note the values of a key in this sample. Return whether they differ from the last ones.
 * Both arrays have the table's lengths and are not kept.
 */
bool known_facts_say(struct known_facts *facts, enum fact_table table,
		     const int64_t *keys, const int64_t *values, int64_t sample);

/*
 * Find a key of the table, with this first key (any with FACT_UNKNOWN), that
 * has not been noted in this sample. Forget it and store it in ret_keys.
 * Return false if there is none.
 */
bool known_facts_take_unsaid(struct known_facts *facts, enum fact_table table,
			     int64_t first_key, int64_t sample,
			     int64_t ret_keys[FACT_KEYS_MAX]);

#endif
