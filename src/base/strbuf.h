/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strbuf - a growing text buffer. Once anything has been added, `text` is NUL-terminated.
 * Bytes added with strbuf_add() may include NUL bytes.
 *
 * strbuf_init() allocates no memory, strbuf_clear() keeps the memory for reuse, and
 * strbuf_release() frees it.
 */
#ifndef MS_BASE_STRBUF_H
#define MS_BASE_STRBUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf {
	char *text;
	size_t length;
	size_t capacity;
};

#define STRBUF_INIT        \
	{                  \
		NULL, 0, 0 \
	}
#define _cleanup_strbuf_ __attribute__((cleanup(strbuf_release)))

void strbuf_init(struct strbuf *sb);
void strbuf_release(struct strbuf *sb);
void strbuf_clear(struct strbuf *sb);

/* Return the text, or "" if the buffer is empty. Valid until the buffer changes. */
const char *strbuf_text(const struct strbuf *sb);

/* Return the text, never NULL, and leave the buffer empty. The caller frees the text. */
char *strbuf_take(struct strbuf *sb);

/* Append `length` bytes. The pointer may be NULL if length is 0. */
void strbuf_add(struct strbuf *sb, const void *bytes, size_t length);
void strbuf_add_text(struct strbuf *sb, const char *text);
void strbuf_add_char(struct strbuf *sb, char c);
void strbuf_add_repeat(struct strbuf *sb, const char *text, size_t count);
void strbuf_add_u64(struct strbuf *sb, uint64_t value);
void strbuf_addf(struct strbuf *sb, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void strbuf_vaddf(struct strbuf *sb, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/* Truncate the text to `length` bytes. A shorter text is unchanged. */
void strbuf_truncate(struct strbuf *sb, size_t length);

#endif
