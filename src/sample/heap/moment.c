/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/moment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/process/recount.h"
#include "proc/process/dir.h"
#include "proc/process/file.h"
#include "proc/process/task.h"
#include "proc/process/tracer.h"
#include "sample/heap/pages.h"
#include "sample/heap/reserve.h"
#include "tracee/memory/early_keep.h"
#include "tracee/memory/peek.h"
#include "tracee/ptrace/stop.h"
#include "walk/walk.h"

/*
 * How long to wait for another memstate instance to resume the
 * target, and how often to check.
 */
#define TURN_NS NS_PER_S
#define TURN_LOOK_NS (10 * NS_PER_MS)

/* A lower bound on the time for copying 1 GiB of scattered pages, with two threads. */
#define LATE_NS_PER_GIB (80 * NS_PER_MS)

bool heap_moment_wants(const struct heap_reader *reader, const struct mapping *m)
{
	if (mapping_is_skipped(m))
		return false;
	return walk_wants_mapping(m) || (reader->copies_roots && roots_want_mapping(m));
}

uint64_t heap_moment_bytes(const struct heap_reader *reader,
			   const struct mapping_list *mappings)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < mappings->count; i++)
		if (heap_moment_wants(reader, &mappings->items[i]))
			sum = bytes_add(sum, mapping_copyable_bytes(&mappings->items[i]));
	return sum;
}

bool heap_moment_may_share_pages(const struct mapping *m)
{
	const uint64_t *bytes = m->counters.bytes;
	bool is_merged = bytes_known(bytes[SMAPS_KSM]) && bytes[SMAPS_KSM] != 0;

	return bytes[SMAPS_ANONYMOUS] != 0 &&
	       (is_merged || bytes[SMAPS_SHARED_DIRTY] != 0 ||
		bytes[SMAPS_SHARED_CLEAN] != 0);
}

/* Save the thread IDs, register contents, and stack and TLS addresses of the threads. */
static void keep_threads(struct heap_reader *reader, const struct stop *stop)
{
	reader->threads =
		xrealloc(reader->threads, (stop->count + 1) * sizeof(*reader->threads));
	reader->thread_count = stop->count;
	for (size_t i = 0; i < stop->count; i++) {
		const struct stopped_thread *thread = &stop->threads[i];

		reader->threads[i] = (struct root_thread){
			.tid = thread->tid,
			.stack_addr = thread->stack_addr,
			.tls_addr = thread->tls_addr,
			.word_count = thread->word_count,
		};
	}
	reader->words =
		xrealloc(reader->words, (stop->word_count + 1) * sizeof(*reader->words));
	reader->word_count = stop->word_count;
	if (stop->word_count > 0)
		memcpy(reader->words, stop->words,
		       stop->word_count * sizeof(*reader->words));
}

static void keep_thread_addrs(struct heap_moment *moment, const struct stop *stop)
{
	moment->thread_addrs = xcalloc(stop->count, sizeof(*moment->thread_addrs));
	for (size_t i = 0; i < stop->count; i++)
		moment->thread_addrs[i] = stop->threads[i].tls_addr;
	moment->thread_count = stop->count;
}

static int copy_thread_addrs(void *context, const struct stop *stop)
{
	keep_thread_addrs(context, stop);
	return 0;
}

/*
 * Select the pages that were written since the last round of copying. If there are so
 * many that they cannot be copied before the deadline, return -ETIMEDOUT, so that the
 * process resumes immediately.
 */
static int select_late(struct heap_moment *moment, const struct stop *stop)
{
	uint64_t copy_ns;
	int r = early_copy_select(&moment->early, moment->pagemap_fd, &moment->image,
				  &moment->packed);

	if (r < 0)
		return r;
	copy_ns = (moment->packed.length_bytes >> 10) * LATE_NS_PER_GIB / (1 << 20);
	return stop->deadline_ns && clock_now_ns() + copy_ns > stop->deadline_ns
		       ? -ETIMEDOUT
		       : 0;
}

