/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/process/moment_report.h"

static const struct moment_change *change_of(const void *row)
{
	return row;
}

static void get_part(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, moment_part_names[change_of(row)->part]);
}

static void get_name(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, change_of(row)->name);
}

static void get_owner(const void *row, int arg, struct value *ret)
{
	enum owner owner = change_of(row)->owner;

	(void)arg;
	value_set_text(ret, owner < OWNER_COUNT_ ? owner_names[owner] : NULL);
}

static void get_address(const void *row, int arg, struct value *ret)
{
	(void)arg;
	if (change_of(row)->start_addr != 0)
		value_set_number(ret, change_of(row)->start_addr);
}

enum {
	SIDE_BEFORE,
	SIDE_AFTER
};

static const struct process *process_of(const void *row, int side)
{
	return side == SIDE_AFTER ? change_of(row)->after_process
				  : change_of(row)->before_process;
}

static void get_pid(const void *row, int arg, struct value *ret)
{
	const struct process *process = process_of(row, arg);

	if (process)
		value_set_number(ret, (uint64_t)process->pid);
}

static void get_comm(const void *row, int arg, struct value *ret)
{
	const struct process *process = process_of(row, SIDE_AFTER);

	(void)arg;
	if (!process)
		process = process_of(row, SIDE_BEFORE);
	value_set_text(ret, process ? process->comm : NULL);
}

static void get_bytes(const void *row, int arg, struct value *ret)
{
	value_set_amount(ret, arg == SIDE_AFTER ? change_of(row)->after
						: change_of(row)->before);
}

static void get_change(const void *row, int arg, struct value *ret)
{
	const struct moment_change *change = change_of(row);

	(void)arg;
	if (bytes_known(change->before) || bytes_known(change->after))
		value_set_number(ret, (uint64_t)moment_change_bytes(change));
}

#define WORD(name, heading, kind, get, help)                \
	{                                                   \
		name, heading, help, kind, false, 0, 0, get \
	}
#define NUMBER(name, heading, kind, which, get, help)          \
	{                                                      \
		name, heading, help, kind, true, 0, which, get \
	}

static const struct column columns[] = {
	WORD("part", "PART", VALUE_WORD, get_part,
	     "what the figure describes: total, state, owner, group, process, heap or "
	     "mapping"),
	WORD("name", "NAME", VALUE_TEXT, get_name,
	     "name of the figure, the process or the mapping; allocator of the heap"),
	WORD("owner", "OWNER", VALUE_WORD, get_owner,
	     "for a heap or a mapping: the kind of its memory"),
	WORD("address", "ADDRESS", VALUE_ADDRESS, get_address,
	     "for a mapping without a name: its start"),
	WORD("comm", "PROCESS", VALUE_TEXT, get_comm, "the name of the process"),
	NUMBER("pid_before", "BEFORE", VALUE_COUNT, SIDE_BEFORE, get_pid,
	       "pid of the process at the first moment"),
	NUMBER("pid_after", "AFTER", VALUE_COUNT, SIDE_AFTER, get_pid,
	       "pid of the process at the second moment"),
	NUMBER("before_bytes", "BEFORE", VALUE_BYTES, SIDE_BEFORE, get_bytes,
	       "at the first moment"),
	NUMBER("after_bytes", "AFTER", VALUE_BYTES, SIDE_AFTER, get_bytes,
	       "at the second"),
	NUMBER("change_bytes", "CHANGE", VALUE_CHANGE, 0, get_change,
	       "second minus first"),
};

const struct column_set moment_columns = {
	.columns = columns,
	.count = sizeof(columns) / sizeof(columns[0]),
	.csv_default =
		"part,name,owner,address,comm,pid_before,pid_after,before_bytes,after_bytes,"
		"change_bytes",
};
