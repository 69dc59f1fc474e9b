/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/table/fit.h"

#include <string.h>

#include "base/text.h"
#include "render/table/conclusion.h"
#include "render/table/output.h"

/*
 * Minimum length of a word that counts as a name, and minimum width of a shortened name.
 */
#define NAME_WIDTH_MIN 16

/*
 * Return the length of the escape sequence at the start of the text, or 0 if the
 * text begins differently.
 */
static size_t find_escape(const char *text, size_t length)
{
	size_t at = 2;

	if (length < 2 || text[0] != '\033' || text[1] != '[')
		return 0;
	while (at < length && !(text[at] >= '@' && text[at] <= '~'))
		at++;
	return at < length ? at + 1 : length;
}

/*
 * Return the number of bytes in the character or escape sequence at the start of
 * the text.
 */
static size_t find_next(const char *text, size_t length, size_t *ret_width)
{
	uint32_t code_point;
	size_t size = find_escape(text, length);

	*ret_width = 0;
	if (size > 0)
		return size;
	size = text_utf8_next(text, length, &code_point);
	size = size ? size : 1;
	*ret_width = text_display_width(text, size);
	return size;
}

size_t fit_width(const char *text, size_t length)
{
	size_t sum = 0;

	for (size_t at = 0, width; at < length; sum += width)
		at += find_next(text + at, length - at, &width);
	return sum;
}

/* Return true if the text is a path or a qualified name instead of a command line. */
static bool is_qualified(const char *text, size_t length)
{
	if (memchr(text, ' ', length))
		return false;
	return memchr(text, '/', length) || memmem(text, length, "::", 2);
}

void fit_add_short(struct strbuf *out, const char *text, size_t length, size_t width,
		   bool ascii)
{
	const char *ellipsis = ascii ? "..." : "…";
	size_t whole = fit_width(text, length), dots = ascii ? 3 : 1;
	size_t head, tail, column = 0;
	bool is_cut = false;

	if (whole <= width) {
		strbuf_add(out, text, length);
		return;
	}
	if (dots > width)
		dots = 0;
	tail = is_qualified(text, length) ? (width - dots) * 2 / 3 : 0;
	head = width - dots - tail;
	for (size_t at = 0, size, columns; at < length; at += size) {
		size = find_next(text + at, length - at, &columns);
		if (find_escape(text + at, length - at) > 0 ||
		    (!is_cut && column + columns <= head) || column >= whole - tail) {
			strbuf_add(out, text + at, size);
		} else if (!is_cut) {
			strbuf_add_text(out, dots ? ellipsis : "");
			is_cut = true;
		}
		column += columns;
	}
}

/* The state of wrapping one line of text. */
struct fitted {
	struct strbuf *out;
	size_t width;  /* width of the terminal in columns */
	size_t indent; /* indentation of all lines except the first */
	size_t used;   /* number of columns used in the current line */
	bool ascii;
};

static bool is_name(const char *word, size_t length)
{
	return is_qualified(word, length) || length >= NAME_WIDTH_MIN;
}

/*
 * Append `blanks` spaces and a word. If the word does not fit into the remainder of the
 * line, begin a new line; but if the word is a name at the end of the text line, and at
 * least NAME_WIDTH_MIN columns remain, shorten the name instead. Also shorten a word that
 * is wider than a whole line. If the indentation leaves no room for text, reduce it.
 */
static void add_word(struct fitted *f, size_t blanks, const char *word, size_t length)
{
	size_t width = fit_width(word, length);
	bool is_last = word[length] == '\n' || word[length] == '\0';

	if (is_last && is_name(word, length) &&
	    f->used + blanks + NAME_WIDTH_MIN <= f->width &&
	    width > f->width - f->used - blanks)
		width = f->width - f->used - blanks;
	if (f->used + blanks >= f->width ||
	    (f->used > f->indent && f->used + blanks + width > f->width)) {
		if (f->used > 0)
			strbuf_add_char(f->out, '\n');
		/*
		 * the indentation is smaller than the width, so the line has room
		 * for text
		 */
		blanks = f->indent;
		f->used = 0;
	}
	strbuf_add_repeat(f->out, " ", blanks);
	if (width > f->width - f->used - blanks)
		width = f->width - f->used - blanks;
	fit_add_short(f->out, word, length, width, f->ascii);
	f->used += blanks + width;
}

/*
 * Return the indentation of continuation lines: either the column of the text after the
 * line's labels and figures, or slightly more than the indentation of the line.
 */
static size_t find_indent(const char *line, size_t length, size_t width)
{
	size_t indent = 0, column = 0, blanks = 0, found = 0;

	while (indent < length && line[indent] == ' ')
		indent++;
	for (size_t at = indent, columns; at < length && column <= width / 2; at++) {
		if (line[at] != ' ' && blanks > 1)
			found = fit_width(line, at);
		blanks = line[at] == ' ' ? blanks + 1 : 0;
		at += find_next(line + at, length - at, &columns) - 1;
		column += columns;
	}
	if (found > 0 && found <= width / 2)
		return found;
	return indent + 2 < width / 2 ? indent + 2 : width / 2;
}

/* Wrap a line that is too wide, and append it. */
static void add_line(struct fitted *f, const char *line, size_t length)
{
	const char *end = line + length;

	f->used = 0;
	f->indent = find_indent(line, length, f->width);
	while (line < end) {
		size_t blanks = 0, word = 0;

		while (line + blanks < end && line[blanks] == ' ')
			blanks++;
		line += blanks;
		while (line + word < end && line[word] != ' ')
			word++;
		if (word > 0)
			add_word(f, blanks, line, word);
		line += word;
	}
}

void fit_add_lines(struct strbuf *out, const char *text, size_t width, bool ascii)
{
	struct fitted fitted = { .out = out, .width = width, .ascii = ascii };

	while (*text) {
		size_t length = strcspn(text, "\n");

		if (fit_width(text, length) <= width ||
		    strncmp(text, CONCLUSION_NEXT, strlen(CONCLUSION_NEXT)) == 0)
			strbuf_add(out, text, length);
		else
			add_line(&fitted, text, length);
		text += length;
		if (*text == '\n') {
			strbuf_add_char(out, '\n');
			text++;
		}
	}
}
