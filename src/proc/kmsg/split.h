/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * split - divide a line of a file that contains several kernel log lines, because a
 * logging program or a person replaced the line breaks.
 */
#ifndef MS_PROC_KMSG_SPLIT_H
#define MS_PROC_KMSG_SPLIT_H

#include <stdbool.h>

/*
 * Return the first "\\x0a" or "#012" in text, or NULL. Some programs write line breaks in
 * these forms.
 */
char *kmsg_split_record(char *text);

/*
 * Return the start of the next kernel log line within text, or NULL. Such a line is
 * recognized by its timestamp or its first words.
 */
char *kmsg_split_line(char *text);

/*
 * Truncate text at the kernel's message about a program's fault, if there is one, such as
 * "hog[7]: segfault at 0 … in libx.so[…]". The names of the program and of the file may
 * contain any text, including the words of an OOM report.
 */
void kmsg_split_cut_fault(char *text);

/*
 * Return true if text begins with a timestamp such as "[123.456] ", as
 * each line of dmesg does.
 */
bool kmsg_split_is_stamp(const char *text);

#endif
