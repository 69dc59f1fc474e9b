/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/key_lines.h"

#include <string.h>

#include "base/num.h"

#define NUMBER_SIZE 24 /* the longest number, UINT64_MAX, has 20 digits */

const char *key_lines_find(const char *text, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = text; strncmp(line, key, length) != 0; line++) {
		line = strchr(line, '\n');
		if (!line)
			return NULL;
		text = line + 1;
	}
	return text + length + strspn(text + length, " \t");
}

static bool find_number(const char *text, const char *key,
			int (*parse)(const char *, uint64_t *), uint64_t *ret)
{
	const char *value = key_lines_find(text, key);
	size_t length = value ? strcspn(value, " \t\n") : 0;
	char number[NUMBER_SIZE];

	if (length == 0 || length >= sizeof(number))
		return false;
	memcpy(number, value, length);
	number[length] = '\0';
	return parse(number, ret) == 0;
}

bool key_lines_find_u64(const char *text, const char *key, uint64_t *ret)
{
	return find_number(text, key, num_parse_u64, ret);
}

bool key_lines_find_hex(const char *text, const char *key, uint64_t *ret)
{
	return find_number(text, key, num_parse_hex, ret);
}
