/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/growth/limit_time.h"

#include <math.h>

#include "base/units.h"

/* Number of standard deviations that random growth is assumed not to exceed. */
#define RANDOM_GROWTH_REACH 3.0
#define NS_PER_HOUR (3600.0 * (double)NS_PER_S)

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static uint64_t time_at(double room_bytes, int64_t rate_bytes)
{
	double ns = rate_bytes > 0 ? room_bytes / (double)rate_bytes * NS_PER_HOUR
				   : INFINITY;

	return ns < (double)(UINT64_MAX / 2) ? (uint64_t)ns : UINT64_MAX;
}

/*
 * Return an upper bound on the random growth during `ns`. The random steps of different
 * windows are independent.
 */
static double bound_random_growth(const struct growth *g, double ns)
{
	double windows = ns / (double)(g->window_ns > 0 ? g->window_ns : 1);
	double seen = (double)g->floor_count;

	return RANDOM_GROWTH_REACH * g->random_growth_bytes *
	       sqrt(windows * (1 + windows / seen));
}

bool growth_time_to(const struct growth *growth, uint64_t limit_bytes,
		    struct growth_time *ret)
{
	double limit = (double)limit_bytes, stray;
	uint64_t late_ns;

	if (growth->kind != GROWTH_STEADY)
		return false;
	ret->ns = time_at(larger(limit - growth->top_bytes, 0), growth->rate_bytes);
	stray = bound_random_growth(growth, (double)ret->ns);
	ret->soonest_ns = time_at(larger(limit - growth->top_high_bytes - stray, 0),
				  growth->rate_high_bytes);
	ret->latest_ns = time_at(larger(limit - growth->top_low_bytes + stray, 0),
				 growth->rate_low_bytes);
	/* the next peak may be up to one cycle later */
	late_ns = growth->cycle_ns > 0 ? growth->cycle_ns : growth->step_ns;
	if (ret->latest_ns < UINT64_MAX - late_ns)
		ret->latest_ns += late_ns;
	ret->soonest_ns -= ret->soonest_ns < late_ns ? ret->soonest_ns : late_ns;
	return true;
}

static const char *format_bound(uint64_t ns, char buf[UNITS_TEXT_SIZE])
{
	if (ns < NS_PER_S)
		return "now";
	return ns == UINT64_MAX ? "never" : units_format_duration(ns, buf);
}

void growth_time_add(struct strbuf *out, const struct growth_time *left)
{
	char at[UNITS_TEXT_SIZE], soonest[UNITS_TEXT_SIZE], latest[UNITS_TEXT_SIZE];

	if (left->ns < NS_PER_MS) {
		strbuf_add_text(out, "is at the limit now");
		return;
	}
	strbuf_addf(out, "reaches the limit in %s (%s to %s)",
		    units_format_duration(left->ns, at),
		    format_bound(left->soonest_ns, soonest),
		    format_bound(left->latest_ns, latest));
}
