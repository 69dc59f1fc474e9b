/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/text.h"

#include <string.h>

size_t text_utf8_next(const char *text, size_t length, uint32_t *ret_code_point)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)text;
	uint32_t code_point;
	size_t size;

	if (length == 0)
		return 0;
	if (p[0] < 0x80) {
		*ret_code_point = p[0];
		return 1;
	}
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		size = 2;
	else if ((p[0] & 0xf0) == 0xe0)
		size = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		size = 4;
	else
		return 0;
	if (length < size)
		return 0;
	code_point = p[0] & (0xffu >> (size + 1));
	for (size_t i = 1; i < size; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code_point = code_point << 6 | (p[i] & 0x3fu);
	}
	if (code_point < smallest[size] || code_point > 0x10ffff ||
	    (code_point >= 0xd800 && code_point <= 0xdfff))
		return 0;
	*ret_code_point = code_point;
	return size;
}

bool text_is_control(uint32_t code_point)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0x00, 0x1f },
		{ 0x7f, 0x9f },
		{ 0x61c, 0x61c }, /* Arabic letter mark */
		/*
		 * Zero width space. The joiners after this range are allowed, because
		 * some scripts need them.
		 */
		{ 0x200b, 0x200b },
		{ 0x200e, 0x200f }, /* left-to-right and right-to-left marks */
		/* Line and paragraph separators, directional embeddings and overrides. */
		{ 0x2028, 0x202e },
		{ 0x2060, 0x206f },   /* invisible operators, directional isolates */
		{ 0xfeff, 0xfeff },   /* byte order mark */
		{ 0xfff9, 0xfffb },   /* interlinear annotation characters */
		{ 0xfffe, 0xffff },   /* noncharacters: not allowed in XML */
		{ 0xe0000, 0xe007f }, /* tag characters */
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (code_point >= ranges[i].first && code_point <= ranges[i].last)
			return true;
	return false;
}

static void add_hex(struct strbuf *out, const char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		strbuf_addf(out, "\\x%02x", (unsigned char)bytes[i]);
}

void text_add_printable(struct strbuf *out, const char *text, size_t length, bool ascii)
{
	while (length > 0) {
		size_t plain = 0;
		uint32_t code_point;
		size_t size;

		while (plain < length && text[plain] >= 0x20 && text[plain] < 0x7f)
			plain++;
		if (plain > 0) {
			strbuf_add(out, text, plain);
			text += plain;
			length -= plain;
			continue;
		}
		size = text_utf8_next(text, length, &code_point);
		if (size == 0)
			add_hex(out, text, 1);
		else if (ascii || text_is_control(code_point))
			add_hex(out, text, size);
		else
			strbuf_add(out, text, size);
		size = size ? size : 1;
		text += size;
		length -= size;
	}
}

/* Return true if the text contains a character that cannot be printed. */
static bool has_unprintable(const char *text)
{
	_cleanup_strbuf_ struct strbuf shown = STRBUF_INIT;

	text_add_printable(&shown, text, strlen(text), false);
	return strcmp(strbuf_text(&shown), text) != 0;
}

/* Append the text in the shell's $'...' quoting. */
static void add_escaped_word(struct strbuf *out, const char *text)
{
	strbuf_add_text(out, "$'");
	while (*text) {
		size_t plain = strcspn(text, "'\\");

		text_add_printable(out, text, plain, false);
		text += plain;
		if (*text)
			strbuf_addf(out, "\\%c", *text++);
	}
	strbuf_add_char(out, '\'');
}

void text_add_shell_word(struct strbuf *out, const char *text)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_@%+=:,./-";

	if (has_unprintable(text)) {
		add_escaped_word(out, text);
		return;
	}
	if (*text && text[strspn(text, safe)] == '\0') {
		strbuf_add_text(out, text);
		return;
	}
	strbuf_add_char(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			strbuf_add_text(out, "'\\''");
		else
			strbuf_add_char(out, *text);
	}
	strbuf_add_char(out, '\'');
}

/*
 * Return true if the text contains, in any order, all words from `words` to `end`, which
 * are separated by blanks.
 */
static bool has_all_words(const char *text, const char *words, const char *end)
{
	_cleanup_strbuf_ struct strbuf word = STRBUF_INIT;

	while (words < end) {
		size_t length = strcspn(words, " |");

		strbuf_clear(&word);
		strbuf_add(&word, words, length);
		if (!strcasestr(text, strbuf_text(&word)))
			return false;
		words += length + (words + length < end);
	}
	return true;
}

bool text_has_words(const char *text, const char *words)
{
	bool is_empty = true;

	for (;;) {
		const char *end = words + strcspn(words, "|");
		bool has_word = words + strspn(words, " ") < end;

		if (has_word && has_all_words(text, words, end))
			return true;
		is_empty = is_empty && !has_word;
		if (*end == '\0')
			return is_empty;
		words = end + 1;
	}
}

void text_add_wrapped(struct strbuf *out, const char *words, size_t indent, size_t width)
{
	size_t used = indent;

	while (*words) {
		size_t word = strcspn(words, " ");

		if (used > indent && used + 1 + word > width) {
			strbuf_add_char(out, '\n');
			strbuf_add_repeat(out, " ", indent);
			used = indent;
		} else if (used > indent) {
			strbuf_add_char(out, ' ');
			used++;
		}
		strbuf_add(out, words, word);
		used += word;
		words += word;
		words += strspn(words, " ");
	}
	strbuf_add_char(out, '\n');
}

void text_copy(char *to, size_t size, const char *from)
{
	size_t length = strlen(from);

	if (length >= size) {
		length = size - 1;
		while (length > 0 && ((unsigned char)from[length] & 0xc0) == 0x80)
			length--;
	}
	memcpy(to, from, length);
	to[length] = '\0';
}
