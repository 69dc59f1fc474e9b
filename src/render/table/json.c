/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/clock.h"
#include "render/table/output.h"

struct json json_begin_report(struct strbuf *out, const char *report)
{
	struct json j = json_begin(out);

	json_begin_object(&j, NULL);
	json_begin_object(&j, "memstate");
	json_add_string(&j, "version", PACKAGE_VERSION);
	json_add_number(&j, "schema", 1);
	json_add_string(&j, "report", report);
	json_end_object(&j);
	return j;
}

void json_end_report(struct json *j)
{
	json_end_object(j);
	strbuf_add_char(j->out, '\n');
}

static void add_value(struct json *j, const struct column *column,
		      const struct value *value)
{
	char utc[CLOCK_TEXT_SIZE];

	if (!value->is_known) {
		json_add_null(j, column->name);
		return;
	}
	switch (column->kind) {
	case VALUE_BYTES:
	case VALUE_COUNT: json_add_number(j, column->name, value->number); break;
	case VALUE_SECONDS: json_add_seconds_ms(j, column->name, value->number); break;
	case VALUE_COST: json_add_seconds_us(j, column->name, value->number); break;
	case VALUE_CHANGE:
		json_add_signed(j, column->name, (int64_t)value->number);
		break;
	case VALUE_TIME:
		json_add_string(j, column->name, clock_format_utc(value->number, utc));
		break;
	case VALUE_ADDRESS: json_add_address(j, column->name, value->number); break;
	case VALUE_TEXT:
	case VALUE_WORD:
		json_add_string_part(j, column->name, value->text, value->text_length);
		break;
	}
}

void json_add_members(struct json *j, const struct column_list *columns, const void *row)
{
	for (size_t i = 0; i < columns->count; i++) {
		const struct column *column = columns->items[i];
		struct value value = { 0 };

		column->get(row, column->arg, &value);
		add_value(j, column, &value);
	}
}

void json_add_row(struct json *j, const char *key, const struct column_list *columns,
		  const void *row)
{
	json_begin_object(j, key);
	json_add_members(j, columns, row);
	json_end_object(j);
}
