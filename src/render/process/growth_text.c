/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/process/growth_text.h"

#include <string.h>

#include "base/units.h"
#include "classify/growth/limit_time.h"
#include "render/process/growth_words.h"

/*
 * Maximum time span of a forecast. memstate does not observe processes long enough to
 * predict further ahead.
 */
#define FORESEEN_NS (30 * 24 * 3600 * NS_PER_S)

void growth_text_add_short(struct strbuf *out, const struct growth *growth)
{
	char rate[UNITS_TEXT_SIZE];

	switch (growth->kind) {
	case GROWTH_STEADY:
		strbuf_add_text(out, units_format_rate(growth->rate_bytes,
						       growth->rate_bytes, rate));
		break;
	case GROWTH_BRIEF:
	case GROWTH_TOO_SHORT: strbuf_add_text(out, "too soon"); break;
	case GROWTH_SLOW: strbuf_add_text(out, "slow growth"); break;
	case GROWTH_NONE:
	case GROWTH_FALLING:
	case GROWTH_STEP:
	case GROWTH_PLATEAU:
	case GROWTH_KIND_COUNT_: strbuf_add_text(out, growth_titles[growth->kind]); break;
	}
}

static bool find_time(const struct growth *growth, uint64_t limit_bytes,
		      struct growth_time *ret)
{
	return bytes_known(limit_bytes) && growth_time_to(growth, limit_bytes, ret) &&
	       ret->ns <= FORESEEN_NS;
}

/*
 * Format the time until an amount reaches its limit, such as "now", "2h05m" or
 * "over 30d".
 */
static const char *format_time(uint64_t ns, char buf[UNITS_TEXT_SIZE])
{
	if (ns < NS_PER_S)
		return "now";
	return ns > FORESEEN_NS ? "over 30d" : units_format_duration(ns, buf);
}

void growth_text_add_time(struct strbuf *out, const struct growth *growth,
			  uint64_t limit_bytes)
{
	struct growth_time time;
	char buf[UNITS_TEXT_SIZE];

	if (find_time(growth, limit_bytes, &time))
		strbuf_add_text(out, units_format_duration(time.ns, buf));
	else
		strbuf_add_char(out, '-');
}

/*
 * Format the lower or upper bound of a growth rate in the same unit as the rate, without
 * the "/h".
 */
static const char *format_bound(int64_t bytes_per_hour, int64_t rate_bytes,
				char buf[UNITS_TEXT_SIZE])
{
	units_format_rate(bytes_per_hour, rate_bytes, buf);
	buf[strcspn(buf, "/")] = '\0';
	return buf;
}

void growth_text_add(struct strbuf *out, const struct growth *growth,
		     uint64_t limit_bytes)
{
	char rate[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
	struct growth_time time;

	strbuf_add_text(out, growth_titles[growth->kind]);
	if (growth->kind != GROWTH_STEADY)
		return;
	strbuf_addf(out, " %s (%s to %s)",
		    units_format_rate(growth->rate_bytes, growth->rate_bytes, rate),
		    format_bound(growth->rate_low_bytes, growth->rate_bytes, low),
		    format_bound(growth->rate_high_bytes, growth->rate_bytes, high));
	if (find_time(growth, limit_bytes, &time))
		strbuf_addf(out, ", limit in %s (%s to %s)", format_time(time.ns, rate),
			    format_time(time.soonest_ns, low),
			    format_time(time.latest_ns, high));
}
