/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page - functions shared by the source files of a profile's report. Internal to
 * render/profile.
 */
#ifndef MS_RENDER_PROFILE_PAGE_H
#define MS_RENDER_PROFILE_PAGE_H

#include "render/profile/report.h"

enum {
	SHARE_WIDTH = 6,
	AMOUNT_WIDTH = 14,
	/* columns reserved for a function's name, however deep the line is indented */
	NAME_WIDTH_MIN = 16,
};

/* The data from which all parts of a report are made. */
struct profile_parts {
	const struct profile *profile;
	struct function_names names;
	struct function_list functions;
	uint64_t sums[PROFILE_METRIC_COUNT_];
	/* number of functions shown: the first ones in the list */
	size_t shown_count;
	/* number of functions with a nonzero amount of the metric that are not shown */
	size_t left_count;
};

/* Compute the data for all parts of a report. Release it with profile_parts_release(). */
void profile_parts_init(struct profile_parts *parts, const struct profile_report *report);
void profile_parts_release(struct profile_parts *parts);

/* Return the row of function i, which must be less than shown_count. */
struct profile_row profile_parts_row(const struct profile_parts *parts, size_t i);

/* Return the smallest amount shown: min/PROFILE_MIN_UNIT of the sum, but at least 1. */
uint64_t profile_share(uint64_t sum, unsigned int min);

/* Return true if the profile is known to include every allocation. */
bool profile_is_exact(const struct profile *profile);

/*
 * Append an amount of the metric, at least `width` columns wide, as an
 * exact number or in a form such as 1.5M.
 */
void profile_add_amount(struct strbuf *out, const struct profile_report *report,
			enum profile_metric metric, uint64_t amount, int width);

/* Append a share such as "71.9%", SHARE_WIDTH columns wide. */
void profile_add_share(struct strbuf *out, uint64_t part, uint64_t whole);

/*
 * Append a function's name, made printable. If the name is wider than `width`
 * columns, cut out its middle; 0: no limit.
 */
void profile_add_name(struct strbuf *out, const char *name, size_t width, bool ascii);

/*
 * Append a function's name. If its source line is known and fits into `width`, append
 * FILE:LINE after two spaces. A '+' after the line means that the function also occurs
 * with other lines.
 */
void profile_add_code(struct strbuf *out, const char *name,
		      const struct source_line *source, size_t width, bool ascii);

/* Append the call tree as lines of text, without its root. */
void profile_add_tree(struct strbuf *out, const struct profile_report *report,
		      const struct function_names *names, bool is_inverted);

#endif
