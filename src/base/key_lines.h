/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * key_lines - values in files of one "Key: value" a line: status, meminfo, memory.stat, a
 * capture's description.
 *
 * A process chooses some of the text in these files: its name is in status. A key therefore
 * counts only at the start of a line, where the kernel never lets such text begin.
 */
#ifndef MS_BASE_KEY_LINES_H
#define MS_BASE_KEY_LINES_H

#include <stdbool.h>
#include <stdint.h>

/* Enough for a status with as many groups as a process can have (NGROUPS_MAX). */
#define KEY_LINES_BYTES_MAX (1 << 20)

/*
 * The value of the first line that starts with `key`, which includes the separator ("State:",
 * "oom_kill "), without blanks and tabs before it. It ends with the line. Returns NULL if no line
 * starts so.
 */
const char *key_lines_find(const char *text, const char *key);

/*
 * The same as a decimal number, which a blank, a tab or the line's end must follow. Returns false,
 * with *ret unchanged, if there is no such line or its value is not such a number.
 */
bool key_lines_find_u64(const char *text, const char *key, uint64_t *ret);

/* The same as a hexadecimal number. */
bool key_lines_find_hex(const char *text, const char *key, uint64_t *ret);

#endif
