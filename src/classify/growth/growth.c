/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/growth/growth.h"

#include <math.h>
#include <stdlib.h>

#include "base/units.h"

#define GRID_MAX 512 /* Maximum number of cells of the time grid. */
#define SLOPE_MAX (GROWTH_FLOORS_MAX * (GROWTH_FLOORS_MAX - 1) / 2)

/*
 * The thresholds below were tuned on series with known results, which the unit
 * test contains.
 */
#define CYCLE_MIN 0.3 /* minimum autocorrelation that counts as a cycle */
/*
 * The search for a cycle begins at the first lag with an autocorrelation below
 * this value.
 */
#define CYCLE_FALLEN 0.1
/*
 * Among the lags that fit a cycle, prefer the shortest one whose autocorrelation is at
 * least this fraction of the maximum.
 */
#define CYCLE_AS_GOOD 0.85
/*
 * A series has a cycle only if its standard deviation, without the trend, is at least
 * this fraction of the total rise.
 */
#define TEETH_PER_RISE 0.03
/*
 * Length of a window in cycles. A window is slightly longer than a cycle, so that it
 * always contains a minimum.
 */
#define WINDOW_PER_CYCLE 1.1
/* A rise below this fraction of the median floor does not count as steady growth. */
#define RISE_PER_LEVEL 0.03
#define RISE_PER_NOISE 2.0
/* growth that needs at least this long to reach the threshold is slow */
#define SLOW_NS NS_PER_HOUR
/*
 * Without a significant rise, a jump counts as a step only if the total rise exceeds this
 * fraction of the median floor.
 */
#define STEP_PER_LEVEL 0.05
#define STEP_PER_NOISE 4.0
/* A jump counts as a step if it makes up at least this fraction of the total rise. */
#define STEP_SHARE 0.6
/*
 * On a plateau, the slope of the last third is at most this
 * fraction of the overall slope.
 */
#define PLATEAU_LATE_SLOPE 0.35
/*
 * Ratio of the standard deviation to the median absolute deviation
 * of a normal distribution.
 */
#define MEDIAN_TO_DEVIATION 1.48
#define NORMAL_95 1.96
/* Minimum number of recent windows for predicting the next peak. */
#define RECENT_MIN 4
/*
 * Lower bound on the variance of random growth, as a fraction of the variance between
 * neighbouring floors. A floor is the minimum of a window.
 */
#define RANDOM_GROWTH_MIN 0.05
#define NS_PER_HOUR (3600.0 * (double)NS_PER_S)

const char *const growth_kind_names[GROWTH_KIND_COUNT_] = {
	[GROWTH_TOO_SHORT] = "too_short", [GROWTH_NONE] = "none",
	[GROWTH_FALLING] = "falling",	  [GROWTH_SLOW] = "slow",
	[GROWTH_BRIEF] = "too_short",	  [GROWTH_STEP] = "step",
	[GROWTH_PLATEAU] = "plateau",	  [GROWTH_STEADY] = "growing",
};

