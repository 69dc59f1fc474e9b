/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/growth/last_rise.h"

#include <math.h>
#include <stdlib.h>

#include "base/units.h"

#define SAMPLES_MIN 8
#define SEGMENT_MIN 2 /* Minimum number of windows in the last segment of a series. */
#define SPLIT_MIN 6   /* a series with fewer windows is not split into segments */
/*
 * A series is described by two lines instead of one if the squared error of the two lines
 * is below this fraction of the error of the single line.
 */
#define SPLIT_GAIN 0.2
/* Minimum ratio of the slopes of two segments that counts as a change of pace. */
#define PACE_RATIO 4.0
/*
 * Minimum jump between two consecutive line segments, as a fraction
 * of the range of the series.
 */
#define JUMP_SHARE 0.3
#define NOISE_BYTES ((double)MIB / 2)
#define NOISE_PER_LEVEL 0.02
#define SLOPE_MAX (RISE_WINDOWS * (RISE_WINDOWS - 1) / 2)

void rise_series_init(struct rise_series *s, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t span_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;

	*s = (struct rise_series){ .begin_ns = begin_ns,
				   .window_ns = span_ns / RISE_WINDOWS + 1 };
}

static size_t window_of(const struct rise_series *s, uint64_t time_ns)
{
	uint64_t window = time_ns > s->begin_ns ? (time_ns - s->begin_ns) / s->window_ns
						: 0;

	return window < RISE_WINDOWS ? (size_t)window : RISE_WINDOWS - 1;
}

static double value_between(const struct rise_series *s, uint64_t time_ns, uint64_t bytes,
			    size_t window)
{
	double at_ns =
		(double)s->begin_ns + ((double)window + 0.5) * (double)s->window_ns;
	double span_ns = (double)time_ns - (double)s->last_ns;
	double part = span_ns > 0 ? (at_ns - (double)s->last_ns) / span_ns : 1;

	return (double)s->last_bytes + part * ((double)bytes - (double)s->last_bytes);
}

void rise_series_add(struct rise_series *s, uint64_t time_ns, uint64_t bytes)
{
	size_t window = window_of(s, time_ns);
	double value = (double)bytes;

	if (s->sample_count == 0)
		s->first_bytes = bytes;
	for (; s->count <= window; s->count++) {
		double filled = s->sample_count > 0 && s->count < window
					? value_between(s, time_ns, bytes, s->count)
					: value;

		s->floors[s->count] = s->ceilings[s->count] = filled;
	}
	if (value < s->floors[window])
		s->floors[window] = value;
	if (value > s->ceilings[window])
		s->ceilings[window] = value;
	s->last_ns = time_ns;
	s->last_bytes = bytes;
	s->sample_count++;
}

void rise_series_jump(struct rise_series *s, uint64_t time_ns, uint64_t bytes)
{
	if (s->sample_count > 0)
		rise_series_add(s, time_ns, s->last_bytes);
	rise_series_add(s, time_ns, bytes);
}

/* A straight line fitted by least squares. */
struct line {
	/* sum of the squared vertical distances between the points and the line */
	double slope, start, squares;
};

static struct line fit_line(const double *y, size_t count)
{
	double middle = (double)(count - 1) / 2, mean = 0, above = 0, below = 0;
	struct line line = { 0 };

