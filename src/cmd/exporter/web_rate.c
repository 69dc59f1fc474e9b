/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/exporter/web_rate.h"

void web_rate_set(struct web_rate *rate, uint64_t interval_ns, uint64_t burst,
		  uint64_t now_ns)
{
	uint64_t max_ns = burst > 0 && interval_ns > UINT64_MAX / burst
				  ? UINT64_MAX
				  : interval_ns * burst;

	*rate = (struct web_rate){ interval_ns, max_ns, max_ns, now_ns };
}

bool web_rate_allow(struct web_rate *rate, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - rate->updated_ns;

	if (rate->interval_ns == 0)
		return true;
	rate->updated_ns = now_ns;
	rate->credit_ns = rate->credit_max_ns - rate->credit_ns < passed_ns
				  ? rate->credit_max_ns
				  : rate->credit_ns + passed_ns;
	if (rate->credit_ns < rate->interval_ns)
		return false;
	rate->credit_ns -= rate->interval_ns;
	return true;
}
