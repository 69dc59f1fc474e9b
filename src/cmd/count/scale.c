/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/count/scale.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/stream.h"
#include "cmd/core/terminal.h"
#include "cmd/count/options.h"
#include "cmd/count/runs.h"
#include "cmd/run/count_child.h"
#include "cmd/session/session.h"
#include "model/known_names.h"
#include "render/profile/count_report.h"
#include "render/profile/scale_report.h"

#define SIZES_MAX 100
/*
 * Print a hint that an exponent may be above the limit if its confidence interval extends
 * above the limit by more than this amount.
 */
#define HINT_ABOVE 0.02
/* maximum size; a double represents every size up to the maximum exactly */
#define SIZE_MAX_ UINT64_C(1000000000000000)

static const char placeholder[] = "{N}";

char count_scale_shell[] = "sh";

struct scale {
	const struct options *options;
	const struct variant *allocator;
	struct scale_size sizes[SIZES_MAX];
	size_t count;
	struct scale_report report;
};

/*
 * Parse a list of sizes such as "10,20,40", which must be in strictly ascending order.
 * Return 0 or -EINVAL.
 */
static int parse_sizes(const char *list, struct scale *ret)
{
	_cleanup_free_ char *copy = xstrdup(list);
	char *rest = copy, *part;
	uint64_t size, before = 0;

	ret->count = 0;
	while ((part = strsep(&rest, ","))) {
		if (ret->count == SIZES_MAX || num_parse_u64(part, &size) < 0 ||
		    size <= before || size > SIZE_MAX_)
			return -EINVAL;
		ret->sizes[ret->count++].size = before = size;
	}
	return 0;
}

static int refuse(const char *why)
{
	message_usage("count", "%s", why);
	return EXIT_BAD_USAGE;
}

int count_scale_check_usage(const struct options *o)
{
	const struct count_options *c = count_options(o);
	struct scale scale;

	if (!c->scale)
		return EXIT_DONE;
	if (!strstr(c->scale, placeholder))
		return refuse(
			"--scale: the command has no {N}, where the size is inserted");
	if (!c->sizes)
		return refuse("--scale: no sizes given; use --sizes, such as --sizes "
			      "1000,2000,4000,8000");
	if (parse_sizes(c->sizes, &scale) < 0) {
		message_usage(
			"count",
			"--sizes: '%s' is not a list of at most %d increasing numbers",
			c->sizes, SIZES_MAX);
		return EXIT_BAD_USAGE;
	}
	if (c->check || c->iterations > 1)
		return refuse("--check and --iterations cannot be combined with --scale");
	if (o->has_interval)
		return refuse("-i cannot be combined with counting several runs");
	return EXIT_DONE;
}

/* Return the command with each placeholder replaced by the size. */
static char *make_command(const char *command, uint64_t size)
{
	struct strbuf made = STRBUF_INIT;
	const char *found;

	while ((found = strstr(command, placeholder))) {
		strbuf_add(&made, command, (size_t)(found - command));
		strbuf_add_u64(&made, size);
		command = found + strlen(placeholder);
	}
	strbuf_add_text(&made, command);
	return strbuf_take(&made);
}

static int run_size(const struct scale *scale, struct scale_size *size)
{
	const struct options *o = scale->options;
	_cleanup_free_ char *command = make_command(count_options(o)->scale, size->size);
	char *argv[] = { count_scale_shell, (char[]){ "-c" }, command, NULL };
	const struct run_plan plan = {
		.command = argv,
		.allocator = scale->allocator,
		.calls_only = count_options(o)->calls_only,
		.with_children = o->targets.with_children,
		.run_count = o->has_run_count ? o->run_count : 1,
		.warm_up_count = o->warm_up_count,
	};
	int command_status, status = count_runs_make(&plan, &size->runs, &command_status);

	if (status != EXIT_DONE)
		return status;
	if (command_status != 0) {
		message("%s: exited with status %d: its growth cannot be determined",
			command, command_status);
		return EXIT_NOT_COUNTED;
	}
	if (size->runs.items[0].program_count == 1 &&
	    wrapper_name_is(size->runs.items[0].program.name)) {
		message("%s: only %s was counted, not the programs that it started",
			command, size->runs.items[0].program.name);
		return EXIT_NOT_COUNTED;
	}
	for (size_t i = 0; i < size->runs.count; i++)
		size->runs.items[i].size = size->size;
	count_stats_init(&size->stats, &size->runs);
	return EXIT_DONE;
}