	for (size_t i = 0; i < count; i++)
		mean += y[i] / (double)count;
	for (size_t i = 0; i < count; i++) {
		above += ((double)i - middle) * (y[i] - mean);
		below += ((double)i - middle) * ((double)i - middle);
	}
	line.slope = below > 0 ? above / below : 0;
	line.start = mean - line.slope * middle;
	for (size_t i = 0; i < count; i++) {
		double off = y[i] - line.start - line.slope * (double)i;

		line.squares += off * off;
	}
	return line;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/*
 * Return 1 if the slopes of the two lines differ by more than a factor of PACE_RATIO, or
 * if the series jumps between the lines; otherwise 0.
 */
static int is_break(const struct line *left, size_t left_count, const struct line *right,
		    double range)
{
	double a = fabs(left->slope), b = fabs(right->slope);
	double end = left->start + left->slope * (double)(left_count - 1);

	return larger(a, b) > PACE_RATIO * (a < b ? a : b) ||
	       fabs(right->start - end) > JUMP_SHARE * range;
}

static double range_of(const double *y, size_t count)
{
	double min = y[0], max = y[0];

	for (size_t i = 1; i < count; i++) {
		min = y[i] < min ? y[i] : min;
		max = larger(max, y[i]);
	}
	return max - min;
}

static double noise_of(double level)
{
	return larger(NOISE_BYTES, NOISE_PER_LEVEL * fabs(level));
}

/*
 * Return the index of the window at which the last segment of the series begins, or 0 if
 * one line fits the whole series.
 */
static size_t find_split(const double *y, size_t count)
{
	struct line whole = fit_line(y, count);
	double noise = noise_of(y[count - 1]);
	double best_squares = SPLIT_GAIN * whole.squares, range = range_of(y, count);
	size_t best = 0;

	if (whole.squares <= noise * noise * (double)count)
		return 0;
	for (size_t k = 1; k + SEGMENT_MIN <= count; k++) {
		struct line left = fit_line(y, k), right = fit_line(y + k, count - k);

		if (left.squares + right.squares >= best_squares ||
		    !is_break(&left, k, &right, range))
			continue;
		best_squares = left.squares + right.squares;
		best = k;
	}
	return best;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
	return count % 2 ? values[count / 2]
			 : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/*
 * Fit a line to the majority of the points. Outliers, such as those caused by a restart,
 * do not affect the line.
 */
static struct line fit_majority(const double *y, size_t count)
{
	double slopes[SLOPE_MAX + 1] = { 0 }, starts[RISE_WINDOWS];
	struct line line = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count; j++)
			slopes[n++] = (y[j] - y[i]) / (double)(j - i);
	line.slope = median_of(slopes, n > 0 ? n : 1);
	for (size_t i = 0; i < count; i++)
		starts[i] = y[i] - line.slope * (double)i;
	line.start = median_of(starts, count);
	return line;
}

static double typical_tooth(const struct rise_series *s, size_t first)
{
	double teeth[RISE_WINDOWS];
	size_t n = 0;

	for (size_t i = first; i < s->count; i++)
		teeth[n++] = s->ceilings[i] - s->floors[i];
	return median_of(teeth, n);
}

/*
 * Return the level of the series at window `first`. A single line must fit all windows
 * from `first` to the end.
 */
static uint64_t find_level(const struct rise_series *s, size_t first)
{
	const double *y = s->floors + first;
	struct line line = fit_majority(y, s->count - first);
	double tooth = typical_tooth(s, first) - fabs(line.slope);
	double level = line.start + (tooth > 0 ? tooth : 0);

	/*
	 * if the fitted level differs from the minimum of the first window only by noise,
	 * use that minimum
	 */
	if (fabs(level - y[0]) <= noise_of((double)s->last_bytes))
		level = y[0];
	return level > 0 ? (uint64_t)level : 0;
}

void rise_find(const struct rise_series *s, struct rise *ret)
{
	size_t first = 0, split;

	*ret = (struct rise){ .from_bytes = s->first_bytes,
			      .to_bytes = s->last_bytes,
			      .ns = s->sample_count > 0 ? s->last_ns - s->begin_ns : 0 };
	if (s->sample_count >= SAMPLES_MIN && s->count >= SPLIT_MIN) {
		while (s->count - first >= SPLIT_MIN &&
		       (split = find_split(s->floors + first, s->count - first)) > 0)
			first += split;
		ret->from_bytes = find_level(s, first);
		ret->ns = s->last_ns - s->begin_ns - first * s->window_ns;
	}
	if (ret->from_bytes > ret->to_bytes)
		ret->from_bytes = ret->to_bytes;
}
