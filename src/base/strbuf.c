/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

void strbuf_init(struct strbuf *sb)
{
	*sb = (struct strbuf)STRBUF_INIT;
}

void strbuf_release(struct strbuf *sb)
{
	free(sb->text);
	strbuf_init(sb);
}

void strbuf_clear(struct strbuf *sb)
{
	strbuf_truncate(sb, 0);
}

const char *strbuf_text(const struct strbuf *sb)
{
	return sb->text ? sb->text : "";
}

char *strbuf_take(struct strbuf *sb)
{
	char *text = sb->text ? sb->text : xstrdup("");

	strbuf_init(sb);
	return text;
}

static char *make_room(struct strbuf *sb, size_t extra)
{
	sb->text = xgrow(sb->text, &sb->capacity, sb->length + extra + 1, 1);
	return sb->text + sb->length;
}

void strbuf_add(struct strbuf *sb, const void *bytes, size_t length)
{
	char *end = make_room(sb, length);

	if (length > 0) /* passing NULL to memcpy() is undefined even for 0 bytes */
		memcpy(end, bytes, length);
	end[length] = '\0';
	sb->length += length;
}

void strbuf_add_text(struct strbuf *sb, const char *text)
{
	strbuf_add(sb, text, strlen(text));
}

void strbuf_add_char(struct strbuf *sb, char c)
{
	strbuf_add(sb, &c, 1);
}

void strbuf_add_repeat(struct strbuf *sb, const char *text, size_t count)
{
	size_t length = strlen(text);

	while (count-- > 0)
		strbuf_add(sb, text, length);
}

/*
 * The digits are formatted here because strbuf_addf() takes six times as long, and most
 * fields of a CSV row are integers.
 */
void strbuf_add_u64(struct strbuf *sb, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	strbuf_add(sb, digits + at, sizeof(digits) - at);
}

void strbuf_vaddf(struct strbuf *sb, const char *format, va_list args)
{
	char *end = make_room(sb, 64);
	size_t room = sb->capacity - sb->length;
	va_list again;
	int length;

	va_copy(again, args);
	length = vsnprintf(end, room, format, args);
	if (length > 0 && (size_t)length >= room) {
		end = make_room(sb, (size_t)length);
		vsnprintf(end, (size_t)length + 1, format, again);
	}
	va_end(again);
	if (length > 0)
		sb->length += (size_t)length;
}

void strbuf_addf(struct strbuf *sb, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	strbuf_vaddf(sb, format, args);
	va_end(args);
}

void strbuf_truncate(struct strbuf *sb, size_t length)
{
	if (length < sb->length) {
		sb->length = length;
		sb->text[length] = '\0';
	}
}
