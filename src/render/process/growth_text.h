/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * growth_text - short descriptions of growth: whether an amount is growing, and when it
 * will reach a limit.
 */
#ifndef MS_RENDER_PROCESS_GROWTH_TEXT_H
#define MS_RENDER_PROCESS_GROWTH_TEXT_H

#include "base/strbuf.h"
#include "classify/growth/growth.h"

/*
 * Append a description of growth for a table column, such as "+12.0M/h", "slow growth" or
 * "too soon".
 */
void growth_text_add_short(struct strbuf *out, const struct growth *growth);

/*
 * Append a description of growth such as "growing +12.0M/h (+10.0M to +14.0M), limit in
 * 2h05m (1h40m to 2h31m)", "no growth" or "plateau". If limit_bytes is unknown, omit
 * the time.
 */
void growth_text_add(struct strbuf *out, const struct growth *growth,
		     uint64_t limit_bytes);

/*
 * Append the time until an amount reaches its limit, such as "2h05m". Append "-" if the
 * amount does not grow or will never reach the limit.
 */
void growth_text_add_time(struct strbuf *out, const struct growth *growth,
			  uint64_t limit_bytes);

#endif
