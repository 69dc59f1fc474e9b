/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/scale_fit.h"

#include <math.h>
#include <stdbool.h>

#define EXPONENT_MAX 8.0
#define EXPONENT_STEP 0.02

#define SIZES_RATIO_MIN 4
/*
 * Minimum increase that counts as growth, as a fraction of the largest value. A smaller
 * increase may be startup cost or noise.
 */
#define GROWTH_MIN 0.05
#define R_SQUARED_MIN 0.95
#define INTERVAL_MAX 1.0

/*
 * Values below this fraction of the largest value get the weight of a
 * value at this fraction.
 */
#define WEIGHT_MIN 1e-3

#define LN_2 0.693147180559945309417

/*
 * Return the natural logarithm of x, computed from the artanh series. libm is avoided,
 * because log() and exp() add 0.4 MiB to the Rss of memstate.
 */
static double natural_log(double x)
{
	int exponent;
	double part = frexp(x, &exponent) * 1.4142135623730951, t, power, sum = 0;

	t = power = (part - 1) / (part + 1);
	for (int n = 1; n < 26; n += 2) {
		sum += power / n;
		power *= t * t;
	}
	return 2 * sum + ((double)exponent - 0.5) * LN_2;
}

static double exponential(double x)
{
	int twos = (int)(x / LN_2);
	double rest = x - twos * LN_2, term = 1, sum = 1;

	if (x < -700)
		return 0;
	for (int n = 1; n < 20; n++) {
		term *= rest / n;
		sum += term;
	}
	return ldexp(sum, twos);
}

/* The data points to fit, and the maxima of their sizes and values. */
struct search {
	const struct scale_point *points;
	size_t count;
	double largest_size, largest_value;
};

/*
 * The best curve for a given exponent; `factor` is the factor of (size /
 * largest size)^exponent.
 */
struct line {
	double constant, factor;
	double error; /* sum of the squared relative errors */
};

static double weight_of(const struct search *s, const struct scale_point *p)
{
	double min = s->largest_value * WEIGHT_MIN;
	double value = p->value > min ? p->value : min;

	return 1 / (value * value);
}

static double share_of(const struct search *s, const struct scale_point *p,
		       double exponent)
{
	return exponential(exponent * natural_log(p->size / s->largest_size));
}

static void fit_line(const struct search *s, double exponent, struct line *ret)
{
	double w = 0, x = 0, y = 0, xx = 0, xy = 0, spread;

	for (size_t i = 0; i < s->count; i++) {
		const struct scale_point *p = &s->points[i];
		double weight = weight_of(s, p), share = share_of(s, p, exponent);

		w += weight;
		x += weight * share;
		y += weight * p->value;
		xx += weight * share * share;
		xy += weight * share * p->value;
	}
	spread = w * xx - x * x;
	ret->factor = spread > 0 ? (w * xy - x * y) / spread : 0;
	ret->constant = (y - ret->factor * x) / w;
	/* a startup cost cannot be negative */
	if (ret->constant < 0) {
		ret->constant = 0;
		ret->factor = xy / xx;
	}
	ret->error = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct scale_point *p = &s->points[i];
		double off =
			ret->constant + ret->factor * share_of(s, p, exponent) - p->value;

		ret->error += weight_of(s, p) * off * off;
	}
}

static double error_at(const struct search *s, double exponent)
{
	struct line line;

	fit_line(s, exponent, &line);
	return line.error;
}

/*
 * Return the exponent with the smallest error. Search a coarse grid of exponents, then
 * the interval around the best grid point.
 */
static double find_best(const struct search *s)
{
	double best = EXPONENT_STEP, min = error_at(s, best), low, high;

	for (int i = 1; i * EXPONENT_STEP <= EXPONENT_MAX; i++) {
		double k = i * EXPONENT_STEP, error = error_at(s, k);

		if (error < min) {
			min = error;
			best = k;
		}
	}
	low = best - EXPONENT_STEP;
	high = best + EXPONENT_STEP;
	for (int i = 0; i < 60; i++) {
		double third = (high - low) / 3;

		if (error_at(s, low + third) < error_at(s, high - third))
			high -= third;
		else
			low += third;
	}
	return (low + high) / 2;
}

/*
 * Find one end of the confidence interval: starting at the best exponent, go in the
 * direction of `step`, and return the last exponent whose error is below the limit.
 */
