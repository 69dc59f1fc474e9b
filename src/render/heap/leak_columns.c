/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/heap/leak_report.h"

static const struct leak_row *row_of(const void *row)
{
	return row;
}

static void get_kind(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, row_of(row)->is_leaked ? "leaked" : "new");
}

static void get_type(const void *row, int arg, struct value *ret)
{
	(void)arg;
	if (row_of(row)->group->type)
		value_set_text(ret, row_of(row)->group->type);
}

static void get_content(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, content_names[row_of(row)->group->content]);
}

static void get_peek(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, row_of(row)->peek);
}

enum {
	NUMBER_EACH,
	NUMBER_COUNT,
	NUMBER_BYTES,
	NUMBER_INDIRECT_COUNT,
	NUMBER_INDIRECT_BYTES,
	NUMBER_ADDR
};

static void get_number(const void *row, int arg, struct value *ret)
{
	const struct block_group *group = row_of(row)->group;
	const uint64_t numbers[] = {
		[NUMBER_EACH] = group->block_bytes,
		[NUMBER_COUNT] = group->sum.count,
		[NUMBER_BYTES] = group->sum.bytes,
		[NUMBER_INDIRECT_COUNT] = group->indirect.count,
		[NUMBER_INDIRECT_BYTES] = group->indirect.bytes,
		[NUMBER_ADDR] = group->examples[0],
	};

	value_set_number(ret, numbers[arg]);
}

#define NUMBER(name, heading, kind, which, help)                      \
	{                                                             \
		name, heading, help, kind, true, 0, which, get_number \
	}
#define WORD(name, heading, kind, get, help)                \
	{                                                   \
		name, heading, help, kind, false, 0, 0, get \
	}

static const struct column columns[] = {
	WORD("kind", "KIND", VALUE_WORD, get_kind,
	     "leaked, or new since an earlier scan"),
	WORD("type", "TYPE", VALUE_TEXT, get_type, "of the object, if known"),
	WORD("content", "CONTENT", VALUE_WORD, get_content, "what its bytes look like"),
	NUMBER("block_bytes", "EACH", VALUE_BYTES, NUMBER_EACH,
	       "usable bytes of each block"),
	NUMBER("blocks", "BLOCKS", VALUE_COUNT, NUMBER_COUNT, "blocks"),
	NUMBER("total_bytes", "BYTES", VALUE_BYTES, NUMBER_BYTES,
	       "usable bytes of all "
	       "blocks"),
	NUMBER("indirect_blocks", "INDIRECT", VALUE_COUNT, NUMBER_INDIRECT_COUNT,
	       "blocks reachable only from these"),
	NUMBER("indirect_bytes", "INDIRECT BYTES", VALUE_BYTES, NUMBER_INDIRECT_BYTES,
	       "usable bytes of those"),
	NUMBER("example_addr", "EXAMPLE", VALUE_ADDRESS, NUMBER_ADDR,
	       "address of one of them"),
	WORD("peek", "PEEK", VALUE_WORD, get_peek, "its first bytes, in hex"),
};

const struct column_set leak_columns = {
	.columns = columns,
	.count = sizeof(columns) / sizeof(columns[0]),
	.table_default = "block_bytes,blocks,total_bytes,indirect_blocks,indirect_bytes,"
			 "content,example_addr,type",
};
