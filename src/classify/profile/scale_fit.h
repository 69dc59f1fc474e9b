/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scale_fit - fit how a figure grows with the size of the work: value = constant +
 * factor * size^k. The constant is the cost of starting up. Pure.
 *
 * The fit minimises the sum of squared relative errors, as on a logarithmic scale. It
 * searches for the best k; the best constant and factor for a given k follow from the
 * equation. There is no result if the values do not determine k.
 */
#ifndef MS_CLASSIFY_PROFILE_SCALE_FIT_H
#define MS_CLASSIFY_PROFILE_SCALE_FIT_H

#include <stddef.h>

/* minimum number of sizes: one more than the number of unknown parameters */
#define SCALE_SIZES_MIN 4

struct scale_point {
	double size, value; /* size > 0, value >= 0 */
};

enum scale_outcome {
	SCALE_FITTED,
	SCALE_CONSTANT,	 /* all values are equal: the exponent is 0 */
	SCALE_TOO_FEW,	 /* fewer than SCALE_SIZES_MIN sizes */
	SCALE_TOO_NEAR,	 /* the largest size is less than 4 times the smallest size */
	SCALE_START_UP,	 /* almost all of the value is the cost of starting up */
	SCALE_UNCERTAIN, /* no power of the size fits, or several powers fit */
	SCALE_OUTCOME_COUNT_
};

struct scale_fit {
	/*
	 * The fields below are set only for SCALE_FITTED and SCALE_CONSTANT. For
	 * a constant, the exponents are 0.
	 */
	enum scale_outcome outcome;
	/* `low` and `high`: the 95 % confidence interval of the exponent */
	double exponent, low, high;
	double constant, factor;
	double r_squared; /* R squared; 1: all values are on the curve */
};

void scale_fit(const struct scale_point *points, size_t count, struct scale_fit *ret);

#endif
