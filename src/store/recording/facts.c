/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/recording/facts.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/units.h"

/* fields of smaps that change often, in the order of their database columns */
static const enum smaps_field often_fields[] = {
	SMAPS_RSS,	     SMAPS_PSS,		  SMAPS_SHARED_CLEAN, SMAPS_SHARED_DIRTY,
	SMAPS_PRIVATE_CLEAN, SMAPS_PRIVATE_DIRTY, SMAPS_ANONYMOUS,    SMAPS_LAZYFREE,
};
static const enum smaps_field seldom_fields[] = {
	SMAPS_SWAP,
	SMAPS_SIZE,
	SMAPS_SWAP_PSS,
	SMAPS_LOCKED,
	SMAPS_KSM,
	SMAPS_ANON_HUGE,
	SMAPS_SHMEM_PMD,
	SMAPS_FILE_PMD,
	SMAPS_SHARED_HUGETLB,
	SMAPS_PRIVATE_HUGETLB,
};
#define OFTEN_COUNT (sizeof(often_fields) / sizeof(often_fields[0]))
#define SELDOM_COUNT (sizeof(seldom_fields) / sizeof(seldom_fields[0]))

/* Indices of the values of a mapping. The smaps fields begin at MAPPING_SMAPS. */
enum {
	MAPPING_END,
	MAPPING_FLAGS,
	MAPPING_FILE_OFFSET,
	MAPPING_DEV,
	MAPPING_INODE,
	MAPPING_NAME,
	MAPPING_SMAPS
};

/*
 * Additional bit in the value MAPPING_FLAGS: set if the mapping contains a
 * thread's stack.
 */
#define HAS_STACK UINT32_C(0x80000000)

enum {
	STATE_PPID,
	STATE_UID,
	STATE_THREADS,
	STATE_STATE,
	STATE_ERROR,
	STATE_SOURCE,
	STATE_SIZE
};

static int64_t from_number(uint64_t number)
{
	return number > (uint64_t)INT64_MAX ? FACT_UNKNOWN : (int64_t)number;
}

static uint64_t to_number(int64_t value)
{
	return value < 0 ? UINT64_MAX : (uint64_t)value;
}

static uint64_t to_number_or_0(int64_t value)
{
	return value < 0 ? 0 : (uint64_t)value;
}

static int64_t from_kb(uint64_t bytes)
{
	return bytes_known(bytes) ? from_number(units_bytes_to_kib(bytes)) : FACT_UNKNOWN;
}

static uint64_t to_bytes(int64_t kb)
{
	uint64_t bytes;

	return kb < 0 || units_bytes_from_kib((uint64_t)kb, &bytes) < 0 ? BYTES_UNKNOWN
									: bytes;
}

void facts_from_state(const struct usage *u, enum source source, int64_t *ret)
{
	ret[STATE_PPID] = u->process.ppid;
	ret[STATE_UID] = u->process.uid == UINT32_MAX ? FACT_UNKNOWN
						      : (int64_t)u->process.uid;
	ret[STATE_THREADS] = u->process.thread_count;
	ret[STATE_STATE] = (unsigned char)u->process.state;
	ret[STATE_ERROR] = u->error;
	ret[STATE_SOURCE] = (int64_t)source;
	ret[STATE_SIZE] = from_kb(u->process.stat_size_bytes);
}

void facts_to_state(const int64_t *values, struct usage *ret)
{
	int64_t uid = values[STATE_UID], threads = values[STATE_THREADS];
	int64_t source = values[STATE_SOURCE], error = values[STATE_ERROR];

	ret->process.ppid = (int)values[STATE_PPID];
	ret->process.uid = uid < 0 || uid > UINT32_MAX ? UINT32_MAX : (uint32_t)uid;
	ret->process.thread_count =
		threads < 0 || threads > UINT32_MAX ? 0 : (uint32_t)threads;
	ret->process.state = (char)values[STATE_STATE];
	ret->process.stat_size_bytes =
		values[STATE_SIZE] < 0 ? 0 : to_bytes(values[STATE_SIZE]);
	ret->error = error < 0 && error > -4096 ? (int)error : 0;
	ret->source = source < 0 || source >= SOURCE_COUNT_ ? SOURCE_NONE
							    : (enum source)source;
}

static void from_fields(const struct counters *c, const enum smaps_field *fields,
			size_t count, int64_t *ret)
{
	for (size_t i = 0; i < count; i++)
		ret[i] = from_kb(c->bytes[fields[i]]);
}

static void to_fields(const int64_t *values, const enum smaps_field *fields, size_t count,
		      struct counters *ret)
{
	for (size_t i = 0; i < count; i++)
		ret->bytes[fields[i]] = to_bytes(values[i]);
}

