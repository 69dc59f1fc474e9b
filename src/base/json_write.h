/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_write - append JSON to a strbuf. The writer adds the commas.
 *
 * Each function appends an object member with the given key. If key is NULL, it
 * appends an array element or the whole document. Keys are constants of memstate
 * and are not escaped.
 */
#ifndef MS_BASE_JSON_WRITE_H
#define MS_BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

struct json {
	struct strbuf *out;
	bool needs_comma; /* true to append a comma before the next member or element */
	/* true to append a line break before the next member or element */
	bool needs_newline;
	/*
	 * True to also escape "<", ">" and "&", so that the JSON can be embedded in HTML.
	 */
	bool is_in_html;
};

/* Return a writer that appends a new document to *out. */
struct json json_begin(struct strbuf *out);

void json_begin_object(struct json *j, const char *key);
void json_end_object(struct json *j);
void json_begin_array(struct json *j, const char *key);
void json_end_array(struct json *j);

/* Append a line break before the next member, element or closing bracket. */
void json_break_line(struct json *j);

/*
 * Append text as a string, or null if text is NULL. Control characters are escaped. Each
 * byte that is not UTF-8 becomes \xHH, which JSON writes as "\\xHH".
 */
void json_add_string(struct json *j, const char *key, const char *text);
void json_add_string_part(struct json *j, const char *key, const char *text,
			  size_t length);

void json_add_number(struct json *j, const char *key, uint64_t number);
void json_add_signed(struct json *j, const char *key, int64_t number);
void json_add_bool(struct json *j, const char *key, bool is_true);
void json_add_null(struct json *j, const char *key);

/* Append a number, or null if amount is BYTES_UNKNOWN. */
void json_add_amount(struct json *j, const char *key, uint64_t amount);

/* Append an address as a string, such as "0x7f…". */
void json_add_address(struct json *j, const char *key, uint64_t addr);

/* Append a duration in seconds, with a resolution of 1 ms or 1 us. */
void json_add_seconds_ms(struct json *j, const char *key, uint64_t ns);
void json_add_seconds_us(struct json *j, const char *key, uint64_t ns);

/* Append text that is already valid JSON, such as a number formatted by the caller. */
void json_add_raw(struct json *j, const char *key, const char *json);
void json_add_format(struct json *j, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
