/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/heap/past_heap.h"
#include "classify/process/classify_heap.h"
#include "sample/heap/reader.h"

/*
 * Upper bound of the copy buffer that is kept from walk to walk; a larger one would be
 * idle most of the time.
 */
#define ROOM_KEPT_BYTES (UINT64_C(32) << 20)

#define FUTILE_DOUBLINGS_MAX 6

/* The known facts about one process's heap. */
struct kept {
	struct process process;
	uint64_t round;	    /* in which it was last read */
	uint64_t walked_ns; /* start of its last walk; 0: never walked */
	uint64_t pause_ns;  /* of that walk */
	uint64_t cpu_ns;    /* of that walk */
	uint64_t expected_ns;
	unsigned int futile_count; /* successive walks that found nothing */
	int error;
	const char *problem;
	struct past_heap past;
	uint64_t taken_ns; /* time of the figures in past */
	bool is_running;   /* past was read while the process ran */
	bool is_said;	   /* past has the allocator's own figures, not those of a walk */
	struct said said;
	const char *helper_problem;
};

enum walk_state {
	WALK_GOES_ON,
	WALK_HAS_ENDED,
	WALK_IS_ABANDONED
};

/* The walk in progress, or the last one. */
struct heap_walk {
	pthread_t thread;
	bool is_running;  /* until it is joined, all members below belong to the thread */
	atomic_int state; /* whichever side finishes last frees the walk */
	uint64_t began_ns;
	struct procfs fs;
	struct sampler *sampler;
	struct heap_reader reader;
	struct usage usage;
	struct mapping_list mappings;
	struct heap heap;
	uint64_t cpu_ns;
	enum heap_stops stops;
	int refusal; /* 0, or why the process was read without a pause */
	int result;
};

struct heap_keeper {
	struct sampler *sampler;
	uint64_t patience_ns;
	enum heap_walks walks;
	unsigned int max_share_per_mille;
	struct kept *kept;
	size_t count, capacity;
	uint64_t round;	       /* every process is read once in a round */
	uint64_t newcomers_ns; /* when a new process may be walked */
	struct heap_walk *walk;
};

/* Create a walk. It has its own descriptor, because it may outlive the owner of fs. */
static struct heap_walk *new_walk(const struct procfs *fs, enum heap_stops stops,
				  uint64_t max_pause_ns)
{
	struct heap_walk *w = xcalloc(1, sizeof(*w));

	w->fs = *fs;
	w->fs.fd = fcntl(fs->fd, F_DUPFD_CLOEXEC, 0);
	w->sampler = sampler_new(&w->fs, fs->is_live);
	w->stops = stops;
	heap_reader_init(&w->reader, &w->fs, w->sampler, max_pause_ns);
	w->reader.is_read_once = true;
	usage_init(&w->usage);
	heap_init(&w->heap);
	return w;
}

static void free_walk(struct heap_walk *w)
{
	usage_release(&w->usage);
	mapping_list_release(&w->mappings);
	heap_release(&w->heap);
	heap_reader_release(&w->reader);
	sampler_free(w->sampler);
	procfs_release(&w->fs);
	free(w);
}

struct heap_keeper *heap_keeper_new(const struct procfs *fs, struct sampler *sampler,
				    enum heap_stops stops, uint64_t max_pause_ns,
				    unsigned int max_share_per_mille)
{
	struct heap_keeper *k = xcalloc(1, sizeof(*k));

	k->sampler = sampler;
	k->patience_ns = UINT64_MAX;
	k->max_share_per_mille = max_share_per_mille;
	k->round = 1;
	k->walk = new_walk(fs, stops, max_pause_ns);
	return k;
}

