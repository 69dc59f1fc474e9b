/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>

#include "base/text.h"
#include "base/units.h"
#include "render/table/output.h"

/* Append a \u escape. JSON requires a surrogate pair for code points above U+FFFF. */
static void add_escape(struct strbuf *out, uint32_t code_point)
{
	if (code_point > 0xffff)
		strbuf_addf(out, "\\u%04x\\u%04x",
			    0xd800 + ((code_point - 0x10000) >> 10),
			    0xdc00 + (code_point & 0x3ff));
	else
		strbuf_addf(out, "\\u%04x", code_point);
}

static void add_code_point(struct strbuf *out, const char *bytes, size_t size,
			   uint32_t code_point)
{
	if (code_point == '"' || code_point == '\\') {
		strbuf_add_char(out, '\\');
		strbuf_add(out, bytes, 1);
	} else if (text_is_control(code_point)) {
		add_escape(out, code_point);
	} else {
		strbuf_add(out, bytes, size);
	}
}

void json_add_number(struct strbuf *out, const char *key, uint64_t number)
{
	strbuf_addf(out, ",\"%s\":", key);
	if (bytes_known(number))
		strbuf_add_u64(out, number);
	else
		strbuf_add_text(out, "null");
}

void json_add_string(struct strbuf *out, const char *text, size_t length)
{
	strbuf_add_char(out, '"');
	while (length > 0) {
		uint32_t code_point;
		size_t size = text_utf8_next(text, length, &code_point);

		if (size > 0) {
			add_code_point(out, text, size, code_point);
		} else {
			strbuf_addf(out, "\\\\x%02x", (unsigned char)*text);
			size = 1;
		}
		text += size;
		length -= size;
	}
	strbuf_add_char(out, '"');
}

static void add_value(struct strbuf *out, const struct column *column,
		      const struct value *value)
{
	if (!value->is_known) {
		strbuf_add_text(out, "null");
		return;
	}
	switch (column->kind) {
	case VALUE_BYTES:
	case VALUE_COUNT:
	case VALUE_SECONDS:
	case VALUE_COST:
	case VALUE_CHANGE: value_add_text(out, column, value, true, false); break;
	case VALUE_TIME:
		strbuf_add_char(out, '"');
		value_add_text(out, column, value, true, false);
		strbuf_add_char(out, '"');
		break;
	case VALUE_ADDRESS: strbuf_addf(out, "\"0x%" PRIx64 "\"", value->number); break;
	case VALUE_TEXT:
	case VALUE_WORD: json_add_string(out, value->text, value->text_length); break;
	}
}

void json_add_row(struct strbuf *out, const struct column_list *columns, const void *row)
{
	strbuf_add_char(out, '{');
	for (size_t i = 0; i < columns->count; i++) {
		const struct column *column = columns->items[i];
		struct value value = { 0 };

		if (i > 0)
			strbuf_add_char(out, ',');
		strbuf_addf(out, "\"%s\":", column->name);
		column->get(row, column->arg, &value);
		add_value(out, column, &value);
	}
	strbuf_add_char(out, '}');
}
