/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * split - split a line of a file into kernel log lines, if a logging program or a person
 * has replaced the line breaks between them.
 */
#ifndef MS_PROC_KMSG_SPLIT_H
#define MS_PROC_KMSG_SPLIT_H

#include <stdbool.h>

/*
 * Return the first "\\x0a" or "#012" in the text, or NULL. Some programs replace line
 * breaks with these strings.
 */
char *kmsg_split_record(char *text);

/*
 * Return the start of the next kernel log line within the text, or NULL. The function
 * recognizes a line by its timestamp or its first words.
 */
char *kmsg_split_line(char *text);

/*
 * Truncate the text where a kernel message about a program's fault begins, such as
 * "hog[7]: segfault at 0 … in libx.so[…]". The names of the program and of the file in
 * the message may contain any text, including the words of an OOM report.
 */
void kmsg_split_cut_fault(char *text);

/*
 * Return true if the text begins with a timestamp such as "[123.456] ", which dmesg
 * prints on each line.
 */
bool kmsg_split_is_stamp(const char *text);

#endif
