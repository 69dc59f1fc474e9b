/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify - build the owner x state matrix and the figures outside
 * Rss from mappings. Pure.
 *
 * Every mapping has one owner (below), and smaps gives its pages by state, so each cell
 * is exact. The heap's owners stay unknown here, because mappings do not distinguish live
 * blocks from free ones; heap pages are `anon`.
 *
 *   stack  [stack]; a mapping named as a thread's stack; a private anonymous writable
 *          mapping without a name that has two of: a guard (PROT_NONE) right below it,
 *          MAP_STACK (VmFlags nh, Linux 6.7), a thread's stack pointer inside it
 *   shmem  memfd, SysV and POSIX shared memory, shared anonymous memory, files on tmpfs
 *   file   all other file mappings, including private copies of pages; the vdso
 *   anon   everything else
 */
#ifndef MS_CLASSIFY_PROCESS_CLASSIFY_H
#define MS_CLASSIFY_PROCESS_CLASSIFY_H

#include "model/allocator_signs.h"
#include "model/usage.h"

/* A mapping whose owner depends on the threads' stack pointers. */
struct stack_candidate {
	uint64_t start_addr, end_addr;
	uint64_t state_bytes[STATE_COUNT_];
	uint64_t rss_bytes;
	size_t index; /* position among the calls of classifier_add() */
};

struct classifier {
	struct usage *usage;
	uint64_t guard_end_addr; /* end of the last mapping if it is a guard, else 0 */
	struct stack_candidate *candidates;
	size_t candidate_count;
	size_t candidate_capacity;
	size_t mapping_count;
	struct allocator_signs signs;
};

/*
 * Begin to classify a process: set the totals and the matrix of *usage to their values
 * without mappings. *usage must outlive the classifier.
 */
void classifier_begin(struct classifier *c, struct usage *usage);
void classifier_release(struct classifier *c);

/*
 * Count the next mapping, in address order. Returns its owner. For a stack candidate the
 * result is OWNER_ANON, which classifier_end() may change to OWNER_STACK.
 */
enum owner classifier_add(struct classifier *c, const struct mapping *m);

/* Return true if there are candidates, which need the threads' stack pointers. */
bool classifier_wants_stack_pointers(const struct classifier *c);

/*
 * Decide the candidates using the threads' stack pointers in ascending order
 * (count may be 0). If on_stack is not NULL, it is called with the index of each
 * mapping that is a stack.
 */
void classifier_end(struct classifier *c, const uint64_t *stack_addrs, size_t count,
		    void (*on_stack)(void *context, size_t index), void *context);

/*
 * Set the sums by state and the totals from one record for the whole
 * process (smaps_rollup).
 */
void classify_rollup(struct usage *usage, const struct counters *rollup);

/*
 * Return true if the rollup gives exact sums by state. With LazyFree pages it does not,
 * because they may be in Private_Clean of one mapping and in Shared_Clean of another.
 */
bool classify_rollup_is_enough(const struct counters *rollup);

/*
 * Compute the states of one record. LazyFree is subtracted from Private_Clean, and any
 * remainder from Shared_Clean.
 */
void classify_states(const struct counters *c, uint64_t ret_bytes[STATE_COUNT_]);

#endif
