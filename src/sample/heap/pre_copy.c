/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/pre_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/key_lines.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "probe/track/fault_fd.h"
#include "proc/cgroup/room.h"
#include "proc/process/dir.h"
#include "proc/process/file.h"
#include "proc/process/status.h"
#include "proc/process/task.h"
#include "proc/system/file.h"
#include "sample/heap/copies.h"
#include "sample/heap/moment.h"
#include "sample/heap/pre_copy_plan.h"
#include "sample/heap/reserve.h"
#include "sample/heap/soft_dirty_gate.h"
#include "tracee/memory/early_keep.h"
#include "tracee/memory/huge_pages.h"
#include "tracee/memory/write_track.h"

/* Maximum time to wait until a thread of the process can be used for system calls. */
#define BORROW_LIMIT_NS (3 * NS_PER_S)

/*
 * The kernel cannot merge a tracked range with its neighbours, so tracking increases the
 * number of the process's mappings. Before tracking, this number must be at least
 * SPARE_MAPPINGS below vm.max_map_count.
 */
#define SPARE_MAPPINGS 4096
#define MAX_MAP_COUNT_DEFAULT 65530

/*
 * Maximum number of rounds of copying while the process runs, not counting the last
 * round, directly before the pause.
 */
#define ROUNDS_MAX 8
/* All rounds together copy at most this many times the size of the heap. */
#define COPIES_MAX 4
/* If at most this many pages were written, a further round is not worthwhile. */
#define FEW_PAGES 2048
/* A process that writes to more pages per second than this is too fast for a pre-copy. */
#define PAGES_PER_S_MAX 500000

/*
 * Memory for the copy. The heap may grow during the copy by 1/SPARE_SHARE of its size and
 * SPARE_BYTES.
 */
#define SPARE_SHARE 16
#define SPARE_BYTES (UINT64_C(64) << 20)

static uint64_t copy_ns(const struct pre_copy_costs *costs, uint64_t bytes)
{
	return (bytes >> 10) * costs->copy_ns_per_gib / (1 << 20);
}

static int refuse(struct heap *heap, int error, const char *problem)
{
	heap->pre_copy.problem = problem;
	return error;
}

static int check_status(const struct heap_reader *reader, int pid, struct heap *heap)
{
	static const struct {
		const char *key, *problem;
	} gates[] = {
		{ "VmLck:", "it has locked memory, and so does not expect page faults" },
		{ "VmPin:", "devices write to its memory, which cannot be tracked" },
	};
	_cleanup_close_ int process_fd = proc_dir_open(reader->fs, pid);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r = process_fd < 0 ? process_fd : proc_status_read(process_fd, &text);

	if (r < 0)
		return refuse(heap, r, "it cannot be read");
	for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]); i++) {
		const char *value = key_lines_find(strbuf_text(&text), gates[i].key);

		if (value && *value != '0')
			return refuse(heap, -EFBIG, gates[i].problem);
	}
	return 0;
}

static uint64_t read_max_map_count(const struct procfs *fs)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t count = 0;
	const char *at;

	if (system_file_read(fs, SYSTEM_MAX_MAP_COUNT, 64, &text) < 0)
		return MAX_MAP_COUNT_DEFAULT;
	for (at = strbuf_text(&text); *at >= '0' && *at <= '9' && count < UINT32_MAX;
	     at++)
		count = count * 10 + (uint64_t)(*at - '0');
	return count;
}

/* Check whether the process, the kernel and the costs permit a copy. */
static int check_plan(const struct heap_reader *reader, int pid,
		      const struct mapping_list *mappings,
		      const struct pre_copy_plan *plan,
		      const struct pre_copy_costs *costs, struct heap *heap)
{
	if (plan->count == 0)
		return refuse(heap, -EFBIG,
			      "it has no memory whose writes can be tracked");
	if (plan->has_tracker)
		return refuse(heap, -EFBIG,
			      "it, or another memstate, uses userfaultfd for its memory");
	if (pre_copy_plan_has_huge_pages(plan) && reader->pre_copy == PRE_COPY_AUTO)
		return refuse(heap, -EFBIG,
			      "it relies on huge pages, which its writes would split; "
			      "--pre-copy huge permits that");
	heap->expected_ns = costs->fixed_ns + copy_ns(costs, plan->other_bytes);
	if (heap->expected_ns > reader->max_pause_ns)
		return refuse(heap, -EFBIG,
			      "too much of its memory would have to be copied in the "
			      "pause");
	if (reader->pre_copy == PRE_COPY_SOFT_DIRTY)
		return soft_dirty_gate_check(reader->fs, pid, mappings,
					     &heap->pre_copy.problem);
	if (mappings->count + SPARE_MAPPINGS > read_max_map_count(reader->fs))
		return refuse(heap, -EFBIG, "it has nearly vm.max_map_count mappings");
	if (!write_track_is_supported())
		return refuse(heap, -EFBIG,
			      "the kernel does not track writes for this user (Linux "
			      "6.7 or later)");
	return 0;
}