void facts_from_usage(const struct usage *u, int64_t *ret_often, int64_t *ret_seldom)
{
	from_fields(&u->total, often_fields, OFTEN_COUNT, ret_often);
	from_fields(&u->total, seldom_fields, SELDOM_COUNT, ret_seldom);
	ret_seldom[SELDOM_COUNT] = u->source == SOURCE_SMAPS
					   ? from_kb(usage_droppable_bytes(u))
					   : FACT_UNKNOWN;
	ret_often[OFTEN_COUNT] = from_number(u->process.minor_fault_count);
	ret_often[OFTEN_COUNT + 1] = from_number(u->process.major_fault_count);
}

void facts_to_usage(const int64_t *often, const int64_t *seldom, struct usage *ret)
{
	to_fields(often, often_fields, OFTEN_COUNT, &ret->total);
	to_fields(seldom, seldom_fields, SELDOM_COUNT, &ret->total);
	ret->recorded_droppable_bytes = to_bytes(seldom[SELDOM_COUNT]);
	ret->process.minor_fault_count = to_number_or_0(often[OFTEN_COUNT]);
	ret->process.major_fault_count = to_number_or_0(often[OFTEN_COUNT + 1]);
}

void facts_from_mapping(const struct mapping *m, int64_t name, int64_t *ret)
{
	ret[MAPPING_END] = (int64_t)m->end_addr;
	ret[MAPPING_FLAGS] = m->flags | (m->owner == OWNER_STACK ? HAS_STACK : 0);
	ret[MAPPING_FILE_OFFSET] = from_number(m->file_offset_bytes);
	ret[MAPPING_DEV] = (int64_t)((uint64_t)m->dev_major << 32 | m->dev_minor);
	ret[MAPPING_INODE] = from_number(m->inode);
	ret[MAPPING_NAME] = name;
	from_fields(&m->counters, often_fields, OFTEN_COUNT, ret + MAPPING_SMAPS);
	from_fields(&m->counters, seldom_fields, SELDOM_COUNT,
		    ret + MAPPING_SMAPS + OFTEN_COUNT);
}

void facts_to_mapping(const int64_t *values, struct mapping *ret, int64_t *ret_name)
{
	ret->end_addr = (uint64_t)values[MAPPING_END];
	ret->flags = (uint32_t)values[MAPPING_FLAGS] & ~HAS_STACK;
	ret->owner = values[MAPPING_FLAGS] & HAS_STACK ? OWNER_STACK : OWNER_ANON;
	ret->file_offset_bytes = to_number_or_0(values[MAPPING_FILE_OFFSET]);
	ret->dev_major = (uint32_t)((uint64_t)values[MAPPING_DEV] >> 32);
	ret->dev_minor = (uint32_t)values[MAPPING_DEV];
	ret->inode = to_number_or_0(values[MAPPING_INODE]);
	*ret_name = values[MAPPING_NAME];
	counters_set_unknown(&ret->counters);
	to_fields(values + MAPPING_SMAPS, often_fields, OFTEN_COUNT, &ret->counters);
	to_fields(values + MAPPING_SMAPS + OFTEN_COUNT, seldom_fields, SELDOM_COUNT,
		  &ret->counters);
}

enum {
	HEAP_QUALITY,
	HEAP_ALLOCATOR,
	HEAP_FLAGS,
	HEAP_PAUSE_US,
	HEAP_TRIMMABLE,
	/*
	 * for owners up to OWNER_HEAP_LAST, HEAP_OWNERS + owner is the index of the
	 * owner's resident bytes
	 */
	HEAP_OWNERS,
	/*
	 * for owners after OWNER_HEAP_LAST, HEAP_TAKEN + owner is the index of the number
	 * of resident heap bytes in the owner's mappings; see taken_bytes()
	 */
	HEAP_TAKEN = HEAP_OWNERS,
};
enum {
	HEAP_REPORTED = 1 << 0,
	HEAP_RUNNING = 1 << 1
};

/*
 * Return how many resident bytes of an owner's mappings belong to the heap: the total Rss
 * of these mappings minus the Rss of the owner in u->matrix, which excludes heap memory.
 */
static uint64_t taken_bytes(const struct usage *u, const struct mapping_list *mappings,
			    enum owner owner)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < mappings->count; i++)
		if (mappings->items[i].owner == owner)
			sum = bytes_add(sum,
					mappings->items[i].counters.bytes[SMAPS_RSS]);
	return bytes_sub(sum, u->matrix.owner_rss_bytes[owner]);
}

