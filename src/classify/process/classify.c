/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/process/classify.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "model/known_names.h"

/*
 * Maximum size of a stack's guard area, which usually consists of one or a few pages.
 * Larger PROT_NONE ranges are address space reserved for other purposes.
 */
#define GUARD_SIZE_MAX MIB

/*
 * The next two functions compare the first byte inline, which usually avoids a
 * function call.
 */
static inline bool has_prefix(const char *text, const char *prefix)
{
	return text[0] == prefix[0] && strncmp(text, prefix, strlen(prefix)) == 0;
}

static inline bool is_equal(const char *text, const char *other)
{
	return text[0] == other[0] && strcmp(text, other) == 0;
}

static bool is_named_stack(const char *name)
{
	/*
	 * Linux up to 4.4 names thread stacks "[stack:TID]". Other names come from glibc
	 * (with glibc.mem.decorate_maps) and from bionic.
	 */
	return is_equal(name, "[stack]") || has_prefix(name, "[stack:") ||
	       has_prefix(name, "[anon: glibc: pthread stack") ||
	       has_prefix(name, "[anon:stack_and_tls:");
}

/*
 * Return true for a private mapping of /dev/zero, which is anonymous memory. Shared
 * mappings of /dev/zero have a different name in /proc/PID/maps.
 */
static bool is_private_zero(const struct mapping *m)
{
	return !(m->flags & MAPPING_SHARED) && is_equal(m->name, "/dev/zero");
}

static bool is_shmem(const struct mapping *m)
{
	/*
	 * private mappings of /dev/zero are not shared memory, although /dev is a tmpfs
	 */
	if (is_private_zero(m))
		return false;
	/*
	 * files on shm_mnt, the kernel's internal tmpfs, are identified by name, because
	 * shm_mnt is not in mountinfo
	 */
	return m->flags & MAPPING_TMPFS || shmem_prefix_find(m->name) ||
	       has_prefix(m->name, "[anon_shmem:") ||
	       is_equal(m->name, "/dev/zero (deleted)");
}

static bool is_private_anonymous(const struct mapping *m)
{
	if (m->flags & MAPPING_SHARED)
		return false;
	if (m->inode != 0)
		return is_private_zero(m);
	if (m->name[0] == '\0') /* fast path: most mappings have no name */
		return true;
	return m->name[0] != '/' && !is_equal(m->name, "[vdso]") &&
	       !is_equal(m->name, "[vsyscall]") && !has_prefix(m->name, "[vvar");
}

static bool is_guard(const struct mapping *m)
{
	return !(m->flags & MAPPING_ACCESS) && m->name[0] == '\0' &&
	       is_private_anonymous(m) && m->end_addr - m->start_addr <= GUARD_SIZE_MAX;
}

static enum owner mapping_owner(const struct mapping *m)
{
	/* fast path: most mappings are anonymous and have no name */
	if (m->name[0] == '\0' && m->inode == 0)
		return m->flags & MAPPING_SHARED ? OWNER_FILE : OWNER_ANON;
	if (is_named_stack(m->name))
		return OWNER_STACK;
	if (is_shmem(m))
		return OWNER_SHMEM;
	return is_private_anonymous(m) ? OWNER_ANON : OWNER_FILE;
}

/*
 * Return how many signs of a thread's stack the mapping shows, from 0 to 2, not counting
 * stack pointers.
 */
static int count_stack_signs(const struct classifier *c, const struct mapping *m)
{
	if (m->name[0] != '\0' || !is_private_anonymous(m) ||
	    m->flags & MAPPING_HUGETLB ||
	    (m->flags & (MAPPING_READ | MAPPING_WRITE)) != (MAPPING_READ | MAPPING_WRITE))
		return 0;
	return (c->guard_end_addr == m->start_addr) + !!(m->flags & MAPPING_NO_HUGE);
}

void classify_states(const struct counters *c, uint64_t ret_bytes[STATE_COUNT_])
{
	uint64_t lazyfree = c->bytes[SMAPS_LAZYFREE];
	uint64_t private_clean = c->bytes[SMAPS_PRIVATE_CLEAN];

	ret_bytes[STATE_PRIVATE_DIRTY] = c->bytes[SMAPS_PRIVATE_DIRTY];
	ret_bytes[STATE_SHARED_DIRTY] = c->bytes[SMAPS_SHARED_DIRTY];
	ret_bytes[STATE_LAZYFREE] = lazyfree;
	ret_bytes[STATE_PRIVATE_CLEAN] = bytes_sub(private_clean, lazyfree);
	ret_bytes[STATE_SHARED_CLEAN] = bytes_sub(c->bytes[SMAPS_SHARED_CLEAN],
						  bytes_sub(lazyfree, private_clean));
}

static void add_states(uint64_t to[STATE_COUNT_], const uint64_t from[STATE_COUNT_])
{
	uint64_t all = 0;

	for (size_t s = 0; s < STATE_COUNT_; s++)
		all |= to[s] | from[s];
	/* all amounts are known, and their sum cannot overflow */
	if (all >> 63 == 0) {
		for (size_t s = 0; s < STATE_COUNT_; s++)
			to[s] += from[s];
		return;
	}
	for (size_t s = 0; s < STATE_COUNT_; s++)
		to[s] = bytes_add(to[s], from[s]);
}

