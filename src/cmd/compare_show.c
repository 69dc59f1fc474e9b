/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/compare_show.h"

#include "cmd/cmd.h"
#include "cmd/session.h"
#include "cmd/stream.h"
#include "cmd/text.h"
#include "render/compare_report.h"

int compare_show_begin(struct compare_show *show, const struct options *options)
{
	bool is_csv = options->format == FORMAT_CSV || options->format == FORMAT_JSON;

	*show = (struct compare_show){ options, COLUMN_LIST_INIT };
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

	text_fit_terminal(&table);
	if (o->output || o->output_all)
		compare_add_table(out, view, &show->columns, &table);
	else
		compare_report_add(out, view, &table);
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
	verdicts_release(&verdicts);
	compared_release(&compared);
	return stream_finish(&out, status);
}
