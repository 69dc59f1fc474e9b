/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress - show on a terminal how far a long operation has progressed.
 *
 * The line is written to stderr, and only if stderr is a terminal that can erase lines.
 * It appears after one second, is updated ten times per second, and is erased at the end.
 */
#ifndef MS_CMD_CORE_PROGRESS_H
#define MS_CMD_CORE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Time after which the line appears, and time between two updates, in ns. */
#define PROGRESS_DELAY_NS UINT64_C(1000000000)
#define PROGRESS_INTERVAL_NS UINT64_C(100000000)

struct progress {
	const char *what; /* name of the operation, for example "searching for leaks" */
	uint64_t due_ns;  /* time of the next update */
	bool is_terminal, is_shown;
};

void progress_begin(struct progress *p, const char *what);

/*
 * Show how many bytes have been processed, if an update is due. Always return
 * false, which lets the operation continue. This function is a callback for
 * struct mark_progress.
 */
bool progress_report(void *progress, uint64_t done_bytes, uint64_t total_bytes);

/* Erase the line. */
void progress_end(struct progress *p);

#endif
