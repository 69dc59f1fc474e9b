/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/process/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/process/classify.h"
#include "classify/process/uses.h"
#include "proc/process/dir.h"
#include "proc/process/list.h"
#include "proc/process/task.h"
#include "proc/smaps/smaps.h"
#include "proc/system/local_devices.h"
#include "proc/system/mounts.h"

/* Maximum number of attempts to read a process that calls exec in the meantime. */
#define READ_TRIES 3

struct sampler {
	/* a copy, because an abandoned sampler outlives the caller's procfs */
	struct procfs fs;
	bool is_abandoned;
	struct smaps_reader reader;
	struct tmpfs_devices devices;
	struct local_devices local;
	struct address_list stack_addrs;
	int (*read_heap)(void *context, struct usage *u, struct mapping_list *mappings);
	void *heap_context;
	struct mapping_list heap_mappings;
	struct mapping_sink sink;
	struct mapping_list sink_mappings;
	struct process *listed; /* processes listed by sampler_take_each() */
	size_t listed_count, listed_capacity;
	/*
	 * duration of the longest read of a process in the last sampler_take(), and the
	 * pid of this process
	 */
	uint64_t longest_read_ns;
	int longest_read_pid;
};

struct sampler *sampler_new(const struct procfs *fs, bool is_paced)
{
	struct sampler *s = xcalloc(1, sizeof(*s));

	s->fs = *fs;
	smaps_reader_init(&s->reader);
	s->reader.is_paced = is_paced;
	return s;
}

void sampler_set_heap_source(struct sampler *s,
			     int (*read)(void *context, struct usage *u,
					 struct mapping_list *mappings),
			     void *context)
{
	s->read_heap = read;
	s->heap_context = context;
}

void sampler_set_mapping_sink(struct sampler *s, const struct mapping_sink *sink)
{
	s->sink = sink ? *sink : (struct mapping_sink){ NULL, NULL, NULL };
}

bool sampler_set_paced(struct sampler *s, bool is_paced)
{
	bool before = s->reader.is_paced;

	s->reader.is_paced = is_paced;
	return before;
}

void sampler_forget_mounts(struct sampler *s)
{
	local_devices_release(&s->local);
}

void sampler_abandon(struct sampler *s)
{
	s->is_abandoned = true;
}

void sampler_free(struct sampler *s)
{
	if (!s || s->is_abandoned)
		return;
	smaps_reader_release(&s->reader);
	tmpfs_devices_release(&s->devices);
	local_devices_release(&s->local);
	address_list_release(&s->stack_addrs);
	mapping_list_release(&s->heap_mappings);
	mapping_list_release(&s->sink_mappings);
	free(s->listed);
	free(s);
}

/* State of reading smaps. Each mapping is classified as soon as it is parsed. */
struct reading {
	struct sampler *sampler;
	struct classifier classifier;
	int pid;
	struct mapping_list *keep; /* list that receives every mapping, or NULL */
};

/*
 * Return true if a page fault in the mapping may have to wait for another process
 * or machine.
 */
static bool is_remote(const struct reading *reading, const struct mapping *m)
{
	struct sampler *s = reading->sampler;
	_cleanup_close_ int process_fd = -1;
	bool is_local;

	if (m->inode == 0 || m->flags & MAPPING_HUGETLB)
		return false;
	if (local_devices_find(&s->local, m->dev_major, m->dev_minor, &is_local))
		return !is_local;
	process_fd = proc_dir_open(&s->fs, reading->pid);
	return !local_devices_learn(&s->local, process_fd, m->dev_major, m->dev_minor);
}

/*
 * Classify a mapping while smaps is being parsed. Collecting all mappings first would
 * take 224 bytes per mapping (doc/PERFORMANCE.md).
 */
static int classify_mapping(void *context, struct mapping *m)
{
	struct reading *reading = context;
	struct sampler *s = reading->sampler;

	/*
	 * file systems without a block device have major number 0: tmpfs, but also
	 * overlay and btrfs
	 */
	if (m->inode != 0 && m->dev_major == 0 &&
	    proc_mounts_is_tmpfs(&s->devices, &s->fs, reading->pid, m->dev_major,
				 m->dev_minor))
		m->flags |= MAPPING_TMPFS;
	if (s->fs.is_live && is_remote(reading, m))
		m->flags |= MAPPING_REMOTE;
	m->owner = classifier_add(&reading->classifier, m);
	if (reading->keep)
		mapping_list_add(reading->keep, m);
	return 0;
}

static void set_stack_owner(void *context, size_t index)
{
	struct mapping_list *keep = context;

	keep->items[index].owner = OWNER_STACK;
}

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *addr_a = a, *addr_b = b;

	return (*addr_a > *addr_b) - (*addr_a < *addr_b);
}

