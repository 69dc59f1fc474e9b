/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * use_rows - the part of a process report that shows what the memory is used for, such as
 * Java's code cache, and which options limit it.
 */
#ifndef MS_RENDER_PROCESS_USE_ROWS_H
#define MS_RENDER_PROCESS_USE_ROWS_H

#include <stdbool.h>

#include "base/json_write.h"
#include "base/strbuf.h"
#include "model/usage.h"

/*
 * Return the number of lines that usage_uses_add_rows() appends. It is 0 if no known use
 * of memory accounts for at least 1 % of Rss.
 */
size_t usage_uses_line_count(const struct usage *u);

/*
 * Append a table of what the memory is known to be used for: at most five uses, each with
 * at least 1 % of Rss. Also append the amount of anonymous memory whose use is unknown.
 */
void usage_uses_add_rows(struct strbuf *out, const struct usage *u, bool exact_bytes);

/*
 * Append the JSON array "uses" with all known uses of memory, and the member
 * "unknown_anon_bytes".
 */
void usage_uses_add_json(struct json *j, const struct usage *u);

#endif
