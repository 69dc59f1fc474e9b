/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * similar - find the known names that the user probably meant by a misspelt word, as
 * git does for its commands.
 */
#ifndef MS_BASE_SIMILAR_H
#define MS_BASE_SIMILAR_H

#include <stddef.h>

#include "base/strbuf.h"

/*
 * Return the Damerau-Levenshtein distance from word to name, with git's weights: a letter
 * that is missing from the word costs 1, a wrong letter 2, a superfluous letter 3, and a
 * transposition of two letters 0. The case of ASCII letters is ignored.
 */
unsigned int similar_distance(const char *word, const char *name);

#define SIMILAR_NAMES_MAX 5

/* The known names that are closest to a word. All texts are borrowed. */
struct similar {
	const char *word;
	unsigned int distance; /* distance from the word, the same for all listed names */
	const char *names[SIMILAR_NAMES_MAX];
	size_t count; /* number of listed names, or 0 if no name is similar */
};

/*
 * Compare a known name with the word. List the name if it is similar and no listed name
 * is closer, and remove the less similar names from the list. A name is listed only once.
 */
void similar_add(struct similar *similar, const char *name);

/*
 * Append "; did you mean 'NAME'?" with all listed names. `prefix` precedes each name
 * within the quotes. If no name is listed, append nothing.
 */
void similar_add_hint(const struct similar *similar, const char *prefix,
		      struct strbuf *out);

#endif
