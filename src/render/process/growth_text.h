/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * growth_text - short forms of a growth analysis: whether an amount grows,
 * and when it will reach a limit.
 */
#ifndef MS_RENDER_PROCESS_GROWTH_TEXT_H
#define MS_RENDER_PROCESS_GROWTH_TEXT_H

#include "base/strbuf.h"
#include "classify/growth/growth.h"

/* Append the form for a table column: "+12.0M/h", "plateau" or "too few". */
void growth_text_add_short(struct strbuf *out, const struct growth *growth);

/*
 * Append "growing +12.0M/h (+10.0M to +14.0M), limit in 2h05m (1h40m to 2h31m)", "no
 * growth", "plateau", … The time is left out if limit_bytes is unknown.
 */
void growth_text_add(struct strbuf *out, const struct growth *growth,
		     uint64_t limit_bytes);

/*
 * Append the time until the limit, such as "2h05m", or "-" if the amount does not
 * grow or never reaches the limit.
 */
void growth_text_add_time(struct strbuf *out, const struct growth *growth,
			  uint64_t limit_bytes);

#endif
