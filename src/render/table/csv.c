/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/text.h"
#include "render/table/output.h"

static bool is_plain(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20 || c >= 0x7f || c == '"' || c == ',')
			return false;
	}
	return true;
}

/*
 * Append a CSV field in quotes. Line breaks are preserved, because RFC 4180 allows them
 * inside quotes.
 */
static void add_quoted(struct strbuf *out, const char *text, size_t length)
{
	strbuf_add_char(out, '"');
	while (length > 0) {
		size_t run = 0;

		while (run < length && text[run] != '"' && text[run] != '\n' &&
		       text[run] != '\r')
			run++;
		text_add_printable(out, text, run, false);
		text += run;
		length -= run;
		if (length > 0) {
			if (*text == '"')
				strbuf_add_char(out, '"');
			strbuf_add_char(out, *text);
			text++;
			length--;
		}
	}
	strbuf_add_char(out, '"');
}

static void add_field(struct strbuf *out, const struct column *column,
		      const struct value *value)
{
	if (!value->is_known)
		return;
	switch (column->kind) {
	case VALUE_BYTES:
	case VALUE_COUNT: strbuf_add_u64(out, value->number); return;
	case VALUE_TEXT:
		if (!is_plain(value->text, value->text_length)) {
			add_quoted(out, value->text, value->text_length);
			return;
		}
		strbuf_add(out, value->text, value->text_length);
		return;
	default: value_add_text(out, column, value, true, false);
	}
}

void csv_add_header(struct strbuf *out, const struct column_list *columns)
{
	for (size_t i = 0; i < columns->count; i++) {
		if (i > 0)
			strbuf_add_char(out, ',');
		strbuf_add_text(out, columns->items[i]->name);
	}
	strbuf_add_char(out, '\n');
}

void csv_add_row(struct strbuf *out, const struct column_list *columns, const void *row)
{
	for (size_t i = 0; i < columns->count; i++) {
		const struct column *column = columns->items[i];
		struct value value = { 0 };

		if (i > 0)
			strbuf_add_char(out, ',');
		column->get(row, column->arg, &value);
		add_field(out, column, &value);
	}
	strbuf_add_char(out, '\n');
}
