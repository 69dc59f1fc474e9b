/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/process/diff_report.h"

static const struct diff_row *row_of(const void *row)
{
	return row;
}

static void get_kind(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, profile_diff_kind_names[row_of(row)->stack->kind]);
}

static void get_metric(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, profile_metrics[row_of(row)->report->options->metric].name);
}

enum {
	NUMBER_BEFORE,
	NUMBER_AFTER,
	NUMBER_CHANGE
};

static void get_number(const void *row, int arg, struct value *ret)
{
	const struct profile_diff_stack *stack = row_of(row)->stack;
	const uint64_t numbers[] = {
		[NUMBER_BEFORE] = stack->before,
		[NUMBER_AFTER] = stack->after,
		[NUMBER_CHANGE] = stack->after - stack->before,
	};

	value_set_number(ret, numbers[arg]);
}

static void get_callers(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, row_of(row)->stack->has_more_callers ? "more" : "none");
}

static void get_stack(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, row_of(row)->functions);
}

#define WORD(name, kind, get, help)                      \
	{                                                \
		name, NULL, help, kind, false, 0, 0, get \
	}
#define NUMBER(name, kind, which, help)                            \
	{                                                          \
		name, NULL, help, kind, true, 0, which, get_number \
	}

static const struct column columns[] = {
	WORD("kind", VALUE_WORD, get_kind, "only_before, only_after or changed"),
	WORD("metric", VALUE_WORD, get_metric, "what the numbers count"),
	NUMBER("before", VALUE_COUNT, NUMBER_BEFORE, "in the first file"),
	NUMBER("after", VALUE_COUNT, NUMBER_AFTER, "in the second"),
	NUMBER("change", VALUE_CHANGE, NUMBER_CHANGE, "second minus first"),
	WORD("callers", VALUE_WORD, get_callers,
	     "more: the functions were also called from places that were not compared; "
	     "none"),
	WORD("stack", VALUE_TEXT, get_stack,
	     "the functions, innermost first, separated by ';'"),
};

const struct column_set diff_columns = {
	.columns = columns,
	.count = sizeof(columns) / sizeof(columns[0]),
	/*
	 * Default columns for JSON, without the functions, which are a separate
	 * JSON array.
	 */
	.table_default = "kind,metric,before,after,change,callers",
};
