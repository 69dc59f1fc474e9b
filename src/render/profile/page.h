/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page - functions shared by the source files of the profile report. Internal
 * to render/profile.
 */
#ifndef MS_RENDER_PROFILE_PAGE_H
#define MS_RENDER_PROFILE_PAGE_H

#include "render/profile/report.h"

enum {
	SHARE_WIDTH = 6,
	AMOUNT_WIDTH = 14,
	/* minimum width of a function's name, even in a deeply indented line */
	NAME_WIDTH_MIN = 16,
};

/* Data that all parts of a profile report use. */
struct profile_parts {
	const struct profile *profile;
	struct function_names names;
	struct function_list functions;
	uint64_t sums[PROFILE_METRIC_COUNT_];
	/* number of functions shown, from the start of the list */
	size_t shown_count;
	/* number of omitted functions whose value of the metric is above 0 */
	size_t left_count;
};

/*
 * Compute the data for a profile report. The caller releases it
 * with profile_parts_release().
 */
void profile_parts_init(struct profile_parts *parts, const struct profile_report *report);
void profile_parts_release(struct profile_parts *parts);

/* Return the row for function number i of the list, where i < shown_count. */
struct profile_row profile_parts_row(const struct profile_parts *parts, size_t i);

/*
 * Return the smallest amount that is shown, at least 1. `min` is the minimum share of the
 * sum, in units of 1/PROFILE_MIN_UNIT.
 */
uint64_t profile_share(uint64_t sum, unsigned int min);

/* Return true if the profile is certain to include every allocation. */
bool profile_is_exact(const struct profile *profile);

/*
 * Append an amount of the metric, padded to `width` columns, either as an exact number or
 * in a form such as 1.5M.
 */
void profile_add_amount(struct strbuf *out, const struct profile_report *report,
			enum profile_metric metric, uint64_t amount, int width);

/* Append a share such as "71.9%", padded to SHARE_WIDTH columns. */
void profile_add_share(struct strbuf *out, uint64_t part, uint64_t whole);

/*
 * Append the name of a function, made printable. If the name is wider than `width`
 * columns, omit its middle. If `width` is 0, there is no limit.
 */
void profile_add_name(struct strbuf *out, const char *name, size_t width, bool ascii);

/*
 * Append the name of a function. If its source line is known and fits into `width`, also
 * append two spaces and FILE:LINE. A '+' after the line number means that the function
 * also occurs with other lines.
 */
void profile_add_code(struct strbuf *out, const char *name,
		      const struct source_line *source, size_t width, bool ascii);

/* Append the call tree as lines of text, without its root. */
void profile_add_tree(struct strbuf *out, const struct profile_report *report,
		      const struct function_names *names, bool is_inverted);

#endif
