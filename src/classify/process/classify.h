/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify - build the owner x state matrix and the figures outside Rss from
 * mappings. Pure.
 *
 * Every mapping has one of the owners below, and smaps reports its pages by state, so
 * each cell is exact. The heap's owners stay unknown, because mappings do not show which
 * blocks are live and which are free. Heap pages count as `anon`.
 *
 *   stack  [stack]; a mapping named as a thread's stack; a private anonymous writable
 *          mapping without a name that has two of these signs: a guard (PROT_NONE)
 *          right below it, MAP_STACK (VmFlags nh, Linux 6.7), a thread's stack pointer
 *          inside it
 *   shmem  memfd, SysV and POSIX shared memory, shared anonymous memory, files on tmpfs
 *   file   all other file mappings, including private copies of pages; the vdso
 *   anon   everything else
 */
#ifndef MS_CLASSIFY_PROCESS_CLASSIFY_H
#define MS_CLASSIFY_PROCESS_CLASSIFY_H

#include "model/allocator_signs.h"
#include "model/usage.h"

/* A mapping that is a stack if a thread's stack pointer is inside it. */
struct stack_candidate {
	uint64_t start_addr, end_addr;
	uint64_t state_bytes[STATE_COUNT_];
	uint64_t rss_bytes;
	size_t index; /* index of the classifier_add() call for this mapping, from 0 */
};

struct classifier {
	struct usage *usage;
	/* end of the previous mapping if that mapping is a guard, else 0 */
	uint64_t guard_end_addr;
	struct stack_candidate *candidates;
	size_t candidate_count;
	size_t candidate_capacity;
	size_t mapping_count;
	struct allocator_signs signs;
};

/*
 * Begin to classify a process: set the totals and the matrix of *usage to those of a
 * process without mappings. *usage must outlive the classifier.
 */
void classifier_begin(struct classifier *c, struct usage *usage);
void classifier_release(struct classifier *c);

/*
 * Count a mapping and return its owner. Mappings must be passed in
 * address order. The result for a stack candidate is OWNER_ANON;
 * classifier_end() may change that to OWNER_STACK.
 */
enum owner classifier_add(struct classifier *c, const struct mapping *m);

/*
 * Return true if there are stack candidates, for which classifier_end()
 * needs the threads' stack pointers.
 */
bool classifier_wants_stack_pointers(const struct classifier *c);

/*
 * Decide which stack candidates are stacks, given the threads' stack pointers in
 * ascending order (count may be 0). If on_stack is not NULL, call on_stack with the
 * index of each mapping that is a stack.
 */
void classifier_end(struct classifier *c, const uint64_t *stack_addrs, size_t count,
		    void (*on_stack)(void *context, size_t index), void *context);

/*
 * Set the sums by state and the totals of *usage from smaps_rollup,
 * the record for the whole process.
 */
void classify_rollup(struct usage *usage, const struct counters *rollup);

/*
 * Return true if smaps_rollup is enough to compute exact sums by state. It is
 * not if there are LazyFree pages, which may be in Private_Clean of one
 * mapping and in Shared_Clean of another.
 */
bool classify_rollup_is_enough(const struct counters *rollup);

/*
 * Compute the bytes in each state from one record of smaps. LazyFree is subtracted from
 * Private_Clean, and any remainder from Shared_Clean.
 */
void classify_states(const struct counters *c, uint64_t ret_bytes[STATE_COUNT_]);

#endif
