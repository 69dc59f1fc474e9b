/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/*
 * Words that may be addresses wait here while what is known of them comes into the cache;
 * then blocks that were found do, while their memory comes. Powers of two.
 */
#define CANDIDATES 16

/*
 * Blocks found but not scanned yet. What is too much for it is noted in a bit each, and
 * found again.
 */
#define STACK_SHARE 64 /* of the image: 1/64 of its bytes */
#define STACK_MIN_BYTES (UINT64_C(64) << 10)

#define TELL_BYTES (UINT64_C(4) << 20)

struct marker {
	struct mark *mark;
	const struct blocks *blocks;
	struct image *image;
	uint64_t *seen; /* not to be found any more */

	uint64_t candidates[CANDIDATES]; /* a ring; 0: none */
	unsigned int next_candidate;
	struct block_ref *stack;
	size_t depth, capacity;
	uint64_t *waiting; /* bits of blocks that found the stack full */
	bool has_waiting;

	struct chunk_sum scanned; /* blocks */
	struct mark_progress progress;
	uint64_t done_bytes, total_bytes, told_bytes;
	bool is_stopped;
};

static void tell(struct marker *m)
{
	m->told_bytes = m->done_bytes;
	if (m->progress.tell && !m->is_stopped)
		m->is_stopped = m->progress.tell(m->progress.context, m->done_bytes,
						 m->total_bytes);
}

/* A block to be scanned. Its memory is asked for now. */
static void push(struct marker *m, const struct block_ref *ref)
{
	if (m->depth == m->capacity) {
		bit_set(m->waiting, ref->bit);
		m->has_waiting = true;
		return;
	}
	if (ref->bit * BLOCK_ALIGN < m->image->length_bytes)
		__builtin_prefetch(m->image->bytes + ref->bit * BLOCK_ALIGN);
	m->stack[m->depth++] = *ref;
}

static void take_candidate(struct marker *m, uint64_t word)
{
	struct block_ref ref;

	if (!block_index_find(&m->mark->index, word, &ref) ||
	    bit_is_set(m->seen, ref.bit))
		return;
	bit_set(m->seen, ref.bit);
	push(m, &ref);
}

/* All that is needed to find the block and to scan it, at once: one wait instead of four. */
static inline void prefetch(const struct marker *m, const struct block_page *page,
			    uint64_t at)
{
	uint64_t offset = (uint64_t)(page - m->mark->index.pages) * IMAGE_PAGE_BYTES +
			  at % IMAGE_PAGE_BYTES;
	uint64_t bit = offset / BLOCK_ALIGN;

	__builtin_prefetch(page);
	__builtin_prefetch(m->image->bytes + offset);
	if (bit < m->blocks->bit_count) {
		__builtin_prefetch(&m->blocks->starts[bit / 64]);
		__builtin_prefetch(&m->seen[bit / 64]);
	}
}

static inline void offer(struct marker *m, uint64_t word)
{
	const struct block_index *index = &m->mark->index;
	const struct block_page *page;
	uint64_t older;

	if (!block_index_may_hold(index, word))
		return;
	page = block_index_page(index, word - m->blocks->head_bytes);
	if (page)
		prefetch(m, page, word - m->blocks->head_bytes);
	older = m->candidates[m->next_candidate];
	m->candidates[m->next_candidate] = word;
	m->next_candidate = (m->next_candidate + 1) % CANDIDATES;
	if (older)
		take_candidate(m, older);
}

static void take_all_candidates(struct marker *m)
{
	for (unsigned int i = 0; i < CANDIDATES; i++) {
		uint64_t word = m->candidates[i];

		m->candidates[i] = 0;
		if (word)
			take_candidate(m, word);
	}
}

/* Aligned words of memory that is there. */
static void scan_words(struct marker *m, const uint8_t *at, uint64_t bytes)
{
	for (uint64_t offset = 0; offset + sizeof(uint64_t) <= bytes;
	     offset += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, at + offset, sizeof(word));
		offer(m, word);
	}
	m->done_bytes += bytes;
	if (m->done_bytes - m->told_bytes >= TELL_BYTES)
		tell(m);
}

