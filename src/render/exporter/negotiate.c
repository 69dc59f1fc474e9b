/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/exporter/negotiate.h"

#include <string.h>
#include <strings.h>

/* A part of a header without leading and trailing spaces. The text is borrowed. */
struct piece {
	const char *text;
	size_t length;
};

/* Move the text before the next separator from *rest to *ret. Return false at the end. */
static bool next_piece(struct piece *rest, char separator, struct piece *ret)
{
	const char *end;

	if (!rest->text)
		return false;
	end = memchr(rest->text, separator, rest->length);
	ret->text = rest->text;
	ret->length = end ? (size_t)(end - rest->text) : rest->length;
	rest->length -= ret->length + (end != NULL);
	rest->text = end ? end + 1 : NULL;
	while (ret->length > 0 && strchr(" \t", ret->text[0])) {
		ret->text++;
		ret->length--;
	}
	while (ret->length > 0 && strchr(" \t", ret->text[ret->length - 1]))
		ret->length--;
	return true;
}

static bool is_word(struct piece piece, const char *word)
{
	return piece.length == strlen(word) &&
	       strncasecmp(piece.text, word, piece.length) == 0;
}

/*
 * Parse a quality value such as "0.75". Return it in thousandths, or 0 if it
 * is malformed.
 */
static unsigned int parse_quality(struct piece value)
{
	unsigned int quality, unit = 100;

	if (value.length == 0 || value.length > 5 || !strchr("01", value.text[0]))
		return 0;
	quality = value.text[0] == '1' ? 1000 : 0;
	if (value.length > 1 && value.text[1] != '.')
		return 0;
	for (size_t i = 2; i < value.length; i++, unit /= 10) {
		if (value.text[i] < '0' || value.text[i] > '9')
			return 0;
		quality += (unsigned int)(value.text[i] - '0') * unit;
	}
	return quality <= 1000 ? quality : 0;
}

/* One element of the header, such as "text/plain;version=0.0.4;q=0.5". */
struct element {
	struct piece name, version;
	unsigned int quality;
};

static bool next_element(struct piece *rest, struct element *ret)
{
	struct piece parts, part;

	if (!next_piece(rest, ',', &parts))
		return false;
	*ret = (struct element){ .quality = 1000 };
	next_piece(&parts, ';', &ret->name);
	while (next_piece(&parts, ';', &part)) {
		struct piece key, value;

		if (!memchr(part.text, '=', part.length))
			continue;
		next_piece(&part, '=', &key);
		next_piece(&part, '\0', &value);
		if (is_word(key, "q"))
			ret->quality = parse_quality(value);
		else if (is_word(key, "version"))
			ret->version = value;
	}
	return true;
}

static void raise_to(unsigned int *quality, unsigned int other)
{
	if (*quality < other)
		*quality = other;
}

enum exposition_format negotiate_format(const char *accept)
{
	struct piece rest = { accept, accept ? strlen(accept) : 0 };
	unsigned int text = 0, openmetrics = 0;
	struct element e;

	while (next_element(&rest, &e)) {
		if (is_word(e.name, "application/openmetrics-text") &&
		    (e.version.length == 0 || is_word(e.version, "1.0.0")))
			raise_to(&openmetrics, e.quality);
		else if (is_word(e.name, "text/plain") || is_word(e.name, "text/*") ||
			 is_word(e.name, "*/*"))
			raise_to(&text, e.quality);
	}
	return openmetrics > 0 && openmetrics >= text ? EXPOSITION_OPENMETRICS
						      : EXPOSITION_TEXT;
}

bool negotiate_gzip(const char *accept_encoding)
{
	struct piece rest = { accept_encoding,
			      accept_encoding ? strlen(accept_encoding) : 0 };
	bool is_any = false;
	struct element e;

	while (next_element(&rest, &e)) {
		if (is_word(e.name, "gzip") || is_word(e.name, "x-gzip"))
			return e.quality > 0;
		if (is_word(e.name, "*"))
			is_any = e.quality > 0;
	}
	return is_any;
}
