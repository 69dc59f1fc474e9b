/* SPDX-License-Identifier: GPL-2.0-or-later */
/* web_rate - limit the rate of requests with a token bucket. */
#ifndef MS_CMD_EXPORTER_WEB_RATE_H
#define MS_CMD_EXPORTER_WEB_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct web_rate {
	uint64_t interval_ns; /* average time between two requests in ns; 0: no limit */
	/*
	 * The credit of the token bucket, expressed as time: each request
	 * costs interval_ns.
	 */
	uint64_t credit_ns, credit_max_ns;
	uint64_t updated_ns;
};

/* Set the limit, and allow a burst of `burst` requests. */
void web_rate_set(struct web_rate *rate, uint64_t interval_ns, uint64_t burst,
		  uint64_t now_ns);

/* Return true if a request may be answered now. */
bool web_rate_allow(struct web_rate *rate, uint64_t now_ns);

#endif
