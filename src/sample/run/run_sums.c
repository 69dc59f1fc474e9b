/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/run/run_sums.h"

#include "base/units.h"

/*
 * The sums over heaps are known if processes with known heaps account for at least this
 * percentage of Rss.
 */
#define KNOWN_PERCENT 95

void run_sums_add(struct run_sums *sums, const struct usage *u, const char *problem)
{
	struct run_sample *all = &sums->all;
	uint64_t rss_bytes = u->total.bytes[SMAPS_RSS];
	bool is_known = !problem;

	all->rss_bytes = bytes_add(all->rss_bytes, rss_bytes);
	all->lazyfree_bytes =
		bytes_add(all->lazyfree_bytes, u->state_bytes[STATE_LAZYFREE]);
	all->unbacked_bytes = bytes_add(all->unbacked_bytes, u->unbacked_bytes);
	all->swap_bytes = bytes_add(all->swap_bytes, u->total.bytes[SMAPS_SWAP]);
	for (int o = 0; o < OWNER_COUNT_; o++) {
		uint64_t bytes = matrix_owner_bytes(&u->matrix, (enum owner)o);
		bool is_heap = o >= OWNER_HEAP_FIRST && o <= OWNER_HEAP_LAST;
		int o_to = o;

		if (is_heap && u->heap_quality == QUALITY_UNKNOWN)
			continue;
		/*
		 * if the last walk of a heap is stale, count its memory as anonymous, as
		 * if it had never been walked
		 */
		if (is_heap && !is_known)
			o_to = OWNER_ANON;
		all->owner_bytes[o_to] = bytes_add(all->owner_bytes[o_to], bytes);
		if (is_heap && is_known)
			sums->heap_bytes = bytes_add(sums->heap_bytes, bytes);
	}
	if (!is_known) {
		if (!all->heap_problem || rss_bytes > sums->unknown_rss_bytes) {
			all->heap_problem = problem;
			sums->unknown_rss_bytes = rss_bytes;
		}
		return;
	}
	sums->known_rss_bytes = bytes_add(sums->known_rss_bytes, rss_bytes);
	if (u->heap_quality < all->heap_quality)
		all->heap_quality = u->heap_quality;
}

void run_sums_end(struct run_sums *sums)
{
	struct run_sample *all = &sums->all;

	if (sums->known_rss_bytes == all->rss_bytes && all->rss_bytes > 0)
		return;
	if (sums->known_rss_bytes > 0 &&
	    sums->known_rss_bytes / KNOWN_PERCENT >= all->rss_bytes / 100) {
		all->heap_quality = QUALITY_ESTIMATE;
		all->heap_problem = NULL;
		return;
	}
	all->heap_quality = QUALITY_UNKNOWN;
	all->owner_bytes[OWNER_ANON] =
		bytes_add(all->owner_bytes[OWNER_ANON], sums->heap_bytes);
	for (int o = OWNER_HEAP_FIRST; o <= OWNER_HEAP_LAST; o++)
		all->owner_bytes[o] = BYTES_UNKNOWN;
}