static int copy_target(void *context, const struct stop *stop)
{
	struct heap_moment *moment = context;
	struct heap_ranges ranges = { NULL, 0 };
	struct peek peek = {
		.pid = moment->memory_pid,
		.pagemap_fd = moment->pagemap_fd,
		.mem_fd = moment->mem_fd,
		.deadline_ns = stop->deadline_ns,
		.is_running = moment->is_running,
		/* use the CPUs that the paused target leaves idle */
		.thread_count = moment->is_running ? 1 : thread_count_cpus(),
	};
	int r = moment->is_running
			? heap_pages_find(moment, &peek, &ranges)
			: heap_pages_find_stopped(moment, &peek, stop, &ranges);

	if (r == 0 && moment->image.is_sparse)
		r = page_list_select(&moment->pages, &moment->image, &moment->packed);
	else if (r == 0 && heap_moment_is_early(moment))
		r = select_late(moment, stop);
	if (r == 0)
		r = peek_copy(&peek, ranges.items, ranges.count,
			      moment->image.is_sparse || heap_moment_is_early(moment)
				      ? &moment->packed
				      : &moment->image);
	free(ranges.items);
	if (r < 0 || stop_has_ended(stop))
		return r < 0 ? r : -ETIMEDOUT;
	if (!moment->is_running)
		keep_thread_addrs(moment, stop);
	keep_threads(moment->reader, stop);
	return 0;
}

struct walk_input heap_moment_input(struct heap_reader *reader,
				    const struct heap_moment *moment)
{
	return (struct walk_input){
		.image = &reader->image,
		.mappings = &moment->mappings,
		.thread_addrs = moment->thread_addrs,
		.thread_count = moment->thread_count,
		.is_running = reader->is_running,
		.memory = &reader->names.memory,
	};
}

void heap_moment_free(struct heap_moment *moment)
{
	if (moment->process_fd >= 0)
		close(moment->process_fd);
	if (moment->pagemap_fd >= 0)
		close(moment->pagemap_fd);
	if (moment->mem_fd >= 0)
		close(moment->mem_fd);
	usage_release(&moment->usage);
	mapping_list_release(&moment->mappings);
	image_release(&moment->image);
	page_list_release(&moment->pages);
	image_release(&moment->packed);
	free(moment->thread_addrs);
	free(moment);
}

static int open_moment(struct heap_moment *moment, const struct usage *u)
{
	const struct procfs *fs = moment->reader->fs;
	/*
	 * a process whose main thread is a zombie may still have memory
	 * if other threads are alive
	 */
	int tid = u->process.state == 'Z' ? proc_task_find_alive(fs, u->process.pid)
					  : u->process.pid;

	moment->memory_pid = tid;
	moment->process_fd = proc_dir_open(fs, tid);
	moment->pagemap_fd = proc_file_open(fs, tid, PROC_PAGEMAP);
	moment->mem_fd = proc_file_open(fs, tid, PROC_MEM);
	if (moment->process_fd < 0)
		return moment->process_fd;
	if (moment->pagemap_fd < 0)
		return moment->pagemap_fd;
	if (moment->mem_fd < 0)
		return moment->mem_fd;
	names_open(&moment->reader->names, fs, tid);
	return 0;
}

/*
 * Pause the process to do the work in `request`, then resume it. If another memstate
 * instance has paused the process, retry for up to a second if the reader allows it.
 */
static int stop_in_turn(const struct heap_reader *reader,
			const struct stop_request *request, uint64_t *ret_pause_ns)
{
	const struct procfs *fs = reader->fs;
	const struct timespec pause = { .tv_nsec = (long)TURN_LOOK_NS };
	uint64_t deadline_ns = clock_now_ns() + TURN_NS;
	struct tracer_process tracer;

	for (;;) {
		int r = stop_run(request, ret_pause_ns);

		/*
		 * retry if the process's tracer is not found, because it has just ended
		 */
		if (r != -EBUSY || !reader->waits_for_turn ||
		    clock_now_ns() > deadline_ns ||
		    (proc_tracer_find(fs, request->pid, &tracer) &&
		     !proc_tracer_is_memstate(fs, &tracer)))
			return r;
		nanosleep(&pause, NULL);
	}
}

