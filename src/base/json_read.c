/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/json_read.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct reading {
	const char *at, *end;
};

static bool is_one_of(char c, const char *chars)
{
	return c != '\0' && strchr(chars, c);
}

static void skip_blanks(struct reading *r)
{
	while (r->at < r->end && is_one_of(*r->at, " \t\r\n"))
		r->at++;
}

static bool skip_char(struct reading *r, char c)
{
	skip_blanks(r);
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

/* Skip a string including both quotes. */
static int skip_string(struct reading *r)
{
	if (!skip_char(r, '"'))
		return -EBADMSG;
	for (; r->at < r->end; r->at++) {
		if (*r->at == '"') {
			r->at++;
			return 0;
		}
		if (*r->at == '\\' && ++r->at == r->end)
			break;
	}
	return -EBADMSG;
}

/* Skip an array or object up to and including its closing bracket. */
static int skip_brackets(struct reading *r)
{
	size_t depth = 0;

	while (r->at < r->end) {
		char c = *r->at;

		if (c == '"') {
			if (skip_string(r) < 0)
				return -EBADMSG;
			continue;
		}
		r->at++;
		if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && --depth == 0)
			return 0;
	}
	return -EBADMSG;
}

static int skip_value(struct reading *r, struct json_part *ret)
{
	const char *begin;
	int error = 0;

	skip_blanks(r);
	begin = r->at;
	if (r->at == r->end)
		return -EBADMSG;
	if (*r->at == '"')
		error = skip_string(r);
	else if (*r->at == '{' || *r->at == '[')
		error = skip_brackets(r);
	else
		while (r->at < r->end && !is_one_of(*r->at, ",:]} \t\r\n"))
			r->at++;
	if (error < 0 || r->at == begin)
		return -EBADMSG;
	*ret = (struct json_part){ begin, (size_t)(r->at - begin) };
	return 0;
}

/*
 * Return true if name is `key` in quotes. A name that contains escapes never matches, but
 * no caller searches for such a name.
 */
static bool is_key(struct json_part name, const char *key)
{
	return name.length == strlen(key) + 2 &&
	       memcmp(name.text + 1, key, strlen(key)) == 0;
}

int json_find_member(struct json_part object, const char *key, struct json_part *ret)
{
	struct reading r = { object.text, object.text + object.length };
	struct json_part name, value;

	if (!skip_char(&r, '{'))
		return -EBADMSG;
	if (skip_char(&r, '}'))
		return -ENOENT;
	do {
		skip_blanks(&r);
		name.text = r.at;
		if (skip_string(&r) < 0)
			return -EBADMSG;
		name.length = (size_t)(r.at - name.text);
		if (!skip_char(&r, ':') || skip_value(&r, &value) < 0)
			return -EBADMSG;
		if (is_key(name, key)) {
			*ret = value;
			return 0;
		}
	} while (skip_char(&r, ','));
	return skip_char(&r, '}') ? -ENOENT : -EBADMSG;
}

int json_next_element(struct json_part array, size_t *at, struct json_part *ret)
{
	struct reading r = { array.text + *at, array.text + array.length };
	struct json_part value;

	if (*at == 0) {
		if (!skip_char(&r, '['))
			return -EBADMSG;
		if (skip_char(&r, ']'))
			return -ENOENT;
	} else if (!skip_char(&r, ',')) {
		return skip_char(&r, ']') ? -ENOENT : -EBADMSG;
	}
	if (skip_value(&r, &value) < 0)
		return -EBADMSG;
	*at = (size_t)(r.at - array.text);
	*ret = value;
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_high_surrogate(uint32_t code)
{
	return code >= 0xd800 && code < 0xdc00;
}

static bool is_low_surrogate(uint32_t code)
{
	return code >= 0xdc00 && code < 0xe000;
}

/* Append a code point as UTF-8. Return -EBADMSG for NUL and for a surrogate. */
static int add_code_point(uint32_t code, struct strbuf *out)
{
	if (code == 0 || is_high_surrogate(code) || is_low_surrogate(code))
		return -EBADMSG;
	if (code < 0x80) {
		strbuf_add_char(out, (char)code);
		return 0;
	}
	if (code < 0x800) {
		strbuf_add_char(out, (char)(0xc0 | code >> 6));
	} else {
		if (code < 0x10000) {
			strbuf_add_char(out, (char)(0xe0 | code >> 12));
		} else {
			strbuf_add_char(out, (char)(0xf0 | code >> 18));
			strbuf_add_char(out, (char)(0x80 | (code >> 12 & 0x3f)));
		}
		strbuf_add_char(out, (char)(0x80 | (code >> 6 & 0x3f)));
	}
	strbuf_add_char(out, (char)(0x80 | (code & 0x3f)));
	return 0;
}

/* Read the four hexadecimal digits of a \u escape. r->at points after the "u". */
static int read_unit(struct reading *r, uint32_t *ret)
{
	uint32_t unit = 0;

	if (r->end - r->at < 4)
		return -EBADMSG;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(*r->at++);

		if (digit < 0)
			return -EBADMSG;
		unit = unit << 4 | (uint32_t)digit;
	}
	*ret = unit;
	return 0;
}

/*
 * Read a \u escape, or two escapes that form a surrogate pair. r->at points
 * after the first "u".
 */
static int read_code_point(struct reading *r, uint32_t *ret)
{
	uint32_t low;

	if (read_unit(r, ret) < 0)
		return -EBADMSG;
	if (!is_high_surrogate(*ret))
		return 0;
	if (r->end - r->at < 2 || *r->at++ != '\\' || *r->at++ != 'u')
		return -EBADMSG;
	if (read_unit(r, &low) < 0 || !is_low_surrogate(low))
		return -EBADMSG;
	*ret = 0x10000 + ((*ret - 0xd800) << 10 | (low - 0xdc00));
	return 0;
}

/* Append the character that an escape represents. r->at points after the backslash. */
static int add_escaped(struct reading *r, struct strbuf *out)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	char c = *r->at++;
	uint32_t code;

	if (is_one_of(c, letters)) {
		strbuf_add_char(out, meant[strchr(letters, c) - letters]);
		return 0;
	}
	if (c != 'u' || read_code_point(r, &code) < 0)
		return -EBADMSG;
	return add_code_point(code, out);
}

int json_read_text(struct json_part string, struct strbuf *out)
{
	struct reading r = { string.text + 1, string.text + string.length - 1 };
	size_t before = out->length;

	if (string.length < 2 || string.text[0] != '"' || *r.end != '"')
		return -EBADMSG;
	while (r.at < r.end) {
		char c = *r.at++;

		if (c != '\\') {
			strbuf_add_char(out, c);
			continue;
		}
		if (r.at == r.end || add_escaped(&r, out) < 0) {
			strbuf_truncate(out, before);
			return -EBADMSG;
		}
	}
	return 0;
}
