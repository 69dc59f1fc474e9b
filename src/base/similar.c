/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/similar.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

/*
 * Names at this distance or more from the word are never similar, whatever the length
 * of the word.
 */
#define DISTANCE_MAX 7

/*
 * Maximum length of a word that is compared. A longer word is unlikely to be a misspelt
 * name.
 */
#define WORD_MAX 64

#define COST_SUBSTITUTE 2
#define COST_INSERT 1
#define COST_DELETE 3

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned int smaller(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

unsigned int similar_distance(const char *word, const char *name)
{
	size_t rows = strlen(word), width = strlen(name) + 1;
	/*
	 * cells[i * width + j] is the cost of turning the first i letters of `word` into
	 * the first j letters of `name`
	 */
	_cleanup_free_ unsigned int *cells = xcalloc((rows + 1) * width, sizeof(*cells));

	for (size_t i = 0; i <= rows; i++) {
		unsigned int *row = cells + i * width;
		/*
		 * The previous row of the cost table, and the row before that one. If
		 * there is no such row, the pointer is a placeholder that is not used: it
		 * points to the current row.
		 */
		const unsigned int *last = i > 0 ? row - width : row;
		const unsigned int *before = i > 1 ? last - width : row;

		for (size_t j = 0; j < width; j++) {
			if (i == 0 || j == 0) {
				row[j] =
					(unsigned int)(i * COST_DELETE + j * COST_INSERT);
				continue;
			}
			row[j] = last[j - 1] + (lower(word[i - 1]) == lower(name[j - 1])
							? 0
							: COST_SUBSTITUTE);
			row[j] = smaller(row[j], last[j] + COST_DELETE);
			row[j] = smaller(row[j], row[j - 1] + COST_INSERT);
			if (i > 1 && j > 1 && lower(word[i - 1]) == lower(name[j - 2]) &&
			    lower(word[i - 2]) == lower(name[j - 1]))
				row[j] = smaller(row[j], before[j - 2]);
		}
	}
	return cells[rows * width + width - 1];
}

/*
 * Return the distance from the word to a name, or DISTANCE_MAX if the name is not
 * similar. If the name begins with the word, the distance is 0. The shorter the word, the
 * fewer errors are allowed.
 */
static unsigned int find_distance(const char *word, const char *name)
{
	size_t length = strlen(word);
	unsigned int distance;

	if (length < 2 || length > WORD_MAX)
		return DISTANCE_MAX;
	if (strncasecmp(name, word, length) == 0)
		return 0;
	distance = similar_distance(word, name) + 1;
	return distance <= length ? smaller(distance, DISTANCE_MAX) : DISTANCE_MAX;
}

void similar_add(struct similar *similar, const char *name)
{
	unsigned int distance = find_distance(similar->word, name);

	if (distance >= DISTANCE_MAX ||
	    (similar->count > 0 && distance > similar->distance))
		return;
	if (distance < similar->distance)
		similar->count = 0;
	for (size_t i = 0; i < similar->count; i++)
		if (strcmp(similar->names[i], name) == 0)
			return;
	similar->distance = distance;
	if (similar->count < SIMILAR_NAMES_MAX)
		similar->names[similar->count++] = name;
}

void similar_add_hint(const struct similar *similar, const char *prefix,
		      struct strbuf *out)
{
	for (size_t i = 0; i < similar->count; i++) {
		bool is_last = i + 1 == similar->count;

		strbuf_addf(out, "%s'%s%s'",
			    i == 0    ? "; did you mean "
			    : is_last ? " or "
				      : ", ",
			    prefix, similar->names[i]);
	}
	if (similar->count > 0)
		strbuf_add_char(out, '?');
}
