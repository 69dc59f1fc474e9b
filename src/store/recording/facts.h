/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts - convert model structures to and from rows of the fact tables (sql.h), which
 * store recorded values by key and sample. An array of values has one element per value
 * column of the table.
 */
#ifndef MS_STORE_RECORDING_FACTS_H
#define MS_STORE_RECORDING_FACTS_H

#include <stdbool.h>

#include "model/cgroup.h"
#include "model/heap.h"
#include "model/usage.h"
#include "store/recording/sql.h"

/*
 * Convert the state of a process to values. `source` is recorded as the source of its
 * memory figures, and may provide fewer figures than *usage contains.
 */
void facts_from_state(const struct usage *usage, enum source source, int64_t *ret);
void facts_from_usage(const struct usage *usage, int64_t *ret_often, int64_t *ret_seldom);
void facts_from_mapping(const struct mapping *mapping, int64_t name, int64_t *ret);
/*
 * Convert the results of a heap read to values. heap_quality must not be QUALITY_UNKNOWN.
 */
void facts_from_heap(const struct usage *usage, const struct mapping_list *mappings,
		     int64_t *ret);
/* Convert the figures of one heap, except its allocator, which is a key of the table. */
void facts_from_heap_part(const struct usage_heap *heap, int64_t *ret);
void facts_from_level(const struct cgroup_level *level, int64_t *ret);
void facts_from_stat(const struct cgroup_stat *stat, int64_t *ret);
/*
 * Convert the figures of the cgroup as a whole, which do not belong to a level of
 * its hierarchy.
 */
void facts_from_group(const struct cgroup *cgroup, int64_t *ret);

/*
 * Convert values from an untrusted file. An invalid value becomes unknown, or 0 if the
 * member cannot be unknown.
 */
void facts_to_state(const int64_t *values, struct usage *ret);
void facts_to_usage(const int64_t *often, const int64_t *seldom, struct usage *ret);
/*
 * Convert values to a mapping, and set *ret_name to the number of the mapping's name. If
 * the mapping contained a thread's stack, its owner becomes OWNER_STACK.
 */
void facts_to_mapping(const int64_t *values, struct mapping *ret, int64_t *ret_name);
/*
 * Convert values to the results of a heap read. Return false if the values are invalid.
 */
bool facts_to_heap(const int64_t *values, struct heap_sums *ret);
bool facts_to_heap_part(const int64_t *values, enum allocator allocator,
			struct usage_heap *ret);
void facts_to_level(const int64_t *values, struct cgroup_level *ret);
void facts_to_stat(const int64_t *values, struct cgroup_stat *ret);
void facts_to_group(const int64_t *values, struct cgroup *ret);

#endif
