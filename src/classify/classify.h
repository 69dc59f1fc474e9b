/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify - mappings to the owner x state matrix, and what is beside Rss. Pure.
 *
 * Every mapping has one owner (below), and smaps gives its pages by state; so each cell
 * is exact. The heap owners stay unknown here: mappings alone cannot tell live memory
 * from pools, and heap pages are `anon`.
 *
 *   stack  [stack]; a mapping named as a thread's stack; a private anonymous writable mapping
 *          without a name that has two of: a guard (PROT_NONE) right below, MAP_STACK (VmFlags nh,
 *          Linux 6.7), a thread's stack pointer inside
 *   shmem  memfd, SysV and POSIX shared memory, shared anonymous memory, files on tmpfs
 *   file   every other mapping of a file, private copies of its pages included; the vdso
 *   anon   the rest
 */
#ifndef MS_CLASSIFY_CLASSIFY_H
#define MS_CLASSIFY_CLASSIFY_H

#include "model/allocator_signs.h"
#include "model/usage.h"

/* Mappings that can be told only when the stack pointers are known. */
struct stack_candidate {
	uint64_t start_addr, end_addr;
	uint64_t state_bytes[STATE_COUNT_];
	uint64_t rss_bytes;
	size_t index; /* of the mapping, in the order given */
};

struct classifier {
	struct usage *usage;
	uint64_t guard_end_addr; /* where the last mapping ends if it is a guard, or 0 */
	struct stack_candidate *candidates;
	size_t candidate_count;
	size_t candidate_capacity;
	size_t mapping_count;
	struct allocator_signs signs;
};

/*
 * Start over on *usage: totals and matrix are set to what no mapping makes. The usage
 * must outlive the classifier.
 */
void classifier_begin(struct classifier *c, struct usage *usage);
void classifier_release(struct classifier *c);

/*
 * Count the next mapping, in address order. Returns its owner; OWNER_ANON for a stack candidate,
 * which classifier_end() may yet make OWNER_STACK.
 */
enum owner classifier_add(struct classifier *c, const struct mapping *m);

/* True if stack pointers would settle something that the mappings leave open. */
bool classifier_wants_stack_pointers(const struct classifier *c);

/*
 * Settle the candidates with the threads' stack pointers, ascending (count may be 0). If
 * on_stack is not NULL it is called with the index of each mapping that proved to be a
 * stack.
 */
void classifier_end(struct classifier *c, const uint64_t *stack_addrs, size_t count,
		    void (*on_stack)(void *context, size_t index), void *context);

/* The state margin, and the totals, from one record for the whole process (smaps_rollup). */
void classify_rollup(struct usage *usage, const struct counters *rollup);

/*
 * True if the rollup's state margin is exact: with LazyFree pages it is not, because they
 * may be in Private_Clean of one mapping and Shared_Clean of another.
 */
bool classify_rollup_is_enough(const struct counters *rollup);

/*
 * The states of one record: LazyFree out of Private_Clean, what is left of it out of
 * Shared_Clean.
 */
void classify_states(const struct counters *c, uint64_t ret_bytes[STATE_COUNT_]);

#endif
