/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/keeper.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"

#define FUTILE_DOUBLINGS_MAX 6

/*
 * The kept copy of a process is released if the time since its last heap walk exceeds
 * twice the interval between its walks plus this time.
 */
#define COPY_IDLE_NS (60 * NS_PER_S)

/* State of the heap of one process. */
struct kept {
	struct process process;
	/* number of the round in which the process was last read */
	uint64_t round;
	/* start time of the last heap walk, or 0 if the heap was never walked */
	uint64_t walked_ns;
	/* number of successive heap walks without findings */
	unsigned int futile_count;
	struct carried_heap heap;
};

struct heap_keeper {
	struct sampler *sampler;
	/* helpers for querying allocators, or NULL if allocators are not queried */
	struct helpers *helpers;
	uint64_t patience_ns;
	enum heap_walks walks;
	enum heap_stops stops;
	uint64_t max_pause_ns;
	enum pre_copy pre_copy;
	bool keeps_copies;
	unsigned int max_share_per_mille;
	struct kept *kept;
	size_t count, capacity;
	/* number of the current round; every process is read once per round */
	uint64_t round;
	/* earliest time at which the heap of a new process may be walked */
	uint64_t newcomers_ns;
	/* the walker, or NULL if there were no free file descriptors to create one */
	struct heap_walker *walker;
};

struct heap_keeper *heap_keeper_new(const struct procfs *fs, struct sampler *sampler,
				    enum heap_stops stops, uint64_t max_pause_ns,
				    unsigned int max_share_per_mille)
{
	struct heap_keeper *k = xcalloc(1, sizeof(*k));

	k->sampler = sampler;
	k->patience_ns = UINT64_MAX;
	k->stops = stops;
	k->max_pause_ns = max_pause_ns;
	k->max_share_per_mille = max_share_per_mille;
	k->round = 1;
	k->walker = heap_walker_new(fs);
	return k;
}

void heap_keeper_set_helpers(struct heap_keeper *k, struct helpers *helpers)
{
	k->helpers = helpers;
}

void heap_keeper_set_pre_copy(struct heap_keeper *k, enum pre_copy pre_copy)
{
	k->pre_copy = pre_copy;
}

void heap_keeper_set_keeps_copies(struct heap_keeper *k, bool keeps_copies)
{
	k->keeps_copies = keeps_copies;
}

void heap_keeper_set_patience(struct heap_keeper *k, uint64_t patience_ns)
{
	k->patience_ns = patience_ns;
}

void heap_keeper_set_walks(struct heap_keeper *k, enum heap_walks walks)
{
	k->walks = walks;
}

static uint64_t wait_ns(const struct heap_keeper *k)
{
	return k->walks == WALKS_ALL ? UINT64_MAX : k->patience_ns;
}

static struct kept *find(struct heap_keeper *k, const struct process *p)
{
	for (size_t i = 0; i < k->count; i++)
		if (process_is_same(&k->kept[i].process, p))
			return &k->kept[i];
	return NULL;
}

/*
 * Begin a new round. Forget processes that were not read in the previous round, because
 * they have ended or are no longer watched.
 */
static void begin_round(struct heap_keeper *k)
{
	size_t count = 0;

	for (size_t i = 0; i < k->count; i++) {
		if (k->kept[i].round == k->round)
			k->kept[count++] = k->kept[i];
		else
			carried_heap_release(&k->kept[i].heap);
	}
	k->count = count;
	k->round++;
}

static struct kept *find_or_add(struct heap_keeper *k, const struct process *p)
{
	struct kept *kept = find(k, p);

	if (kept && kept->round == k->round) {
		begin_round(k);
		kept = find(k, p);
	}
	if (!kept) {
		k->kept = xgrow(k->kept, &k->capacity, k->count + 1, sizeof(*k->kept));
		kept = &k->kept[k->count++];
		*kept = (struct kept){ .process = *p, .heap = CARRIED_HEAP_INIT };
		kept->heap.error = -ENODATA;
	}
	kept->round = k->round;
	return kept;
}

static uint64_t repeat_ns(const struct heap_keeper *k, const struct kept *kept)
{
	unsigned int doublings = kept->futile_count < FUTILE_DOUBLINGS_MAX
					 ? kept->futile_count
					 : FUTILE_DOUBLINGS_MAX;
	uint64_t cost_ns = 0;

	for (size_t i = 0; i < k->count; i++)
		cost_ns += k->kept[i].heap.cpu_ns;
	return heap_share_ns(cost_ns, k->max_share_per_mille) << doublings;
}

static bool may_walk(const struct heap_keeper *k, const struct kept *kept)
{
	uint64_t now = clock_now_ns();

	if ((k->walker && heap_walker_is_running(k->walker)) ||
	    !process_has_memory(&kept->process))
		return false;
	if (k->walks != WALKS_BY_SHARE)
		return k->walks == WALKS_ALL;
	if (kept->walked_ns == 0)
		return k->patience_ns == UINT64_MAX || now >= k->newcomers_ns;
	return now - kept->walked_ns >= repeat_ns(k, kept);
}

