/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom - parse the OOM reports of Linux 2.6.32 to 6.18 in a kernel log, in any format that
 * kmsg_stamp accepts. The parser ignores unrelated lines within a report. It recognizes
 * lines by their wording, and columns by their headings, because kernel versions reorder
 * and add both (mm/oom_kill.c, mm/memcontrol.c). For any log, the time is proportional to
 * its size, and the memory is bounded.
 */
#ifndef MS_PROC_KMSG_OOM_H
#define MS_PROC_KMSG_OOM_H

#include <stddef.h>

#include "model/oom_kill.h"

struct kmsg_oom;

/*
 * Create a parser that appends OOM kills to *list. The list must remain valid until
 * kmsg_oom_end().
 */
struct kmsg_oom *kmsg_oom_begin(struct oom_kill_list *list);

/* Parse the next chunk of the log, which may end in the middle of a line. */
void kmsg_oom_add(struct kmsg_oom *parser, const char *text, size_t length);

/* Finish the last report and free the parser. */
void kmsg_oom_end(struct kmsg_oom *parser);

/* Parse a complete log in memory, and append its OOM kills to *list. */
void kmsg_oom_parse(const char *text, size_t length, struct oom_kill_list *list);

#endif
