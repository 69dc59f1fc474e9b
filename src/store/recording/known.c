/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/recording/known.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

void known_facts_release(struct known_facts *facts)
{
	free(facts->items);
	*facts = (struct known_facts){ 0 };
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static uint64_t hash_keys(enum fact_table table, const int64_t keys[FACT_KEYS_MAX])
{
	return mix(mix((uint64_t)table + 1, (uint64_t)keys[0]), (uint64_t)keys[1]);
}

static uint64_t hash_values(const int64_t *values, size_t count)
{
	uint64_t hash = 1;

	for (size_t i = 0; i < count; i++)
		hash = mix(hash, (uint64_t)values[i]);
	return hash;
}

/*
 * Return the hash table slot of a key, or the free slot where the key must be inserted.
 */
static size_t find_slot(const struct known_facts *facts, enum fact_table table,
			const int64_t keys[FACT_KEYS_MAX])
{
	size_t mask = facts->capacity - 1, i = hash_keys(table, keys) & mask;

	while (facts->items[i].is_used &&
	       (facts->items[i].table != table || facts->items[i].keys[0] != keys[0] ||
		facts->items[i].keys[1] != keys[1]))
		i = (i + 1) & mask;
	return i;
}

static void grow(struct known_facts *facts)
{
	struct known_facts larger = { .capacity = facts->capacity ? 2 * facts->capacity
								  : 256 };

	if (facts->count < facts->capacity / 2)
		return;
	larger.items = xcalloc(larger.capacity, sizeof(*larger.items));
	larger.count = facts->count;
	for (size_t i = 0; i < facts->capacity; i++) {
		const struct known_fact *fact = &facts->items[i];

		if (fact->is_used)
			larger.items[find_slot(&larger, (enum fact_table)fact->table,
					       fact->keys)] = *fact;
	}
	free(facts->items);
	*facts = larger;
}

bool known_facts_update(struct known_facts *facts, enum fact_table table,
			const int64_t *keys, const int64_t *values, int64_t sample)
{
	const struct fact_table_info *info = &fact_tables[table];
	uint64_t hash = hash_values(values, info->value_count);
	struct known_fact fact = { .table = (uint8_t)table, .is_used = true };
	struct known_fact *at;
	bool is_news;

	memcpy(fact.keys, keys, info->key_count * sizeof(*keys));
	grow(facts);
	at = &facts->items[find_slot(facts, table, fact.keys)];
	is_news = !at->is_used || at->values_hash != hash;
	facts->count += !at->is_used;
	*at = fact;
	at->values_hash = hash;
	at->sample = sample;
	return is_news;
}

/*
 * Remove an item from the hash table, and move later items so that the free slot does not
 * end a search prematurely.
 */
static void remove_at(struct known_facts *facts, size_t hole)
{
	size_t mask = facts->capacity - 1;

	facts->items[hole].is_used = false;
	facts->count--;
	for (size_t i = (hole + 1) & mask; facts->items[i].is_used; i = (i + 1) & mask) {
		struct known_fact *fact = &facts->items[i];
		size_t home = hash_keys((enum fact_table)fact->table, fact->keys) & mask;

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		facts->items[hole] = *fact;
		fact->is_used = false;
		hole = i;
	}
}

bool known_facts_remove_stale(struct known_facts *facts, enum fact_table table,
			      int64_t first_key, int64_t sample,
			      int64_t ret_keys[FACT_KEYS_MAX])
{
	for (size_t i = 0; i < facts->capacity; i++) {
		const struct known_fact *fact = &facts->items[i];

		if (!fact->is_used || fact->table != table || fact->sample == sample ||
		    (first_key != FACT_UNKNOWN && fact->keys[0] != first_key))
			continue;
		memcpy(ret_keys, fact->keys, sizeof(fact->keys));
		remove_at(facts, i);
		return true;
	}
	return false;
}
