/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/compare/show.h"

#include <errno.h>
#include <libgen.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/xalloc.h"
#include "classify/compare/verdict_next.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/stream.h"
#include "cmd/core/terminal.h"
#include "cmd/session/next.h"
#include "cmd/session/session.h"
#include "render/compare/report.h"
#include "render/table/conclusion.h"

/*
 * Return true if the HTML page can be written. The check precedes the runs, which may
 * take an hour. An existing file is replaced atomically, so its folder must be writable.
 */
static bool may_write(const char *path)
{
	_cleanup_free_ char *copy = xstrdup(path);

	if ((access(path, F_OK) == 0 ? access(path, W_OK)
				     : access(dirname(copy), W_OK)) == 0)
		return true;
	message_error(path, -errno);
	return false;
}

int compare_show_begin(struct compare_show *show, const struct options *options)
{
	bool is_csv = options->format == FORMAT_CSV || options->format == FORMAT_JSON;

	*show = (struct compare_show){ options, COLUMN_LIST_INIT };
	if (options->html && !may_write(options->html))
		return EXIT_FAILED;
	return session_columns(options, &compare_columns,
			       is_csv ? compare_columns.csv_default
				      : compare_columns.table_default,
			       &show->columns);
}

void compare_show_end(struct compare_show *show)
{
	column_list_release(&show->columns);
}

static void add_text(struct strbuf *out, const struct compare_show *show,
		     const struct compare_view *view)
{
	const struct options *o = show->options;
	struct table_options table = { .no_headings = o->no_headings,
				       .exact_bytes = o->exact_bytes };

	_cleanup_conclusion_ struct conclusion conclusion = CONCLUSION_INIT;
	_cleanup_strbuf_ struct strbuf command = STRBUF_INIT;

	terminal_fit(&table);
	if (o->output || o->output_all) {
		compare_add_table(out, view, &show->columns, &table);
		return;
	}
	compare_report_add(out, view, &table);
	next_add_command(&command, o->command);
	verdicts_conclude_next(&conclusion, view->verdicts, view->compared, o->preload,
			       command.text);
	conclusion_add_next(out, &conclusion);
}

static void add_view(struct strbuf *out, const struct compare_show *show,
		     const struct compare_view *view)
{
	switch (show->options->format) {
	case FORMAT_CSV:
		compare_add_csv(out, view, &show->columns, show->options->no_headings);
		break;
	case FORMAT_JSON: compare_add_json(out, view, &show->columns); break;
	default: add_text(out, show, view);
	}
}

static int write_page(const struct compare_show *show, const struct compare_view *view)
{
	const char *path = show->options->html;
	_cleanup_strbuf_ struct strbuf page = STRBUF_INIT;
	int r;

	if (!path)
		return 0;
	compare_add_html(&page, view);
	r = io_write_file_atomic(path, page.text, page.length, 0666);
	if (r < 0)
		message_error(path, r);
	return r;
}

/*
 * If the user requested heap figures, report each allocator under which the
 * heap could not be read at one of the compared moments, such as the peak.
 * Return an enum exit_status.
 */
static int report_heaps(const struct options *o, const struct compared *compared)
{
	static const struct {
		enum run_moment moment;
		const char *text;
	} moments[] = {
		{ MOMENT_SETTLED, "after settling" },
		{ MOMENT_END, "at the end of the work" },
		{ MOMENT_PEAK, "in the largest sample" },
	};
	const struct comparison *c = compared->comparison;
	int status = EXIT_DONE;

	if (o->heap != HEAP_WALK && o->heap != HEAP_HELPER)
		return EXIT_DONE;
	for (size_t i = 0; i < c->variant_count; i++)
		for (size_t m = 0; m < sizeof(moments) / sizeof(moments[0]); m++) {
			const char *problem =
				compared->variants[i].heap_problem[moments[m].moment];

			if (!problem)
				continue;
			message("%s: heap not read %s: %s", c->variants[i].name,
				moments[m].text, problem);
			status = EXIT_PARTIAL;
			break;
		}
	return status;
}

int compare_show(const struct compare_show *show, const struct comparison *comparison,
		 int status)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct compared compared;
	struct verdicts verdicts;
	const struct compare_view view = { comparison, &compared, &verdicts };

	compared_init(&compared, comparison);
	verdicts_init(&verdicts, &compared);
	add_view(&out, show, &view);
	if (status == EXIT_DONE)
		status = report_heaps(show->options, &compared);
	if (write_page(show, &view) < 0)
		status = EXIT_FAILED;
	verdicts_release(&verdicts);
	compared_release(&compared);
	return stream_finish(&out, status);
}
