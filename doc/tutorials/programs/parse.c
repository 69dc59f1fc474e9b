/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse COUNT: build an index of COUNT words, as a parser would, and free it.
 *
 * Built with -DWASTEFUL, it copies each word twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *text)
{
	char *p = malloc(strlen(text) + 1);

	if (!p)
		exit(1);
	return strcpy(p, text);
}

static char *read_word(size_t i)
{
	char word[32];
	char *first;

	snprintf(word, sizeof(word), "word-%zu", i);
	first = copy(word);
#ifdef WASTEFUL
	char *second = copy(first);

	free(first);
	first = second;
#endif
	return first;
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	char **words = calloc(count, sizeof(*words));

	if (!words)
		return 1;
	for (size_t i = 0; i < count; i++)
		words[i] = read_word(i);
	for (size_t i = 0; i < count; i++)
		free(words[i]);
	free(words);
	return 0;
}
