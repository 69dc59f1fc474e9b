/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * growth_text - whether an amount grows, and when it meets a limit, in few words.
 */
#ifndef MS_RENDER_GROWTH_TEXT_H
#define MS_RENDER_GROWTH_TEXT_H

#include "base/strbuf.h"
#include "classify/growth.h"

/* "+12.0M/h", "plateau", "too few": for a column. */
void growth_text_add_short(struct strbuf *out, const struct growth *growth);

/*
 * "growing +12.0M/h (+10.0M to +14.0M), limit in 2h05m (1h40m to 2h31m)", "no growth",
 * "plateau", … limit_bytes may be unknown: then without the time.
 */
void growth_text_add(struct strbuf *out, const struct growth *growth, uint64_t limit_bytes);

/* "2h05m", or "-" where it does not grow, or never meets the limit. */
void growth_text_add_time(struct strbuf *out, const struct growth *growth, uint64_t limit_bytes);

#endif