static int do_stopped(struct heap_moment *moment,
		      int (*work)(void *context, const struct stop *stop),
		      uint64_t *ret_pause_ns)
{
	struct heap_reader *reader = moment->reader;
	_cleanup_close_ int task_fd =
		proc_file_open(reader->fs, moment->usage.process.pid, PROC_TASK);
	struct stop_request request = {
		.pid = moment->usage.process.pid,
		.task_fd = task_fd,
		.limit_ns = reader->max_pause_ns,
		.work = work,
		.context = moment,
	};

	return task_fd < 0 ? task_fd : stop_in_turn(reader, &request, ret_pause_ns);
}

/*
 * Replace the sampler. A thread that hangs in the kernel may continue to use the old
 * sampler until memstate exits.
 */
static void abandon_sampler(struct heap_reader *reader)
{
	sampler_abandon(reader->sampler);
	reader->own_sampler = sampler_new(reader->fs, reader->fs->is_live);
	reader->sampler = reader->own_sampler;
}

/* Move the reader's buffers, and the copy that was begun before the pause, to *moment. */
static void take_buffers(struct heap_moment *moment, struct heap_reader *reader)
{
	moment->early = reader->early;
	reader->early = (struct early_copy)EARLY_COPY_INIT;
	image_clear(&reader->image);
	moment->image = reader->image;
	reader->image = (struct image)IMAGE_INIT;
	moment->pages = reader->pages;
	reader->pages = (struct page_list)PAGE_LIST_INIT;
}

static void return_buffers(struct heap_moment *moment, struct heap_reader *reader)
{
	reader->early = moment->early;
	moment->early = (struct early_copy)EARLY_COPY_INIT;
	reader->image = moment->image;
	moment->image = (struct image)IMAGE_INIT;
	reader->pages = moment->pages;
	moment->pages = (struct page_list)PAGE_LIST_INIT;
}

int heap_moment_take(struct heap_reader *reader, const struct usage *u,
		     const struct mapping_list *mappings, struct heap_moment **ret,
		     uint64_t *ret_pause_ns)
{
	struct heap_moment *moment = xcalloc(1, sizeof(*moment));
	int r;

	*ret = NULL;
	*ret_pause_ns = 0;
	*moment = (struct heap_moment){
		.reader = reader,
		.process_fd = -1,
		.pagemap_fd = -1,
		.mem_fd = -1,
		.is_running = reader->is_running,
	};
	r = open_moment(moment, u);
	take_buffers(moment, reader);
	if (r == 0)
		r = heap_pages_read_mappings(moment, u, mappings);
	if (r == 0)
		r = heap_moment_reserve(moment);
	if (r == 0 && moment->is_running && moment->image.is_sparse)
		r = do_stopped(moment, copy_thread_addrs, ret_pause_ns);
	if (r == 0 && moment->is_running)
		r = copy_target(moment, &(struct stop){ 0 });
	else if (r == 0)
		r = do_stopped(moment, copy_target, ret_pause_ns);
	/*
	 * Stop tracking the writes of the process, even if copying timed out (-ETIME).
	 * Tracking continues only if the early copy is kept for the next walk.
	 */
	if (r < 0 || !early_copy_is_kept(&moment->early))
		early_copy_end(&moment->early);
	if (r == -ETIME) {
		abandon_sampler(reader);
		return r;
	}
	if (r == 0 && moment->image.is_sparse)
		r = image_merge(&moment->image, &moment->packed);
	else if (r == 0 && heap_moment_is_early(moment))
		r = early_copy_finish(&moment->early, &moment->image, &moment->packed);
	return_buffers(moment, reader);
	if (r < 0) {
		moment->usage.command = NULL;
		heap_moment_free(moment);
		return r;
	}
	image_release(&moment->packed);
	if (moment->is_recounted)
		recount_usage(&moment->usage, &moment->mappings);
	*ret = moment;
	return 0;
}