void heap_keeper_set_helpers(struct heap_keeper *k, struct helpers *helpers)
{
	k->walk->reader.helpers = helpers;
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
 * Begin a round. A process that was not read in the whole previous round has ended or is
 * no longer watched; forget it.
 */
static void begin_round(struct heap_keeper *k)
{
	size_t count = 0;

	for (size_t i = 0; i < k->count; i++) {
		if (k->kept[i].round == k->round)
			k->kept[count++] = k->kept[i];
		else
			past_heap_release(&k->kept[i].past);
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
		*kept = (struct kept){
			.process = *p,
			.past = PAST_HEAP_INIT,
			.said = SAID_UNKNOWN,
		};
	}
	kept->round = k->round;
	return kept;
}

/*
 * Return how long to wait between two starts of an operation that costs cost_ns, so that
 * it stays within its share.
 */
static uint64_t share_ns(const struct heap_keeper *k, uint64_t cost_ns)
{
	if (k->max_share_per_mille == 0 || k->max_share_per_mille >= 1000)
		return 0;
	return cost_ns / k->max_share_per_mille * 1000;
}

static uint64_t repeat_ns(const struct heap_keeper *k, const struct kept *kept)
{
	unsigned int doublings = kept->futile_count < FUTILE_DOUBLINGS_MAX
					 ? kept->futile_count
					 : FUTILE_DOUBLINGS_MAX;
	uint64_t cost_ns = 0;

	for (size_t i = 0; i < k->count; i++)
		cost_ns += k->kept[i].cpu_ns;
	if (cost_ns < kept->pause_ns)
		cost_ns = kept->pause_ns;
	return share_ns(k, cost_ns) << doublings;
}

static bool may_walk(const struct heap_keeper *k, const struct kept *kept)
{
	uint64_t now = clock_now_ns();

	if (k->walk->is_running || !process_has_memory(&kept->process))
		return false;
	if (k->walks != WALKS_BY_SHARE)
		return k->walks == WALKS_ALL;
	if (kept->walked_ns == 0)
		return k->patience_ns == UINT64_MAX || now >= k->newcomers_ns;
	return now - kept->walked_ns >= repeat_ns(k, kept);
}

static void *run_walk(void *arg)
{
	struct heap_walk *w = arg;
	uint64_t pause_ns;

	w->refusal = 0;
	w->reader.is_running = w->stops == STOPS_NONE;
	w->result = heap_reader_read(&w->reader, &w->usage, &w->mappings, &w->heap);
	if (w->stops == STOPS_SHORT_OR_NONE &&
	    (w->result == -EFBIG || w->result == -ETIMEDOUT)) {
		w->refusal = w->result;
		pause_ns = w->heap.pause_ns;
		heap_release(&w->heap);
		w->reader.is_running = true;
		w->result =
			heap_reader_read(&w->reader, &w->usage, &w->mappings, &w->heap);
		w->heap.pause_ns = pause_ns;
	}
	/*
	 * Another thread does the work during the pause and is busy for all of it, so add
	 * the pause to the CPU time.
	 */
	w->cpu_ns = clock_thread_cpu_ns() + w->heap.pause_ns;
	if (atomic_exchange(&w->state, WALK_HAS_ENDED) == WALK_IS_ABANDONED)
		free_walk(w);
	return NULL;
}

static int begin_walk(struct heap_keeper *k, struct kept *kept)
{
	struct heap_walk *w = k->walk;
	sigset_t all, before;
	int err;

	w->usage.process = kept->process;
	w->began_ns = clock_now_ns();
	atomic_store(&w->state, WALK_GOES_ON);
	kept->walked_ns = w->began_ns;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&w->thread, NULL, run_walk, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	w->is_running = err == 0;
	kept->error = err == 0 ? -EINPROGRESS : -err;
	return -err;
}

/* Whether the walk has ended, or ends within patience_ns. */
static bool wait_for_walk(struct heap_walk *w, uint64_t patience_ns)
{
	struct timespec until;
	uint64_t until_ns;

	if (patience_ns == UINT64_MAX)
		return pthread_join(w->thread, NULL) == 0;
	clock_gettime(CLOCK_REALTIME, &until); /* the clock of pthread_timedjoin_np(3) */
	until_ns =
		(uint64_t)until.tv_sec * NS_PER_S + (uint64_t)until.tv_nsec + patience_ns;
	until.tv_sec = (time_t)(until_ns / NS_PER_S);
	until.tv_nsec = (long)(until_ns % NS_PER_S);
	return pthread_timedjoin_np(w->thread, NULL, &until) == 0;
}

static void note_result(struct heap_keeper *k, struct kept *kept)
{
	const struct heap_walk *w = k->walk;
	bool is_known = w->result == 0 && w->usage.heap_quality != QUALITY_UNKNOWN;

	kept->pause_ns = w->heap.pause_ns;
	kept->expected_ns = w->heap.expected_ns;
	kept->cpu_ns = w->cpu_ns;
	kept->error = w->result < 0 ? w->result : w->refusal;
	kept->problem = w->heap.problem;
	kept->futile_count = is_known ? 0 : kept->futile_count + 1;
	kept->said = w->usage.said;
	kept->helper_problem = w->usage.helper_problem;
	if (!is_known)
		return;
	if (w->heap.is_said)
		past_heap_take_stats(&kept->past, &w->reader.answer.stats, &w->mappings);
	else
		past_heap_take(&kept->past, &w->heap, &w->mappings);
	kept->taken_ns = w->usage.taken_ns;
	kept->is_running = w->reader.is_running;
	kept->is_said = w->heap.is_said;
}

/* Release what is no longer needed; a later walk starts from scratch. */
static void clear_walk(struct heap_walk *w)
{
	const struct heap_reader old = w->reader;

	usage_release(&w->usage);
	usage_init(&w->usage);
	mapping_list_release(&w->mappings);
	heap_release(&w->heap);
	if (w->reader.image.capacity_bytes <= ROOM_KEPT_BYTES)
		return;
	heap_reader_release(&w->reader);
	heap_reader_init(&w->reader, old.fs, old.sampler, old.max_pause_ns);
	w->reader.is_read_once = true;
	w->reader.helpers = old.helpers;
}

/* Replace the walk after a read that hangs in the kernel. */
static void abandon_walk(struct heap_keeper *k)
{
	struct heap_walk *w = k->walk;

	k->walk = new_walk(&w->fs, w->stops, w->reader.max_pause_ns);
	k->walk->reader.helpers = w->reader.helpers;
	free_walk(w);
}

/*
 * Note the findings of a walk that has ended, or that ends within patience_ns. Returns true
 * if its buffers may be reused; false if it still runs, hung, or there is none.
 */
static bool end_walk(struct heap_keeper *k, uint64_t patience_ns)
{
	struct heap_walk *w = k->walk;
	struct kept *kept;

	if (!w->is_running || !wait_for_walk(w, patience_ns))
		return false;
	w->is_running = false;
	k->newcomers_ns = w->began_ns + share_ns(k, w->cpu_ns);
	kept = find(k, &w->usage.process);
	if (kept)
		note_result(k, kept);
	if (w->result != -ETIME)
		return true;
	abandon_walk(k);
	return false;
}

void heap_keeper_free(struct heap_keeper *k,
		      void (*on_left)(void *context, int pid, const char *what),
		      void *context)
{
	struct helpers *helpers;
	struct heap_walk *w;

	if (!k)
		return;
	w = k->walk;
	helpers = w->reader.helpers;
	if (helpers && w->is_running) {
		pthread_join(w->thread, NULL);
		w->is_running = false;
	}
	helpers_free(helpers, on_left, context);
	if (w->is_running &&
	    atomic_exchange(&w->state, WALK_IS_ABANDONED) != WALK_HAS_ENDED) {
		pthread_detach(w->thread);
	} else {
		if (w->is_running)
			pthread_join(w->thread, NULL);
		free_walk(w);
	}
	for (size_t i = 0; i < k->count; i++)
		past_heap_release(&k->kept[i].past);
	free(k->kept);
	free(k);
}

/*
 * Move the walk's figures to *u and *ret in place of a new read. Returns what that read
 * would have returned.
 */
static int take_walk(struct heap_walk *w, struct usage *u, struct mapping_list *ret)
{
	char *command = u->command ? u->command : w->usage.command;

	if (command == w->usage.command)
		w->usage.command = NULL;
	usage_release(&w->usage);
	*u = w->usage;
	u->command = command;
	w->usage.command = NULL;
	mapping_list_release(ret);
	*ret = w->mappings;
	w->mappings = (struct mapping_list)MAPPING_LIST_INIT;
	return u->error;
}

/*
 * Add what is known from the last walk; figures of it that *u does not have
 * are carried over.
 */
static void add_kept(const struct kept *kept, struct usage *u,
		     struct mapping_list *mappings)
{
	struct heap heap;

	if (u->heap_quality == QUALITY_UNKNOWN &&
	    past_heap_carry(&kept->past, mappings, &heap)) {
		classify_heap(u, mappings, &heap);
		heap_release(&heap);
	}
	if (u->heap_quality == QUALITY_UNKNOWN)
		past_heap_carry_stats(&kept->past, u, mappings);
	u->heap_taken_ns = u->heap_quality == QUALITY_UNKNOWN ? 0 : kept->taken_ns;
	u->heap_is_running = kept->is_running;
	u->heap_is_said = kept->is_said && u->heap_quality != QUALITY_UNKNOWN;
	u->said = kept->said;
	u->helper_problem = kept->helper_problem;
	u->heap_pause_ns = kept->pause_ns;
	u->heap_error = kept->walked_ns == 0 ? -ENODATA : kept->error;
	u->heap_problem = kept->problem;
	u->heap_expected_ns = kept->expected_ns;
}

int heap_keeper_read(struct heap_keeper *k, struct usage *u, struct mapping_list *ret)
{
	struct kept *kept;
	int r;

	if (!process_has_memory(&u->process))
		return sampler_read_mappings(k->sampler, u, ret);
	if (end_walk(k, k->walks == WALKS_ALL ? UINT64_MAX : 0))
		clear_walk(k->walk);
	kept = find_or_add(k, &u->process);
	if (may_walk(k, kept) && begin_walk(k, kept) == 0 && end_walk(k, wait_ns(k))) {
		r = take_walk(k->walk, u, ret);
		clear_walk(k->walk);
	} else {
		r = sampler_read_mappings(k->sampler, u, ret);
	}
	if (r == 0)
		add_kept(kept, u, ret);
	return r;
}
