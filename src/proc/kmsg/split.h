/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * split - find the kernel log lines that share one line of a file, because a logging
 * program or a person replaced the line breaks.
 */
#ifndef MS_PROC_KMSG_SPLIT_H
#define MS_PROC_KMSG_SPLIT_H

#include <stdbool.h>

/*
 * Return the first "\\x0a" or "#012" in text, or NULL. Some programs
 * write a line break this way.
 */
char *kmsg_split_record(char *text);

/*
 * Return where the next kernel log line begins after the start of text, or NULL. Such a
 * line is recognized by its timestamp or its first words.
 */
char *kmsg_split_line(char *text);

/*
 * Return whether text begins with a timestamp like "[123.456] ",
 * as each line of dmesg does.
 */
bool kmsg_split_is_stamp(const char *text);

#endif
