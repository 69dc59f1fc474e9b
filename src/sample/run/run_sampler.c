/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/run/run_sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/process/heap_problem.h"
#include "model/known_names.h"
#include "proc/process/list.h"
#include "proc/process/stat.h"
#include "sample/run/pid_set.h"
#include "sample/run/run_sums.h"
#include "tracee/ptrace/watchdog.h"

/*
 * Maximum share of one CPU's time for listing all processes of the machine: 1/LIST_SHARE.
 * Regardless of this limit, the processes are listed at least every LIST_MAX_NS.
 */
#define LIST_SHARE 20
#define LIST_MAX_NS (100 * NS_PER_MS)

/*
 * A heap walk is due if Rss has grown by GROWTH_PERCENT, or if 1/WALK_PART of the run's
 * duration has passed since the last walk. After a walk that took time T, the next walk
 * waits for at least WALK_SHARE times T. Each consecutive walk without findings doubles
 * this wait.
 */
#define GROWTH_PERCENT 5
#define WALK_PART 20
#define WALK_SHARE 5
#define FUTILE_MAX 6
/*
 * Time after the start of a run in which heaps are not walked, because the dynamic loader
 * is still working.
 */
#define WALK_BEGIN_NS (20 * NS_PER_MS)

/*
 * Findings are stale if they are older than both STALE_NS and 1/STALE_PART of the run's
 * duration so far.
 */
#define STALE_NS (250 * NS_PER_MS)
#define STALE_PART 10

/* Maximum time between the fork of a wrapper's child and the child's exec. */
#define FORK_NS (2 * NS_PER_S)

struct run_sampler {
	const struct procfs *fs;
	struct sampler *sampler;
	struct heap_keeper *heaps;
	int parent_pid, left_out_pid;
	const char *library;
	/* processes that mapped the library when they were last read */
	struct pid_set users;
	/*
	 * `measured` contains the processes that were measured in at least one sample,
	 * because they were not wrappers at that time
	 */
	struct pid_set wrappers, measured;
	bool has_wrappers; /* true if the run has or had at least one wrapper */
	/* true if all processes measured before the current sample were wrappers */
	bool were_wrappers;
	struct snapshot processes;
	struct mapping_list mappings;
	uint64_t relist_ns;
	uint64_t peak_rss_bytes;
	uint64_t begin_ns;
	uint64_t walked_rss_bytes, walked_ns, walk_cost_ns;
	/* number of consecutive heap walks without findings */
	unsigned int futile_count;
	uint64_t paused_ns;
	uint64_t read_ns;
};

struct run_sampler *run_sampler_new(const struct procfs *fs, struct sampler *sampler,
				    struct heap_keeper *heaps, int parent_pid)
{
	struct run_sampler *s = xcalloc(1, sizeof(*s));

	s->fs = fs;
	s->sampler = sampler;
	s->heaps = heaps;
	s->parent_pid = parent_pid;
	snapshot_init(&s->processes);
	return s;
}

void run_sampler_free(struct run_sampler *s)
{
	if (!s)
		return;
	snapshot_release(&s->processes);
	mapping_list_release(&s->mappings);
	free(s->wrappers.items);
	free(s->measured.items);
	free(s->users.items);
	free(s);
}

void run_sampler_begin(struct run_sampler *s, const char *library)
{
	s->library = library;
	s->users.count = 0;
	s->left_out_pid = 0;
	s->relist_ns = 0;
	s->peak_rss_bytes = 0;
	s->begin_ns = clock_now_ns();
	s->walked_rss_bytes = 0;
	s->walked_ns = 0;
	s->walk_cost_ns = 0;
	s->futile_count = 0;
	s->paused_ns = 0;
	s->wrappers.count = 0;
	s->has_wrappers = false;
	s->measured.count = 0;
	snapshot_clear(&s->processes);
}

void run_sampler_leave_out(struct run_sampler *s, int pid)
{
	s->left_out_pid = pid;
}

static int add_process(void *context, const struct process *p)
{
	if (process_has_memory(p))
		snapshot_add(context)->process = *p;
	return 0;
}

/*
 * Add the descendants of the run's parent process, except memstate's watchdog. Repeat the
 * pass over the list of processes until it finds no more descendants, once per level of
 * the process tree.
 */
static void add_tree(const struct run_sampler *s, const struct snapshot *all,
		     struct snapshot *ret)
{
	size_t before;

	do {
		before = ret->count;
		for (size_t i = 0; i < all->count; i++) {
			const struct process *p = &all->usages[i].process;

			if (p->pid != s->left_out_pid && p->pid != watchdog_pid() &&
			    !snapshot_find(ret, p->pid) &&
			    (p->ppid == s->parent_pid || snapshot_find(ret, p->ppid)))
				snapshot_add(ret)->process = *p;
		}
	} while (ret->count > before);
}

