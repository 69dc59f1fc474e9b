/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_diff - two profiles compared stack by stack, of which the same are those whose
 * innermost functions have the same names. Pure.
 *
 * Addresses, lines and modules are not compared: they differ from build to build, as names
 * may that were not folded (fold_name.h). What is in no list is in the sums: kinds, those
 * left out and equal ones add up to `total`.
 */
#ifndef MS_CLASSIFY_PROFILE_DIFF_H
#define MS_CLASSIFY_PROFILE_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"

enum profile_diff_kind {
	DIFF_ONLY_BEFORE,
	DIFF_ONLY_AFTER,
	DIFF_CHANGED,
	DIFF_LISTED_COUNT_, /* the following are only counted */
	DIFF_EQUAL = DIFF_LISTED_COUNT_,
	DIFF_LEFT_OUT, /* no more than the minimum in either */
	DIFF_KIND_COUNT_
};

/* A word for each, as keys and columns have it. */
extern const char *const profile_diff_kind_names[DIFF_KIND_COUNT_];

struct profile_diff_options {
	enum profile_metric metric;
	/*
	 * Functions that are compared, from the innermost; 0: all. What was compiled into one
	 * of them is compared, too, and does not count.
	 */
	size_t depth;
	uint64_t minimum;  /* listed is what has more than that in one of both */
};

/* All stacks that begin with the same functions. */
struct profile_diff_stack {
	enum profile_diff_kind kind;
	uint64_t before, after;
	uint32_t key; /* node of the outermost function that is compared; its parent is what it called */
	bool goes_on; /* these were called by others, which are not compared */
};

struct profile_diff_sum {
	uint64_t stack_count, before, after;
};

struct profile_diff {
	struct profile keys; /* functions alone, each node's parent the one that it called */
	struct profile_diff_stack *stacks; /* those listed: by kind, the largest change first */
	size_t stack_count;
	struct profile_diff_sum sums[DIFF_KIND_COUNT_], total;
	struct profile_diff_stack most_grown; /* of all, listed or not; before == after: none */
};

/* Both have the metric. */
void profile_diff_make(const struct profile *before, const struct profile *after,
		       const struct profile_diff_options *options, struct profile_diff *ret);
void profile_diff_release(struct profile_diff *diff);

/*
 * Names of a stack's functions, innermost first, in *ret_names, which the caller frees; the
 * names are borrowed. Returns how many.
 */
size_t profile_diff_functions(const struct profile_diff *diff,
			      const struct profile_diff_stack *stack, const char ***ret_names);

#endif