static int check_room(const struct heap_reader *reader, const struct pre_copy_plan *plan,
		      struct heap *heap)
{
	struct room room = proc_room_read(reader->fs);
	uint64_t bytes = plan->bytes + plan->other_bytes;
	uint64_t had_bytes = reader->early.copied_pages * IMAGE_PAGE_BYTES;

	heap->needed_bytes =
		bytes + bytes / SPARE_SHARE + SPARE_BYTES + bytes / HEAP_TABLES_SHARE;
	heap->needed_bytes -= had_bytes < heap->needed_bytes ? had_bytes
							     : heap->needed_bytes;
	heap->room_bytes = room.bytes;
	heap->room_limit = room.limit;
	return bytes_known(room.bytes) &&
			       heap->needed_bytes >
				       room.bytes - room.bytes / HEAP_OTHERS_SHARE
		       ? -ENOMEM
		       : 0;
}

struct rounds {
	struct heap_reader *reader;
	struct peek peek;
	const struct pre_copy_plan *plan;
	const struct pre_copy_costs *costs;
};

/* Return 0 if this many pages can be copied in a pause, or -EFBIG. */
static int judge_pause(const struct rounds *rounds, uint64_t pages, struct heap *heap)
{
	uint64_t bytes = rounds->plan->other_bytes + pages * IMAGE_PAGE_BYTES;

	heap->expected_ns = rounds->costs->fixed_ns + copy_ns(rounds->costs, bytes);
	return heap->expected_ns <= rounds->reader->max_pause_ns
		       ? 0
		       : refuse(heap, -EFBIG,
				"it writes faster than its memory can be copied");
}

/*
 * Decide after a round whether the remainder can be copied in a pause, from the number of
 * pages that were written during the previous round. Return 1 if so, 0 if another round
 * is worthwhile, or -EFBIG.
 */
static int judge_round(const struct rounds *rounds, uint64_t pages, uint64_t before,
		       uint64_t ns, struct heap *heap)
{
	int r;

	if (pages <= FEW_PAGES)
		return 1;
	if (pages > PAGES_PER_S_MAX * (ns / NS_PER_US) / 1000000)
		return refuse(heap, -EFBIG,
			      "it writes to more than 500000 pages per second, faster "
			      "than they can be copied");
	/*
	 * continue while each round copies less than three quarters of the pages of the
	 * previous one
	 */
	if (pages < before - before / 4 && heap->pre_copy.round_count < ROUNDS_MAX &&
	    heap->pre_copy.copied_bytes < COPIES_MAX * rounds->plan->bytes)
		return 0;
	r = judge_pause(rounds, pages, heap);
	return r < 0 ? r : 1;
}

/*
 * Copy in rounds until a pause can copy the remainder. *ret_first_pages is set to the
 * number of pages that the first round copied.
 */
static int run_rounds(const struct rounds *rounds, struct heap *heap,
		      uint64_t *ret_first_pages)
{
	const struct pre_copy_plan *plan = rounds->plan;
	uint64_t max_pages = (plan->bytes + plan->bytes / SPARE_SHARE + SPARE_BYTES) /
			     IMAGE_PAGE_BYTES;
	bool has_one_round = rounds->reader->early.tracker.kind->has_one_round;
	uint64_t before = UINT64_MAX, began_ns = clock_now_ns();
	int r = 0;

	while (r == 0) {
		uint64_t now_ns = clock_now_ns(), pages;

		if (interrupt_is_pending())
			return -EINTR;
		r = early_copy_round(&rounds->reader->early, &rounds->peek, max_pages,
				     &pages);
		if (r < 0)
			return r == -ENOMEM ? refuse(heap, -EFBIG, "it grows too fast")
					    : r;
		if (has_one_round && heap->pre_copy.round_count > 0)
			return judge_pause(rounds, pages, heap);
		heap->pre_copy.copied_bytes += pages * IMAGE_PAGE_BYTES;
		if (heap->pre_copy.round_count == 0)
			*ret_first_pages = pages;
		if (heap->pre_copy.round_count++ > 0)
			r = judge_round(rounds, pages, before, now_ns - began_ns, heap);
		before = pages;
		began_ns = now_ns;
	}
	return r < 0 ? r : 0;
}

