/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg_machine - the machine's memory in the kernel's report of a kill (Mem-Info), of Linux
 * 2.6.32 and later.
 */
#ifndef MS_PROC_KMSG_MACHINE_H
#define MS_PROC_KMSG_MACHINE_H

#include "model/oom_kill.h"

/* Lines of one report. Amounts are pages until kmsg_machine_end(). */
struct kmsg_machine {
	struct oom_machine machine;
	uint64_t active_anon, active_anon_kb; /* the same amount, in pages and in kB */
};

void kmsg_machine_begin(struct kmsg_machine *m);

/* Return whether the line is one of these. */
bool kmsg_machine_read(struct kmsg_machine *m, const char *line);

/*
 * Return the size of a page of the machine that logged this, or fallback where the report
 * does not tell.
 */
uint64_t kmsg_machine_page_bytes(const struct kmsg_machine *m, uint64_t fallback);

/* The report is whole: *ret has bytes. */
void kmsg_machine_end(const struct kmsg_machine *m, uint64_t page_bytes, struct oom_machine *ret);

#endif