static double lesser(double a, double b)
{
	return a < b ? a : b;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/*
 * A series resampled into time cells of equal length, with the minimum and maximum of
 * each cell.
 */
struct grid {
	double min[GRID_MAX], max[GRID_MAX];
	size_t count;
	double step_ns;
};

static void fill_grid(const struct growth_point *points, size_t count, struct grid *grid)
{
	uint64_t begin = points[0].time_ns, span = points[count - 1].time_ns - begin;
	size_t n = count < GRID_MAX ? count : GRID_MAX, filled = 0;

	grid->count = n;
	grid->step_ns = n > 1 ? (double)span / (double)(n - 1) : 0;
	for (size_t i = 0; i < count; i++) {
		double at = grid->step_ns > 0
				    ? (double)(points[i].time_ns - begin) / grid->step_ns
				    : 0;
		size_t cell = (size_t)(at + 0.5) < n ? (size_t)(at + 0.5) : n - 1;
		double bytes = (double)points[i].bytes;

		/* a cell without points has the value of the previous cell */
		for (; filled <= cell; filled++) {
			double before = filled > 0 && filled < cell
						? grid->max[filled - 1]
						: bytes;

			grid->min[filled] = grid->max[filled] = before;
		}
		grid->min[cell] = lesser(grid->min[cell], bytes);
		grid->max[cell] = larger(grid->max[cell], bytes);
	}
}

/* Return the slope of the least-squares line through the series. */
static double fit_line(const double *y, size_t count)
{
	double middle = (double)(count - 1) / 2, mean = 0, above = 0, below = 0;

	for (size_t i = 0; i < count; i++)
		mean += y[i] / (double)count;
	for (size_t i = 0; i < count; i++) {
		above += ((double)i - middle) * (y[i] - mean);
		below += ((double)i - middle) * ((double)i - middle);
	}
	return below > 0 ? above / below : 0;
}

/* Return the autocorrelation of the series d, whose mean must be 0, at the given lag. */
static double correlate(const double *d, size_t count, size_t lag, double square)
{
	double sum = 0;

	for (size_t i = 0; i + lag < count; i++)
		sum += d[i] * d[i + lag];
	return square > 0 ? sum / square : 0;
}

/*
 * Return the shortest lag whose autocorrelation is close to the maximum. Longer lags may
 * be multiples of the cycle, which correlate equally well.
 */
static size_t find_lag(const double *alike, size_t first, size_t end)
{
	size_t best = first;

	for (size_t lag = first; lag < end; lag++)
		best = alike[lag] > alike[best] ? lag : best;
	if (alike[best] <= CYCLE_MIN)
		return 0;
	for (size_t lag = first; lag + 1 < end; lag++)
		if (alike[lag] > CYCLE_AS_GOOD * alike[best] &&
		    alike[lag] >= alike[lag + 1])
			return lag;
	return best;
}

/* Return the length of the cycle in grid steps, or 0 if no cycle is significant. */
static size_t find_cycle(const struct grid *grid)
{
	double d[GRID_MAX], alike[GRID_MAX / 3 + 1], mean = 0, square = 0;
	double slope = fit_line(grid->max, grid->count);
	double min = TEETH_PER_RISE * slope * (double)grid->count;
	size_t lag = 1, first, end = grid->count / 3;

	for (size_t i = 0; i < grid->count; i++) {
		d[i] = grid->max[i] - slope * (double)i;
		mean += d[i] / (double)grid->count;
	}
	for (size_t i = 0; i < grid->count; i++) {
		d[i] -= mean;
		square += d[i] * d[i];
	}
	/* a nearly straight line has no significant cycle */
	if (slope > 0 && square < min * min * (double)grid->count)
		return 0;
	while (lag < end && correlate(d, grid->count, lag, square) > CYCLE_FALLEN)
		lag++;
	if (lag + 1 >= end)
		return 0;
	for (first = lag; lag < end; lag++)
		alike[lag] = correlate(d, grid->count, lag, square);
	return find_lag(alike, first, end);
}

struct floors {
	/* `bytes` contains the window minima, and `at` their positions in the grid */
	double bytes[GROWTH_FLOORS_MAX], at[GROWTH_FLOORS_MAX];
	size_t count;
	size_t window; /* length of each window in grid steps */
	double tooth;
};

/*
 * Find the floor (minimum) of each window. The last window ends at the end of the series;
 * points before the first window are ignored.
 */
static void find_floors(const struct grid *grid, size_t cycle, struct floors *floors)
{
	size_t window = grid->count / GROWTH_FLOORS_MAX;
	size_t per_cycle = (size_t)((double)cycle * WINDOW_PER_CYCLE), i;

	if (window < per_cycle)
		window = per_cycle;
	if (window == 0)
		window = 1;
	floors->window = window;
	floors->count = grid->count / window;
	if (floors->count > GROWTH_FLOORS_MAX)
		floors->count = GROWTH_FLOORS_MAX;
	floors->tooth = 0;
	i = grid->count - floors->count * window;
	for (size_t f = 0; f < floors->count; f++) {
		double max = grid->max[i];
		size_t lowest = i;

		for (size_t end = i + window; i < end; i++) {
			lowest = grid->min[i] < grid->min[lowest] ? i : lowest;
			max = larger(max, grid->max[i]);
		}
		floors->bytes[f] = grid->min[lowest];
		floors->at[f] = (double)lowest;
		floors->tooth = larger(floors->tooth, max - grid->min[lowest]);
	}
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of(const double *values, size_t count)
{
	double sorted[SLOPE_MAX];

	for (size_t i = 0; i < count; i++)
		sorted[i] = values[i];
	qsort(sorted, count, sizeof(*sorted), compare_doubles);
	return count % 2 ? sorted[count / 2]
			 : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

/*
 * Compute the slopes between all pairs of window minima, sort them in ascending order,
 * and return their number.
 */
static size_t find_slopes(const struct floors *floors, size_t first, size_t count,
			  double slopes[SLOPE_MAX])
{
	const double *y = floors->bytes, *x = floors->at;
	size_t n = 0;

	for (size_t i = first; i < first + count; i++)
		for (size_t j = i + 1; j < first + count; j++)
			slopes[n++] = (y[j] - y[i]) / (x[j] - x[i]);
	qsort(slopes, n, sizeof(*slopes), compare_doubles);
	return n;
}

/* Statistics of the increases between consecutive window minima. */
struct jumps {
	double largest, noise;
};

static void find_jumps(const struct floors *floors, struct jumps *jumps)
{
	double differences[GROWTH_FLOORS_MAX], off[GROWTH_FLOORS_MAX], median;
	size_t n = floors->count - 1;

	for (size_t i = 0; i < n; i++)
		differences[i] = floors->bytes[i + 1] - floors->bytes[i];
	median = median_of(differences, n);
	jumps->largest = differences[0];
	for (size_t i = 0; i < n; i++) {
		jumps->largest = larger(jumps->largest, differences[i]);
		off[i] = fabs(differences[i] - median);
	}
	jumps->noise = MEDIAN_TO_DEVIATION * median_of(off, n);
}

/* Growth rates in bytes per grid step. */
struct rates {
	double median, low, high, early, late;
	double min_rise; /* smallest rise in bytes that counts as steady growth */
};

static void find_rates(const struct floors *floors, struct rates *rates)
{
	double slopes[SLOPE_MAX], k = (double)floors->count;
	double reach = NORMAL_95 * sqrt(k * (k - 1) * (2 * k + 5) / 18);
	size_t n = find_slopes(floors, 0, floors->count, slopes);
	size_t third = floors->count / 3 > 3 ? floors->count / 3 : 3;
	double low = ((double)n - reach) / 2, high = ((double)n + reach) / 2;

	rates->median = slopes[n / 2];
	rates->low = slopes[low > 0 ? (size_t)low : 0];
	rates->high = slopes[high < (double)(n - 1) ? (size_t)high : n - 1];
	n = find_slopes(floors, 0, third, slopes);
	rates->early = slopes[n / 2];
	n = find_slopes(floors, floors->count - third, third, slopes);
	rates->late = slopes[n / 2];
}

/*
 * Return the index of the first recent window. The recent windows are the last third of
 * all windows, but at least RECENT_MIN; the expected peak is derived from their peaks.
 */
static size_t first_recent(const struct floors *floors)
{
	size_t recent = floors->count / 3 > RECENT_MIN ? floors->count / 3 : RECENT_MIN;

	return floors->count > recent ? floors->count - recent : 0;
}

/*
 * Predict the peak at the end of the series by extrapolating the peaks of the recent
 * windows at the median growth rate. The bounds on the peak are extrapolated from the
 * middle of the series at the lower and upper bound of the rate.
 */
static void find_top(const struct grid *grid, const struct floors *floors,
		     const struct rates *rates, struct growth *ret)
{
	size_t begin = grid->count - floors->count * floors->window, count = 0;
	double peaks[GROWTH_FLOORS_MAX] = { 0 }, end = (double)(grid->count - 1);
	double reach = end - (floors->at[0] + floors->at[floors->count - 1]) / 2;
	double min, max;

	for (size_t f = first_recent(floors); f < floors->count; f++) {
		size_t from = begin + f * floors->window;

		peaks[count] = grid->max[from] - rates->median * (double)from;
		for (size_t i = from + 1; i < from + floors->window; i++)
			peaks[count] = larger(peaks[count],
					      grid->max[i] - rates->median * (double)i);
		count++;
	}
	min = max = peaks[0];
	for (size_t i = 1; i < count; i++) {
		min = lesser(min, peaks[i]);
		max = larger(max, peaks[i]);
	}
	/*
	 * reduce the lower bound further, because the few samples in the recent windows
	 * may all miss the highest peak
	 */
	min -= max - min;
	ret->top_bytes = median_of(peaks, count) + rates->median * end;
	ret->top_low_bytes =
		lesser(ret->top_bytes,
		       min + rates->median * end - (rates->median - rates->low) * reach);
	ret->top_high_bytes =
		larger(ret->top_bytes,
		       max + rates->median * end + (rates->high - rates->median) * reach);
}

/*
 * Return the mean square of the differences between window minima that are `distance`
 * windows apart, after removing the trend.
 */
static double square_of_differences(const struct floors *floors, size_t distance,
				    double rate)
{
	double sum = 0;

	for (size_t f = 0; f + distance < floors->count; f++) {
		double off = floors->bytes[f + distance] - floors->bytes[f] -
			     rate * (floors->at[f + distance] - floors->at[f]);

		sum += off * off;
	}
	return sum / (double)(floors->count - distance);
}

/*
 * Estimate the random growth per window. If the series is a line with plain noise, the
 * minima of distant windows differ no more than those of neighbouring windows. Any larger
 * difference is growth in random steps, whose variance increases with time.
 */
static double find_random_growth(const struct floors *floors, double rate)
{
	size_t distance = floors->count / 4 > 2 ? floors->count / 4 : 2;
	double near = square_of_differences(floors, 1, rate);
	double far = square_of_differences(floors, distance, rate);
	double variance = (far - near) / (double)(distance - 1);

	/*
	 * if there are few windows, the difference may be small or negative by chance, so
	 * use a lower bound
	 */
	return sqrt(larger(variance, RANDOM_GROWTH_MIN * near));
}

/* Classify a series that does not rise or whose rise is below the thresholds. */
static enum growth_kind classify_small_growth(const struct rates *rates, double step_ns)
{
	if (rates->low > 0)
		return rates->min_rise / rates->median * step_ns < SLOW_NS ? GROWTH_BRIEF
									   : GROWTH_SLOW;
	return rates->high < 0 ? GROWTH_FALLING : GROWTH_NONE;
}

static enum growth_kind classify_growth(const struct floors *floors, struct rates *rates,
					double step_ns)
{
	const double *y = floors->bytes;
	double level = median_of(y, floors->count);
	double rise = rates->median * (floors->at[floors->count - 1] - floors->at[0]);
	double total = median_of(y + floors->count - 3, 3) - median_of(y, 3);
	bool is_one_jump;
	struct jumps jumps;

	find_jumps(floors, &jumps);
	rates->min_rise = larger(RISE_PER_LEVEL * level, RISE_PER_NOISE * jumps.noise);
	is_one_jump = jumps.largest > STEP_SHARE * total;
	if (rates->low <= 0 || rise < rates->min_rise) {
		if (is_one_jump &&
		    total > larger(STEP_PER_LEVEL * level, STEP_PER_NOISE * jumps.noise))
			return GROWTH_STEP;
		return classify_small_growth(rates, step_ns);
	}
	if (is_one_jump)
		return GROWTH_STEP;
	if (rates->late < PLATEAU_LATE_SLOPE * rates->median &&
	    rates->early > rates->median)
		return GROWTH_PLATEAU;
	return GROWTH_STEADY;
}

/* Return how much longer the series must last for its rise to reach the threshold. */
static uint64_t find_missing(const struct floors *floors, const struct rates *rates,
			     const struct grid *grid)
{
	double missing = rates->min_rise / rates->median -
			 (floors->at[floors->count - 1] - floors->at[0]);

	/* the threshold is a fraction of the amount, so it rises with the amount */
	return (uint64_t)(larger(missing * (1 + RISE_PER_LEVEL), 1) * grid->step_ns);
}

void growth_find(const struct growth_point *points, size_t count, struct growth *ret)
{
	struct grid grid;
	struct floors floors;
	struct rates rates;
	double per_hour;
	size_t cycle, missing;

	*ret = (struct growth){ .kind = GROWTH_TOO_SHORT };
	if (count < GROWTH_FLOORS_MIN) {
		ret->missing_count = GROWTH_FLOORS_MIN - count;
		return;
	}
	fill_grid(points, count, &grid);
	if (grid.step_ns <= 0)
		return;
	cycle = find_cycle(&grid);
	find_floors(&grid, cycle, &floors);
	ret->floor_count = floors.count;
	ret->window_ns = (uint64_t)((double)floors.window * grid.step_ns);
	ret->cycle_ns = (uint64_t)((double)cycle * grid.step_ns);
	if (floors.count < GROWTH_FLOORS_MIN) {
		missing = floors.window * GROWTH_FLOORS_MIN - grid.count;
		ret->missing_ns = (uint64_t)((double)missing * grid.step_ns);
		return;
	}
	find_rates(&floors, &rates);
	ret->kind = classify_growth(&floors, &rates, grid.step_ns);
	per_hour = NS_PER_HOUR / grid.step_ns;
	ret->rate_bytes = (int64_t)(rates.median * per_hour);
	ret->rate_low_bytes = (int64_t)(rates.low * per_hour);
	ret->rate_high_bytes = (int64_t)(rates.high * per_hour);
	ret->floor_bytes = (uint64_t)floors.bytes[floors.count - 1];
	ret->tooth_bytes = (uint64_t)floors.tooth;
	ret->step_ns = (uint64_t)grid.step_ns;
	if (ret->kind == GROWTH_BRIEF)
		ret->missing_ns = find_missing(&floors, &rates, &grid);
	find_top(&grid, &floors, &rates, ret);
	ret->random_growth_bytes = find_random_growth(&floors, rates.median);
}