/*
 * Open a userfaultfd of the process. On a busy machine, the threads may not stop in time
 * at the first attempt. All attempts together stop the process for at most max_pause_ns.
 */
static int open_fault_fd(struct probe_request *request, uint64_t max_pause_ns,
			 int *ret_fd, struct heap *heap)
{
	uint64_t deadline_ns = clock_now_ns() + BORROW_LIMIT_NS;
	struct probe_cost cost;
	uint64_t held_ns = 0;
	int r;

	do {
		request->hold_limit_ns = max_pause_ns - held_ns;
		r = fault_fd_open(request, ret_fd, &cost, &heap->pre_copy.problem);
		held_ns += cost.stopped_ns;
	} while (r == -EAGAIN && held_ns < max_pause_ns && clock_now_ns() < deadline_ns);
	heap->pause_ns += held_ns;
	return r;
}

/* Open the tracker that the caller has chosen. On failure, *ret is not set. */
static int open_tracker(struct heap_reader *reader, const struct usage *u, int pid,
			struct write_tracker *ret, struct heap *heap)
{
	struct probe_request request = {
		.fs = reader->fs,
		.pid = u->process.pid,
		.start_ticks = u->process.start_ticks,
		.may_inject = true,
		.limit_ns = BORROW_LIMIT_NS,
	};
	int fd, r;

	if (reader->pre_copy == PRE_COPY_SOFT_DIRTY)
		return soft_dirty_gate_open(reader->fs, pid, ret,
					    &heap->pre_copy.problem);
	r = open_fault_fd(&request, reader->max_pause_ns, &fd, heap);
	if (r < 0)
		return r;
	r = write_track_open(ret, fd);
	if (r < 0)
		close(fd);
	return r < 0 ? refuse(heap, r, "the kernel does not track its writes") : 0;
}

/*
 * Begin to track the writes of the process. If a copy was kept after an earlier walk,
 * continue the tracking that began with that copy.
 */
static int begin_tracking(struct heap_reader *reader, const struct usage *u, int pid,
			  const struct pre_copy_plan *plan, int pagemap_fd,
			  struct heap *heap)
{
	struct write_tracker tracker;
	int r;

	if (early_copy_is_kept(&reader->early))
		return early_keep_renew(&reader->early, pagemap_fd, plan->ranges,
					plan->count);
	r = open_tracker(reader, u, pid, &tracker, heap);
	if (r < 0)
		return r == -ESRCH || r == -EINTR ? r : -EFBIG;
	/* over time, tracking would split all huge pages of the process */
	if (tracker.kind->splits_huge_pages && !pre_copy_plan_has_huge_pages(plan))
		heap_copies_prepare(reader, &u->process, &plan->mappings, plan->bytes);
	r = early_copy_begin(&reader->early, &tracker, pagemap_fd, plan->ranges,
			     plan->count);
	heap->pause_ns += reader->early.tracker.stall_ns;
	if (r < 0)
		return refuse(heap, r == -ENOMEM ? r : -EFBIG,
			      r == -EBUSY ? "it, or another memstate, uses userfaultfd "
					    "for its memory"
					  : "the kernel does not track its writes");
	return 0;
}

static int track(struct heap_reader *reader, const struct usage *u,
		 const struct pre_copy_plan *plan, const struct pre_copy_costs *costs,
		 struct heap *heap)
{
	int pid = u->process.state == 'Z'
			  ? proc_task_find_alive(reader->fs, u->process.pid)
			  : u->process.pid;
	_cleanup_close_ int pagemap_fd = proc_file_open(reader->fs, pid, PROC_PAGEMAP);
	_cleanup_close_ int mem_fd = proc_file_open(reader->fs, pid, PROC_MEM);
	const struct rounds rounds = {
		.reader = reader,
		.peek = { .pid = pid,
			  .pagemap_fd = pagemap_fd,
			  .mem_fd = mem_fd,
			  .is_running = true },
		.plan = plan,
		.costs = costs,
	};
	bool was_kept = early_copy_is_kept(&reader->early);
	uint64_t first_pages = 0, cpu_ns;
	int r;