void facts_from_heap(const struct usage *u, const struct mapping_list *mappings,
		     int64_t *ret)
{
	ret[HEAP_QUALITY] = (int64_t)u->heap_quality;
	ret[HEAP_ALLOCATOR] = (int64_t)u->allocator;
	ret[HEAP_FLAGS] = (u->heap_is_reported ? HEAP_REPORTED : 0) |
			  (u->heap_is_running ? HEAP_RUNNING : 0);
	ret[HEAP_PAUSE_US] = from_number(u->heap_pause_ns / NS_PER_US);
	ret[HEAP_TRIMMABLE] = from_number(u->trimmable_bytes);
	for (int o = 0; o <= OWNER_HEAP_LAST; o++)
		ret[HEAP_OWNERS + o] = from_number(u->matrix.owner_rss_bytes[o]);
	for (int o = OWNER_HEAP_LAST + 1; o < OWNER_COUNT_; o++)
		ret[HEAP_TAKEN + o] =
			from_number(taken_bytes(u, mappings, (enum owner)o));
}

/*
 * Indices of the values in a row of the table FACT_HEAP_PART. Each row
 * describes one heap.
 */
enum {
	PART_QUALITY,
	PART_TRIMMABLE,
	PART_OWNERS
};

void facts_from_heap_part(const struct usage_heap *heap, int64_t *ret)
{
	ret[PART_QUALITY] = (int64_t)heap->quality;
	ret[PART_TRIMMABLE] = from_number(heap->trimmable_bytes);
	for (int o = 0; o <= OWNER_HEAP_LAST; o++)
		ret[PART_OWNERS + o] = from_number(heap->owner_bytes[o]);
}

bool facts_to_heap_part(const int64_t *values, enum allocator allocator,
			struct usage_heap *ret)
{
	int64_t quality = values[PART_QUALITY];

	if (quality <= QUALITY_UNKNOWN || quality >= QUALITY_COUNT_)
		return false;
	*ret = (struct usage_heap){
		.allocator = allocator,
		.quality = (enum quality)quality,
		.trimmable_bytes = to_number(values[PART_TRIMMABLE]),
	};
	for (int o = 0; o <= OWNER_HEAP_LAST; o++)
		ret->owner_bytes[o] = to_number(values[PART_OWNERS + o]);
	return true;
}

bool facts_to_heap(const int64_t *values, struct heap_sums *ret)
{
	int64_t quality = values[HEAP_QUALITY], allocator = values[HEAP_ALLOCATOR];
	int64_t pause_us = values[HEAP_PAUSE_US];

	if (quality <= QUALITY_UNKNOWN || quality >= QUALITY_COUNT_ || allocator < 0 ||
	    allocator >= ALLOCATOR_COUNT_)
		return false;
	*ret = (struct heap_sums){
		.quality = (enum quality)quality,
		.allocator = (enum allocator)allocator,
		.is_reported = values[HEAP_FLAGS] >= 0 &&
			       values[HEAP_FLAGS] & HEAP_REPORTED,
		.is_running = values[HEAP_FLAGS] >= 0 &&
			      values[HEAP_FLAGS] & HEAP_RUNNING,
		.pause_ns = pause_us < 0 || pause_us > INT64_MAX / 1000
				    ? 0
				    : (uint64_t)pause_us * 1000,
		.trimmable_bytes = to_number(values[HEAP_TRIMMABLE]),
	};
	for (int o = 0; o <= OWNER_HEAP_LAST; o++)
		ret->owner_bytes[o] = to_number(values[HEAP_OWNERS + o]);
	for (int o = OWNER_HEAP_LAST + 1; o < OWNER_COUNT_; o++)
		ret->taken_bytes[o] = to_number(values[HEAP_TAKEN + o]);
	return true;
}

/*
 * Offsets of those members of struct cgroup_level that are amounts, in the order of their
 * columns in the table FACT_GROUP. In the table, the amounts follow the flags.
 */
static const size_t level_offsets[] = {
	offsetof(struct cgroup_level, usage_bytes),
	offsetof(struct cgroup_level, limit_bytes),
	offsetof(struct cgroup_level, high_bytes),
	offsetof(struct cgroup_level, peak_bytes),
	offsetof(struct cgroup_level, swap_bytes),
	offsetof(struct cgroup_level, swap_limit_bytes),
	offsetof(struct cgroup_level, max_count),
	offsetof(struct cgroup_level, high_count),
	offsetof(struct cgroup_level, oom_count),
	offsetof(struct cgroup_level, oom_kill_count),
	offsetof(struct cgroup_level, swap_fail_count),
};
#define LEVEL_COUNT (sizeof(level_offsets) / sizeof(level_offsets[0]))
#define NO_LIMIT (-1) /* value in a recording that represents a limit that is not set */