static int list_all(struct run_sampler *s)
{
	struct snapshot all;
	uint64_t begin_ns = clock_thread_cpu_ns(), wait_ns;
	int r;

	snapshot_init(&all);
	r = proc_list_read(s->fs, LIST_STAT, add_process, &all);
	if (r == 0) {
		snapshot_clear(&s->processes);
		add_tree(s, &all, &s->processes);
	}
	snapshot_release(&all);
	wait_ns = (clock_thread_cpu_ns() - begin_ns) * LIST_SHARE;
	s->relist_ns = clock_now_ns() + (wait_ns < LIST_MAX_NS ? wait_ns : LIST_MAX_NS);
	return r;
}

int run_sampler_list(struct run_sampler *s, const struct snapshot **ret)
{
	int r = list_all(s);

	if (r == 0)
		*ret = &s->processes;
	return r;
}

/* Update the known processes, and drop those that have ended. */
static void relist(struct run_sampler *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->processes.count; i++) {
		struct usage *u = &s->processes.usages[i];
		struct process p;

		if (proc_list_read_one(s->fs, u->process.pid, &p) < 0 ||
		    !process_has_memory(&p) || p.start_ticks != u->process.start_ticks)
			continue;
		s->processes.usages[kept] = *u;
		s->processes.usages[kept++].process = p;
	}
	s->processes.count = kept;
}

/*
 * List the processes of the run in s->processes. Only the member `process` of each usage
 * is set, because read_process() reads the figures into a separate usage.
 */
static int list(struct run_sampler *s)
{
	if (s->processes.count == 0 || clock_now_ns() >= s->relist_ns)
		return list_all(s);
	relist(s);
	return 0;
}

static bool has_children(const struct snapshot *processes, int pid)
{
	for (size_t i = 0; i < processes->count; i++)
		if (processes->usages[i].process.ppid == pid)
			return true;
	return false;
}

/*
 * Add a wrapper. If all processes measured so far were wrappers, discard the
 * measurements, because they do not belong to the run.
 */
static void add_wrapper(struct run_sampler *s, int pid)
{
	s->has_wrappers = true;
	pid_set_add(&s->wrappers, pid);
	for (size_t i = 0; i < s->measured.count; i++)
		if (!pid_set_contains(&s->wrappers, s->measured.items[i]))
			return;
	s->were_wrappers = s->measured.count > 0;
	s->measured.count = 0;
	s->peak_rss_bytes = 0;
}

/*
 * Return true if a wrapper has just forked the process and the process has not called
 * exec yet, so its memory is a copy of the wrapper's.
 */
static bool is_copy_of_wrapper(const struct run_sampler *s, const struct process *p)
{
	return p->is_fork && pid_set_contains(&s->wrappers, p->ppid) &&
	       proc_stat_age_ns(p) < FORK_NS;
}

/*
 * Return true if the process is a wrapper: a program that has started another program and
 * has no other purpose. The process remains a wrapper until it calls exec. A script is
 * identified by the file name of its interpreter.
 */
static bool is_wrapper(struct run_sampler *s, const struct process *p)
{
	bool was_wrapper = pid_set_contains(&s->wrappers, p->pid);
	char name[PROCESS_COMM_SIZE];

	if (!was_wrapper && !has_children(&s->processes, p->pid))
		return false;
	if (proc_cost_read_program(s->fs, p->pid, name, sizeof(name)) < 0)
		return was_wrapper;
	if (was_wrapper && !wrapper_name_is(name))
		pid_set_remove(&s->wrappers, p->pid);
	else if (!was_wrapper && wrapper_name_is(name))
		add_wrapper(s, p->pid);
	return wrapper_name_is(name);
}

/*
 * Record whether the process maps the library now. An earlier result may be stale: a
 * wrapper such as env(1) may map the library and then exec a program that does not.
 */
static void check_library(struct run_sampler *s, int pid)
{
	if (s->mappings.count > 0)
		pid_set_remove(&s->users, pid);
	for (size_t i = 0; i < s->mappings.count; i++) {
		const char *name = strrchr(s->mappings.items[i].name, '/');

		if (name && strcmp(name + 1, s->library) == 0)
			pid_set_add(&s->users, pid);
	}
}

static void update_peak(struct run_sampler *s, int pid)
{
	uint64_t bytes;

	if (proc_cost_read_peak_rss(s->fs, pid, &bytes) == 0 && bytes > s->peak_rss_bytes)
		s->peak_rss_bytes = bytes;
}

/* Return the reason why the heap is unknown, or NULL if it is known. */
static const char *find_heap_problem(const struct run_sampler *s, const struct usage *u)
{
	uint64_t limit_ns = (u->taken_ns - s->begin_ns) / STALE_PART;
	const char *problem;

	if (!s->heaps)
		return "--heap off";
	if (u->heap_quality != QUALITY_UNKNOWN)
		return u->taken_ns - u->heap_taken_ns <=
				       (limit_ns > STALE_NS ? limit_ns : STALE_NS)
			       ? NULL
			       : "the last reading was too old";
	if (u->heap_error == -EFBIG || u->heap_error == -ETIMEDOUT)
		return "the pause would exceed --max-pause";
	problem = heap_problem_text(u);
	if (u->heap_error == -ENODATA || u->heap_error == -EINPROGRESS || !problem)
		return "it was not read in time";
	return problem;
}