/*
 * Return true if the process is still being read, and its last heap walk is recent enough
 * to keep its copy.
 */
static bool is_followed(void *context, const struct process *process)
{
	const struct heap_keeper *k = context;

	for (size_t i = 0; i < k->count; i++) {
		const struct kept *kept = &k->kept[i];

		if (process_is_same(&kept->process, process))
			return clock_now_ns() - kept->walked_ns <
			       2 * repeat_ns(k, kept) + COPY_IDLE_NS;
	}
	return false;
}

/* Release the copies of processes that are no longer followed. */
static void prune_copies(struct heap_keeper *k)
{
	if (k->keeps_copies && k->walker && !heap_walker_is_running(k->walker))
		heap_walker_prune(k->walker, is_followed, k);
}

static int begin_walk(struct heap_keeper *k, struct kept *kept)
{
	const struct heap_request request = {
		.process = &kept->process,
		.stops = k->stops,
		.max_pause_ns = k->max_pause_ns,
		.pre_copy = k->pre_copy,
		.keeps_copies = k->keeps_copies,
		.is_read_once = true,
		.helpers = k->helpers,
	};
	int r;

	kept->walked_ns = clock_now_ns();
	r = k->walker ? heap_walker_start(k->walker, &request) : -EMFILE;
	kept->heap.error = r == 0 ? -EINPROGRESS : r;
	return r;
}

/*
 * Wait at most patience_ns for the running heap walk to end, and store its findings.
 * Return false if no walk has ended by then.
 */
static bool end_walk(struct heap_keeper *k, uint64_t patience_ns,
		     struct heap_findings *ret)
{
	struct kept *kept;

	if (!k->walker || !heap_walker_wait(k->walker, patience_ns) ||
	    !heap_walker_take(k->walker, ret))
		return false;
	k->newcomers_ns =
		ret->taken_ns + heap_share_ns(ret->cpu_ns, k->max_share_per_mille);
	kept = find(k, &ret->usage.process);
	if (kept && carried_heap_update(&kept->heap, ret))
		kept->futile_count = 0;
	else if (kept)
		kept->futile_count++;
	return true;
}

/* Return the pid of the process whose heap is being walked, or 0. */
static int walked_pid(const struct heap_keeper *k)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->kept[i].heap.error == -EINPROGRESS)
			return k->kept[i].process.pid;
	return 0;
}

/*
 * Cancel the running heap walk, which uses the helpers. Every step of a walk has a
 * timeout, except for reads from /proc: these may wait for a kernel lock that the process
 * holds while it waits for a file system. Return false if the walk hangs.
 */
static bool cancel_walk(struct heap_keeper *k)
{
	if (!k->walker || !heap_walker_is_running(k->walker))
		return true;
	heap_walker_cancel(k->walker);
	return heap_walker_wait(k->walker, HEAP_WALKER_HELPER_NS);
}

void heap_keeper_free(struct heap_keeper *k,
		      void (*on_left)(void *context, int pid, const char *what),
		      void *context)
{
	if (!k)
		return;
	if (k->helpers && !cancel_walk(k)) {
		if (on_left)
			on_left(context, walked_pid(k), "reading its memory hangs");
		heap_walker_give_helpers(k->walker, k->helpers);
	} else {
		helpers_free(k->helpers, on_left, context);
	}
	heap_walker_free(k->walker);
	for (size_t i = 0; i < k->count; i++)
		carried_heap_release(&k->kept[i].heap);
	free(k->kept);
	free(k);
}

/*
 * Move the sample that was taken during a heap walk to *u and *ret, so that no new sample
 * is needed. Return 0, or the error that occurred when the sample was read.
 */
static int take_sample(struct heap_findings *f, struct usage *u, struct mapping_list *ret)
{
	char *command = u->command;

	if (!command) {
		command = f->usage.command;
		f->usage.command = NULL;
	}
	usage_release(&f->usage);
	*u = f->usage;
	u->command = command;
	mapping_list_release(ret);
	*ret = f->mappings;
	f->mappings = (struct mapping_list)MAPPING_LIST_INIT;
	return u->error;
}

int heap_keeper_read(struct heap_keeper *k, struct usage *u, struct mapping_list *ret)
{
	struct heap_findings found;
	struct kept *kept;
	int r;

	if (!process_has_memory(&u->process))
		return sampler_read_mappings(k->sampler, u, ret);
	if (end_walk(k, k->walks == WALKS_ALL ? UINT64_MAX : 0, &found))
		heap_findings_release(&found);
	kept = find_or_add(k, &u->process);
	prune_copies(k);
	if (may_walk(k, kept) && begin_walk(k, kept) == 0 &&
	    end_walk(k, wait_ns(k), &found)) {
		r = take_sample(&found, u, ret);
		heap_findings_release(&found);
	} else {
		r = sampler_read_mappings(k->sampler, u, ret);
	}
	if (r == 0)
		carried_heap_add(&kept->heap, u, ret);
	return r;
}
