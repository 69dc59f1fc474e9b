/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text - make untrusted bytes safe to display. A process chooses its own name
 * and the names of its files. Such names may contain newlines, terminal escapes
 * and invalid UTF-8.
 */
#ifndef MS_BASE_TEXT_H
#define MS_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/*
 * Return the length (1 to 4) of the well-formed UTF-8 character at the start of text, and
 * store its code point in *ret_code_point. Return 0 with *ret_code_point unchanged if
 * the bytes are not well-formed. Overlong forms, surrogates and code points above
 * U+10FFFF are not well-formed.
 */
size_t text_utf8_next(const char *text, size_t length, uint32_t *ret_code_point);

/*
 * Return true for code points that move, hide or recolour text: C0, DEL, C1, line
 * separators, bidi controls, and invisible characters that no script requires.
 */
bool text_is_control(uint32_t code_point);

/*
 * Append text, with each byte of a control character or of invalid UTF-8 written as
 * \xHH. A backslash is not escaped. If `ascii` is set, all characters outside 0x20 to
 * 0x7e are also written as \xHH.
 */
void text_add_printable(struct strbuf *out, const char *text, size_t length, bool ascii);

/*
 * Append the text as one word of a shell command, quoted only if the shell requires it.
 * Control characters and invalid UTF-8 become \xHH within $'...', which dash does not
 * support.
 */
void text_add_shell_word(struct strbuf *out, const char *text);

/*
 * Return true if the text contains all words, which are separated by blanks, in any order
 * and ignoring case. A vertical bar separates alternatives, of which one must match;
 * empty alternatives are ignored. If all alternatives are empty, every text matches.
 */
bool text_has_words(const char *text, const char *words);

/*
 * Append the words, separated by blanks, in lines of at most `width` columns. A longer
 * word has a line of its own. Each new line is indented by `indent` blanks; the caller
 * has already indented the first line. The text ends with a newline.
 */
void text_add_wrapped(struct strbuf *out, const char *words, size_t indent, size_t width);

/*
 * Copy a NUL-terminated text into a fixed field of `size` bytes. A text that is too long
 * is cut between two characters. The result is always NUL-terminated.
 */
void text_copy(char *to, size_t size, const char *from);

#endif