	if (pagemap_fd < 0 || mem_fd < 0)
		return refuse(heap, -EFBIG, "its memory cannot be read");
	r = begin_tracking(reader, u, pid, plan, pagemap_fd, heap);
	if (r < 0)
		return r;
	reader->has_tracked = reader->early.tracker.kind->splits_huge_pages;
	cpu_ns = clock_thread_cpu_ns();
	r = run_rounds(&rounds, heap, &first_pages);
	if (r == 0 && was_kept)
		heap_copies_judge(reader, first_pages, plan->bytes / IMAGE_PAGE_BYTES);
	else if (r == 0 && early_copy_is_kept(&reader->early))
		heap_copies_add_cost(reader, clock_thread_cpu_ns() - cpu_ns);
	return r;
}

/*
 * Like heap_pre_copy_begin(), but copy only the pages that were written since the last
 * walk. After any error except -ESRCH and -EINTR, a complete copy may succeed.
 */
static int begin_kept(struct heap_reader *reader, const struct usage *u,
		      const struct mapping_list *mappings,
		      const struct pre_copy_plan *plan,
		      const struct pre_copy_costs *costs, struct heap *heap)
{
	int r;

	/*
	 * Make a complete copy if no range is tracked any more, because the process has
	 * executed another program. Also make a complete copy for the search for leaks,
	 * which requires an image without gaps.
	 */
	if (!plan->is_tracked || reader->copies_roots ||
	    pre_copy_plan_has_huge_pages(plan) ||
	    !copy_layout_contains(&reader->early.layout, &plan->mappings))
		return -ESTALE;
	r = check_plan(reader, u->process.pid, mappings, plan, costs, heap);
	if (r == 0)
		r = check_status(reader, u->process.pid, heap);
	if (r == 0)
		r = check_room(reader, plan, heap);
	return r < 0 ? r : track(reader, u, plan, costs, heap);
}

/* Make a complete copy while the process runs. */
static int begin_whole(struct heap_reader *reader, const struct usage *u,
		       const struct mapping_list *mappings,
		       const struct pre_copy_plan *plan,
		       const struct pre_copy_costs *costs, struct heap *heap)
{
	int r = check_plan(reader, u->process.pid, mappings, plan, costs, heap);

	if (r == 0)
		r = check_status(reader, u->process.pid, heap);
	if (r == 0)
		r = check_room(reader, plan, heap);
	return r < 0 ? r : track(reader, u, plan, costs, heap);
}

int heap_pre_copy_begin(struct heap_reader *reader, const struct usage *u,
			const struct mapping_list *mappings,
			const struct pre_copy_costs *costs, struct heap *heap)
{
	struct pre_copy_plan plan;
	const char *problem;
	bool is_kept;
	int r;

	heap->pre_copy = (struct heap_pre_copy){ .problem = NULL };
	is_kept = heap_copies_take(reader, &u->process);
	/* a survey may have left an image that is sparse */
	image_release(&reader->image);
	if (is_kept) {
		reader->has_tracked = true;
		plan = pre_copy_plan_make(reader, mappings);
		r = begin_kept(reader, u, mappings, &plan, costs, heap);
		if (r < 0)
			heap_pre_copy_end(reader, u->process.pid, &heap->pre_copy);
		if (r < 0 && r != -ESRCH && r != -EINTR) {
			heap->pre_copy = (struct heap_pre_copy){ .problem = NULL };
			r = begin_whole(reader, u, mappings, &plan, costs, heap);
		}
	} else {
		plan = pre_copy_plan_make(reader, mappings);
		r = begin_whole(reader, u, mappings, &plan, costs, heap);
	}
	problem = r < 0 ? heap->pre_copy.problem : NULL;
	if (r < 0)
		heap_pre_copy_end(reader, u->process.pid, &heap->pre_copy);
	heap->pre_copy.problem = problem;
	pre_copy_plan_release(&plan);
	return r;
}

void heap_pre_copy_end(struct heap_reader *reader, int pid, struct heap_pre_copy *ret)
{
	early_copy_end(&reader->early);
	ret->late_bytes = reader->early.late_bytes;
	if (reader->early.huge.count > 0)
		huge_pages_restore(pid, &reader->early.huge, &ret->split_bytes,
				   &ret->restored_bytes);
	early_copy_release(&reader->early);
}
