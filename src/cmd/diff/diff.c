/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>

#include "base/num.h"
#include "base/units.h"
#include "classify/profile/diff.h"
#include "classify/profile/fold_name.h"
#include "classify/profile/transform.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/stream.h"
#include "cmd/core/terminal.h"
#include "cmd/count/flame_file.h"
#include "cmd/count/rules.h"
#include "cmd/diff/moments.h"
#include "render/process/diff_report.h"
#include "store/profile/file.h"

#define DEFAULT_MIN 1000

struct comparison {
	const struct options *options;
	const char *files[2]; /* file names of the two profiles */
	struct profile profiles[2];
	/* if there are rules: the profiles before the rules were applied */
	struct profile originals[2];
	size_t profile_count; /* number of profiles loaded so far */
	struct count_rules rules;
	/* sum of each metric in each of the two profiles before the rules were applied */
	uint64_t whole[2][PROFILE_METRIC_COUNT_];
	struct profile_diff_options how;
	uint64_t limit;
	bool has_limit;
};

/*
 * Parse an amount in the unit of the metric. A number of bytes may have a suffix such
 * as K.
 */
static int parse_amount(const struct comparison *c, const char *option, const char *text,
			uint64_t *ret)
{
	bool is_bytes = profile_metrics[c->how.metric].is_bytes;

	if (num_parse_u64(text, ret) == 0 ||
	    (is_bytes && units_parse_bytes(text, ret) == 0))
		return EXIT_DONE;
	message_usage("diff", "--%s: '%s' is not a number%s", option, text,
		      is_bytes ? " of bytes, such as 512, 64K, 1.5M or 2G"
			       : " (of bytes only with --metric bytes, live or peak)");
	return EXIT_BAD_USAGE;
}

/*
 * Load a profile, fold the names of its functions, and apply the rules to the
 * folded names.
 */
static int load(struct comparison *c, size_t i)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	struct profile loaded, folded;
	struct transform_error error;

	if (profile_load(c->files[i], c->options->stacks.metric, &loaded, &why) < 0) {
		message("%s: %s", c->files[i], strbuf_text(&why));
		return EXIT_FAILED;
	}
	profile_sum(&loaded, c->whole[i]);
	fold_profile(&loaded, diff_options(c->options)->keeps_generics, &folded);
	profile_release(&loaded);
	if (c->rules.rules.count == 0) {
		c->profiles[c->profile_count++] = folded;
		return EXIT_DONE;
	}
	if (profile_transform(&folded, &c->rules.rules, &c->profiles[i], &error) < 0) {
		profile_release(&folded);
		message("%s: %s", c->files[i], error.why);
		return EXIT_FAILED;
	}
	c->originals[i] = folded;
	c->profile_count++;
	return EXIT_DONE;
}

static int load_both(struct comparison *c)
{
	int status = load(c, 0);

	return status == EXIT_DONE ? load(c, 1) : status;
}

static void add_metrics(struct strbuf *out, unsigned int known)
{
	for (int m = 0; m < PROFILE_METRIC_COUNT_; m++)
		if (known & 1U << m)
			strbuf_addf(out, " %s", profile_metrics[m].name);
}

/* Choose the requested metric, or the first metric that both profiles have. */
static int choose_metric(struct comparison *c)
{
	const struct options *o = c->options;
	unsigned int both = c->profiles[0].known & c->profiles[1].known;

	for (size_t i = 0; i < 2 && o->stacks.has_metric; i++)
		if (!(c->profiles[i].known & 1U << o->stacks.metric)) {
			_cleanup_strbuf_ struct strbuf known = STRBUF_INIT;

			add_metrics(&known, c->profiles[i].known);
			message("%s: has no metric '%s'; available metrics:%s",
				c->files[i], profile_metrics[o->stacks.metric].name,
				strbuf_text(&known));
			return EXIT_FAILED;
		}
	if (both == 0) {
		message("%s and %s have no metric in common", c->files[0], c->files[1]);
		return EXIT_FAILED;
	}
	c->how.metric = o->stacks.metric;
	/*
	 * in a sampled profile, few samples represent many small blocks, so the number of
	 * allocations is less accurate than the number of bytes
	 */
	if (!o->stacks.has_metric &&
	    (c->profiles[0].sample_bytes > 0 || c->profiles[1].sample_bytes > 0) &&
	    both & 1U << PROFILE_BYTES)
		c->how.metric = PROFILE_BYTES;
	while (!(both & 1U << c->how.metric))
		c->how.metric++;
	return EXIT_DONE;
}

static int parse(struct comparison *c)
{
	const struct diff_options *d = diff_options(c->options);
	int status = EXIT_DONE;

	c->how.minimum = DEFAULT_MIN;
	c->how.depth = (size_t)d->depth;
	if (d->minimum)
		status = parse_amount(c, "min", d->minimum, &c->how.minimum);
	if (status == EXIT_DONE && d->fail_above)
		status = parse_amount(c, "fail-above", d->fail_above, &c->limit);
	c->has_limit = d->fail_above;
	return status;
}

static struct diff_side side_of(const struct comparison *c, size_t i, uint64_t compared)
{
	return (struct diff_side){
		.file = c->files[i],
		.profile = &c->profiles[i],
		.removed = c->whole[i][c->how.metric] - compared,
	};
}

static void show(struct comparison *c, const struct profile_diff *diff,
		 struct strbuf *out)
{
	const struct options *o = c->options;
	struct diff_report report = {
		.diff = diff,
		.options = &c->how,
		.before = side_of(c, 0, diff->total.before),
		.after = side_of(c, 1, diff->total.after),
		.top = o->top ? (size_t)o->top : OPTIONS_TEXT_TOP,
		.table.exact_bytes = o->exact_bytes,
		.table.no_headings = o->no_headings,
	};

