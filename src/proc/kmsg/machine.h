/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine - parse the part of a kernel OOM report that lists the machine's memory
 * (Mem-Info), as printed by Linux 2.6.32 and later.
 */
#ifndef MS_PROC_KMSG_MACHINE_H
#define MS_PROC_KMSG_MACHINE_H

#include "model/oom_kill.h"

/*
 * Values from one report. Until kmsg_machine_end() converts them, all amounts are in
 * pages, except those of swap and zones, which are in bytes.
 */
struct kmsg_machine {
	struct oom_machine machine;
	/* the machine's active_anon in pages and in kB; their ratio is the page size */
	uint64_t active_anon, active_anon_kb;
};

void kmsg_machine_begin(struct kmsg_machine *m);

/* Parse a line of Mem-Info. Return false if the line is not part of Mem-Info. */
bool kmsg_machine_read(struct kmsg_machine *m, const char *line);

/*
 * Return the page size, in bytes, of the machine that wrote the log. Return fallback if
 * the report does not show the page size.
 */
uint64_t kmsg_machine_page_bytes(const struct kmsg_machine *m, uint64_t fallback);

/* Finish the report: store the amounts in *ret, converted to bytes. */
void kmsg_machine_end(const struct kmsg_machine *m, uint64_t page_bytes,
		      struct oom_machine *ret);

#endif
