/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_target - a program that allocates in several places. It is built twice:
 * diff_target_after has an additional call in store_line(), and additional code before
 * it, so that all addresses differ. Both print how often duplicate() is called.
 */
#include <stdlib.h>
#include <string.h>

#include "say.h"

#define LINES 5000
#define REPEATED_MAX 1700

#define OWN_FRAME __attribute__((noinline))

static char *kept[LINES];
static uint64_t duplicate_count;

#ifdef IS_AFTER
static volatile unsigned int checksum;

OWN_FRAME static void check_line(const char *line)
{
	for (const char *c = line; *c; c++)
		checksum = checksum * 31 + (unsigned char)*c;
}
#endif

OWN_FRAME static char *duplicate(const char *line)
{
	char *copy = malloc(strlen(line) + 1);

	if (!copy)
		_exit(99);
	duplicate_count++;
	return strcpy(copy, line);
}

OWN_FRAME static void store_line(const char *line, int number)
{
	kept[number] = duplicate(line);
#ifdef IS_AFTER
	check_line(line);
	if (number < REPEATED_MAX)
		free(duplicate(line));
#endif
}

OWN_FRAME static void load(void)
{
	char line[64];

	for (int i = 0; i < LINES; i++) {
		snprintf(line, sizeof(line), "line %d", i);
		store_line(line, i);
	}
}

OWN_FRAME static void sort(void)
{
	for (int i = 0; i < LINES; i++) {
		void *volatile work = calloc(4, 16);

		free(work);
	}
}

OWN_FRAME static void release(void)
{
	for (int i = 0; i < LINES; i++) {
		kept[i] = realloc(kept[i], 100);
		free(kept[i]);
	}
}

int main(void)
{
	load();
	sort();
	release();
	say("duplicate", duplicate_count);
	return 0;
}
