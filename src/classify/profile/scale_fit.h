/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scale_fit - fit a curve to a figure that depends on the size of the workload: value =
 * constant + factor * size^k. The constant is the startup cost. The functions are pure.
 *
 * The fit minimises the sum of squared relative errors, as on a logarithmic scale. It
 * searches for the best k; for a given k, the best constant and factor are computed
 * directly. If the values do not determine k, there is no result.
 */
#ifndef MS_CLASSIFY_PROFILE_SCALE_FIT_H
#define MS_CLASSIFY_PROFILE_SCALE_FIT_H

#include <stddef.h>

/* minimum number of sizes: one more than the number of parameters of the curve */
#define SCALE_SIZES_MIN 4

struct scale_point {
	double size, value; /* size > 0, value >= 0 */
};

enum scale_outcome {
	SCALE_FITTED,
	SCALE_CONSTANT, /* all values are equal: the exponent is 0 */
	SCALE_TOO_FEW,	/* there are fewer than SCALE_SIZES_MIN sizes */
	SCALE_TOO_NEAR, /* the largest size is less than 4 times the smallest size */
	SCALE_START_UP, /* almost all of the value is startup cost */
	/* no power of the size fits the values, or several powers fit equally well */
	SCALE_UNCERTAIN,
	SCALE_OUTCOME_COUNT_
};

struct scale_fit {
	/*
	 * The following fields are set for SCALE_FITTED and SCALE_CONSTANT only. For
	 * SCALE_CONSTANT, the exponents are 0.
	 */
	enum scale_outcome outcome;
	/* exponent with the bounds of its 95 % confidence interval */
	double exponent, low, high;
	double constant, factor;
	/* coefficient of determination (R squared); 1: all values are on the curve */
	double r_squared;
};

void scale_fit(const struct scale_point *points, size_t count, struct scale_fit *ret);

#endif
