/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_facts - model to the values of a fact table's row, and back. Arrays have the
 * table's length.
 */
#ifndef MS_STORE_RECORDING_FACTS_H
#define MS_STORE_RECORDING_FACTS_H

#include <stdbool.h>

#include "model/cgroup.h"
#include "model/heap.h"
#include "model/usage.h"
#include "store/recording_sql.h"

/* source: of what is recorded, whatever was read. */
void facts_of_state(const struct usage *usage, enum source source, int64_t *ret);
void facts_of_usage(const struct usage *usage, int64_t *ret_often, int64_t *ret_seldom);
void facts_of_mapping(const struct mapping *mapping, int64_t name, int64_t *ret);
/* Of a heap that was read: its quality is not unknown. */
void facts_of_heap(const struct usage *usage, const struct mapping_list *mappings, int64_t *ret);
void facts_of_level(const struct cgroup_level *level, int64_t *ret);
void facts_of_stat(const struct cgroup_stat *stat, int64_t *ret);
/* What belongs to no level. */
void facts_of_group(const struct cgroup *cgroup, int64_t *ret);

/* Foreign values that cannot be are unknown, or 0 where nothing can be unknown. */
void facts_to_state(const int64_t *values, struct usage *ret);
void facts_to_usage(const int64_t *often, const int64_t *seldom, struct usage *ret);
/* *ret_name: the number of its name. Its owner is OWNER_STACK where a thread had its stack. */
void facts_to_mapping(const int64_t *values, struct mapping *ret, int64_t *ret_name);
/* False if it cannot be one. */
bool facts_to_heap(const int64_t *values, struct heap_sums *ret);
void facts_to_level(const int64_t *values, struct cgroup_level *ret);
void facts_to_stat(const int64_t *values, struct cgroup_stat *ret);
void facts_to_group(const int64_t *values, struct cgroup *ret);

#endif
