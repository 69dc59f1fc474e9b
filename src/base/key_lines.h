/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * key_lines - read values from files with one "Key: value" per line, such as status,
 * meminfo, memory.stat or the description of a capture.
 *
 * A process controls part of the text in some of these files: status contains the
 * process's name. A key is therefore recognised only at the start of a line, where the
 * kernel never writes such text.
 */
#ifndef MS_BASE_KEY_LINES_H
#define MS_BASE_KEY_LINES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Maximum size of a file, large enough for a status file with the maximum number of
 * groups (NGROUPS_MAX).
 */
#define KEY_LINES_BYTES_MAX (1 << 20)

/*
 * Find the first line that starts with `key`, which includes the separator ("State:",
 * "oom_kill "). Return the rest of that line without leading blanks and tabs, or NULL.
 * The returned text is not cut at the line break: the following lines are part of it.
 */
const char *key_lines_find(const char *text, const char *key);

/*
 * Find a line as key_lines_find() does, and parse its value as a decimal number that
 * ends at a blank, a tab or the end of the line. Return false with *ret unchanged if
 * there is no such line or number.
 */
bool key_lines_find_u64(const char *text, const char *key, uint64_t *ret);

/* Like key_lines_find_u64(), for a hexadecimal number. */
bool key_lines_find_hex(const char *text, const char *key, uint64_t *ret);

#endif