/*
 * Return true if the process ended while it was being read. Reading smaps then ends early
 * without an error, so the figures are incomplete.
 */
static bool has_ended_meanwhile(const struct run_sampler *s, const struct process *p)
{
	struct process now;

	return proc_list_read_one(s->fs, p->pid, &now) < 0 || !process_has_memory(&now) ||
	       now.stat_size_bytes == 0;
}

static bool read_process(struct run_sampler *s, const struct process *p,
			 struct run_sums *sums)
{
	struct usage u;
	int r;

	usage_init(&u);
	u.process = *p;
	r = s->heaps ? heap_keeper_read(s->heaps, &u, &s->mappings)
		     : sampler_read_mappings(s->sampler, &u, &s->mappings);
	if (r == 0 && has_ended_meanwhile(s, p))
		r = -ESRCH;
	if (r == 0) {
		pid_set_add(&s->measured, p->pid);
		update_peak(s, p->pid);
		if (s->library)
			check_library(s, p->pid);
		run_sums_add(sums, &u, find_heap_problem(s, &u));
		sums->pause_ns += u.heap_pause_ns;
		if (u.read_ns > s->read_ns)
			s->read_ns = u.read_ns;
	}
	usage_release(&u);
	return r == 0;
}

static bool wants_walk(const struct run_sampler *s)
{
	uint64_t now = clock_now_ns(), rss_bytes = 0;
	uint64_t age_ns = now - s->walked_ns;

	if (!s->heaps || now - s->begin_ns < WALK_BEGIN_NS ||
	    age_ns < s->walk_cost_ns * WALK_SHARE << s->futile_count)
		return false;
	/* the Rss from stat is already known, so adding it up costs almost nothing */
	for (size_t i = 0; i < s->processes.count; i++)
		rss_bytes = bytes_add(rss_bytes,
				      s->processes.usages[i].process.stat_rss_bytes);
	return rss_bytes / (100 + GROWTH_PERCENT) > s->walked_rss_bytes / 100 ||
	       age_ns > (now - s->begin_ns) / WALK_PART;
}

static void record_walk(struct run_sampler *s, uint64_t begin_ns,
			const struct run_sums *sums, int count)
{
	s->walked_ns = clock_now_ns();
	s->walk_cost_ns = s->walked_ns - begin_ns;
	if (sums->all.rss_bytes > s->walked_rss_bytes)
		s->walked_rss_bytes = sums->all.rss_bytes;
	if (sums->known_rss_bytes > 0)
		s->futile_count = 0;
	else if (s->futile_count < FUTILE_MAX)
		s->futile_count++;
	if (count == 1)
		s->paused_ns += sums->pause_ns;
}

int run_sampler_take(struct run_sampler *s, bool is_fresh, struct run_sample *ret)
{
	struct run_sums sums = { .all = { .heap_quality = QUALITY_EXACT } };
	uint64_t begin_ns = clock_now_ns();
	int count = 0, r;

	r = list(s);
	if (r < 0)
		return r;
	is_fresh |= wants_walk(s);
	if (s->heaps)
		heap_keeper_set_walks(s->heaps, is_fresh ? WALKS_ALL : WALKS_NONE);
	s->read_ns = 0;
	s->were_wrappers = false;
	for (size_t i = 0; i < s->processes.count; i++) {
		const struct process *p = &s->processes.usages[i].process;

		if (!is_wrapper(s, p) && !is_copy_of_wrapper(s, p) &&
		    read_process(s, p, &sums))
			count++;
	}
	if (is_fresh)
		record_walk(s, begin_ns, &sums, count);
	run_sums_end(&sums);
	*ret = sums.all;
	return count;
}

void run_sampler_read_cost(struct run_sampler *s, struct process_cost *ret)
{
	*ret = (struct process_cost){ 0 };
	(void)list_all(s);
	for (size_t i = 0; i < s->processes.count; i++) {
		struct process_cost cost;

		if (proc_cost_read(s->fs, s->processes.usages[i].process.pid, &cost) < 0)
			continue;
		ret->user_ns += cost.user_ns;
		ret->system_ns += cost.system_ns;
		ret->minor_fault_count += cost.minor_fault_count;
		ret->major_fault_count += cost.major_fault_count;
	}
}

uint64_t run_sampler_peak_rss_bytes(const struct run_sampler *s)
{
	return s->peak_rss_bytes;
}

bool run_sampler_has_seen_library(const struct run_sampler *s)
{
	return s->users.count > 0;
}

bool run_sampler_must_discard(const struct run_sampler *s)
{
	return s->were_wrappers;
}

bool run_sampler_has_wrappers(const struct run_sampler *s)
{
	return s->has_wrappers;
}

uint64_t run_sampler_paused_ns(const struct run_sampler *s)
{
	return s->paused_ns;
}

uint64_t run_sampler_read_ns(const struct run_sampler *s)
{
	return s->read_ns;
}
