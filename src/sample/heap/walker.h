/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walker - read heaps in a separate thread, one at a time, so that the screen keeps
 * responding and samples stay on time.
 *
 * The thread has its own procfs, sampler and heap reader. It shares only the flags in
 * struct heap_walker with the caller, and hands over its findings as a whole. The caller
 * may abandon a running thread at any time; the thread then frees its own memory.
 */
#ifndef MS_SAMPLE_HEAP_WALKER_H
#define MS_SAMPLE_HEAP_WALKER_H

#include "base/units.h"
#include "sample/heap/findings.h"

struct helpers;
struct procfs;
struct heap_walker;

/* Create a walker with a copy of *fs. Returns NULL if no file descriptors are left. */
struct heap_walker *heap_walker_new(const struct procfs *fs);

/*
 * Free the walker; NULL is allowed. A running thread is cancelled and
 * abandoned: it releases the target process and frees its memory when it ends.
 * If the read uses a helper of the walker, the call waits for the thread until 10
 * seconds after the read was first cancelled, so that the helper can be removed.
 */
void heap_walker_free(struct heap_walker *walker);

/* Selects whether a read stops the process. */
enum heap_stops {
	/* stop the process; if the stop would be too long, do not read the heap */
	STOPS_SHORT,
	/*
	 * Stop the process; if the stop would be too long, read the heap without a
	 * stop, which gives approximate figures.
	 */
	STOPS_SHORT_OR_NONE,
	STOPS_NONE,
};

struct heap_request {
	/* process whose heap to read; used only by heap_walker_start() */
	const struct process *process;
	enum heap_stops stops;
	uint64_t max_pause_ns;
	bool is_read_once; /* if the process is not stopped: read once, not repeatedly */
	bool wants_detail;
	bool wants_leaks;
	/*
	 * Helpers for querying the allocator, borrowed until the read has ended. NULL:
	 * do not use the caller's helpers.
	 */
	struct helpers *helpers;
	/*
	 * wants_helper: query the allocator with a helper of the walker's own. The helper
	 * stays in the process until a read does not request it or reads another process.
	 * may_inject: allow the walker to inject the helper.
	 */
	bool wants_helper, may_inject;
};

/* Start a read. Returns 0, -EBUSY if a read is already running, or -errno. */
int heap_walker_start(struct heap_walker *walker, const struct heap_request *request);

/* Upper bound on the time that a helper takes to reach a safe moment and to answer. */
#define HEAP_WALKER_HELPER_NS (10 * NS_PER_S)

/*
 * Let the thread of the read in progress free the helpers that it uses, when it ends.
 * The caller then calls heap_walker_free().
 */
void heap_walker_give_helpers(struct heap_walker *walker, struct helpers *helpers);

/* Return true from heap_walker_start() until heap_walker_take() returns the findings. */
bool heap_walker_is_running(const struct heap_walker *walker);

/* Cancel the running read. The thread ends soon afterwards. */
void heap_walker_cancel(struct heap_walker *walker);

/* Return the progress of the leak scan in thousandths, or -1 before the scan begins. */
int heap_walker_progress_per_mille(struct heap_walker *walker);

/*
 * Wait until the thread of a running read has ended, for at most patience_ns (UINT64_MAX
 * for no limit). Returns true if there are findings for heap_walker_take().
 */
bool heap_walker_wait(struct heap_walker *walker, uint64_t patience_ns);

/* Move the findings of a finished read into *ret. Returns true only once per read. */
bool heap_walker_take(struct heap_walker *walker, struct heap_findings *ret);

/*
 * Return a descriptor that becomes readable when there
 * are findings for heap_walker_take().
 */
int heap_walker_fd(const struct heap_walker *walker);

#endif