	if (o->format == FORMAT_CSV) {
		diff_report_add_csv(out, &report);
	} else if (o->format == FORMAT_JSON) {
		diff_report_add_json(out, &report);
	} else {
		terminal_fit(&report.table);
		diff_report_add_text(out, &report);
	}
}

static bool is_above(const struct comparison *c, uint64_t before, uint64_t after,
		     const char *what)
{
	char grown[UNITS_TEXT_SIZE], limit[UNITS_TEXT_SIZE];

	if (after <= before || after - before <= c->limit)
		return false;
	if (profile_metrics[c->how.metric].is_bytes)
		message("--fail-above: %s by %s, more than %s", what,
			units_format_bytes(after - before, grown),
			units_format_bytes(c->limit, limit));
	else
		message("--fail-above: %s by %" PRIu64 ", more than %" PRIu64, what,
			after - before, c->limit);
	return true;
}

static int judge(const struct comparison *c, const struct profile_diff *diff)
{
	bool is_partial = false, all, one;

	for (size_t i = 0; i < 2; i++) {
		uint64_t lost = c->profiles[i].lost_count;

		is_partial = is_partial || lost > 0;
		if (lost > 0)
			message("%s: %" PRIu64 " allocations have no stack: the "
				"space for stacks was full",
				c->files[i], lost);
	}
	if (c->has_limit) {
		all = is_above(c, diff->total.before, diff->total.after,
			       "all stacks together have grown");
		one = is_above(c, diff->most_grown.before, diff->most_grown.after,
			       "a stack has grown");
		if (all || one)
			return EXIT_ABOVE_LIMIT;
	}
	return is_partial ? EXIT_PARTIAL : EXIT_DONE;
}

/* Write the flame graph with all stacks in full, regardless of --depth and --min. */
static int draw(const struct comparison *c)
{
	_cleanup_strbuf_ struct strbuf title = STRBUF_INIT;
	struct flame_page page = {
		.metric = c->how.metric,
		.rules = &c->rules.given,
		.sets = &c->rules.sets,
	};

	if (!c->options->stacks.flame_graph)
		return 0;
	strbuf_addf(&title, "%s, then %s", c->files[0], c->files[1]);
	page.title = title.text;
	return flame_file_write_diff(c->options->stacks.flame_graph,
				     c->rules.rules.count > 0 ? c->originals
							      : c->profiles,
				     c->profiles, &page);
}

static int compare(struct comparison *c)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct profile_diff diff;
	int status;

	profile_diff_make(&c->profiles[0], &c->profiles[1], &c->how, &diff);
	show(c, &diff, &out);
	status = judge(c, &diff);
	if (draw(c) < 0)
		status = EXIT_FAILED;
	profile_diff_release(&diff);
	return stream_finish(&out, status);
}

static int diff_run(struct options *o)
{
	struct comparison c = { .options = o };
	int status;

	if (o->arg_count != 2) {
		message_usage("diff", "two files required: memstate diff BEFORE AFTER");
		return EXIT_BAD_USAGE;
	}
	if (diff_moments_are_given(o))
		return diff_moments_run(o);
	if (!targets_are_all(&o->targets)) {
		message_usage("diff",
			      "-p requires recordings or captures; these are neither");
		return EXIT_BAD_USAGE;
	}
	if (o->stacks.flame_graph &&
	    flame_file_check("diff", o->stacks.flame_graph) != EXIT_DONE)
		return EXIT_BAD_USAGE;
	c.files[0] = o->args[0];
	c.files[1] = o->args[1];
	status = count_rules_load(o, &c.rules);
	if (status == EXIT_DONE)
		status = load_both(&c);
	if (status == EXIT_DONE)
		status = choose_metric(&c);
	if (status == EXIT_DONE)
		status = parse(&c);
	if (status == EXIT_DONE)
		status = compare(&c);
	for (size_t i = 0; i < c.profile_count; i++) {
		profile_release(&c.profiles[i]);
		profile_release(&c.originals[i]);
	}
	count_rules_release(&c.rules);
	return status;
}

#define MEMBER(member) offsetof(struct diff_options, member)

static const struct option_row own_rows[] = {
	{ 0, "depth", "N", "compare the innermost N functions (default 8)",
	  .group = OPTIONS_STACKS, .set = option_set_number, .value = MEMBER(depth),
	  .want = "a number of functions" },
	{ 0, "min", "N|BYTES", "list stacks above this amount (default 1000)",
	  .group = OPTIONS_STACKS, .set = option_set_word, .value = MEMBER(minimum) },
	{ 0, "keep-generics", NULL, "distinguish instances of one template or generic",
	  .group = OPTIONS_STACKS, .flag = MEMBER(keeps_generics) },
	{ 0, "fail-above", "N|BYTES", "exit with status 4 if the growth is larger",
	  .group = OPTIONS_LIMITS, .set = option_set_word, .value = MEMBER(fail_above) },
	{ 0 },
};

static const struct diff_options defaults = { .depth = 8 };

const struct cmd cmd_diff = {
	.name = "diff",
	.args = "[OPTIONS] BEFORE AFTER",
	.summary = "compare two recordings, moments, captures or saved profiles",
	.shared = "pid tree text csv json no-headings bytes top metric "
		  "transform transforms flame-graph",
	.own = own_rows,
	.options_size = sizeof(defaults),
	.defaults = &defaults,
	.max_args = 2,
	.run = diff_run,
};
