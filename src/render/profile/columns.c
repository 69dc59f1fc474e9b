/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/profile/report.h"

static const struct profile_row *row_of(const void *row)
{
	return row;
}

static void get_function(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, row_of(row)->name);
}

static void get_module(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, row_of(row)->sums->module);
}

static void get_file(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, row_of(row)->sums->file);
}

static void set_metric(struct value *ret, const struct profile_row *row, int metric,
		       const uint64_t *amounts)
{
	if (row->profile->known & 1U << metric)
		value_set_number(ret, amounts[metric]);
}

static void get_self(const void *row, int arg, struct value *ret)
{
	set_metric(ret, row_of(row), arg, row_of(row)->sums->self);
}

static void get_total(const void *row, int arg, struct value *ret)
{
	set_metric(ret, row_of(row), arg, row_of(row)->sums->total);
}

#define COLUMN(name, heading, kind, is_descending, get, arg, help)    \
	{                                                             \
		name, heading, help, kind, is_descending, 0, arg, get \
	}
#define TEXT(name, heading, get, help) \
	COLUMN(name, heading, VALUE_TEXT, false, get, 0, help)
#define BOTH(name, heading, kind, arg, help)                               \
	COLUMN("self_" name, "SELF " heading, kind, true, get_self, arg,   \
	       help " in the function itself"),                            \
		COLUMN("total_" name, heading, kind, true, get_total, arg, \
		       help " including the functions that it calls")

static const struct column columns[] = {
	TEXT("function", "FUNCTION", get_function, "name of the function"),
	TEXT("module", "MODULE", get_module,
	     "file that contains the function; unknown if several do"),
	TEXT("source", "SOURCE", get_file,
	     "source file of the function; unknown if there are several"),
	BOTH("allocations", "ALLOCATIONS", VALUE_COUNT, PROFILE_ALLOCATIONS,
	     "allocations,"),
	BOTH("requested_bytes", "REQUESTED", VALUE_BYTES, PROFILE_BYTES,
	     "requested bytes,"),
	BOTH("temporary_blocks", "TEMPORARY", VALUE_COUNT, PROFILE_TEMPORARY,
	     "blocks freed with no other call in between,"),
	BOTH("live_blocks", "BLOCKS LIVE", VALUE_COUNT, PROFILE_LIVE_BLOCKS,
	     "allocated and not freed,"),
	BOTH("live_bytes", "BYTES LIVE", VALUE_BYTES, PROFILE_LIVE,
	     "requested bytes of the blocks not freed,"),
	BOTH("peak_bytes", "AT PEAK", VALUE_BYTES, PROFILE_PEAK,
	     "bytes at the peak of all stacks together,"),
};

const struct column_set profile_columns = {
	.columns = columns,
	.count = sizeof(columns) / sizeof(columns[0]),
	.csv_default =
		"function,module,source,self_allocations,total_allocations,"
		"self_requested_bytes,total_requested_bytes,self_temporary_blocks,"
		"total_temporary_blocks,self_live_blocks,total_live_blocks,self_live_bytes,"
		"total_live_bytes,self_peak_bytes,total_peak_bytes",
};
