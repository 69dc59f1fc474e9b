/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_job - the heap of one process, read by a thread of its own: the screen goes on meanwhile.
 *
 * The thread has its own sampler and reader, and shares nothing with the caller but the
 * flags below; what it found is handed over whole. It may be left to end by itself, at
 * any time.
 */
#ifndef MS_UI_HEAP_JOB_H
#define MS_UI_HEAP_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "model/heap.h"
#include "model/heap_detail.h"
#include "model/helper_answer.h"
#include "model/mapping.h"
#include "model/usage.h"
#include "ui/heap_leaks.h"

struct procfs;

/* All of one instant, that of the stop. */
struct heap_findings {
	int error; /* 0, or the -errno for which the heap was not read; usage.error: nothing was */
	struct usage usage;
	struct mapping_list mappings;
	struct heap heap;
	struct heap_detail detail;
	bool has_detail;
	struct heap_leaks leaks;
	struct helper_answer answer; /* what its allocator said; problem is the job's, until its next process */
	uint64_t taken_ns; /* when it began, what it took, and of one CPU */
	uint64_t cost_ns;
	uint64_t cpu_ns;
};

void heap_findings_init(struct heap_findings *f);
void heap_findings_release(struct heap_findings *f);

/* True if there are figures in it. */
bool heap_findings_are_known(const struct heap_findings *f);

struct heap_job;

/*
 * The procfs is copied. With no_stop the process goes on. NULL where descriptors have run
 * out.
 */
struct heap_job *heap_job_new(const struct procfs *fs, bool no_stop);

/*
 * A job that runs is left to itself: it lets go of the target and of its memory when it
 * ends. But where it has put a helper into a process, it is waited for, and the helper is
 * taken out.
 */
void heap_job_free(struct heap_job *job);

struct heap_request {
	const struct process *process;
	uint64_t max_pause_ns;
	bool wants_detail;
	bool wants_leaks;
	bool or_running; /* where the stop would be longer: read it while the process runs */
	/*
	 * ask its allocator too; one that was put in stays until it is not wanted any
	 * more, or another process is read
	 */
	bool wants_helper, may_inject;
};

/* Returns 0, -EBUSY while one runs, or another -errno. */
int heap_job_start(struct heap_job *job, const struct heap_request *request);
bool heap_job_is_running(const struct heap_job *job);

/* What it finds is not wanted any more: it ends soon. */
void heap_job_cancel(struct heap_job *job);

/* Of a scan for leaks; -1 while it has not come to that. */
int heap_job_progress_per_mille(struct heap_job *job);

/* Once per job that has ended: true, with what it found. */
bool heap_job_take(struct heap_job *job, struct heap_findings *ret);

/* Readable when heap_job_take() has something. */
int heap_job_fd(const struct heap_job *job);

#endif
