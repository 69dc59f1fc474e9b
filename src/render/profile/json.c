/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "render/profile/page.h"

/* The keys of the metrics; profile_columns uses the same names after self_ and total_. */
static const char *const metric_keys[PROFILE_METRIC_COUNT_] = {
	[PROFILE_ALLOCATIONS] = "allocations",
	[PROFILE_BYTES] = "requested_bytes",
	[PROFILE_TEMPORARY] = "temporary_blocks",
	[PROFILE_LIVE_BLOCKS] = "live_blocks",
	[PROFILE_LIVE] = "live_bytes",
	[PROFILE_PEAK] = "peak_bytes",
};

static void add_text(struct strbuf *out, const char *text)
{
	if (text)
		json_add_string(out, text, strlen(text));
	else
		strbuf_add_text(out, "null");
}

/* Append "self_allocations":1,… for all metrics; null for unknown ones. */
static void add_amounts(struct strbuf *out, const struct profile *profile,
			const char *prefix, const uint64_t *amounts)
{
	for (int m = 0; m < PROFILE_METRIC_COUNT_; m++) {
		strbuf_addf(out, "%s\"%s%s\":", m > 0 ? "," : "", prefix, metric_keys[m]);
		if (profile->known & 1U << m)
			strbuf_add_u64(out, amounts[m]);
		else
			strbuf_add_text(out, "null");
	}
}

static void add_head(struct strbuf *out, const struct profile_report *report)
{
	const struct profile *p = report->profile;
	char utc[CLOCK_TEXT_SIZE];

	strbuf_add_text(out, "{\"memstate\":{\"version\":\"" PACKAGE_VERSION
			     "\",\"schema\":1},"
			     "\"command\":");
	add_text(out, p->command);
	if (p->pid > 0)
		strbuf_addf(out, ",\"pid\":%d", p->pid);
	else
		strbuf_add_text(out, ",\"pid\":null");
	strbuf_add_text(out, ",\"time\":");
	add_text(out, p->unix_ms > 0 ? clock_format_utc(p->unix_ms, utc) : NULL);
	if (p->elapsed_ns > 0)
		strbuf_addf(out, ",\"elapsed_s\":%" PRIu64 ".%03" PRIu64,
			    p->elapsed_ns / NS_PER_S, p->elapsed_ns / NS_PER_MS % 1000);
	else
		strbuf_add_text(out, ",\"elapsed_s\":null");
	strbuf_addf(out, ",\"metric\":\"%s\",\"quality\":",
		    profile_metrics[report->metric].name);
	add_text(out, p->sample_bytes > 0   ? "estimate"
		      : profile_is_exact(p) ? "exact"
					    : NULL);
	if (p->sample_bytes > 0)
		strbuf_addf(out, ",\"sample_bytes\":%" PRIu64 ",\"samples\":%" PRIu64,
			    p->sample_bytes, p->sample_count);
	else
		strbuf_add_text(out, ",\"sample_bytes\":null,\"samples\":null");
	strbuf_addf(out,
		    ",\"frame_pointer_allocations\":%" PRIu64
		    ",\"cut_allocations\":%" PRIu64 ",\"lost_allocations\":%" PRIu64,
		    p->by_pointer_count, p->cut_count, p->lost_count);
}

static void add_sums(struct strbuf *out, const struct profile_report *report,
		     const struct profile_parts *parts)
{
	strbuf_add_text(out, ",\"totals\":{");
	add_amounts(out, report->profile, "", parts->sums);
	strbuf_add_text(out, "},\"totals_before_rules\":{");
	add_amounts(out, report->profile, "",
		    report->whole ? report->whole : parts->sums);
	strbuf_add_char(out, '}');
}

static void add_function(struct strbuf *out, const struct profile_parts *parts,
			 size_t number, const struct column_list *columns)
{
	const struct profile_row row = profile_parts_row(parts, number);
	const struct function_caller *callers =
		parts->functions.callers + row.sums->first_caller;

	strbuf_add_text(out, number > 0 ? "," : "");
	json_add_row(out, columns, &row);
	/* reopen the object to add a member: drop its closing brace */
	strbuf_truncate(out, out->length - 1);
	strbuf_add_text(out, ",\"callers\":[");
	for (size_t i = 0; i < row.sums->caller_count; i++) {
		uint32_t caller = callers[i].caller;

		strbuf_add_text(out, i > 0 ? ",{\"function\":" : "{\"function\":");
		add_text(out,
			 caller == FUNCTION_NONE ? NULL : parts->names.names[caller]);
		strbuf_add_char(out, ',');
		add_amounts(out, parts->profile, "total_", callers[i].total);
		strbuf_add_char(out, '}');
	}
	strbuf_add_text(out, "]}");
}

/*
 * Append the nodes as a flat array in which nodes refer to each other by index. Nested
 * objects would be too deep for many JSON parsers.
 */
static void add_tree(struct strbuf *out, const struct profile_report *report,
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
	for (size_t i = 0; i < tree.count; i++) {
		const struct call_node *node = &tree.nodes[i];

		strbuf_addf(out, "%s{\"id\":%zu,\"parent\":", i > 0 ? "," : "", i);
		if (i > 0)
			strbuf_add_u64(out, node->parent);
		else
			strbuf_add_text(out, "null");
		strbuf_add_text(out, ",\"function\":");
		add_text(out, node->name == FUNCTION_NONE
				      ? NULL
				      : parts->names.names[node->name]);
		strbuf_addf(out, ",\"cut_functions\":%u,", node->cut_count);
		add_amounts(out, report->profile, "self_", node->self);
		strbuf_add_char(out, ',');
		add_amounts(out, report->profile, "total_", node->total);
		strbuf_add_char(out, '}');
	}
	call_tree_release(&tree);
}

void profile_report_add_json(struct strbuf *out, const struct profile_report *report,
			     const struct column_list *columns)
{
	struct profile_parts parts;

	profile_parts_init(&parts, report);
	add_head(out, report);
	add_sums(out, report, &parts);
	strbuf_add_text(out, ",\"functions\":[");
	for (size_t i = 0; i < parts.shown_count; i++)
		add_function(out, &parts, i, columns);
	strbuf_add_text(out, "],\"tree\":[");
	add_tree(out, report, &parts);
	strbuf_add_text(out, "]}\n");
	profile_parts_release(&parts);
}
