/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_job - read the heap of one process in a separate thread, so that the screen
 * keeps responding.
 *
 * The thread has its own sampler and heap reader. It shares only the flags in struct
 * heap_job with the caller, and hands over its findings as a whole. The caller may
 * abandon a running thread at any time; the thread then frees its own memory.
 */
#ifndef MS_UI_DATA_HEAP_JOB_H
#define MS_UI_DATA_HEAP_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "model/heap.h"
#include "model/heap_detail.h"
#include "model/helper_answer.h"
#include "model/mapping.h"
#include "model/usage.h"
#include "ui/data/heap_leaks.h"

struct procfs;

/*
 * The result of one read. If the process was stopped, all figures are from the moment of
 * the stop.
 */
struct heap_findings {
	/* 0, or the -errno of the heap read; if usage.error is set, nothing was read */
	int error;
	struct usage usage;
	struct mapping_list mappings;
	struct heap heap;
	struct heap_detail detail;
	bool has_detail;
	struct heap_leaks leaks;
	/*
	 * the allocator's own figures; `problem` is owned by the job and valid until it
	 * reads another process
	 */
	struct helper_answer answer;
	/* start of the read, its duration, and the CPU time that it used */
	uint64_t taken_ns;
	uint64_t cost_ns;
	uint64_t cpu_ns;
};

void heap_findings_init(struct heap_findings *f);
void heap_findings_release(struct heap_findings *f);

/* Return true if the findings contain heap figures. */
bool heap_findings_are_known(const struct heap_findings *f);

struct heap_job;

/*
 * Create a job. *fs is copied. With no_stop, the process is not stopped. Returns NULL if
 * no file descriptors are left.
 */
struct heap_job *heap_job_new(const struct procfs *fs, bool no_stop);

/*
 * Free the job. A running thread is abandoned: it lets go of the target and frees its
 * memory when it ends. If the read uses a helper, the call waits up to 10 seconds for the
 * thread, so that the helper can be removed.
 */
void heap_job_free(struct heap_job *job);

struct heap_request {
	const struct process *process;
	uint64_t max_pause_ns;
	bool wants_detail;
	bool wants_leaks;
	/* if the stop would be too long, read the heap while the process runs */
	bool or_running;
	/*
	 * also query the allocator through a helper; the helper stays in the process
	 * until a read does not want it or reads another process
	 */
	bool wants_helper, may_inject;
};

/* Start a read in the thread. Returns 0, -EBUSY if a read is running, or -errno. */
int heap_job_start(struct heap_job *job, const struct heap_request *request);
bool heap_job_is_running(const struct heap_job *job);

/* Cancel the running read. The thread ends soon afterwards. */
void heap_job_cancel(struct heap_job *job);

/* Return the progress of the leak scan; -1 before the scan begins. */
int heap_job_progress_per_mille(struct heap_job *job);

/* Move the findings of a finished read into *ret. Returns true once per read. */
bool heap_job_take(struct heap_job *job, struct heap_findings *ret);

/* Return a descriptor that becomes readable when heap_job_take() has findings. */
int heap_job_fd(const struct heap_job *job);

#endif
