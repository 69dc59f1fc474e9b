/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walker - read heaps in a separate thread, one at a time, so that the screen keeps
 * responding and samples stay on time.
 *
 * The thread has its own procfs, sampler and heap reader. It shares only the flags in
 * struct heap_walker with the caller, which receives the findings when the read is
 * complete. The caller may abandon a running thread at any time; the thread then frees
 * its memory when it ends.
 */
#ifndef MS_SAMPLE_HEAP_WALKER_H
#define MS_SAMPLE_HEAP_WALKER_H

#include "base/units.h"
#include "sample/heap/findings.h"
#include "sample/heap/reader.h"

struct helpers;
struct procfs;
struct heap_walker;

/*
 * Create a walker with a copy of *fs. Return NULL if no file descriptors are available.
 */
struct heap_walker *heap_walker_new(const struct procfs *fs);

/*
 * Free the walker, which may be NULL. A running thread is cancelled and abandoned: it
 * releases the target process and frees its memory when it ends. If the read uses the
 * walker's own helper, wait for the thread until 10 seconds after the first cancellation,
 * so that the helper can be removed.
 */
void heap_walker_free(struct heap_walker *walker);

/* Determines whether a read stops the process. */
enum heap_stops {
	/* stop the process; do not read the heap if the stop would be too long */
	STOPS_SHORT,
	/*
	 * Stop the process. If the stop would be too long, read the heap without stopping
	 * the process, which yields approximate figures.
	 */
	STOPS_SHORT_OR_NONE,
	STOPS_NONE,
};

struct heap_request {
	/* process whose heap is to be read; used only by heap_walker_start() */
	const struct process *process;
	enum heap_stops stops;
	uint64_t max_pause_ns;
	enum pre_copy pre_copy;
	/*
	 * True to keep a copy that was made while the process runs, and to continue to
	 * track the process, for the next read of the same process.
	 */
	bool keeps_copies;
	/*
	 * true to read the heap once instead of repeatedly if the process is not stopped
	 */
	bool is_read_once;
	bool wants_detail;
	bool wants_leaks;
	/*
	 * The caller's helpers for querying the allocator, borrowed until the read ends.
	 * NULL if the caller provides no helpers.
	 */
	struct helpers *helpers;
	/*
	 * wants_helper: query the allocator with the walker's own helper, which stays in
	 * the process until a read does not request it or reads another process.
	 * may_inject: allow the walker to inject this helper.
	 */
	bool wants_helper, may_inject;
};

/* Start reading a heap. Return 0, -EBUSY if a read is in progress, or another -errno. */
int heap_walker_start(struct heap_walker *walker, const struct heap_request *request);

/*
 * Upper bound on the time that a helper takes to reach a safe point and to answer
 * a query.
 */
#define HEAP_WALKER_HELPER_NS (10 * NS_PER_S)

/*
 * Hand over the caller's helpers to the thread of the running read, which frees them when
 * it ends. The caller must then call heap_walker_free().
 */
void heap_walker_give_helpers(struct heap_walker *walker, struct helpers *helpers);

/* Return true from heap_walker_start() until heap_walker_take() returns the findings. */
bool heap_walker_is_running(const struct heap_walker *walker);

/* Cancel the running read. Its thread ends soon afterwards. */
void heap_walker_cancel(struct heap_walker *walker);

/*
 * Return the progress of the leak scan in thousandths, or -1 if the scan has not begun.
 */
int heap_walker_progress_per_mille(struct heap_walker *walker);

/*
 * Wait at most patience_ns (UINT64_MAX for no limit) for the thread of the running read
 * to end. Return true if there are findings for heap_walker_take().
 */
bool heap_walker_wait(struct heap_walker *walker, uint64_t patience_ns);

/* Move the findings of a finished read into *ret. Return true only once per read. */
bool heap_walker_take(struct heap_walker *walker, struct heap_findings *ret);

/*
 * Release the kept copies of processes for which is_followed() returns false, and all of
 * them if memory is short. Call this only while no read is running.
 */
void heap_walker_prune(struct heap_walker *walker,
		       bool (*is_followed)(void *context, const struct process *process),
		       void *context);

/*
 * Return a file descriptor that becomes readable when there are
 * findings for heap_walker_take().
 */
int heap_walker_fd(const struct heap_walker *walker);

#endif