static void fit_all(struct scale *scale)
{
	struct scale_point points[SIZES_MAX];

	for (size_t f = 0; f < SCALED_FIGURE_COUNT; f++) {
		size_t count = 0;

		for (size_t i = 0; i < scale->count; i++) {
			const struct scale_size *size = &scale->sizes[i];
			uint64_t median = size->stats.figures[scaled_figures[f]].median;

			if (bytes_known(median))
				points[count++] =
					(struct scale_point){ (double)size->size,
							      (double)median / 1000 };
		}
		scale_fit(points, count, &scale->report.fits[f]);
	}
}

static int show(const struct scale *scale, const struct column_list *columns)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	switch (scale->options->format) {
	case FORMAT_CSV:
		if (!scale->options->no_headings)
			csv_add_header(&out, columns);
		scale_report_add_csv(&out, &scale->report, columns);
		break;
	case FORMAT_JSON: scale_report_add_json(&out, &scale->report, columns); break;
	default: scale_report_add_text(&out, &scale->report);
	}
	return stream_write(&out) < 0 ? EXIT_NOT_COUNTED : EXIT_DONE;
}

/*
 * Compare the exponents of growth with the limit. An exponent that is certainly above the
 * limit has precedence over an unknown exponent. The exponent of resident memory may be
 * unknown, because startup often hides the growth.
 */
static int check_exponents(const struct scale *scale)
{
	double max =
		(double)count_options(scale->options)->max_exponent_thousandths / 1000;
	int status = EXIT_DONE;

	if (!count_options(scale->options)->has_max_exponent)
		return EXIT_DONE;
	for (size_t f = 0; f < SCALED_FIGURE_COUNT; f++) {
		const struct scale_fit *fit = &scale->report.fits[f];
		const char *key = counted_figure_key(scaled_figures[f]);
		const char *unknown = scale_outcome_text(fit->outcome);

		if (unknown && scaled_figures[f] != COUNTED_PEAK_RSS) {
			message("%s: the exponent cannot be determined: %s", key,
				unknown);
			if (status == EXIT_DONE)
				status = EXIT_NOT_COUNTED;
		} else if (!unknown && fit->low > max) {
			message("%s: exponent %.2f (%.2f to %.2f) is above the limit of %.2f",
				key, fit->exponent, fit->low, fit->high, max);
			status = EXIT_ABOVE_LIMIT;
		} else if (!unknown && fit->high > max + HINT_ABOVE) {
			message("hint: %s: exponent %.2f (%.2f to %.2f) may be above the limit of %.2f",
				key, fit->exponent, fit->low, fit->high, max);
		}
	}
	return status;
}

int count_scale_run(const struct options *o, const struct variant *allocator)
{
	struct scale scale = { .options = o, .allocator = allocator };
	struct column_list columns = COLUMN_LIST_INIT;
	int status = session_columns(o, &count_columns, scale_csv_default, &columns);

	if (status == EXIT_DONE)
		/* parsing cannot fail, because the sizes have already been checked */
		(void)parse_sizes(count_options(o)->sizes, &scale);
	for (size_t i = 0; status == EXIT_DONE && i < scale.count; i++) {
		scale.sizes[i].runs.iterations = 1;
		status = run_size(&scale, &scale.sizes[i]);
	}
	if (status == EXIT_DONE) {
		terminal_fit(&scale.report.options);
		scale.report.command = count_options(o)->scale;
		scale.report.sizes = scale.sizes;
		scale.report.count = scale.count;
		fit_all(&scale);
		status = show(&scale, &columns);
	}
	if (status == EXIT_DONE)
		status = check_exponents(&scale);
	for (size_t i = 0; i < scale.count; i++)
		count_runs_release(&scale.sizes[i].runs);
	column_list_release(&columns);
	return status;
}
