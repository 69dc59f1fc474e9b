/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/html/timeline_html.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "render/html/html_page.h"
#include "render/table/axis.h"

/* A value that a chart shows over time. timeline.css defines a colour for each name. */
struct layer {
	size_t value;
	const char *name, *help;
};

/*
 * The contents of a kind of chart: stacked areas from bottom to top, lines, and values
 * that appear only in the table beside the chart.
 */
struct kind {
	const char *title, *total;
	const struct layer *areas, *lines, *beside;
	size_t area_count, line_count, beside_count;
};

static const struct layer group_areas[] = {
	{ GROUP_LIVE_ANON, "live_anon",
	  "heaps, stacks, other private memory; cannot be reclaimed" },
	{ GROUP_SHMEM, "shmem", "shared memory, files on tmpfs; cannot be reclaimed" },
	{ GROUP_KERNEL, "kernel",
	  "the kernel's own memory for the cgroup; cannot be reclaimed" },
	{ GROUP_SOCK, "sock", "buffers of sockets; cannot be reclaimed" },
	{ GROUP_LAZYFREE, "lazyfree", "freed; the kernel reclaims it first" },
	{ GROUP_SLAB_RECLAIMABLE, "slab_reclaimable", "the kernel can reclaim it" },
	{ GROUP_FILE, "page_cache", "reclaimed before the OOM killer acts" },
};
static const struct layer group_lines[] = {
	{ GROUP_LIMIT, "limit", "at this usage, the kernel kills a process" }
};
static const struct layer group_beside[] = {
	{ GROUP_NEED, "need", "memory that cannot be reclaimed" },
	{ GROUP_HIDDEN, "hidden", "live memory outside the working set" },
	{ GROUP_WORKING_SET, "working set",
	  "usage minus inactive files, as shown by kubectl top" },
	{ GROUP_SWAP, "swap", "swapped out" },
};

static const struct layer owners_areas[] = {
	{ OWNER_FILE, "file", "mapped files" },
	{ OWNER_SHMEM, "shmem", "shared memory" },
	{ OWNER_STACK, "stack", "stacks of all threads" },
	{ OWNER_ANON, "anon",
	  "other private anonymous memory; includes the heap if it was not read" },
	{ OWNER_HEAP_META, "heap_meta", "the allocator's own data" },
	{ OWNER_LIVE, "live", "allocated blocks" },
	{ OWNER_POOL_FRAGMENTS, "pool_fragments",
	  "freed, on pages that also hold live blocks" },
	{ OWNER_POOL_PAGES, "pool_pages",
	  "freed whole pages that the allocator retains" },
};
static const struct layer owners_beside[] = {
	{ OWNERS_LAZYFREE, "LazyFree part",
	  "freed; the kernel reclaims it under memory pressure" },
	{ OWNERS_PSS, "Pss", "shared pages divided among the processes that map them" },
	{ OWNERS_SWAP, "swap", "swapped out" },
};

