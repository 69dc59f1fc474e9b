/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mark/mark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/xalloc.h"
#include "walk/mark/scan.h"
#include "walk/mark/workers.h"

/*
 * Each thread has a stack of the blocks that were found but not yet scanned. The total
 * size of all stacks is 1/STACK_SHARE of the size of the image. If a stack is full, only
 * a bit is set for each further block, and a later pass over all blocks finds these bits.
 */
#define STACK_SHARE 64
#define STACK_MIN_BYTES (UINT64_C(64) << 10)

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

struct mark_search {
	const struct blocks *blocks;
	struct workers *workers;
	struct marker markers[MARK_THREADS_MAX];
	struct marker *own;	    /* the marker of the calling thread */
	uint64_t *unseen, *waiting; /* bit tables; see struct marker */

	uint64_t *leaders; /* addresses of possible direct leaks, in ascending order */
	size_t leader_count, leader_capacity;
};

static bool is_stopped(const struct mark_search *s)
{
	return workers_are_stopped(s->workers);
}

/*
 * Scan the roots (unless NULL), everything on the stack and in the prefetch ring, and all
 * blocks that are reachable from there.
 */
static void drain(struct mark_search *s, const struct root_list *roots)
{
	struct workers *w = s->workers;

	workers_run(w, roots);
	while (atomic_exchange_explicit(&w->has_waiting, false, memory_order_relaxed) &&
	       !is_stopped(s)) {
		struct block_place place = { 0 };
		struct block block;

		while (!is_stopped(s) && blocks_next(s->blocks, &place, &block)) {
			struct block_ref ref = { block.addr, block.bit, block.extent };

			if (!marker_take_bit(s->own, s->waiting, block.bit))
				continue;
			marker_scan_block(s->own, &ref);
			marker_drain(s->own);
		}
		workers_run(w, NULL);
	}
}

static void mark_roots(struct mark_search *s, const struct mark_input *input)
{
	for (size_t i = 0; i < input->word_count; i++)
		marker_visit_word(s->own, input->words[i]);
	drain(s, input->roots);
}

static void add_leader(struct mark_search *s, uint64_t addr)
{
	s->leaders = xgrow(s->leaders, &s->leader_capacity, s->leader_count + 1,
			   sizeof(*s->leaders));
	s->leaders[s->leader_count++] = addr;
}

/*
 * Find the next block whose bit in `unseen` is set, in ascending address order. If a
 * block's bit determines its address, skip directly to the next set bit, because only a
 * few bits are usually set.
 */
static bool next_unseen(const struct mark_search *s, struct block_place *place,
			struct block *ret)
{
	if (s->own->are_bits_places && !blocks_skip_to(s->blocks, s->unseen, place))
		return false;
	while (blocks_next(s->blocks, place, ret))
		if (bit_is_set(s->unseen, ret->bit))
			return true;
	return false;
}

static struct chunk_sum sum_unseen(const struct mark_search *s)
{
	struct chunk_sum sum = { 0, 0 };
	struct block_place place = { 0 };
	struct block block;

	while (next_unseen(s, &place, &block))
		chunk_sum_add(&sum, block.bytes);
	return sum;
}

/*
 * Visit all leaked blocks in ascending address order. Each block that is not reachable
 * from an earlier block becomes a possible direct leak (a leader), and all blocks
 * reachable from it are scanned. A leader may still be reachable from a leader with a
 * higher address.
 */
static void choose_leaders(struct mark_search *s)
{
	struct block_place place = { 0 };
	struct block block;

	while (!is_stopped(s) && next_unseen(s, &place, &block)) {
		struct block_ref ref = { block.addr, block.bit, block.extent };

		add_leader(s, block.addr);
		(void)marker_take_bit(s->own, s->unseen, block.bit);
		marker_scan_block(s->own, &ref);
		drain(s, NULL);
	}
}

static void free_search(struct mark_search *s)
{
	if (!s)
		return;
	workers_free(s->workers);
	for (unsigned int i = 0; i < MARK_THREADS_MAX; i++)
		free(s->markers[i].stack);
	free(s->unseen);
	free(s->waiting);
	free(s->leaders);
	free(s);
}

/*
 * Visit the leaders in descending address order. A leader never reaches a leader with a
 * higher address, because a block that has been reached does not become a leader. A
 * leader that has not been reached is therefore a direct leak: the only leaked blocks
 * that can point to it are in a cycle with it.
 */
