/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/mount_line.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"

/*
 * Indices of the fields in a mountinfo line. FIELD_ indices count from the start of the
 * line, and AFTER_ indices from the separator " - ".
 */
enum {
	FIELD_ID,
	FIELD_DEVICE = 2,
	FIELD_ROOT,
	FIELD_POINT,
	FIELD_FLAGS,
	FIELD_COUNT_
};
enum {
	AFTER_TYPE,
	AFTER_SOURCE,
	AFTER_OPTIONS,
	AFTER_COUNT_
};

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Decode octal escapes in place: "a\040b" becomes "a b". */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' &&
		    is_octal(from[2]) && is_octal(from[3])) {
			*to++ = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 |
				       (from[3] - '0'));
			from += 3;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

static bool split(char *text, char **fields, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!(fields[i] = strsep(&text, " ")))
			return false;
	return true;
}

/*
 * An example of a line is "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 -
 * cgroup cgroup rw,memory". The separator "-" follows any number of optional fields, and
 * no field before it contains a blank.
 */
bool mount_line_parse(char *line, struct mount_line *ret)
{
	char *end = strstr(line, " - "), *fields[FIELD_COUNT_], *after[AFTER_COUNT_];
	unsigned int major, minor;
	uint64_t id;

	if (!end)
		return false;
	*end = '\0';
	if (!split(line, fields, FIELD_COUNT_) || !split(end + 3, after, AFTER_COUNT_) ||
	    num_parse_u64(fields[FIELD_ID], &id) < 0 ||
	    sscanf(fields[FIELD_DEVICE], "%u:%u", &major, &minor) != 2)
		return false;
	unescape(fields[FIELD_ROOT]);
	unescape(fields[FIELD_POINT]);
	*ret = (struct mount_line){
		.id = id,
		.major = major,
		.minor = minor,
		.root = fields[FIELD_ROOT],
		.point = fields[FIELD_POINT],
		.type = after[AFTER_TYPE],
		.options = after[AFTER_OPTIONS],
	};
	return true;
}

bool mount_line_next(char **rest, struct mount_line *ret)
{
	char *line;

	while ((line = strsep(rest, "\n")))
		if (mount_line_parse(line, ret))
			return true;
	return false;
}

const char *mount_line_find_option(const struct mount_line *m, const char *option)
{
	size_t length = strlen(option);
	bool has_value = length > 0 && option[length - 1] == '=';

	for (const char *at = m->options; *at; at += strspn(at, ",")) {
		size_t size = strcspn(at, ",");

		if (size >= length && strncmp(at, option, length) == 0 &&
		    (has_value || size == length))
			return at + length;
		at += size;
	}
	return NULL;
}
