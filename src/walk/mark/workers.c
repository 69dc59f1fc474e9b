/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mark/workers.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/thread.h"
#include "base/xalloc.h"

#define PROGRESS_STEP_BYTES (UINT64_C(4) << 20)

/* While the calling thread waits for the others, it reports progress at this interval. */
#define PROGRESS_WAIT_NS 50000000L

/* A thread with fewer entries than this on its stack does not share them. */
#define HAND_OUT_MIN 8

uint64_t workers_done_bytes(const struct workers *w)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < w->count; i++)
		sum += atomic_load_explicit(&w->markers[i].done_bytes,
					    memory_order_relaxed);
	return sum;
}

struct chunk_sum workers_scanned(const struct workers *w)
{
	struct chunk_sum sum = { 0, 0 };

	for (unsigned int i = 0; i < w->count; i++) {
		sum.count += w->markers[i].scanned.count;
		sum.bytes += w->markers[i].scanned.bytes;
	}
	return sum;
}

void workers_report(struct workers *w)
{
	if (!w->progress.report || workers_are_stopped(w))
		return;
	w->reported_bytes = workers_done_bytes(w);
	if (w->progress.report(w->progress.context, w->reported_bytes, w->total_bytes))
		atomic_store_explicit(&w->is_stopped, true, memory_order_relaxed);
}

void workers_note_progress(struct marker *m)
{
	struct workers *w = m->workers;

	if (m == w->markers && w->progress.report &&
	    workers_done_bytes(w) - w->reported_bytes >= PROGRESS_STEP_BYTES)
		workers_report(w);
}

void workers_hand_out(struct marker *m)
{
	struct workers *w = m->workers;
	size_t count = m->depth / 2;

	if (m->depth < HAND_OUT_MIN)
		return;
	pthread_mutex_lock(&w->lock);
	if (count > WORKERS_POOL - w->pool_count)
		count = WORKERS_POOL - w->pool_count;
	/* share the oldest entries of the stack, which usually lead to the most blocks */
	memcpy(&w->pool[w->pool_count], m->stack, count * sizeof(*m->stack));
	m->depth -= count;
	memcpy(m->stack, &m->stack[m->depth], count * sizeof(*m->stack));
	w->pool_count += count;
	m->has_handed_out = true;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

/*
 * Move work from the pool, or else the next root, to the thread's empty stack. Return
 * false if the pool is empty and all roots were taken.
 */
static bool take_work(struct marker *m)
{
	struct workers *w = m->workers;
	size_t count = w->pool_count / w->count + 1;

	if (workers_are_stopped(w))
		return false;
	if (w->pool_count > 0) {
		count = count < w->pool_count ? count : w->pool_count;
		count = count < m->capacity ? count : m->capacity;
		w->pool_count -= count;
		memcpy(m->stack, &w->pool[w->pool_count], count * sizeof(*m->stack));
		m->depth = count;
		return true;
	}
	if (w->roots && w->next_root < w->roots->count) {
		const struct root_range *range = &w->roots->items[w->next_root++];

		m->stack[m->depth++] = (struct block_ref){
			.addr = range->start_addr,
			.bit = range->end_addr,
			.extent = EXTENT_OF_RANGE,
		};
		return true;
	}
	return false;
}

static void *help(void *context)
{
	struct marker *m = context;
	struct workers *w = m->workers;

	pthread_mutex_lock(&w->lock);
	while (!w->is_ending) {
		if (take_work(m)) {
			w->busy_count++;
			pthread_mutex_unlock(&w->lock);
			marker_drain(m);
			pthread_mutex_lock(&w->lock);
			w->busy_count--;
			pthread_cond_broadcast(&w->wake);
			continue;
		}
		atomic_fetch_add_explicit(&w->hungry_count, 1, memory_order_relaxed);
		pthread_cond_wait(&w->wake, &w->lock);
		atomic_fetch_sub_explicit(&w->hungry_count, 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void wait_for_others(struct workers *w)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += PROGRESS_WAIT_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	atomic_fetch_add_explicit(&w->hungry_count, 1, memory_order_relaxed);
	pthread_cond_timedwait(&w->wake, &w->lock, &until);
	atomic_fetch_sub_explicit(&w->hungry_count, 1, memory_order_relaxed);
	pthread_mutex_unlock(&w->lock);
	workers_note_progress(w->markers);
	pthread_mutex_lock(&w->lock);
}

void workers_run(struct workers *w, const struct root_list *roots)
{
	struct marker *m = w->markers;

	marker_drain(m);
	/*
	 * the other threads have work only if there are roots, or if the pool contains
	 * entries
	 */
	if (!roots && !m->has_handed_out)
		return;
	pthread_mutex_lock(&w->lock);
	w->roots = roots;
	w->next_root = 0;
	pthread_cond_broadcast(&w->wake);
	for (;;) {
		if (take_work(m)) {
			pthread_mutex_unlock(&w->lock);
			marker_drain(m);
			pthread_mutex_lock(&w->lock);
		} else if (w->busy_count > 0) {
			wait_for_others(w);
		} else {
			break;
		}
	}
	w->roots = NULL;
	m->has_handed_out = false;
	pthread_mutex_unlock(&w->lock);
}

struct workers *workers_new(struct marker *markers, unsigned int count,
			    const struct mark_progress *progress)
{
	struct workers *w = xcalloc(1, sizeof(*w));
	pthread_condattr_t attributes;

	w->markers = markers;
	w->progress = *progress;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&w->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	for (unsigned int i = 0; i < count; i++) {
		markers[i].workers = w;
		markers[i].has_others = count > 1;
	}
	pthread_mutex_lock(&w->lock);
	for (w->count = 1; w->count < count; w->count++)
		if (thread_start(&w->threads[w->count], help, &markers[w->count]) < 0)
			break;
	pthread_mutex_unlock(&w->lock);
	return w;
}

void workers_free(struct workers *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->is_ending = true;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
	for (unsigned int i = 1; i < w->count; i++)
		pthread_join(w->threads[i], NULL);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