static void add_owner_rss(struct matrix *matrix, enum owner owner, uint64_t rss_bytes)
{
	matrix->owner_rss_bytes[owner] =
		bytes_add(matrix->owner_rss_bytes[owner], rss_bytes);
}

void classifier_begin(struct classifier *c, struct usage *usage)
{
	memset(c, 0, sizeof(*c));
	c->usage = usage;
	usage_set_no_memory(usage);
	usage->allocator = ALLOCATOR_UNKNOWN;
	usage->heap_count = 0;
	usage->uses.count = 0;
}

void classifier_release(struct classifier *c)
{
	free(c->candidates);
	memset(c, 0, sizeof(*c));
}

/*
 * Add the mapping's address space that is neither resident nor swapped out. Skip hugetlb
 * mappings, because Rss does not include hugetlb pages.
 */
static void add_pageless(struct usage *usage, const struct mapping *m)
{
	const uint64_t *bytes = m->counters.bytes;
	uint64_t bare;

	if (!is_private_anonymous(m) || m->flags & MAPPING_HUGETLB)
		return;
	bare = bytes_sub(bytes[SMAPS_SIZE],
			 bytes_add(bytes[SMAPS_RSS], bytes[SMAPS_SWAP]));
	if (m->flags & MAPPING_ACCESS)
		usage->unbacked_bytes = bytes_add(usage->unbacked_bytes, bare);
	else
		usage->reserved_bytes = bytes_add(usage->reserved_bytes, bare);
}

static void add_candidate(struct classifier *c, const struct mapping *m,
			  const uint64_t states[STATE_COUNT_])
{
	struct stack_candidate *candidate;

	c->candidates = xgrow(c->candidates, &c->candidate_capacity,
			      c->candidate_count + 1, sizeof(*c->candidates));
	candidate = &c->candidates[c->candidate_count++];
	candidate->start_addr = m->start_addr;
	candidate->end_addr = m->end_addr;
	candidate->rss_bytes = m->counters.bytes[SMAPS_RSS];
	candidate->index = c->mapping_count;
	memcpy(candidate->state_bytes, states, sizeof(candidate->state_bytes));
}

enum owner classifier_add(struct classifier *c, const struct mapping *m)
{
	struct usage *usage = c->usage;
	enum owner owner = mapping_owner(m);
	int signs = owner == OWNER_ANON ? count_stack_signs(c, m) : 0;
	uint64_t states[STATE_COUNT_];

	classify_states(&m->counters, states);
	if (signs == 2)
		owner = OWNER_STACK;
	else if (signs == 1 && usage->process.thread_count > 1)
		add_candidate(c, m, states);
	add_states(usage->matrix.cell[owner], states);
	add_owner_rss(&usage->matrix, owner, m->counters.bytes[SMAPS_RSS]);
	counters_add(&usage->total, &m->counters);
	add_pageless(usage, m);
	allocator_signs_add(&c->signs, m);
	usage->allocator = allocator_signs_find(&c->signs);

	c->guard_end_addr = is_guard(m) ? m->end_addr : 0;
	c->mapping_count++;
	usage->mapping_count++;
	return owner;
}

bool classifier_wants_stack_pointers(const struct classifier *c)
{
	return c->candidate_count > 0;
}

/*
 * Return true if one of the sorted addresses is inside the stack candidate. Binary search
 * is used because a process may have tens of thousands of threads.
 */
static bool holds_address(const struct stack_candidate *candidate, const uint64_t *addrs,
			  size_t count)
{
	size_t low = SEARCH_FIRST(count, i, addrs[i] >= candidate->start_addr);

	return low < count && addrs[low] < candidate->end_addr;
}

void classifier_end(struct classifier *c, const uint64_t *stack_addrs, size_t count,
		    void (*on_stack)(void *context, size_t index), void *context)
{
	struct matrix *matrix = &c->usage->matrix;

	for (size_t i = 0; i < c->candidate_count; i++) {
		const struct stack_candidate *candidate = &c->candidates[i];

		if (!holds_address(candidate, stack_addrs, count))
			continue;
		for (size_t s = 0; s < STATE_COUNT_; s++)
			matrix->cell[OWNER_ANON][s] = bytes_sub(
				matrix->cell[OWNER_ANON][s], candidate->state_bytes[s]);
		add_states(matrix->cell[OWNER_STACK], candidate->state_bytes);
		matrix->owner_rss_bytes[OWNER_ANON] = bytes_sub(
			matrix->owner_rss_bytes[OWNER_ANON], candidate->rss_bytes);
		add_owner_rss(matrix, OWNER_STACK, candidate->rss_bytes);
		if (on_stack)
			on_stack(context, candidate->index);
	}
	for (unsigned int s = 0; s < STATE_COUNT_; s++)
		c->usage->state_bytes[s] = matrix_state_bytes(matrix, (enum page_state)s);
}

void classify_rollup(struct usage *usage, const struct counters *rollup)
{
	usage->total = *rollup;
	classify_states(rollup, usage->state_bytes);
	matrix_set_unknown(&usage->matrix);
	usage->source = SOURCE_ROLLUP;
}

bool classify_rollup_is_enough(const struct counters *rollup)
{
	return rollup->bytes[SMAPS_LAZYFREE] == 0;
}