/* [start, end), as far as it is there. */
static void scan(struct marker *m, const struct image_run *run, uint64_t start,
		 uint64_t end)
{
	while (start < end && !m->is_stopped) {
		uint64_t length;

		if (!run || start >= run->end_addr || start < run->start_addr) {
			start = image_next_resident(m->image, start, end);
			if (start >= end)
				return;
			run = image_run_at(m->image, start);
		}
		length = (run->end_addr < end ? run->end_addr : end) - start;
		if (length > TELL_BYTES)
			length = TELL_BYTES;
		scan_words(m,
			   m->image->bytes + run->offset_bytes +
				   (start - run->start_addr),
			   length);
		start += length;
	}
}

static void scan_block(struct marker *m, const struct block_ref *ref)
{
	const struct block_page *page =
		block_index_page(&m->mark->index, ref->addr - m->blocks->head_bytes);
	uint64_t bytes = block_index_bytes(&m->mark->index, ref);
	uint64_t start = (ref->addr + 7) & ~UINT64_C(7);

	chunk_sum_add(&m->scanned, bytes);
	scan(m, page ? &m->image->runs[page->run] : NULL, start, ref->addr + bytes);
}

static void drain_stack(struct marker *m)
{
	for (;;) {
		struct block_ref ref;

		if (m->depth == 0)
			take_all_candidates(m);
		if (m->depth == 0 || m->is_stopped)
			return;
		ref = m->stack[--m->depth];
		scan_block(m, &ref);
	}
}

/* All that is reached from what was pushed and offered. */
static void drain(struct marker *m)
{
	drain_stack(m);
	while (m->has_waiting && !m->is_stopped) {
		struct block_place place = { 0 };
		struct block block;

		m->has_waiting = false;
		while (!m->is_stopped && blocks_next(m->blocks, &place, &block)) {
			struct block_ref ref = { block.addr, block.bit, block.extent };

			if (!bit_is_set(m->waiting, block.bit))
				continue;
			m->waiting[block.bit / 64] &= ~(UINT64_C(1) << block.bit % 64);
			scan_block(m, &ref);
			drain_stack(m);
		}
	}
}

static void mark_roots(struct marker *m, const struct mark_input *input)
{
	const struct image_run *run = NULL;

	for (size_t i = 0; i < input->word_count; i++)
		offer(m, input->words[i]);
	for (size_t i = 0; i < input->roots->count && !m->is_stopped; i++) {
		const struct root_range *range = &input->roots->items[i];

		scan(m, run, (range->start_addr + 7) & ~UINT64_C(7), range->end_addr);
		drain(m);
	}
	drain(m);
}

static void add_leader(struct marker *m, size_t *capacity, uint64_t addr)
{
	struct mark *mark = m->mark;

	mark->leaders = xgrow(mark->leaders, capacity, mark->leader_count + 1,
			      sizeof(*mark->leaders));
	mark->leaders[mark->leader_count++] = addr;
}

/*
 * By address upwards: a block that is not reached from those before it may be a leader,
 * and takes all that it reaches. What it does reach may still be reached from a later
 * one.
 */
static void choose_leaders(struct marker *m)
{
	struct block_place place = { 0 };
	struct block block;
	size_t capacity = 0;

	while (!m->is_stopped && blocks_next(m->blocks, &place, &block)) {
		struct block_ref ref = { block.addr, block.bit, block.extent };

		if (bit_is_set(m->seen, block.bit))
			continue;
		add_leader(m, &capacity, block.addr);
		bit_set(m->seen, block.bit);
		scan_block(m, &ref);
		drain(m);
	}
}

/*
 * By address downwards: no leader reaches one that was chosen after it, so whoever is
 * still not reached now is reached from nobody, or only from its own ring.
 */