static double find_end(const struct search *s, double best, double step, double limit)
{
	double inside = best, outside = best;

	do {
		inside = outside;
		outside += step;
	} while (outside > 0 && outside < EXPONENT_MAX && error_at(s, outside) <= limit);
	for (int i = 0; i < 40; i++) {
		double middle = (inside + outside) / 2;

		if (error_at(s, middle) <= limit)
			inside = middle;
		else
			outside = middle;
	}
	return inside;
}

/*
 * Return the 95 % quantile of the F distribution with 1 and `freedom` degrees of freedom,
 * where `freedom` is at least 1.
 */
static double f_quantile(size_t freedom)
{
	static const double few[] = { 161.45, 18.51, 10.13, 7.71, 6.61,
				      5.99,   5.59,  5.32,  5.12, 4.96 };

	if (freedom > sizeof(few) / sizeof(few[0]))
		return 3.84 + 11.2 / (double)freedom;
	return few[freedom > 0 ? freedom - 1 : 0];
}

/*
 * Return R squared: the fraction of the squared relative deviations from the mean that
 * the curve explains.
 */
static double r_squared_of(const struct search *s, double error)
{
	double w = 0, y = 0, all = 0;

	for (size_t i = 0; i < s->count; i++) {
		w += weight_of(s, &s->points[i]);
		y += weight_of(s, &s->points[i]) * s->points[i].value;
	}
	for (size_t i = 0; i < s->count; i++) {
		double off = s->points[i].value - y / w;

		all += weight_of(s, &s->points[i]) * off * off;
	}
	return all > 0 ? 1 - error / all : 0;
}

static size_t count_sizes(const struct scale_point *points, size_t count)
{
	size_t sizes = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_new = true;

		for (size_t before = 0; before < i; before++)
			is_new &= fabs(points[before].size - points[i].size) > 0;
		sizes += is_new;
	}
	return sizes;
}

/* Return SCALE_FITTED if a curve can be fitted, otherwise the reason why not. */
static enum scale_outcome check_series(struct search *s)
{
	double smallest_size = s->points[0].size, min = s->points[0].value;

	for (size_t i = 0; i < s->count; i++) {
		const struct scale_point *p = &s->points[i];

		s->largest_size = p->size > s->largest_size ? p->size : s->largest_size;
		s->largest_value = p->value > s->largest_value ? p->value
							       : s->largest_value;
		smallest_size = p->size < smallest_size ? p->size : smallest_size;
		min = p->value < min ? p->value : min;
	}
	if (s->largest_size < SIZES_RATIO_MIN * smallest_size)
		return SCALE_TOO_NEAR;
	if (s->largest_value <= min)
		return SCALE_CONSTANT;
	return s->largest_value - min < GROWTH_MIN * s->largest_value ? SCALE_START_UP
								      : SCALE_FITTED;
}

/*
 * Find the best exponent and its confidence interval, which contains the exponents whose
 * error is close to the minimum.
 */
static void fit_curve(const struct search *s, struct scale_fit *fit)
{
	size_t freedom = s->count - 3;
	struct line line;
	double limit;

	fit->exponent = find_best(s);
	fit_line(s, fit->exponent, &line);
	fit->constant = line.constant;
	fit->factor =
		line.factor * exponential(-fit->exponent * natural_log(s->largest_size));
	fit->r_squared = r_squared_of(s, line.error);
	limit = line.error * (1 + f_quantile(freedom) / (double)freedom);
	fit->low = find_end(s, fit->exponent, -EXPONENT_STEP, limit);
	fit->high = find_end(s, fit->exponent, EXPONENT_STEP, limit);
	if (line.factor <= 0 || fit->r_squared < R_SQUARED_MIN ||
	    fit->high - fit->low > INTERVAL_MAX)
		fit->outcome = SCALE_UNCERTAIN;
}

void scale_fit(const struct scale_point *points, size_t count, struct scale_fit *ret)
{
	struct search s = { .points = points, .count = count };
	struct scale_fit fit = { .outcome = SCALE_TOO_FEW };

	if (count_sizes(points, count) >= SCALE_SIZES_MIN)
		fit.outcome = check_series(&s);
	if (fit.outcome == SCALE_FITTED)
		fit_curve(&s, &fit);
	*ret = fit;
}
