/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff - compare two profiles stack by stack. Stacks match if their innermost
 * functions have the same names. Pure.
 *
 * Addresses, lines and modules are not compared, because they differ between
 * builds. Function names may also differ between builds unless they are
 * folded (fold_name.h). Stacks that are not listed still count in the sums:
 * the sums of all kinds add up to `total`.
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
	DIFF_LISTED_COUNT_, /* stacks of the kinds below are counted, but not listed */
	DIFF_EQUAL = DIFF_LISTED_COUNT_,
	/* stacks whose amounts do not exceed the minimum in either profile */
	DIFF_LEFT_OUT,
	DIFF_KIND_COUNT_
};

/* Names of the kinds of stacks in machine-readable output. */
extern const char *const profile_diff_kind_names[DIFF_KIND_COUNT_];

struct profile_diff_options {
	enum profile_metric metric;
	/*
	 * Number of functions to compare, counted from the innermost; 0: all. Functions
	 * inlined into these functions are compared too, but not counted.
	 */
	size_t depth;
	/* list only stacks whose amount exceeds this minimum in at least one profile */
	uint64_t minimum;
};

/* All stacks whose compared functions are the same. */
struct profile_diff_stack {
	enum profile_diff_kind kind;
	uint64_t before, after;
	/*
	 * Node of `keys` for the outermost compared function. The parent of a
	 * node is the function that it called.
	 */
	uint32_t key;
	bool has_more_callers; /* the stacks have callers beyond the compared functions */
};

struct profile_diff_sum {
	uint64_t stack_count, before, after;
};

struct profile_diff {
	/*
	 * The compared functions of all stacks. Frames contain only names, and the
	 * parent of a node is the function that it called.
	 */
	struct profile keys;
	/* Listed stacks, sorted by kind, and within a kind by change, largest first. */
	struct profile_diff_stack *stacks;
	size_t stack_count;
	struct profile_diff_sum sums[DIFF_KIND_COUNT_], total;
	/*
	 * The stack that grew most, listed or not. If before ==
	 * after, no stack has grown.
	 */
	struct profile_diff_stack most_grown;
};

/* Compare two profiles. Both must contain the metric. */
void profile_diff_make(const struct profile *before, const struct profile *after,
		       const struct profile_diff_options *options,
		       struct profile_diff *ret);
void profile_diff_release(struct profile_diff *diff);

/*
 * Set *ret_names to the function names of a stack, innermost first, and return their
 * number. The caller frees the array; the names are borrowed.
 */
size_t profile_diff_functions(const struct profile_diff *diff,
			      const struct profile_diff_stack *stack,
			      const char ***ret_names);

#endif