int mark_next_leak(struct mark *mark, struct leak *ret)
{
	struct mark_search *s = mark->search;

	while (s && s->leader_count > 0 && !is_stopped(s)) {
		struct chunk_sum before = workers_scanned(s->workers), after;
		struct leak leak = { .addr = s->leaders[--s->leader_count] };
		struct block_ref ref;

		if (!block_index_find(&s->own->index, leak.addr, &ref) ||
		    !marker_take_bit(s->own, s->unseen, ref.bit))
			continue;
		leak.bytes = block_index_bytes(&s->own->index, &ref);
		marker_scan_block(s->own, &ref);
		drain(s, NULL);
		after = workers_scanned(s->workers);
		leak.indirect.count = after.count - before.count - 1;
		leak.indirect.bytes = after.bytes - before.bytes - leak.bytes;
		chunk_sum_add(&mark->direct, leak.bytes);
		mark->indirect.count += leak.indirect.count;
		mark->indirect.bytes += leak.indirect.bytes;
		mark->scanned_bytes = workers_done_bytes(s->workers);
		if (is_stopped(s))
			break;
		*ret = leak;
		return 1;
	}
	if (s && is_stopped(s))
		return -ECANCELED;
	free_search(s);
	mark->search = NULL;
	return 0;
}

static size_t bit_words(const struct blocks *blocks)
{
	return (size_t)(blocks->bit_count / 64 + 1);
}

/*
 * Allocate a bit table in huge pages, because each scanned word causes an access at a
 * random position.
 */
static uint64_t *new_bits(const struct blocks *blocks)
{
	size_t bytes = bit_words(blocks) * sizeof(uint64_t);
	size_t room = (bytes + HUGE_PAGE_BYTES - 1) & ~(size_t)(HUGE_PAGE_BYTES - 1);
	uint64_t *bits;

	if (bytes < HUGE_PAGE_BYTES)
		return xcalloc(1, bytes);
	bits = aligned_alloc(HUGE_PAGE_BYTES, room);
	if (!bits)
		xalloc_exhausted();
	madvise(bits, room, MADV_HUGEPAGE);
	memset(bits, 0, room);
	return bits;
}

static void begin_markers(struct mark_search *s, const struct block_index *index,
			  unsigned int count)
{
	uint64_t stack_bytes = s->blocks->image->length_bytes / STACK_SHARE;

	if (stack_bytes < STACK_MIN_BYTES)
		stack_bytes = STACK_MIN_BYTES;
	for (unsigned int i = 0; i < count; i++) {
		struct marker *m = &s->markers[i];

		marker_init(m, s->blocks, index);
		m->unseen = s->unseen;
		m->waiting = s->waiting;
		m->capacity = (size_t)(stack_bytes / count / sizeof(*m->stack));
		m->stack = xmalloc(m->capacity * sizeof(*m->stack));
	}
	s->own = &s->markers[0];
}

static struct mark_search *begin(const struct mark_input *input, struct mark *ret)
{
	const struct blocks *blocks = input->blocks;
	struct mark_search *s = xcalloc(1, sizeof(*s));
	unsigned int count = input->thread_count > 0 ? input->thread_count : 1;

	if (count > MARK_THREADS_MAX)
		count = MARK_THREADS_MAX;
	*ret = (struct mark){ .search = s };
	block_index_init(&ret->index, blocks);
	s->blocks = blocks;
	s->unseen = new_bits(blocks);
	s->waiting = xcalloc(bit_words(blocks), sizeof(*s->waiting));
	blocks_set_live(blocks, s->unseen);
	begin_markers(s, &ret->index, count);
	s->workers = workers_new(s->markers, count, &input->progress);
	/* an upper bound on the bytes to scan, because roots and blocks do not overlap */
	s->workers->total_bytes = blocks->image->length_bytes;
	return s;
}

/*
 * Called once the reachable blocks are known: set the sums in *mark, and the total number
 * of bytes for the progress report. The total includes the leaked blocks twice, because
 * the search for direct leaks scans them twice.
 */
static void set_sums(struct mark_search *s, struct mark *mark)
{
	struct chunk_sum leaked = sum_unseen(s);

	mark->reachable = workers_scanned(s->workers);
	mark->live.count = mark->reachable.count + leaked.count;
	mark->live.bytes = mark->reachable.bytes + leaked.bytes;
	s->workers->total_bytes = workers_done_bytes(s->workers) + 2 * leaked.bytes;
	workers_report(s->workers);
}

int mark_run(const struct mark_input *input, struct mark *ret)
{
	size_t words = bit_words(input->blocks);
	struct mark_search *s = begin(input, ret);

	mark_roots(s, input);
	ret->reached = xmalloc(words * sizeof(*ret->reached));
	for (size_t i = 0; i < words; i++)
		ret->reached[i] = ~s->unseen[i];
	set_sums(s, ret);
	choose_leaders(s);
	for (size_t i = 0; i < words; i++)
		s->unseen[i] = ~ret->reached[i];
	ret->scanned_bytes = workers_done_bytes(s->workers);
	return is_stopped(s) ? -ECANCELED : 0;
}

void mark_release(struct mark *mark)
{
	free_search(mark->search);
	block_index_release(&mark->index);
	free(mark->reached);
	*mark = (struct mark){ 0 };
}
