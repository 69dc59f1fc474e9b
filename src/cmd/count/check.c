/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/count/check.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/count/options.h"
#include "cmd/run/count_child.h"

/* Return the line of the limits file that contains check->limits[i]. */
static const struct limits_line *line_of(const struct count_check *check, size_t i)
{
	return &check->file.lines[check->lines[i]];
}

static int load(struct count_check *check)
{
	const char *path = count_options(check->options)->check;
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	int r = limits_file_load(path, &check->file, &why);

	if (r == -ENOENT && count_options(check->options)->update)
		return EXIT_DONE;
	if (r == -EBADMSG)
		message("%s:%s", path, strbuf_text(&why));
	else if (r == -ENOENT)
		message("%s: no such file; use --update to create it", path);
	else if (r < 0)
		message_error(path, r);
	return r < 0 ? EXIT_NOT_COUNTED : EXIT_DONE;
}

static bool has_limits(const struct limits_file *file, const char *test)
{
	size_t begin, end;

	if (limits_file_find(file, test, &begin, &end) < 0)
		return false;
	while (begin < end && !file->lines[begin].is_limit)
		begin++;
	return begin < end;
}

/*
 * Choose the test whose limits apply: the test given with --test, or else the test named
 * after the program, or else the limits before the first test.
 */
static int choose_test(struct count_check *check, const char *program)
{
	const struct count_options *o = count_options(check->options);
	bool is_named = o->test != NULL;

	check->test = is_named ? o->test : program;
	if (!is_named && !has_limits(&check->file, program) &&
	    has_limits(&check->file, NULL))
		check->test = NULL;
	if (check->test && !limits_file_may_be_test(check->test)) {
		message("'%s' cannot be used as a test name; choose another with --test",
			check->test);
		return EXIT_NOT_COUNTED;
	}
	if (o->update || has_limits(&check->file, check->test))
		return EXIT_DONE;
	message("%s: no limits for test [%s]; use --update to add them, or --test to "
		"select another test",
		o->check, check->test ? check->test : program);
	return EXIT_NOT_COUNTED;
}

/*
 * Set the limits to the measured values. An existing limit keeps its line, operator and
 * tolerance. For a figure without a limit, add one.
 */
static void update(struct count_check *check, const struct count_stats *stats)
{
	bool has[COUNTED_COUNT_] = { false };
	size_t begin, end;

	if (limits_file_find(&check->file, check->test, &begin, &end) < 0)
		begin = end = 0;
	for (; begin < end; begin++) {
		struct limits_line *line = &check->file.lines[begin];

		if (!line->is_limit)
			continue;
		has[line->limit.figure] = true;
		if (count_limit_update(&line->limit, stats) == 0)
			limits_line_set(line);
	}
	for (unsigned int f = 0; f < COUNTED_COUNT_; f++) {
		struct count_limit limit = { .figure = f, .kind = LIMIT_AT_MOST };

		if (counted_figures[f].is_limited && !has[f] &&
		    count_limit_update(&limit, stats) == 0)
			limits_file_add(&check->file, check->test, &limit);
	}
}

static void compare(struct count_check *check, const struct count_stats *stats)
{
	size_t begin, end;

	if (limits_file_find(&check->file, check->test, &begin, &end) < 0)
		return;
	check->limits = xcalloc(end - begin + 1, sizeof(*check->limits));
	check->lines = xcalloc(end - begin + 1, sizeof(*check->lines));
	for (; begin < end; begin++) {
		const struct limits_line *line = &check->file.lines[begin];

		if (!line->is_limit)
			continue;
		check->lines[check->limit_count] = begin;
		check->limits[check->limit_count++] = (struct checked_limit){
			.limit = line->limit,
			.outcome = count_limit_check(&line->limit, stats),
		};
	}
}

int count_check_begin(struct count_check *check, const struct options *options,
		      const char *program, const struct count_stats *stats)
{
	int status;

	check->options = options;
	status = load(check);
	if (status == EXIT_DONE)
		status = choose_test(check, program);
	if (status != EXIT_DONE)
		return status;
	if (count_options(options)->update)
		update(check, stats);
	compare(check, stats);
	return EXIT_DONE;
}

