/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how often the predicted interval contains the moment at which a limit is
 * really reached. The series are simulated, so their future is known; the prediction is
 * made far from the limit and near it. COUNT in the environment is the number of series
 * of each kind (default 100). The figures go to standard output.
 */
#include "config.h"

#include "classify/growth/growth.h"
#include "classify/growth/limit_time.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "../../support/made_noise.h"
#include "../../support/unit.h"

#define SAMPLES 1500
#define SAMPLE_NS (10 * NS_PER_S)
#define START_MIB 200.0
#define LIMIT_MIB 400.0
#define COVERED_MIN 0.90
/* bound for the median width of predictions from afar, relative to the remaining time */
#define WIDTH_MAX 4.0
#define ANSWERED_MIN 0.5

/* Parameters that differ between series. */
struct shape {
	double rate;  /* in MiB per sample */
	double tooth; /* in MiB */
	int cycle;    /* length in samples */
	double floor; /* sum of the random steps so far */
};

typedef double (*value_fn)(int i, struct shape *shape);

static double linear(int i, struct shape *s)
{
	return START_MIB + s->rate * i + made_noise(1);
}

static double noisy(int i, struct shape *s)
{
	return START_MIB + s->rate * i + made_noise(6);
}

static double sawtooth(int i, struct shape *s)
{
	return START_MIB + s->rate * i + s->tooth * (i % s->cycle) / s->cycle +
	       made_noise(1);
}

/* A random step every 10 samples on average. */
static double steps(int i, struct shape *s)
{
	if (i == 0)
		s->floor = START_MIB;
	if (made_noise_unit() < 0.1)
		s->floor += s->rate * 20 * made_noise_unit();
	return s->floor + made_noise(0.3);
}

static double even(int i, struct shape *s)
{
	return START_MIB + s->rate * i;
}

static const struct {
	const char *name;
	value_fn value;
} kinds[] = {
	{ "linear, little noise", linear }, { "linear, much noise", noisy },
	{ "sawtooth and leak", sawtooth },  { "random steps", steps },
	{ "linear, no noise", even },
};

/* Where the series is cut, as a share of the time until it reaches the limit. */
static const struct {
	const char *name;
	double from, to;
} cuts[] = { { "from afar", 0.3, 0.8 },
	     { "near the limit", 0.9, 0.98 },
	     { "at the limit", 0.985, 0.999 } };

struct tally {
	int asked, answered, covered, early;
	double widths[20000];
};

/* Return the index of the first sample at or above the limit, or 0. */
static int make_series(value_fn value, struct growth_point points[SAMPLES])
{
	struct shape shape = { .rate = 0.16 + 0.3 * made_noise_unit(),
			       .tooth = 15 + 40 * made_noise_unit(),
			       .cycle = 15 + (int)(25 * made_noise_unit()) };

	for (int i = 0; i < SAMPLES; i++) {
		double mib = value(i, &shape);

		points[i] = (struct growth_point){ (uint64_t)i * SAMPLE_NS,
						   (uint64_t)(mib * (double)MIB) };
		if (mib >= LIMIT_MIB)
			return i;
	}
	return 0;
}

static void ask(const struct growth_point *points, int met, int cut, struct tally *tally)
{
	uint64_t left_ns = (uint64_t)(met - cut) * SAMPLE_NS;
	struct growth growth;
	struct growth_time time;

	tally->asked++;
	growth_find(points, (size_t)cut + 1, &growth);
	if (!growth_time_to(&growth, (uint64_t)(LIMIT_MIB * (double)MIB), &time))
		return;
	assert_true(time.soonest_ns <= time.ns && time.ns <= time.latest_ns);
	/*
	 * The limit was reached after the previous sample, so any time
	 * between the two is right.
	 */
	tally->covered +=
		time.soonest_ns <= left_ns &&
		(time.latest_ns == UINT64_MAX || time.latest_ns + SAMPLE_NS >= left_ns);
	tally->early += time.soonest_ns > left_ns;
	tally->widths[tally->answered++] =
		(double)(time.latest_ns - time.soonest_ns) / (double)left_ns;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Return whether enough moments lie in their intervals. */
static bool report(const char *kind, const char *cut, bool is_afar, struct tally *t)
{
	double covered = t->answered > 0 ? (double)t->covered / t->answered : 0, width;

	qsort(t->widths, (size_t)t->answered, sizeof(*t->widths), compare_doubles);
	width = t->answered > 0 ? t->widths[t->answered / 2] : 0;
	printf("%-22s %-15s answered %5d of %5d, inside %5.1f %%, later than soonest %5.1f %%, "
	       "middle width %.2f\n",
	       kind, cut, t->answered, t->asked, 100 * covered,
	       t->answered > 0 ? 100 - 100.0 * t->early / t->answered : 0, width);
	return covered >= COVERED_MIN && t->answered >= ANSWERED_MIN * t->asked &&
	       (!is_afar || width <= WIDTH_MAX);
}

static void nine_of_ten_intervals_contain_the_true_time(void **state)
{
	static struct growth_point points[SAMPLES];
	static struct tally tally;
	const char *text = getenv("COUNT");
	int count = text ? atoi(text) : 100;
	bool are_enough = true;

	(void)state;
	assert_in_range(count, 1, 20000);
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
		for (size_t c = 0; c < ARRAY_SIZE(cuts); c++) {
			made_noise_seed(88172645463325252u);
			tally.asked = tally.answered = tally.covered = tally.early = 0;
			for (int n = 0; n < count; n++) {
				int met = make_series(kinds[k].value, points);
				double share =
					cuts[c].from +
					(cuts[c].to - cuts[c].from) * made_noise_unit();
				int cut = (int)(share * met);

				if (met > 50 && cut < met)
					ask(points, met, cut, &tally);
			}
			are_enough &= report(kinds[k].name, cuts[c].name, c == 0, &tally);
		}
	assert_true(are_enough);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nine_of_ten_intervals_contain_the_true_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