static void judge_leaders(struct marker *m, mark_leak_fn *on_leak, void *context)
{
	struct mark *mark = m->mark;
	size_t kept = mark->leader_count;

	for (size_t i = mark->leader_count; i > 0 && !m->is_stopped; i--) {
		struct chunk_sum before = m->scanned;
		struct leak leak = { .addr = mark->leaders[i - 1] };
		struct block_ref ref;

		if (!block_index_find(&mark->index, leak.addr, &ref) ||
		    bit_is_set(m->seen, ref.bit))
			continue;
		bit_set(m->seen, ref.bit);
		leak.bytes = block_index_bytes(&mark->index, &ref);
		scan_block(m, &ref);
		drain(m);
		leak.indirect.count = m->scanned.count - before.count - 1;
		leak.indirect.bytes = m->scanned.bytes - before.bytes - leak.bytes;
		chunk_sum_add(&mark->direct, leak.bytes);
		mark->indirect.count += leak.indirect.count;
		mark->indirect.bytes += leak.indirect.bytes;
		mark->leaders[--kept] = leak.addr;
		if (!m->is_stopped)
			on_leak(context, &leak);
	}
	mark->leader_count -= kept;
	if (kept > 0 && mark->leader_count > 0)
		memmove(mark->leaders, mark->leaders + kept,
			mark->leader_count * sizeof(*mark->leaders));
}

static void sum_live(const struct blocks *blocks, struct chunk_sum *ret)
{
	struct block_place place = { 0 };
	struct block block;

	while (blocks_next(blocks, &place, &block))
		if (block.state == BLOCK_LIVE)
			chunk_sum_add(ret, block.bytes);
}

static size_t bit_words(const struct blocks *blocks)
{
	return (size_t)(blocks->bit_count / 64 + 1);
}

static uint64_t *copy_bits(const struct blocks *blocks, const uint64_t *bits)
{
	uint64_t *copy = xmalloc(bit_words(blocks) * sizeof(*copy));

	memcpy(copy, bits, bit_words(blocks) * sizeof(*copy));
	return copy;
}

static void begin(struct marker *m, const struct mark_input *input, struct mark *ret)
{
	const struct blocks *blocks = input->blocks;
	uint64_t stack_bytes = blocks->image->length_bytes / STACK_SHARE;

	*ret = (struct mark){ 0 };
	block_index_init(&ret->index, blocks);
	sum_live(blocks, &ret->live);
	*m = (struct marker){
		.mark = ret,
		.blocks = blocks,
		.image = blocks->image,
		.progress = input->progress,
		.total_bytes = input->roots->bytes + ret->live.bytes,
	};
	m->seen = copy_bits(blocks, blocks->not_live);
	m->waiting = xcalloc(bit_words(blocks), sizeof(*m->waiting));
	if (stack_bytes < STACK_MIN_BYTES)
		stack_bytes = STACK_MIN_BYTES;
	m->capacity = (size_t)(stack_bytes / sizeof(*m->stack));
	m->stack = xmalloc(m->capacity * sizeof(*m->stack));
}

/* What is reached from the unreachable is scanned twice more. */
static void plan_rest(struct marker *m)
{
	m->total_bytes = m->done_bytes + 2 * (m->mark->live.bytes - m->scanned.bytes);
	tell(m);
}

int mark_run(const struct mark_input *input, mark_leak_fn *on_leak, void *context,
	     struct mark *ret)
{
	struct marker m;

	begin(&m, input, ret);
	mark_roots(&m, input);
	ret->reachable = m.scanned;
	ret->reached = copy_bits(input->blocks, m.seen);
	plan_rest(&m);
	choose_leaders(&m);
	memcpy(m.seen, ret->reached, bit_words(input->blocks) * sizeof(*m.seen));
	judge_leaders(&m, on_leak, context);
	ret->scanned_bytes = m.done_bytes;
	free(m.seen);
	free(m.waiting);
	free(m.stack);
	return m.is_stopped ? -ECANCELED : 0;
}

void mark_release(struct mark *mark)
{
	block_index_release(&mark->index);
	free(mark->reached);
	free(mark->leaders);
	*mark = (struct mark){ 0 };
}
