/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdio.h>

#include "base/clock.h"
#include "render/profile/page.h"

/*
 * Keys of the metrics. profile_columns uses the same names with the prefixes self_
 * and total_.
 */
static const char *const metric_keys[PROFILE_METRIC_COUNT_] = {
	[PROFILE_ALLOCATIONS] = "allocations",
	[PROFILE_BYTES] = "requested_bytes",
	[PROFILE_TEMPORARY] = "temporary_blocks",
	[PROFILE_LIVE_BLOCKS] = "live_blocks",
	[PROFILE_LIVE] = "live_bytes",
	[PROFILE_PEAK] = "peak_bytes",
};

/*
 * Append a JSON member such as "self_allocations" for each metric. Unknown amounts
 * are null.
 */
static void add_amounts(struct json *j, const struct profile *profile, const char *prefix,
			const uint64_t *amounts)
{
	char key[32];

	for (int m = 0; m < PROFILE_METRIC_COUNT_; m++) {
		snprintf(key, sizeof(key), "%s%s", prefix, metric_keys[m]);
		if (profile->known & 1U << m)
			json_add_number(j, key, amounts[m]);
		else
			json_add_null(j, key);
	}
}

static void add_head(struct json *j, const struct profile_report *report)
{
	const struct profile *p = report->profile;
	bool is_sampled = p->sample_bytes > 0;
	char utc[CLOCK_TEXT_SIZE];

	json_add_string(j, "command", p->command);
	json_add_amount(j, "pid", p->pid > 0 ? (uint64_t)p->pid : BYTES_UNKNOWN);
	json_add_string(j, "time",
			p->unix_ms > 0 ? clock_format_utc(p->unix_ms, utc) : NULL);
	if (p->elapsed_ns > 0)
		json_add_seconds_ms(j, "elapsed_s", p->elapsed_ns);
	else
		json_add_null(j, "elapsed_s");
	json_add_string(j, "metric", profile_metrics[report->metric].name);
	json_add_string(j, "quality",
			is_sampled	      ? "estimate"
			: profile_is_exact(p) ? "exact"
					      : NULL);
	json_add_amount(j, "sample_bytes", is_sampled ? p->sample_bytes : BYTES_UNKNOWN);
	json_add_amount(j, "samples", is_sampled ? p->sample_count : BYTES_UNKNOWN);
	json_add_number(j, "frame_pointer_allocations", p->by_pointer_count);
	json_add_number(j, "cut_allocations", p->cut_count);
	json_add_number(j, "lost_allocations", p->lost_count);
}

static void add_sums(struct json *j, const struct profile_report *report,
		     const struct profile_parts *parts)
{
	json_begin_object(j, "totals");
	add_amounts(j, report->profile, "", parts->sums);
	json_end_object(j);
	json_begin_object(j, "totals_before_rules");
	add_amounts(j, report->profile, "", report->whole ? report->whole : parts->sums);
	json_end_object(j);
}

/* Return the name of the function with the given number, or NULL for FUNCTION_NONE. */
static const char *name_of(const struct profile_parts *parts, uint32_t name)
{
	return name == FUNCTION_NONE ? NULL : parts->names.names[name];
}

static void add_function(struct json *j, const struct profile_parts *parts, size_t number,
			 const struct column_list *columns)
{
	const struct profile_row row = profile_parts_row(parts, number);
	const struct function_caller *callers =
		parts->functions.callers + row.sums->first_caller;

	json_begin_object(j, NULL);
	json_add_members(j, columns, &row);
	json_begin_array(j, "callers");
	for (size_t i = 0; i < row.sums->caller_count; i++) {
		json_begin_object(j, NULL);
		json_add_string(j, "function", name_of(parts, callers[i].caller));
		add_amounts(j, parts->profile, "total_", callers[i].total);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

/*
 * Append the nodes of the tree as a flat array. Nodes refer to each other by index,
 * because nested objects would be too deep for many JSON parsers.
 */
static void add_tree(struct json *j, const struct profile_report *report,
		     const struct profile_parts *parts)
{
	const struct call_tree_options options = {
		.metric = report->metric,
		.min = report->min > 0
			       ? profile_share(parts->sums[report->metric], report->min)
			       : 0,
		.top = report->top,
	};
	struct call_tree tree;

	call_tree_init(&tree, report->profile, &parts->names, &options);
	json_begin_array(j, "tree");
	for (size_t i = 0; i < tree.count; i++) {
		const struct call_node *node = &tree.nodes[i];

		json_begin_object(j, NULL);
		json_add_number(j, "id", i);
		json_add_amount(j, "parent", i > 0 ? node->parent : BYTES_UNKNOWN);
		json_add_string(j, "function", name_of(parts, node->name));
		json_add_number(j, "cut_functions", node->cut_count);
		add_amounts(j, report->profile, "self_", node->self);
		add_amounts(j, report->profile, "total_", node->total);
		json_end_object(j);
	}
	json_end_array(j);
	call_tree_release(&tree);
}

void profile_report_add_json(struct strbuf *out, const struct profile_report *report,
			     const struct column_list *columns)
{
	struct json j = json_begin_report(out, "profile");
	struct profile_parts parts;

	profile_parts_init(&parts, report);
	add_head(&j, report);
	add_sums(&j, report, &parts);
	json_begin_array(&j, "functions");
	for (size_t i = 0; i < parts.shown_count; i++)
		add_function(&j, &parts, i, columns);
	json_end_array(&j);
	add_tree(&j, report, &parts);
	json_end_report(&j);
	profile_parts_release(&parts);
}
