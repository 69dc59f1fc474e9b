/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/json_write.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"

struct json json_begin(struct strbuf *out)
{
	return (struct json){ .out = out };
}

/* Append everything that precedes a value: the comma, the line break and the key. */
static void begin_value(struct json *j, const char *key)
{
	if (j->needs_comma)
		strbuf_add_char(j->out, ',');
	if (j->needs_newline)
		strbuf_add_char(j->out, '\n');
	j->needs_comma = true;
	j->needs_newline = false;
	if (key) {
		strbuf_add_char(j->out, '"');
		strbuf_add_text(j->out, key);
		strbuf_add(j->out, "\":", 2);
	}
}

static void open_bracket(struct json *j, const char *key, char bracket)
{
	begin_value(j, key);
	strbuf_add_char(j->out, bracket);
	j->needs_comma = false;
}

static void close_bracket(struct json *j, char bracket)
{
	if (j->needs_newline)
		strbuf_add_char(j->out, '\n');
	strbuf_add_char(j->out, bracket);
	j->needs_comma = true;
	j->needs_newline = false;
}

void json_begin_object(struct json *j, const char *key)
{
	open_bracket(j, key, '{');
}

void json_end_object(struct json *j)
{
	close_bracket(j, '}');
}

void json_begin_array(struct json *j, const char *key)
{
	open_bracket(j, key, '[');
}

void json_end_array(struct json *j)
{
	close_bracket(j, ']');
}

void json_break_line(struct json *j)
{
	j->needs_newline = true;
}

/*
 * Append a \u escape, or a surrogate pair for a code point above
 * U+FFFF, as JSON requires.
 */
static void add_escape(struct strbuf *out, uint32_t code_point)
{
	if (code_point > 0xffff)
		strbuf_addf(out, "\\u%04x\\u%04x",
			    0xd800 + ((code_point - 0x10000) >> 10),
			    0xdc00 + (code_point & 0x3ff));
	else
		strbuf_addf(out, "\\u%04x", code_point);
}

static void add_code_point(struct json *j, const char *bytes, size_t size,
			   uint32_t code_point)
{
	if (code_point == '"' || code_point == '\\') {
		strbuf_add_char(j->out, '\\');
		strbuf_add(j->out, bytes, 1);
	} else if (text_is_control(code_point) ||
		   (j->is_in_html &&
		    (code_point == '<' || code_point == '>' || code_point == '&'))) {
		add_escape(j->out, code_point);
	} else {
		strbuf_add(j->out, bytes, size);
	}
}

void json_add_string_part(struct json *j, const char *key, const char *text,
			  size_t length)
{
	begin_value(j, key);
	strbuf_add_char(j->out, '"');
	while (length > 0) {
		uint32_t code_point;
		size_t size = text_utf8_next(text, length, &code_point);

		if (size > 0) {
			add_code_point(j, text, size, code_point);
		} else {
			strbuf_addf(j->out, "\\\\x%02x", (unsigned char)*text);
			size = 1;
		}
		text += size;
		length -= size;
	}
	strbuf_add_char(j->out, '"');
}

void json_add_string(struct json *j, const char *key, const char *text)
{
	if (text)
		json_add_string_part(j, key, text, strlen(text));
	else
		json_add_null(j, key);
}

void json_add_number(struct json *j, const char *key, uint64_t number)
{
	begin_value(j, key);
	strbuf_add_u64(j->out, number);
}

void json_add_signed(struct json *j, const char *key, int64_t number)
{
	json_add_format(j, key, "%" PRId64, number);
}

void json_add_bool(struct json *j, const char *key, bool is_true)
{
	json_add_raw(j, key, is_true ? "true" : "false");
}

void json_add_null(struct json *j, const char *key)
{
	json_add_raw(j, key, "null");
}

void json_add_amount(struct json *j, const char *key, uint64_t amount)
{
	if (bytes_known(amount))
		json_add_number(j, key, amount);
	else
		json_add_null(j, key);
}

void json_add_address(struct json *j, const char *key, uint64_t addr)
{
	json_add_format(j, key, "\"0x%" PRIx64 "\"", addr);
}

void json_add_seconds_ms(struct json *j, const char *key, uint64_t ns)
{
	json_add_format(j, key, "%" PRIu64 ".%03" PRIu64, ns / NS_PER_S,
			ns / NS_PER_MS % 1000);
}

void json_add_seconds_us(struct json *j, const char *key, uint64_t ns)
{
	json_add_format(j, key, "%" PRIu64 ".%06" PRIu64, ns / NS_PER_S,
			ns / NS_PER_US % 1000000);
}

void json_add_raw(struct json *j, const char *key, const char *json)
{
	begin_value(j, key);
	strbuf_add_text(j->out, json);
}

void json_add_format(struct json *j, const char *key, const char *format, ...)
{
	va_list args;

	begin_value(j, key);
	va_start(args, format);
	strbuf_vaddf(j->out, format, args);
	va_end(args);
}
