/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/count/stack_sample.h"

#include "agent/count/stack_abi.h"

#define LN_2 0.69314718055994530942

/*
 * Return the natural logarithm of x for 0 < x <= 1. libm is not used, because the program
 * may not have loaded it.
 */
static double logarithm(double x)
{
	union {
		double number;
		uint64_t bits;
	} u = { x };
	const uint64_t mantissa = (UINT64_C(1) << 52) - 1, one = UINT64_C(1023) << 52;
	int exponent = (int)(u.bits >> 52) - 1023;
	double t, square, sum = 0;

	u.bits = (u.bits & mantissa) | one;
	t = (u.number - 1) / (u.number + 1); /* t is at most 1/3 */
	square = t * t;
	for (int n = 31; n >= 1; n -= 2)
		sum = sum * square + 1.0 / n;
	return 2 * t * sum + exponent * LN_2;
}

/* Return 1 - exp(-x) for x > 0. */
static double fall(double x)
{
	double sum = 0;
	int halvings = 0;

	if (x > 40)
		return 1;
	for (; x > 1; halvings++)
		x /= 2;
	for (int n = 20; n >= 1; n--)
		sum = x / n * (1 - sum);
	for (; halvings > 0; halvings--)
		sum = sum * (2 - sum);
	return sum;
}

int64_t stack_sample_step(uint64_t *random, uint64_t sample_bytes)
{
	uint64_t x = *random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*random = x;
	x = (x * UINT64_C(0x2545f4914f6cdd1d)) >> 11;
	return (int64_t)(-logarithm((double)(x + 1) * 0x1p-53) * (double)sample_bytes);
}

uint64_t stack_sample_weight(uint64_t bytes, uint64_t sample_bytes)
{
	double scale = 1 << STACK_SCALE_BITS;

	return (uint64_t)(scale / fall(((double)bytes + 1) / (double)sample_bytes) + 0.5);
}
