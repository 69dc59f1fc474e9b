/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input is untrusted text, printed for a terminal, as CSV and as JSON. */
#include "config.h"

#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "fuzz.h"
#include "render/table/output.h"

static void check_printable(const struct strbuf *out, bool ascii)
{
	for (size_t at = 0; at < out->length;) {
		uint32_t code_point;
		size_t size =
			text_utf8_next(out->text + at, out->length - at, &code_point);

		CHECK(size > 0);
		CHECK(!text_is_control(code_point));
		CHECK(!ascii || code_point < 0x7f);
		at += size;
	}
}

static void check_cut(const struct strbuf *out, size_t width)
{
	size_t length = text_cut_to_width(strbuf_text(out), out->length, width);

	CHECK(length <= out->length);
	CHECK(text_display_width(strbuf_text(out), length) <= width);
}

/* Check a JSON string: '"', characters and valid escape sequences, '"'. */
static void check_json_string(const char *text, size_t length)
{
	CHECK(length >= 2 && text[0] == '"' && text[length - 1] == '"');
	for (size_t at = 1; at < length - 1;) {
		uint32_t code_point;
		size_t size = text_utf8_next(text + at, length - 1 - at, &code_point);

		CHECK(size > 0 && code_point >= 0x20 && code_point != '"');
		if (code_point == '\\') {
			CHECK(at + 1 < length - 1);
			CHECK(strchr("\"\\u", text[at + 1]));
			size = 2;
			if (text[at + 1] == 'u') {
				CHECK(at + 6 <= length - 1);
				CHECK(strspn(text + at + 2, "0123456789abcdef") >= 4);
				size = 6;
			}
		}
		at += size;
	}
}

struct row {
	const char *text;
	size_t length;
};

static void get_text(const void *row, int arg, struct value *ret)
{
	const struct row *r = row;

	(void)arg;
	ret->is_known = true;
	ret->text = r->text;
	ret->text_length = r->length;
}

/*
 * Check that a row of one field is valid CSV: plain, or quoted with its quotes doubled.
 */
static void check_csv(const struct strbuf *out)
{
	size_t end = out->length - 1;

	CHECK(out->length >= 1 && out->text[end] == '\n');
	if (end == 0 || out->text[0] != '"') {
		CHECK(strcspn(out->text, "\",\r\n") == end);
		return;
	}
	CHECK(end >= 2 && out->text[end - 1] == '"');
	for (size_t i = 1; i < end - 1; i++)
		if (out->text[i] == '"')
			CHECK(out->text[++i] == '"' && i < end - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct column column = { "t",   "T", "", VALUE_TEXT,
					      false, 0,	  0,  get_text };
	const struct column *columns[] = { &column };
	const struct column_list list = { columns, 1, 1 };
	const char *text = (const char *)data;
	const struct row row = { text, size };
	struct strbuf out = STRBUF_INIT;
	struct json json;
	uint64_t ns;

	text_add_printable(&out, text, size, false);
	check_printable(&out, false);
	check_cut(&out, size ? data[0] : 0);
	strbuf_clear(&out);
	text_add_printable(&out, text, size, true);
	check_printable(&out, true);
	strbuf_clear(&out);
	json = json_begin(&out);
	json_add_string_part(&json, NULL, text, size);
	check_json_string(out.text, out.length);
	strbuf_clear(&out);
	csv_add_row(&out, &list, &row);
	check_csv(&out);
	strbuf_clear(&out);
	strbuf_add(&out, text, size);
	(void)units_parse_duration(out.text, &ns);
	strbuf_release(&out);
	return 0;
}
