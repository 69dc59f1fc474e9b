/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine - parse the part of a kernel OOM report that lists the machine's memory
 * (Mem-Info), as Linux 2.6.32 and later print it.
 */
#ifndef MS_PROC_KMSG_MACHINE_H
#define MS_PROC_KMSG_MACHINE_H

#include "model/oom_kill.h"

/*
 * Values from one report. Until kmsg_machine_end() converts them to bytes, all amounts
 * except those of swap and zones are in pages.
 */
struct kmsg_machine {
	struct oom_machine machine;
	/* the machine's active_anon in pages and in kB; the page size is their ratio */
	uint64_t active_anon, active_anon_kb;
};

void kmsg_machine_begin(struct kmsg_machine *m);

/* Parse a line of Mem-Info. Return false if the line is not part of Mem-Info. */
bool kmsg_machine_read(struct kmsg_machine *m, const char *line);

/*
 * Return the page size, in bytes, of the machine that wrote the log, or `fallback` if the
 * report does not contain enough data.
 */
uint64_t kmsg_machine_page_bytes(const struct kmsg_machine *m, uint64_t fallback);

/* Finish the report: convert the amounts to bytes, and store them in *ret. */
void kmsg_machine_end(const struct kmsg_machine *m, uint64_t page_bytes,
		      struct oom_machine *ret);

#endif