static void settle_stacks(struct reading *reading)
{
	struct address_list *addrs = &reading->sampler->stack_addrs;

	addrs->count = 0;
	if (classifier_wants_stack_pointers(&reading->classifier))
		/*
		 * if stack pointers cannot be read, mappings that may be stacks count as
		 * anonymous memory
		 */
		(void)proc_task_read_stack_pointers(&reading->sampler->fs, reading->pid,
						    addrs);
	if (addrs->count > 0)
		qsort(addrs->items, addrs->count, sizeof(*addrs->items),
		      compare_addresses);
	classifier_end(&reading->classifier, addrs->items, addrs->count,
		       reading->keep ? set_stack_owner : NULL, reading->keep);
	if (reading->keep)
		classify_uses(reading->classifier.usage, reading->keep, NULL, 0);
}

static int read_smaps_once(struct sampler *s, struct usage *u, int pid,
			   struct mapping_list *keep)
{
	struct reading reading = { .sampler = s, .pid = pid, .keep = keep };
	int r;

	if (keep)
		mapping_list_release(keep);
	classifier_begin(&reading.classifier, u);
	u->taken_ns = clock_now_ns();
	r = proc_smaps_read(&s->reader, &s->fs, pid, classify_mapping, &reading,
			    &u->read_ns);
	if (r == 0)
		settle_stacks(&reading);
	classifier_release(&reading.classifier);
	return r;
}

static int read_smaps(struct sampler *s, struct usage *u, int pid,
		      struct mapping_list *keep)
{
	int r = -ESTALE;

	for (int i = 0; i < READ_TRIES && r == -ESTALE; i++)
		r = read_smaps_once(s, u, pid, keep);
	if (r == 0 && u->mapping_count == 0 && process_has_memory(&u->process))
		/* the process has exited since it was listed, or is about to exit */
		return -ESRCH;
	return r;
}

static int read_rollup(struct sampler *s, struct usage *u, int pid)
{
	struct counters rollup;
	int r;

	u->taken_ns = clock_now_ns();
	r = proc_rollup_read(&s->reader, &s->fs, pid, &rollup, &u->read_ns);
	if (r == 0)
		classify_rollup(u, &rollup);
	return r;
}

/*
 * Read the figures from /proc/PID. If `keep` is not NULL, also store every mapping in
 * *keep; needs must then include NEED_SMAPS.
 */
static int read_figures(struct sampler *s, struct usage *u, int pid, unsigned int needs,
			struct mapping_list *keep)
{
	int r;

	if (!process_has_memory(&u->process)) {
		usage_set_no_memory(u);
		u->taken_ns = clock_now_ns();
		return 0;
	}
	if (needs & NEED_SMAPS)
		return read_smaps(s, u, pid, keep);
	if (!(needs & NEED_MEMORY)) {
		u->source = SOURCE_STAT;
		return 0;
	}
	r = read_rollup(s, u, pid);
	if (r == -EOPNOTSUPP ||
	    (r == 0 && needs & NEED_STATES && !classify_rollup_is_enough(&u->total)))
		return read_smaps(s, u, pid, NULL);
	return r;
}

/*
 * Read the memory of a process, or of a live thread if the main thread has ended. Return
 * -EBADMSG if only the pid of the process is known, so its figures cannot be attributed.
 */
static int read_memory(struct sampler *s, struct usage *u, unsigned int needs,
		       struct mapping_list *keep)
{
	int pid = u->process.pid;
	int r = read_figures(s, u, pid, needs, keep);

	if (r == -ESRCH) {
		/* a zombie main thread no longer has memory, but other threads may */
		int tid = proc_task_find_alive(&s->fs, pid);

		if (tid > 0 && tid != pid)
			r = read_figures(s, u, tid, needs, keep);
	}
	if (r == 0 && needs & NEED_STAT && u->process.state == '\0')
		return -EBADMSG;
	return r;
}

/*
 * Forget the figures of an earlier read, so that no old figures remain if the next
 * read fails.
 */
static void forget_memory(struct usage *u)
{
	struct usage fresh;

	usage_init(&fresh);
	fresh.process = u->process;
	fresh.command = u->command;
	*u = fresh;
}

static int read_usage(struct sampler *s, struct usage *u, unsigned int needs,
		      struct mapping_list *keep)
{
	int r;

	forget_memory(u);
	r = read_memory(s, u, needs, keep);
	if (r < 0) {
		forget_memory(u);
		u->error = r;
		return r;
	}
	/* the list of processes may lack the name of this process */
	if (needs & NEED_COMM && u->process.comm[0] == '\0')
		(void)proc_task_read_comm(&s->fs, u->process.pid, u->process.comm);
	return 0;
}

int sampler_read_usage(struct sampler *s, struct usage *u, unsigned int needs)
{
	bool is_wanted = s->sink.wants && (needs & NEED_SMAPS ||
					   s->sink.wants(s->sink.context, &u->process));
	bool has_heap = needs & NEED_HEAP && s->read_heap;
	struct mapping_list *mappings = has_heap ? &s->heap_mappings : &s->sink_mappings;
	int r;

	if (needs & NEED_COMMAND && !u->command)
		(void)proc_task_read_command(&s->fs, u->process.pid, &u->command);
	if (has_heap)
		r = s->read_heap(s->heap_context, u, mappings);
	else if (is_wanted)
		r = read_usage(s, u, needs | NEED_SMAPS, mappings);
	else
		r = read_usage(s, u, needs, NULL);
	if (r == 0 && is_wanted && u->source == SOURCE_SMAPS)
		s->sink.take(s->sink.context, u, mappings);
	return r;
}

