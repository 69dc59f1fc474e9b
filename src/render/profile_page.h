/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_page - what the parts of a profile's report share; for profile_*.c alone.
 */
#ifndef MS_RENDER_PROFILE_PAGE_H
#define MS_RENDER_PROFILE_PAGE_H

#include "render/profile_report.h"

enum {
	SHARE_WIDTH = 6,
	AMOUNT_WIDTH = 14,
	NAME_WIDTH_MIN = 16, /* of a function, whatever is before it in the line */
};

/* All that a report is made from. */
struct profile_parts {
	const struct profile *profile;
	struct function_names names;
	struct function_list functions;
	uint64_t sums[PROFILE_METRIC_COUNT_];
	size_t shown_count; /* of functions: the first ones */
	size_t left_count;  /* that have something of the metric, and are not shown */
};

void profile_parts_init(struct profile_parts *parts, const struct profile_report *report);
void profile_parts_release(struct profile_parts *parts);

/* One of the functions that are shown. */
struct profile_row profile_parts_row(const struct profile_parts *parts, size_t i);

/* The least that is shown of a sum: this part of it, and 1 or more. */
uint64_t profile_share(uint64_t sum, unsigned int min);

/* Whether it is known that nothing was left out. */
bool profile_is_exact(const struct profile *profile);

/* An amount of the metric, at least `width` columns wide: exact, or bytes as 1.5M. */
void profile_add_amount(struct strbuf *out, const struct profile_report *report,
			enum profile_metric metric, uint64_t amount, int width);

/* "71.9%", SHARE_WIDTH columns wide. */
void profile_add_share(struct strbuf *out, uint64_t part, uint64_t whole);

/* A function's name, made printable; of a long one the middle is left out. width 0: no limit. */
void profile_add_name(struct strbuf *out, const char *name, size_t width, bool ascii);

/*
 * A function's name and, if it is known and there is room, "  FILE:LINE" of its source, with
 * a '+' behind it if other stacks are at other lines.
 */
void profile_add_code(struct strbuf *out, const char *name, const struct source_line *source,
		      size_t width, bool ascii);

/* A tree, without its node 0, as lines. */
void profile_add_tree(struct strbuf *out, const struct profile_report *report,
		      const struct function_names *names, bool is_inverted);

#endif
