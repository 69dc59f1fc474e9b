/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limits_file - limits on what a project's tests may allocate, in a text file that
 * people edit and commit. Updating a limit changes only its number and preserves the
 * remainder of the line.
 *
 *     # tests of the parser
 *     [parse small]
 *     allocations <= 1234
 *     requested_bytes = 56789 +- 2%   # rounded up
 *     peak_live_bytes <= 1.5M
 */
#ifndef MS_STORE_PROFILE_LIMITS_FILE_H
#define MS_STORE_PROFILE_LIMITS_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "model/count_runs.h"

struct limits_line {
	char *text; /* text of the line without its newline */
	/* name of the test if the line is the heading of a test; otherwise NULL */
	char *test;
	bool is_limit;
	struct count_limit limit;
	size_t value_at, value_length; /* offset of the number in `text` */
};

struct limits_file {
	struct limits_line *lines;
	size_t count, capacity;
};

#define LIMITS_FILE_INIT   \
	{                  \
		NULL, 0, 0 \
	}

/*
 * Parse the text of a limits file, or load such a file from a path. Return 0, or -EBADMSG
 * with the reason appended to *why as "LINE: ...". limits_file_load() may also return
 * -EFBIG or another -errno. The caller releases *ret only on success.
 */
int limits_file_parse(const char *text, size_t length, struct limits_file *ret,
		      struct strbuf *why);
int limits_file_load(const char *path, struct limits_file *ret, struct strbuf *why);
void limits_file_release(struct limits_file *file);

/*
 * Find the lines of a test, or the lines before the first test if test is NULL. Set
 * *ret_begin to the index of the first line, and *ret_end to the index after the last
 * line. Return 0, or -ENOENT if the file has no such test.
 */
int limits_file_find(const struct limits_file *file, const char *test, size_t *ret_begin,
		     size_t *ret_end);

/* Return true if the string is a valid name for a test. */
bool limits_file_may_be_test(const char *name);

/* Replace the number in line->text with the number in line->limit. */
void limits_line_set(struct limits_line *line);

/*
 * Add a limit to a test. If the file does not contain the test, add the test at the end.
 */
void limits_file_add(struct limits_file *file, const char *test,
		     const struct count_limit *limit);

/* Append the file's text to *out in the format that limits_file_parse() reads. */
void limits_file_format(const struct limits_file *file, struct strbuf *out);

/* Write the limits file, replacing the old file atomically. Return 0 or -errno. */
int limits_file_save(const struct limits_file *file, const char *path);

#endif
