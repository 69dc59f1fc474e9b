/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Print the JSON schema of each kind of row that has columns: doc/schema/columns.json. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "render/compare/report.h"
#include "render/heap/leak_report.h"
#include "render/oom/report.h"
#include "render/process/diff_report.h"
#include "render/process/moment_report.h"
#include "render/profile/count_report.h"
#include "render/profile/report.h"
#include "render/table/column.h"

static const struct {
	const char *name;
	const struct column_set *set;
} rows[] = {
	{ "process", &process_columns }, { "mapping", &mapping_columns },
	{ "leak", &leak_columns },	 { "oom", &oom_columns },
	{ "count", &count_columns },	 { "count_thread", &count_thread_columns },
	{ "profile", &profile_columns }, { "diff", &diff_columns },
	{ "moment", &moment_columns },	 { "compare", &compare_columns },
};

static const char *const types[] = {
	[VALUE_BYTES] = "amount",   [VALUE_COUNT] = "amount",
	[VALUE_TEXT] = "text",	    [VALUE_WORD] = "text",
	[VALUE_TIME] = "time",	    [VALUE_SECONDS] = "seconds",
	[VALUE_COST] = "seconds",   [VALUE_ADDRESS] = "address",
	[VALUE_CHANGE] = "integer",
};

static void add_column(struct json *j, const struct column *column)
{
	json_break_line(j);
	json_begin_object(j, column->name);
	json_add_string(j, "description", column->help);
	json_add_format(j, "$ref", "\"common.json#/$defs/%s\"", types[column->kind]);
	json_end_object(j);
}

static void add_set(struct json *j, const char *name, const struct column_set *set)
{
	json_break_line(j);
	json_begin_object(j, name);
	json_add_string(j, "type", "object");
	json_begin_object(j, "properties");
	for (size_t i = 0; i < set->count; i++)
		add_column(j, &set->columns[i]);
	json_end_object(j);
	json_end_object(j);
}

int main(void)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct json j = json_begin(&out);

	json_begin_object(&j, NULL);
	json_add_string(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_add_string(&j, "$id", "columns.json");
	json_add_string(&j, "description", "the columns of each kind of row");
	json_begin_object(&j, "$defs");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		add_set(&j, rows[i].name, rows[i].set);
	json_end_object(&j);
	json_end_object(&j);
	puts(strbuf_text(&out));
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