enum {
	LEVEL_OOM_GROUP = 1 << 0,
	LEVEL_KILL_DISABLED = 1 << 1
};

static int64_t from_limit(uint64_t bytes)
{
	return bytes == CGROUP_NO_LIMIT ? NO_LIMIT : from_number(bytes);
}

static uint64_t to_limit(int64_t value)
{
	return value == NO_LIMIT ? CGROUP_NO_LIMIT : to_number(value);
}

void facts_from_level(const struct cgroup_level *level, int64_t *ret)
{
	ret[0] = (level->is_oom_group ? LEVEL_OOM_GROUP : 0) |
		 (level->is_kill_disabled ? LEVEL_KILL_DISABLED : 0);
	for (size_t i = 0; i < LEVEL_COUNT; i++) {
		uint64_t number;

		memcpy(&number, (const char *)level + level_offsets[i], sizeof(number));
		ret[1 + i] = from_limit(number);
	}
}

void facts_to_level(const int64_t *values, struct cgroup_level *ret)
{
	ret->is_oom_group = values[0] >= 0 && values[0] & LEVEL_OOM_GROUP;
	ret->is_kill_disabled = values[0] >= 0 && values[0] & LEVEL_KILL_DISABLED;
	for (size_t i = 0; i < LEVEL_COUNT; i++) {
		uint64_t number = to_limit(values[1 + i]);

		memcpy((char *)ret + level_offsets[i], &number, sizeof(number));
	}
}

/*
 * Number of members of struct cgroup_stat. All members are amounts in the order of the
 * database columns.
 */
#define STAT_COUNT 23
static_assert(sizeof(struct cgroup_stat) == STAT_COUNT * sizeof(uint64_t),
	      "each has a column");

void facts_from_stat(const struct cgroup_stat *stat, int64_t *ret)
{
	uint64_t numbers[STAT_COUNT];

	memcpy(numbers, stat, sizeof(numbers));
	for (size_t i = 0; i < STAT_COUNT; i++)
		ret[i] = from_number(numbers[i]);
}

void facts_to_stat(const int64_t *values, struct cgroup_stat *ret)
{
	uint64_t numbers[STAT_COUNT];

	for (size_t i = 0; i < STAT_COUNT; i++)
		numbers[i] = to_number(values[i]);
	memcpy(ret, numbers, sizeof(numbers));
}

enum {
	GROUP_COUNT,
	GROUP_SLACK,
	GROUP_HIDDEN_LIMIT,
	GROUP_SOME,
	GROUP_FULL,
	GROUP_SOME_AVG10,
	GROUP_FULL_AVG10,
};

void facts_from_group(const struct cgroup *c, int64_t *ret)
{
	const struct cgroup_pressure *p = &c->pressure;

	ret[GROUP_COUNT] = (int64_t)c->group_count;
	ret[GROUP_SLACK] = from_number(c->slack_bytes);
	ret[GROUP_HIDDEN_LIMIT] = from_limit(c->hidden_limit_bytes);
	ret[GROUP_SOME] = c->has_pressure ? (int64_t)(p->some_ns / NS_PER_US)
					  : FACT_UNKNOWN;
	ret[GROUP_FULL] = c->has_pressure ? (int64_t)(p->full_ns / NS_PER_US)
					  : FACT_UNKNOWN;
	ret[GROUP_SOME_AVG10] = c->has_pressure ? p->some_avg10_percent_x100
						: FACT_UNKNOWN;
	ret[GROUP_FULL_AVG10] = c->has_pressure ? p->full_avg10_percent_x100
						: FACT_UNKNOWN;
}

void facts_to_group(const int64_t *values, struct cgroup *ret)
{
	struct cgroup_pressure *p = &ret->pressure;

	ret->group_count = (size_t)to_number_or_0(values[GROUP_COUNT]);
	ret->slack_bytes = to_number(values[GROUP_SLACK]);
	ret->hidden_limit_bytes = to_limit(values[GROUP_HIDDEN_LIMIT]);
	ret->has_pressure = values[GROUP_SOME] >= 0 && values[GROUP_FULL] >= 0;
	if (!ret->has_pressure)
		return;
	p->some_ns = to_number_or_0(values[GROUP_SOME]) * NS_PER_US;
	p->full_ns = to_number_or_0(values[GROUP_FULL]) * NS_PER_US;
	p->some_avg10_percent_x100 = (uint32_t)to_number_or_0(values[GROUP_SOME_AVG10]);
	p->full_avg10_percent_x100 = (uint32_t)to_number_or_0(values[GROUP_FULL_AVG10]);
}
