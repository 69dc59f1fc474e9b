/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify - build the owner x state matrix and the figures outside Rss from a process's
 * mappings. The functions are pure.
 *
 * Every mapping has one of the owners below, and smaps reports its pages by state, so
 * each cell is exact. The heap's owners stay unknown, because mappings do not show which
 * blocks are live and which are free. Heap pages count as `anon`.
 *
 * - stack: [stack]; a mapping named as a thread's stack; a nameless, private, anonymous,
 *   writable mapping with two of these signs: a guard (PROT_NONE) directly below it,
 *   MAP_STACK (VmFlags nh, Linux 6.7), a thread's stack pointer inside it.
 * - shmem: memfd, SysV and POSIX shared memory, shared anonymous memory, files on tmpfs.
 * - file: all other file mappings, including private copies of pages; the vdso.
 * - anon: everything else.
 */
#ifndef MS_CLASSIFY_PROCESS_CLASSIFY_H
#define MS_CLASSIFY_PROCESS_CLASSIFY_H

#include "model/allocator_signs.h"
#include "model/usage.h"

/* A mapping that counts as a stack if a thread's stack pointer is inside it. */
struct stack_candidate {
	uint64_t start_addr, end_addr;
	uint64_t state_bytes[STATE_COUNT_];
	uint64_t rss_bytes;
	/* index of the mapping, counted in calls of classifier_add() */
	size_t index;
};

struct classifier {
	struct usage *usage;
	/* end of the previous mapping if it is a guard area; otherwise 0 */
	uint64_t guard_end_addr;
	struct stack_candidate *candidates;
	size_t candidate_count;
	size_t candidate_capacity;
	size_t mapping_count;
	struct allocator_signs signs;
};

/*
 * Start classifying a process: reset the totals and the matrix of *usage to a process
 * without mappings. *usage must outlive the classifier.
 */
void classifier_begin(struct classifier *c, struct usage *usage);
void classifier_release(struct classifier *c);

/*
 * Count a mapping and return its owner. Mappings must be added in address order. A stack
 * candidate has OWNER_ANON until classifier_end() changes its owner to OWNER_STACK.
 */
enum owner classifier_add(struct classifier *c, const struct mapping *m);

/*
 * Return true if classifier_end() needs the stack pointers of the threads because some
 * mappings may be stacks.
 */
bool classifier_wants_stack_pointers(const struct classifier *c);

/*
 * Decide which stack candidates are stacks, given the stack pointers of all threads in
 * ascending order; count may be 0. If on_stack is not NULL, call it with the index of
 * each stack.
 */
void classifier_end(struct classifier *c, const uint64_t *stack_addrs, size_t count,
		    void (*on_stack)(void *context, size_t index), void *context);

/*
 * Set the totals and the sums by state of *usage from smaps_rollup, which contains the
 * sums over all mappings.
 */
void classify_rollup(struct usage *usage, const struct counters *rollup);

/*
 * Return true if smaps_rollup suffices for exact sums by state. LazyFree pages prevent
 * exact sums, because they may be in Private_Clean of one mapping and in Shared_Clean
 * of another.
 */
bool classify_rollup_is_enough(const struct counters *rollup);

/*
 * Compute the bytes in each state from one record of smaps. Subtract LazyFree from
 * Private_Clean first, and then from Shared_Clean.
 */
void classify_states(const struct counters *c, uint64_t ret_bytes[STATE_COUNT_]);

#endif
