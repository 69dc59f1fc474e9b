/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limits_file - limits of what tests of a project may allocate, in a text that people write
 * and commit. A line is kept as it is but for the number that is set in it.
 *
 *     # tests of the parser
 *     [parse small]
 *     allocations <= 1234
 *     requested_bytes = 56789 +- 2%   # rounded up
 *     peak_live_bytes <= 1.5M
 */
#ifndef MS_STORE_LIMITS_FILE_H
#define MS_STORE_LIMITS_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "model/count_runs.h"

struct limits_line {
	char *text; /* without its end */
	char *test; /* not NULL: here the limits of that test begin */
	bool is_limit;
	struct count_limit limit;
	size_t value_at, value_length; /* of the limit's number in the text */
};

struct limits_file {
	struct limits_line *lines;
	size_t count, capacity;
};

#define LIMITS_FILE_INIT { NULL, 0, 0 }

/*
 * Returns 0; -EBADMSG with what is wrong appended to why, "LINE: ..."; of load also -errno,
 * or -EFBIG. *ret is to be released after 0 only.
 */
int limits_file_parse(const char *text, size_t length, struct limits_file *ret, struct strbuf *why);
int limits_file_load(const char *path, struct limits_file *ret, struct strbuf *why);
void limits_file_release(struct limits_file *file);

/*
 * The lines that are of a test: from *ret_begin to before *ret_end. NULL: those before the
 * first. Returns 0, or -ENOENT: there is no such test.
 */
int limits_file_find(const struct limits_file *file, const char *test, size_t *ret_begin,
		     size_t *ret_end);

/* Whether a name can be that of a test. */
bool limits_file_may_be_test(const char *name);

/* The number of a line with a limit becomes that of line->limit. */
void limits_line_set(struct limits_line *line);

/* One more limit of a test, which is added at the end if there is none of that name. */
void limits_file_add(struct limits_file *file, const char *test, const struct count_limit *limit);

/* All of it as text; what limits_file_parse() reads again. */
void limits_file_format(const struct limits_file *file, struct strbuf *out);

/* Put it into place whole. Returns 0 or -errno. */
int limits_file_save(const struct limits_file *file, const char *path);

#endif