/* Append the tolerance of a limit to a message, such as ", tolerance 2.5%". */
static void add_tolerance(struct strbuf *out, const struct count_limit *limit)
{
	char buf[UNITS_TEXT_SIZE];

	if (limit->tolerance_thousandths > 0)
		strbuf_addf(out, ", tolerance %s%s",
			    units_format_thousandths(limit->tolerance_thousandths, buf),
			    limit->is_percent ? "%" : "");
}

static void report_broken(const struct count_check *check, size_t i,
			  const struct count_stats *stats)
{
	const struct count_limit *limit = &check->limits[i].limit;
	bool is_above = check->limits[i].outcome == LIMIT_ABOVE;
	uint64_t measured = stats->figures[limit->figure].median,
		 value = limit->value_thousandths;
	uint64_t off = is_above ? measured - value : value - measured;
	_cleanup_strbuf_ struct strbuf tolerance = STRBUF_INIT;
	char measured_text[UNITS_TEXT_SIZE], limit_text[UNITS_TEXT_SIZE],
		off_text[UNITS_TEXT_SIZE];

	add_tolerance(&tolerance, limit);
	message("%s:%zu: %s: %s is %s the %s of %s by %s (%.1f%%%s)%s",
		count_options(check->options)->check, check->lines[i] + 1,
		counted_figure_key(limit->figure),
		units_format_thousandths(measured, measured_text),
		is_above ? "above" : "below",
		limit->kind == LIMIT_EQUAL ? "baseline" : "limit",
		units_format_thousandths(value, limit_text),
		units_format_thousandths(off, off_text),
		value > 0 ? (double)off * 100 / (double)value : 100,
		strbuf_text(&tolerance),
		is_above ? "" : "; use --update to store it as the new baseline");
}

static void report_loose(const struct count_check *check, size_t i,
			 const struct count_stats *stats)
{
	const struct count_limit *limit = &check->limits[i].limit;
	char max[UNITS_TEXT_SIZE], limit_text[UNITS_TEXT_SIZE];

	message("hint: %s:%zu: %s: %s is well below the limit of %s; use --update to "
		"lower it",
		count_options(check->options)->check, check->lines[i] + 1,
		counted_figure_key(limit->figure),
		units_format_thousandths(stats->figures[limit->figure].max, max),
		units_format_thousandths(limit->value_thousandths, limit_text));
}

/*
 * Report the outcomes of all limits, and return the exit status. An exceeded limit has
 * precedence over a limit that could not be checked.
 */
static int report_outcomes(const struct count_check *check,
			   const struct count_stats *stats)
{
	int status = EXIT_DONE;

	for (size_t i = 0; i < check->limit_count; i++)
		switch (check->limits[i].outcome) {
		case LIMIT_ABOVE:
		case LIMIT_BELOW:
			report_broken(check, i, stats);
			status = EXIT_ABOVE_LIMIT;
			break;
		case LIMIT_LOOSE: report_loose(check, i, stats); break;
		case LIMIT_UNKNOWN:
			message("%s:%zu: %s could not be determined in these runs",
				count_options(check->options)->check, check->lines[i] + 1,
				counted_figure_key(line_of(check, i)->limit.figure));
			if (status == EXIT_DONE)
				status = EXIT_NOT_COUNTED;
			break;
		case LIMIT_KEPT: break;
		}
	return status;
}

int count_check_end(const struct count_check *check, const struct count_stats *stats)
{
	const char *path = count_options(check->options)->check;
	int r;

	if (count_options(check->options)->update) {
		r = limits_file_save(&check->file, path);
		if (r < 0) {
			message_error(path, r);
			return EXIT_NOT_COUNTED;
		}
	}
	return report_outcomes(check, stats);
}

void count_check_release(struct count_check *check)
{
	limits_file_release(&check->file);
	free(check->limits);
	free(check->lines);
	*check = (struct count_check)COUNT_CHECK_INIT;
}
