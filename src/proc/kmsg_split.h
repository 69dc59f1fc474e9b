/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg_split - lines of the kernel's log within one line of a file: programs that log, and
 * people who paste, replace ends of lines.
 */
#ifndef MS_PROC_KMSG_SPLIT_H
#define MS_PROC_KMSG_SPLIT_H

#include <stdbool.h>

/* Return where "\\x0a" or "#012" is, as some programs spell the end of a line, or NULL. */
char *kmsg_split_record(char *text);

/*
 * Return where the next line of the kernel's begins after the start of the text, by its stamp
 * or its first words, or NULL.
 */
char *kmsg_split_line(char *text);

/* Whether "[123.456] " is here: each line of dmesg has one. */
bool kmsg_split_is_stamp(const char *text);

#endif
