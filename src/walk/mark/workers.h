/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workers - the threads that search for reachable blocks together.
 *
 * The calling thread is one of them. The others sleep until there is work to share: while
 * a thread waits for work, any thread with several entries on its stack moves some of
 * them to a pool of bounded size. Large roots and blocks are divided into pieces.
 */
#ifndef MS_WALK_MARK_WORKERS_H
#define MS_WALK_MARK_WORKERS_H

#include <pthread.h>
#include <stdatomic.h>

#include "walk/mark/scan.h"

/* Maximum number of entries in the pool. */
#define WORKERS_POOL 2048

struct workers {
	struct marker *markers; /* markers[0] belongs to the calling thread */
	unsigned int count;
	pthread_t threads[MARK_THREADS_MAX];

	/* set if a bit in the table `waiting` was set since the last pass over it */
	atomic_bool has_waiting;
	/* true if the progress callback has stopped the search */
	atomic_bool is_stopped;
	atomic_uint hungry_count; /* number of threads that wait for work */

	pthread_mutex_t lock; /* mutex for the members below */
	pthread_cond_t wake;
	struct block_ref pool[WORKERS_POOL];
	size_t pool_count;
	unsigned int busy_count; /* number of other threads that have work */
	bool is_ending;
	/* roots that no thread has taken yet, or NULL if all are taken */
	const struct root_list *roots;
	size_t next_root;

	/* the following members are accessed only by the calling thread */
	struct mark_progress progress;
	uint64_t total_bytes, reported_bytes;
};

/*
 * Start the threads. If the system permits fewer threads, continue with fewer. The
 * markers are initialized except for the pointer to the workers, and remain in place
 * until workers_free().
 */
struct workers *workers_new(struct marker *markers, unsigned int count,
			    const struct mark_progress *progress);

/* End the threads. w may be NULL. The markers are not freed. */
void workers_free(struct workers *w);

/*
 * Use all threads to scan the roots (unless NULL), everything on the caller's stack, and
 * all blocks that are reachable from there. Return when no thread has any work left.
 */
void workers_run(struct workers *w, const struct root_list *roots);

/*
 * Return the number and size of the blocks that all threads together have scanned. Call
 * this function only while no thread is scanning.
 */
struct chunk_sum workers_scanned(const struct workers *w);

uint64_t workers_done_bytes(const struct workers *w);

/* Report the progress of all threads. Only the calling thread may use this function. */
void workers_report(struct workers *w);

/*
 * Move up to half of the stack's entries to the pool. Do nothing if the stack has only a
 * few entries.
 */
void workers_hand_out(struct marker *m);

/*
 * If m belongs to the calling thread, report the progress once enough bytes were scanned
 * since the last report.
 */
void workers_note_progress(struct marker *m);

static inline bool workers_are_stopped(const struct workers *w)
{
	return atomic_load_explicit(&w->is_stopped, memory_order_relaxed);
}

static inline bool workers_need_work(const struct workers *w)
{
	return atomic_load_explicit(&w->hungry_count, memory_order_relaxed) > 0;
}

#endif
