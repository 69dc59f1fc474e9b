/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>

#include "base/clock.h"
#include "base/io.h"
#include "render/heap/report.h"
#include "render/oom/report.h"
#include "render/process/text_report.h"
#include "render/table/output.h"
#include "ui/state.h"

#define REPORT_WIDTH 100

static void add_time(struct strbuf *out, uint64_t unix_ms)
{
	char utc[CLOCK_TEXT_SIZE];

	strbuf_addf(out, "memstate %s, %s\n\n", PACKAGE_VERSION,
		    clock_format_utc(unix_ms, utc));
}

static void add_table(const struct ui *ui, const struct grid *grid,
		      const void *const *rows, size_t count, struct strbuf *out)
{
	const struct table_options options = { .exact_bytes = ui->options->exact_bytes };

	table_add(out, &grid->columns, rows, count, &options);
}

static void add_report(const struct ui *ui, struct strbuf *out)
{
	const struct text_report_options options = {
		.width = REPORT_WIDTH,
		.exact_bytes = ui->options->exact_bytes,
	};

	text_report_add(out, data_detail(&ui->data), &ui->data.mappings, &options);
}

static void add_heap(const struct ui *ui, const struct heap_findings *f,
		     struct strbuf *out)
{
	const struct heap_report_options options = { .exact_bytes =
							     ui->options->exact_bytes };

	heap_report_add_text(out, &f->usage, &f->heap, f->has_detail ? &f->detail : NULL,
			     &options);
}

static void add_group(const struct ui *ui, struct strbuf *out)
{
	const struct data_group *g = &ui->data.group;
	const struct oom_report report = {
		.row = { .cgroup = &g->cgroup, .figures = &g->figures },
		.processes = g->processes,
		.top = g->processes->count,
		.options = { .max_width = REPORT_WIDTH,
			     .exact_bytes = ui->options->exact_bytes },
	};

	oom_report_add_text(out, &report);
}

static bool is_known(const struct ui *ui)
{
	const struct heap_findings *found = data_heap_findings(&ui->data);

	switch (ui->view) {
	case VIEW_PROCESSES: return true;
	case VIEW_CGROUP: return ui->data.group.is_read;
	case VIEW_HEAP:
		return data_detail(&ui->data) && found && heap_findings_are_known(found);
	default: return data_detail(&ui->data);
	}
}

static uint64_t moment_ms(const struct ui *ui)
{
	if (ui->view == VIEW_CGROUP)
		return ui->data.group.cgroup.unix_ms;
	return ui->view == VIEW_PROCESSES ? ui->data.processes->unix_ms
					  : ui->data.detail.unix_ms;
}

int save_view(const struct ui *ui, const char *path)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (!is_known(ui))
		return -ENODATA;
	add_time(&text, moment_ms(ui));
	if (ui->view == VIEW_PROCESSES)
		add_table(ui, &ui->processes.grid, ui->processes.order,
			  ui->processes.count, &text);
	else if (ui->view == VIEW_MAPPINGS)
		add_table(ui, &ui->mappings.grid, ui->mappings.order, ui->mappings.count,
			  &text);
	else if (ui->view == VIEW_HEAP)
		add_heap(ui, data_heap_findings(&ui->data), &text);
	else if (ui->view == VIEW_CGROUP)
		add_group(ui, &text);
	else
		add_report(ui, &text);
	return io_write_file_atomic(path, text.text, text.length, 0666);
}
