/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_read - extract single values from untrusted JSON, without building a tree.
 *
 * The functions do not validate the values that they skip. Each function scans a text at
 * most once.
 */
#ifndef MS_BASE_JSON_READ_H
#define MS_BASE_JSON_READ_H

#include <stddef.h>

#include "base/strbuf.h"

/*
 * The text of a complete JSON value, such as an object from "{" to "}".
 * The text is borrowed.
 */
struct json_part {
	const char *text;
	size_t length;
};

/*
 * Find a member of an object. Return 0, -ENOENT if there is no such member, or -EBADMSG
 * if the text is not an object.
 */
int json_find_member(struct json_part object, const char *key, struct json_part *ret);

/*
 * Get the next element of an array. *at must be 0 for the first call, and each call
 * advances *at. Return 0, -ENOENT after the last element, or -EBADMSG.
 */
int json_next_element(struct json_part array, size_t *at, struct json_part *ret);

/*
 * Append the decoded contents of a string. Return 0, or -EBADMSG with *out unchanged if
 * the value is not a valid string.
 */
int json_read_text(struct json_part string, struct strbuf *out);

#endif
