/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scale_fit - how a figure grows with the size of the work: value = constant + factor * size^k,
 * where the constant is what start-up takes. Pure.
 *
 * Fitted by least squares of relative errors, as on a scale of logarithms: k is searched
 * for, the other two follow from it. What the values cannot tell is not guessed.
 */
#ifndef MS_CLASSIFY_SCALE_FIT_H
#define MS_CLASSIFY_SCALE_FIT_H

#include <stddef.h>

#define SCALE_SIZES_MIN 4 /* there are three unknowns */

struct scale_point {
	double size, value; /* size > 0, value >= 0 */
};

enum scale_outcome {
	SCALE_FITTED,
	SCALE_CONSTANT,	 /* all values are equal: the exponent is 0 */
	SCALE_TOO_FEW,	 /* sizes */
	SCALE_TOO_NEAR,	 /* the largest size is less than 4 times the smallest */
	SCALE_START_UP,	 /* what does not depend on the size is nearly all of it */
	SCALE_UNCERTAIN, /* no power of the size fits, or many do */
	SCALE_OUTCOME_COUNT_
};

struct scale_fit {
	enum scale_outcome outcome; /* only of a fit all that follows is set; of a constant, exponents of 0 */
	double exponent, low, high; /* between which it is with 95 % */
	double constant, factor;
	double r_squared; /* 1: the values are on the curve */
};

void scale_fit(const struct scale_point *points, size_t count, struct scale_fit *ret);

#endif
