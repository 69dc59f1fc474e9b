/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_read - single values out of JSON that others wrote, without making a tree of it.
 *
 * What is passed over is not checked for more than where it ends. Each function looks at
 * a text at most once.
 */
#ifndef MS_BASE_JSON_READ_H
#define MS_BASE_JSON_READ_H

#include <stddef.h>

#include "base/strbuf.h"

/* A value with all that belongs to it: an object from "{" to "}". Borrowed from the text. */
struct json_part {
	const char *text;
	size_t length;
};

/* The member of an object. Returns 0, -ENOENT, or -EBADMSG if it is no object. */
int json_find_member(struct json_part object, const char *key, struct json_part *ret);

/*
 * The next element of an array; *at is 0 for the first one, and where to go on then.
 * Returns 0, -ENOENT after the last one, or -EBADMSG.
 */
int json_next_element(struct json_part array, size_t *at, struct json_part *ret);

/* Append what a string says. Returns 0, or -EBADMSG if it is none. */
int json_add_text(struct json_part string, struct strbuf *out);

#endif