static const struct layer states_areas[] = {
	{ STATE_SHARED_CLEAN, "shared_clean",
	  "shared, unmodified since it was read from a file" },
	{ STATE_SHARED_DIRTY, "shared_dirty", "shared, modified" },
	{ STATE_PRIVATE_CLEAN, "private_clean", "private, identical to a file" },
	{ STATE_LAZYFREE, "lazyfree",
	  "freed; the kernel reclaims it under memory pressure" },
	{ STATE_PRIVATE_DIRTY, "private_dirty",
	  "private, modified: can only be swapped out" },
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define OWNERS(title)                                                                    \
	{                                                                                \
		title, "Rss", owners_areas, NULL, owners_beside, COUNT(owners_areas), 0, \
			COUNT(owners_beside)                                             \
	}

static const struct kind kinds[CHART_KIND_COUNT_] = {
	[CHART_GROUP] = { "The cgroup, by reclaimability", "usage", group_areas,
			  group_lines, group_beside, COUNT(group_areas),
			  COUNT(group_lines), COUNT(group_beside) },
	[CHART_OWNERS] = OWNERS("All processes, Rss by owner"),
	[CHART_STATES] = { "All processes, Rss by state", "Rss", states_areas, NULL, NULL,
			   COUNT(states_areas), 0, 0 },
	[CHART_PROCESSES] = { "Rss by process", "Rss", NULL, NULL, NULL, 0, 0, 0 },
	[CHART_PROCESS] = OWNERS(NULL),
};

static const char *title_of(const struct timeline_chart *chart)
{
	return chart->title ? chart->title : kinds[chart->kind].title;
}

/* The functions below write the data for timeline.js, as JSON. */

static uint64_t total_of(const struct timeline_row *row, size_t value)
{
	(void)value;
	return row->total_bytes;
}

static uint64_t value_of(const struct timeline_row *row, size_t value)
{
	return row->values[value];
}

static void add_values(struct json *j, const struct timeline *t,
		       uint64_t (*get)(const struct timeline_row *row, size_t value),
		       size_t value)
{
	json_begin_array(j, "v");
	for (size_t i = 0; i < t->count; i++)
		json_add_amount(j, NULL, get(&t->rows[i], value));
	json_end_array(j);
}

static void add_series(struct json *j, const struct timeline *t, const char *colour,
		       const char *name, const char *help, size_t value)
{
	json_begin_object(j, NULL);
	json_add_string(j, "colour", colour);
	html_add_json_text(j, "name", name);
	html_add_json_text(j, "help", help);
	add_values(j, t, value_of, value);
	json_end_object(j);
}

static bool is_ever_known(const struct timeline *t, size_t value)
{
	for (size_t i = 0; i < t->count; i++)
		if (bytes_known(t->rows[i].values[value]))
			return true;
	return false;
}

/* Append those layers of a chart whose value is known for at least one time. */
static void add_layers(struct json *j, const char *key, const struct timeline *t,
		       const struct layer *layers, size_t count)
{
	json_begin_array(j, key);
	for (size_t i = 0; i < count; i++)
		if (is_ever_known(t, layers[i].value))
			add_series(j, t, layers[i].name, layers[i].name, layers[i].help,
				   layers[i].value);
	json_end_array(j);
}

static void add_process_layers(struct json *j, const struct timeline_charts *charts,
			       const struct timeline *t)
{
	json_begin_array(j, "areas");
	for (size_t i = 0; i <= CHARTED_PROCESSES_MAX; i++) {
		const char *name = i < CHARTED_PROCESSES_MAX ? charts->process_names[i]
							     : "all others";
		char colour[16] = "p";

		if (!name || !is_ever_known(t, i))
			continue;
		colour[1] = (char)('0' + i);
		add_series(j, t, colour, name, "", i);
	}
	json_end_array(j);
	add_layers(j, "lines", t, NULL, 0);
	add_layers(j, "beside", t, NULL, 0);
}

/*
 * Return the upper end of the vertical axis of a chart. The axis extends to the limit,
 * unless the limit is more than three times the peak.
 */
static uint64_t find_top(const struct timeline_chart *chart)
{
	const struct timeline *t = &chart->timeline;
	uint64_t peak = t->peak.total_bytes, limit = t->peak.values[GROUP_LIMIT];
	bool has_limit = chart->kind == CHART_GROUP && bytes_known(limit) &&
			 limit > peak && limit / 3 <= peak;

	return axis_top_bytes(has_limit ? limit : peak);
}

static void add_chart_data(struct json *j, const struct timeline_charts *charts,
			   const struct timeline_chart *chart)
{
	const struct kind *kind = &kinds[chart->kind];
	const struct timeline *t = &chart->timeline;

	json_break_line(j);
	json_begin_object(j, NULL);
	html_add_json_text(j, "title", title_of(chart));
	json_add_number(j, "top", find_top(chart));
	json_begin_array(j, "t");
	for (size_t i = 0; i < t->count; i++)
		json_add_number(j, NULL, t->rows[i].unix_ms - t->begin_ms);
	json_end_array(j);
	json_begin_object(j, "total");
	json_add_string(j, "name", kind->total);
	add_values(j, t, total_of, 0);
	json_end_object(j);
	if (chart->kind == CHART_PROCESSES) {
		add_process_layers(j, charts, t);
	} else {
		add_layers(j, "areas", t, kind->areas, kind->area_count);
		add_layers(j, "lines", t, kind->lines, kind->line_count);
		add_layers(j, "beside", t, kind->beside, kind->beside_count);
	}
	json_end_object(j);
}

static bool is_shown(const struct timeline_chart *chart)
{
	return chart->timeline.count > 0;
}

static void add_data(struct strbuf *out, const struct timeline_charts *c)
{
	struct json j = html_begin_data(out);

	json_add_number(&j, "begin", c->begin_ms);
	json_add_number(&j, "end", c->end_ms - c->begin_ms + 1);
	json_begin_array(&j, "events");
	for (size_t i = 0; i < c->event_count; i++) {
		uint64_t at = c->events[i].unix_ms;

		json_begin_object(&j, NULL);
		json_add_number(&j, "t", at > c->begin_ms ? at - c->begin_ms : 0);
		html_add_json_text(&j, "kind", c->events[i].kind);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_begin_array(&j, "charts");
	json_break_line(&j);
	for (size_t i = 0; i < c->chart_count; i++)
		if (is_shown(&c->charts[i]))
			add_chart_data(&j, c, &c->charts[i]);
	json_end_array(&j);
	html_end_data(&j);
}

/* The functions below write the part of the page that is visible without scripts. */

static void add_cell(struct strbuf *out, uint64_t bytes)
{
	char buf[UNITS_TEXT_SIZE];

	strbuf_addf(out, "<td>%s</td>", units_format_bytes(bytes, buf));
}

static void add_table_row(struct strbuf *out, const struct timeline *t, const char *name,
			  const char *help,
			  uint64_t (*get)(const struct timeline_row *row, size_t value),
			  size_t value)
{
	strbuf_add_text(out, "<tr class=\"part\"><th scope=\"row\" title=\"");
	html_add_text(out, help);
	strbuf_add_text(out, "\">");
	html_add_text(out, name);
	strbuf_add_text(out, "</th>");
	add_cell(out, get(&t->rows[0], value));
	add_cell(out, get(&t->peak, value));
	add_cell(out, get(&t->last, value));
	strbuf_add_text(out, "</tr>\n");
}

static void add_table_part(struct strbuf *out, const struct timeline_charts *c,
			   const struct timeline_chart *chart)
{
	const struct kind *kind = &kinds[chart->kind];
	const struct timeline *t = &chart->timeline;
	const struct {
		const struct layer *layers;
		size_t count;
	} parts[] = { { kind->areas, kind->area_count },
		      { kind->lines, kind->line_count },
		      { kind->beside, kind->beside_count } };

	strbuf_add_text(out,
			"<tr class=\"heading\"><th scope=\"rowgroup\" colspan=\"4\">");
	html_add_text(out, title_of(chart));
	strbuf_add_text(out, "</th></tr>\n");
	add_table_row(out, t, kind->total, "", total_of, 0);
	for (size_t p = 0; p < COUNT(parts); p++)
		for (size_t i = 0; i < parts[p].count; i++)
			if (is_ever_known(t, parts[p].layers[i].value))
				add_table_row(out, t, parts[p].layers[i].name,
					      parts[p].layers[i].help, value_of,
					      parts[p].layers[i].value);
	for (size_t i = 0; chart->kind == CHART_PROCESSES && i < CHARTED_PROCESSES_MAX;
	     i++)
		if (c->process_names[i] && is_ever_known(t, i))
			add_table_row(out, t, c->process_names[i], "", value_of, i);
}

static void add_table(struct strbuf *out, const struct timeline_charts *c)
{
	strbuf_add_text(
		out,
		"<h2>Figures</h2>\n<div class=\"scroll\"><table class=\"figures\">\n<thead><tr>"
		"<th></th><th scope=\"col\">begin</th><th scope=\"col\">peak</th>"
		"<th scope=\"col\">end</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < c->chart_count; i++)
		if (is_shown(&c->charts[i]) && c->charts[i].kind != CHART_PROCESS)
			add_table_part(out, c, &c->charts[i]);
	strbuf_add_text(out, "</tbody>\n</table></div>\n");
}

static void add_heap_row(struct strbuf *out, const struct usage_heap *heap)
{
	strbuf_addf(out, "<tr class=\"part\"><th scope=\"row\">%s</th>",
		    allocator_titles[heap->allocator]);
	add_cell(out, usage_heap_bytes(heap));
	add_cell(out, heap->owner_bytes[OWNER_LIVE]);
	add_cell(out, bytes_add(heap->owner_bytes[OWNER_POOL_PAGES],
				heap->owner_bytes[OWNER_POOL_FRAGMENTS]));
	add_cell(out, heap->owner_bytes[OWNER_HEAP_META]);
	strbuf_addf(out, "<td>%s</td></tr>\n", quality_names[heap->quality]);
}

/* Append the heaps of the charted processes, as of their last read. */
static void add_heaps(struct strbuf *out, const struct timeline_charts *c)
{
	bool has_heaps = false;
	char utc[CLOCK_TEXT_SIZE];

	for (size_t i = 0; i < c->chart_count; i++)
		has_heaps = has_heaps || c->charts[i].heap_count > 0;
	if (!has_heaps)
		return;
	strbuf_add_text(
		out,
		"<h2>Heaps</h2>\n<div class=\"scroll\"><table class=\"figures\">\n<thead><tr>"
		"<th></th><th scope=\"col\">Rss</th><th scope=\"col\">live</th>"
		"<th scope=\"col\">free</th><th scope=\"col\">own</th>"
		"<th scope=\"col\">quality</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < c->chart_count; i++) {
		const struct timeline_chart *chart = &c->charts[i];

		if (chart->heap_count == 0)
			continue;
		strbuf_add_text(
			out,
			"<tr class=\"heading\"><th scope=\"rowgroup\" colspan=\"6\">");
		html_add_text(out, title_of(chart));
		strbuf_addf(out, ", %s</th></tr>\n",
			    clock_format_utc(chart->heaps_unix_ms, utc));
		for (size_t h = 0; h < chart->heap_count; h++)
			add_heap_row(out, &chart->heaps[h]);
	}
	strbuf_add_text(out, "</tbody>\n</table></div>\n");
}

static void add_events(struct strbuf *out, const struct timeline_charts *c)
{
	char utc[CLOCK_TEXT_SIZE];

	if (c->event_count == 0)
		return;
	strbuf_add_text(
		out,
		"<h2>Events</h2>\n<div class=\"scroll\"><table class=\"events\">\n<tbody>\n");
	for (size_t i = 0; i < c->event_count; i++) {
		const struct timeline_event *event = &c->events[i];

		strbuf_addf(out, "<tr><td>%s</td><th scope=\"row\">",
			    clock_format_utc(event->unix_ms, utc));
		html_add_text(out, event->kind);
		strbuf_add_text(out, "</th><td>");
		if (event->pid > 0)
			strbuf_addf(out, "%d", event->pid);
		strbuf_add_text(out, "</td><td><pre>");
		html_add_lines(out, event->text ? event->text : "");
		strbuf_add_text(out, "</pre></td></tr>\n");
	}
	strbuf_add_text(out, "</tbody>\n</table></div>\n");
	if (c->events_left_out > 0)
		strbuf_addf(out, "<p class=\"note\">and %zu more</p>\n",
			    c->events_left_out);
}

static void add_head(struct strbuf *out, const char *name,
		     const struct timeline_charts *c)
{
	char from[CLOCK_TEXT_SIZE], to[CLOCK_TEXT_SIZE], length[UNITS_TEXT_SIZE];

	html_add_code_line(out, "Recording", name);
	if (c->group_path)
		html_add_code_line(out, "Group", c->group_path);
	if (c->group_names)
		html_add_code_line(out, "Runs", c->group_names);
	strbuf_addf(out, "<p class=\"what\">%s to %s: %zu sample%s in %s</p>\n",
		    clock_format_utc(c->begin_ms, from), clock_format_utc(c->end_ms, to),
		    c->sample_count, c->sample_count == 1 ? "" : "s",
		    units_format_duration((c->end_ms - c->begin_ms) * NS_PER_MS, length));
	strbuf_add_text(
		out,
		"<p class=\"what\">A chart of many samples shows the largest and the smallest "
		"sample of each short interval. Owners are from the last sample whose "
		"mappings were read. The Rss of several processes counts shared pages once "
		"per process.</p>\n");
}

static void add_verdict(struct strbuf *out, const struct timeline_charts *c)
{
	if (!c->verdict)
		return;
	strbuf_add_text(
		out, "<h2>Verdict</h2>\n<div class=\"scroll\"><pre class=\"verdict\">");
	html_add_lines(out, c->verdict);
	strbuf_add_text(out, "</pre></div>\n");
}

static void add_frames(struct strbuf *out, const struct timeline_charts *c)
{
	strbuf_add_text(
		out,
		"<noscript><p>The charts require JavaScript; the page loads no other "
		"file.</p></noscript>\n<p id=\"ranges\"></p>\n<div class=\"charts\">\n");
	for (size_t i = 0; i < c->chart_count; i++) {
		if (!is_shown(&c->charts[i]))
			continue;
		strbuf_add_text(out, "<section class=\"chart\">\n<h3>");
		html_add_text(out, title_of(&c->charts[i]));
		strbuf_add_text(out, "</h3>\n<div class=\"plot\"></div>\n</section>\n");
	}
	strbuf_add_text(out, "</div>\n");
}

void timeline_html_add(struct strbuf *out, const char *name,
		       const struct timeline_charts *charts)
{
	const struct html_page page = { "memstate: memory over time", PAGE_TIMELINE_STYLE,
					PAGE_TIMELINE_SCRIPT };

	html_page_begin(out, &page);
	add_head(out, name, charts);
	add_verdict(out, charts);
	add_frames(out, charts);
	add_data(out, charts);
	add_events(out, charts);
	add_table(out, charts);
	add_heaps(out, charts);
	html_page_end(out, &page);
}