int sampler_read_mappings(struct sampler *s, struct usage *u, struct mapping_list *ret)
{
	int r;

	if (!u->command)
		(void)proc_task_read_command(&s->fs, u->process.pid, &u->command);
	forget_memory(u);
	mapping_list_release(ret);
	r = read_memory(s, u, NEED_STAT | NEED_SMAPS, ret);
	if (r < 0) {
		mapping_list_release(ret);
		forget_memory(u);
		u->error = r;
	}
	return r;
}

const struct procfs *sampler_procfs(const struct sampler *s)
{
	return &s->fs;
}

static unsigned int list_wants(const struct sampler *s, unsigned int needs)
{
	/*
	 * a capture may contain neither comm nor a file that shows whether a process has
	 * memory, so always read stat
	 */
	if (!s->fs.is_live)
		return LIST_STAT;
	/*
	 * if the memory is not read, read stat to find out whether a process has memory
	 */
	return needs & (NEED_STAT | NEED_UID) || !(needs & NEED_MEMORY) ? LIST_STAT : 0;
}

static void begin_sample(struct snapshot *ret)
{
	snapshot_clear(ret);
	ret->taken_ns = clock_now_ns();
	ret->unix_ms = clock_unix_ms();
}

int sampler_list(struct sampler *s, struct targets *targets, unsigned int needs,
		 struct snapshot *ret)
{
	begin_sample(ret);
	if (targets_are_all(targets))
		return targets_list_all(&s->fs, list_wants(s, needs), ret);
	return targets_list(&s->fs, targets, ret);
}

static void mark_gone(struct targets *targets, int pid)
{
	for (size_t i = 0; i < targets->pid_count; i++)
		if (targets->pids[i].pid == pid)
			targets->pids[i].is_gone = true;
}

/*
 * Read a process. Return false if the process has ended; it is then counted, but left out
 * of the sample.
 */
static bool read_process(struct sampler *s, struct usage *u, unsigned int needs,
			 struct snapshot *ret)
{
	int r = sampler_read_usage(s, u, needs);

	if (r == -ESRCH) {
		ret->gone_count++;
		return false;
	}
	if (r < 0)
		ret->unreadable_count++;
	if (u->read_ns > s->longest_read_ns) {
		s->longest_read_ns = u->read_ns;
		s->longest_read_pid = u->process.pid;
	}
	return true;
}

/* Read each listed process. Processes that have ended are dropped. */
static void read_listed(struct sampler *s, struct targets *targets, unsigned int needs,
			struct snapshot *ret)
{
	bool is_all = targets_are_all(targets);
	size_t kept = 0;

	for (size_t i = 0; i < ret->count; i++) {
		struct usage *u = &ret->usages[i];
		bool is_skipped = is_all && !process_has_memory(&u->process);

		if (is_skipped || !read_process(s, u, needs, ret)) {
			if (!is_skipped)
				mark_gone(targets, u->process.pid);
			usage_release(u);
			continue;
		}
		if (kept != i)
			ret->usages[kept] = *u;
		kept++;
	}
	ret->count = kept;
}

int sampler_take(struct sampler *s, struct targets *targets, unsigned int needs,
		 struct snapshot *ret)
{
	int r;

	s->longest_read_ns = 0;
	r = sampler_list(s, targets, needs, ret);
	if (r < 0)
		return r;
	read_listed(s, targets, needs, ret);
	ret->cost_ns = clock_now_ns() - ret->taken_ns;
	return 0;
}

/* Initial capacity, large enough for malloc() to use mmap, as in snapshot_add(). */
#define LISTED_MIN 1000

static int keep_process(void *context, const struct process *p)
{
	struct sampler *s = context;
	size_t need = s->listed_count < LISTED_MIN ? LISTED_MIN : s->listed_count + 1;

	if (!process_has_memory(p))
		return 0;
	s->listed = xgrow(s->listed, &s->listed_capacity, need, sizeof(*s->listed));
	s->listed[s->listed_count++] = *p;
	return 0;
}

int sampler_take_each(struct sampler *s, unsigned int needs, usage_fn fn, void *context,
		      struct snapshot *ret)
{
	int r;

	s->longest_read_ns = 0;
	s->listed_count = 0;
	begin_sample(ret);
	r = proc_list_read(&s->fs, list_wants(s, needs), keep_process, s);
	for (size_t i = 0; r == 0 && i < s->listed_count; i++) {
		struct usage u;

		usage_init(&u);
		u.process = s->listed[i];
		if (read_process(s, &u, needs, ret))
			r = fn(context, &u);
		usage_release(&u);
	}
	ret->cost_ns = clock_now_ns() - ret->taken_ns;
	return r;
}

uint64_t sampler_min_interval_ns(const struct sampler *s, unsigned int per_mille,
				 int *ret_pid)
{
	if (per_mille == 0)
		return 0;
	*ret_pid = s->longest_read_pid;
	return s->longest_read_ns / per_mille * 1000;
}
