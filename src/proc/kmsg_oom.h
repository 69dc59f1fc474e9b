/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg_oom - the kernel's reports of kills for want of memory, out of its log: as dmesg,
 * dmesg -T, /dev/kmsg, syslog or journald have it, of Linux 3.10 to 6.18.
 *
 * Anything else between the lines is passed over. Lines are told by their words, and
 * columns by their headings, as both were moved and added to over the years
 * (mm/oom_kill.c, mm/memcontrol.c).
 */
#ifndef MS_PROC_KMSG_OOM_H
#define MS_PROC_KMSG_OOM_H

#include <stddef.h>

#include "model/oom_kill.h"

/* Add what is in the text, which need not end with a whole line. */
void kmsg_oom_parse(const char *text, size_t length, struct oom_kill_list *list);

#endif
