/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg_oom - the kernel's reports of OOM kills, out of its log in any of the formats of
 * kmsg_stamp, of Linux 2.6.32 to 6.18.
 *
 * Other lines in between are passed over. Lines are recognized by their words, and columns by
 * their headings, as both were moved and added to over the years (mm/oom_kill.c,
 * mm/memcontrol.c). Takes time in proportion to the log and bounded memory, whatever is in it.
 */
#ifndef MS_PROC_KMSG_OOM_H
#define MS_PROC_KMSG_OOM_H

#include <stddef.h>

#include "model/oom_kill.h"

struct kmsg_oom;

/* Kills are added to the list, which is borrowed until kmsg_oom_end(). */
struct kmsg_oom *kmsg_oom_begin(struct oom_kill_list *list);

/* The next part of the log, which may end within a line. */
void kmsg_oom_add(struct kmsg_oom *parser, const char *text, size_t length);

/* The log is whole; frees the parser. */
void kmsg_oom_end(struct kmsg_oom *parser);

/* All of that for a text. */
void kmsg_oom_parse(const char *text, size_t length, struct oom_kill_list *list);

#endif
