/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text - foreign bytes made safe to show. A process chooses its own name and its files'
 * names, so they may hold newlines, terminal escapes and broken UTF-8.
 */
#ifndef MS_BASE_TEXT_H
#define MS_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/*
 * Length (1 to 4) of the well-formed UTF-8 character at text, or 0: overlong forms,
 * surrogates and code points past U+10FFFF are not well-formed. *ret_code_point is
 * untouched on 0.
 */
size_t text_utf8_next(const char *text, size_t length, uint32_t *ret_code_point);

/*
 * A code point that moves, hides or recolours text: C0, DEL, C1, line separators, bidi controls,
 * invisible ones that no script needs.
 */
bool text_is_control(uint32_t code_point);

/*
 * Append with control characters and bytes that are not UTF-8 written as \xHH (each byte). A
 * backslash stays one backslash. With `ascii`, everything outside 0x20 to 0x7e is written so.
 */
void text_add_printable(struct strbuf *out, const char *text, size_t length, bool ascii);

/*
 * Append words, starting a new line behind `indent` blanks where the next one would pass
 * `width`. The first line's indent is there already. Ends with a newline.
 */
void text_add_wrapped(struct strbuf *out, const char *words, size_t indent, size_t width);

/*
 * Copy of a NUL-terminated field for fixed storage, cut at a character boundary. Always
 * terminated.
 */
void text_copy(char *to, size_t size, const char *from);

#endif
