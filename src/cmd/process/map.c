/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "classify/process/process_conclusion.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/stream.h"
#include "cmd/core/terminal.h"
#include "cmd/session/next.h"
#include "cmd/session/session.h"
#include "render/table/conclusion.h"
#include "render/table/output.h"

struct map {
	struct session *session;
	struct column_list columns;
	struct sort_key sort;
	bool has_sort;
	struct strbuf out;
	struct next next;
};

/* Return true if the list is text with headings, for a person rather than a script. */
static bool has_conclusion(const struct map *map)
{
	const struct options *o = map->session->options;

	return o->format == FORMAT_AUTO && !o->no_headings;
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct map *map = context;
	const struct mapping *m_a = *(const struct mapping *const *)a;
	const struct mapping *m_b = *(const struct mapping *const *)b;
	int order = sort_key_compare(&map->sort, m_a, m_b);

	return order ? order
		     : (m_a->start_addr > m_b->start_addr) -
			       (m_a->start_addr < m_b->start_addr);
}

static void add_rows(struct map *map, const void *const *rows, size_t count)
{
	const struct options *o = map->session->options;
	struct table_options options = {
		.no_headings = o->no_headings,
		.exact_bytes = o->exact_bytes,
		.may_omit_zeros = !o->output && !o->output_all,
	};

	if (o->format == FORMAT_CSV) {
		if (!o->no_headings)
			csv_add_header(&map->out, &map->columns);
		for (size_t i = 0; i < count; i++)
			csv_add_row(&map->out, &map->columns, rows[i]);
		return;
	}
	terminal_fit(&options);
	table_add(&map->out, &map->columns, rows, count, &options);
}

static void add_json(struct map *map, const struct usage *u, const void *const *rows,
		     size_t count)
{
	struct json j = json_begin_report(&map->out, "map");

	json_add_signed(&j, "pid", u->process.pid);
	json_add_string(&j, "comm", u->process.comm);
	json_begin_array(&j, "mappings");
	for (size_t i = 0; i < count; i++)
		json_add_row(&j, NULL, &map->columns, rows[i]);
	json_end_array(&j);
	json_end_report(&j);
}

static void add_conclusion(struct map *map, const struct usage *u)
{
	_cleanup_conclusion_ struct conclusion conclusion = CONCLUSION_INIT;
	struct table_options options = { 0 };

	process_conclude_map(&conclusion, u, &map->next.place);
	terminal_fit(&options);
	conclusion_add_opening(&map->out, &conclusion, &options);
	strbuf_add_char(&map->out, '\n');
	next_offer(&map->next, &conclusion, u->total.bytes[SMAPS_RSS]);
}

static void add_process(struct map *map, const struct usage *u,
			const struct mapping_list *list)
{
	const void **rows = xcalloc(list->count, sizeof(*rows));

	if (has_conclusion(map))
		add_conclusion(map, u);
	for (size_t i = 0; i < list->count; i++)
		rows[i] = &list->items[i];
	if (map->has_sort)
		qsort_r(rows, list->count, sizeof(*rows), compare_rows, map);
	if (map->session->options->format == FORMAT_JSON)
		add_json(map, u, rows, list->count);
	else
		add_rows(map, rows, list->count);
	free(rows);
}

/* In a report on several processes, add a title with the name of the process. */
static void add_title(struct map *map, const struct process *p, bool is_first)
{
	struct table_options options;

	terminal_fit(&options);
	if (!is_first)
		strbuf_add_char(&map->out, '\n');
	text_add_printable(&map->out, p->comm, strlen(p->comm), options.ascii);
	strbuf_addf(&map->out, " (%d)\n", p->pid);
}

static int read_processes(struct map *map, struct snapshot *snapshot)
{
	struct session *session = map->session;
	struct mapping_list list = MAPPING_LIST_INIT;
	int status;

	status = session_list(session, NEED_STAT, snapshot);
	if (status != EXIT_DONE)
		return status;
	if (session->options->format == FORMAT_CSV && snapshot->count > 1) {
		message_usage(
			"map",
			"%zu processes selected, but CSV supports only one; select it "
			"with -p PID, or use --json",
			snapshot->count);
		return EXIT_BAD_USAGE;
	}
	for (size_t i = 0; i < snapshot->count; i++) {
		struct usage *u = &snapshot->usages[i];

		if (sampler_read_mappings(session->sampler, u, &list) < 0) {
			snapshot->unreadable_count++;
			continue;
		}
		if (session->options->format == FORMAT_AUTO && snapshot->count > 1)
			add_title(map, &u->process, map->out.length == 0);
		add_process(map, u, &list);
	}
	mapping_list_release(&list);
	return session_report_missing(session, snapshot);
}

static int show(struct map *map)
{
	struct snapshot snapshot;
	int status;

	snapshot_init(&snapshot);
	status = read_processes(map, &snapshot);
	snapshot_release(&snapshot);
	if (status == EXIT_FAILED || status == EXIT_BAD_USAGE)
		return status;
	next_add(&map->next, &map->out);
	return stream_finish(&map->out, status);
}

static int map_run(struct options *o)
{
	struct session session;
	struct map map = { .session = &session };
	const char *defaults = o->format == FORMAT_CSV || o->format == FORMAT_JSON
				       ? mapping_columns.csv_default
				       : mapping_columns.table_default;
	int status;

	status = session_columns(o, &mapping_columns, defaults, &map.columns);
	if (status == EXIT_DONE)
		status = session_sort_key(o, &mapping_columns, NULL, &map.sort,
					  &map.has_sort);
	if (status == EXIT_DONE)
		status = session_begin(&session, o);
	if (status == EXIT_DONE) {
		next_begin(&map.next, &session);
		status = show(&map);
		next_end(&map.next);
		session_end(&session);
	}
	column_list_release(&map.columns);
	strbuf_release(&map.out);
	return status;
}

const struct cmd cmd_map = {
	.name = "map",
	.args = "-p PID|NAME [OPTIONS]",
	.summary = "list the mappings of a process and the state of their pages",
	.requires_pid = true,
	.shared = "pid csv json output output-all list-columns no-headings "
		  "bytes sort procfs",
	.columns = &mapping_columns,
	.run = map_run,
};
