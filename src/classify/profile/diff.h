/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff - compare two profiles stack by stack. Stacks match if their innermost functions
 * have the same names. The functions are pure.
 *
 * Addresses, line numbers and modules are not compared, because they differ between
 * builds. Function names may also differ between builds unless they are folded
 * (fold_name.h). The sums include stacks that are not listed, so the sums of all kinds of
 * stacks add up to `total`.
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
	/* kinds of stacks that are counted but not listed */
	DIFF_LISTED_COUNT_,
	DIFF_EQUAL = DIFF_LISTED_COUNT_,
	/* stacks whose amount is at or below the minimum in both profiles */
	DIFF_LEFT_OUT,
	DIFF_KIND_COUNT_
};

/* Names of the kinds of stacks in JSON and CSV output. */
extern const char *const profile_diff_kind_names[DIFF_KIND_COUNT_];

struct profile_diff_options {
	enum profile_metric metric;
	/*
	 * Number of innermost functions to compare; 0: all. Functions that were inlined
	 * into them are compared, too, but not counted.
	 */
	size_t depth;
	/* list only stacks whose amount exceeds this minimum in at least one profile */
	uint64_t minimum;
};

/* A group of stacks whose compared functions are identical. */
struct profile_diff_stack {
	enum profile_diff_kind kind;
	uint64_t before, after;
	/*
	 * Node of the outermost compared function in the tree `keys` of
	 * struct profile_diff. The parent of a node is the function that the
	 * node's function calls.
	 */
	uint32_t key;
	/* true if some stacks of the group have callers beyond the compared functions */
	bool has_more_callers;
};

struct profile_diff_sum {
	uint64_t stack_count, before, after;
};

struct profile_diff {
	/*
	 * Tree of the compared functions of all stacks. The children of the root are the
	 * innermost functions, and the children of any other node are its callers. The
	 * frames contain only names.
	 */
	struct profile keys;
	/* listed stacks, sorted by kind, then by change, largest first */
	struct profile_diff_stack *stacks;
	size_t stack_count;
	struct profile_diff_sum sums[DIFF_KIND_COUNT_], total;
	/*
	 * The stack with the largest growth, even if it is not listed. If before ==
	 * after, no stack has grown.
	 */
	struct profile_diff_stack most_grown;
};

/* Compare two profiles stack by stack. Both profiles must contain the metric. */
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
