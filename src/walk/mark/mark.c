/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mark/mark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/xalloc.h"

/*
 * Size of the prefetch ring, a power of two. Words that may be addresses of blocks wait
 * in the ring until the CPU has loaded the memory needed to find and scan the blocks.
 */
#define CANDIDATES 16

/*
 * Image size divided by the size of the stack of blocks that were found but not yet
 * scanned. If the stack is full, only a bit is set for each further block, and a later
 * pass over all blocks finds these bits.
 */
#define STACK_SHARE 64
#define STACK_MIN_BYTES (UINT64_C(64) << 10)

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

#define PROGRESS_STEP_BYTES (UINT64_C(4) << 20)

struct marker {
	struct mark *mark;
	const struct blocks *blocks;
	struct image *image;
	/* bit table: a bit is set if the block is live and not yet found */
	uint64_t *unseen;
	/* as in glibc, a block's bit is the position of its head in the image */
	bool are_bits_places;
	/* the image's run that contains the block scanned last */
	const struct image_run *run;

	/*
	 * Ring buffer of words that may be addresses of blocks, and whose blocks
	 * are being prefetched.
	 */
	uint64_t candidates[CANDIDATES];
	unsigned int first_candidate, candidate_count;
	struct block_ref *stack;
	size_t depth, capacity;
	/* bit table: a bit is set if the block was found while the stack was full */
	uint64_t *waiting;
	bool has_waiting;

	uint64_t *leaders; /* addresses of possible direct leaks, in ascending order */
	size_t leader_count, leader_capacity;

	struct chunk_sum scanned; /* number and total size of the blocks scanned so far */
	struct mark_progress progress;
	uint64_t done_bytes, total_bytes, reported_bytes;
	bool is_stopped;
};

/*
 * Value of extent in a block_ref that was not looked up in the index. The size of such a
 * block is read from its head.
 */
#define EXTENT_OF_HEAD UINT32_MAX

/*
 * Flag bits in the size word of a glibc chunk, as defined in blocks.c. IS_MMAPPED is set
 * only in chunks with their own mappings.
 */
#define SIZE_FLAGS UINT64_C(7)
#define SIZE_MAPPED UINT64_C(2)

#define OFFSET_NONE UINT64_MAX

static void report_progress(struct marker *m)
{
	m->reported_bytes = m->done_bytes;
	if (m->progress.report && !m->is_stopped)
		m->is_stopped = m->progress.report(m->progress.context, m->done_bytes,
						   m->total_bytes);
}

static inline void bit_clear(uint64_t *bits, uint64_t bit)
{
	bits[bit / 64] &= ~(UINT64_C(1) << bit % 64);
}

/*
 * Return the offset of addr in the image, or OFFSET_NONE. The run of the last block is
 * tried first, which avoids other memory accesses: most heaps are a single run.
 */
static inline uint64_t image_offset(const struct marker *m, uint64_t addr)
{
	const struct block_page *page;

	if (addr - m->run->start_addr < m->run->end_addr - m->run->start_addr)
		return m->run->offset_bytes + (addr - m->run->start_addr);
	page = block_index_page(&m->mark->index, addr);
	return page ? (uint64_t)(page - m->mark->index.pages) * IMAGE_PAGE_BYTES +
			       addr % IMAGE_PAGE_BYTES
		    : OFFSET_NONE;
}

static void push(struct marker *m, const struct block_ref *ref)
{
	bit_clear(m->unseen, ref->bit);
	if (m->depth < m->capacity) {
		m->stack[m->depth++] = *ref;
		return;
	}
	bit_set(m->waiting, ref->bit);
	m->has_waiting = true;
}

static void push_candidate(struct marker *m)
{
	uint64_t word = m->candidates[m->first_candidate];
	uint64_t head = word - m->blocks->head_bytes;
	struct block_ref ref = { .addr = word, .extent = EXTENT_OF_HEAD };

	m->first_candidate = (m->first_candidate + 1) % CANDIDATES;
	m->candidate_count--;
	/* Fast path: most pointers contain the address of the start of a block. */
	if (m->are_bits_places && head % BLOCK_ALIGN == 0) {
		uint64_t offset = image_offset(m, head);

		ref.bit = offset / BLOCK_ALIGN;
		if (offset != OFFSET_NONE && bit_is_set(m->unseen, ref.bit)) {
			push(m, &ref);
			return;
		}
		if (offset != OFFSET_NONE && bit_is_set(m->blocks->starts, ref.bit))
			return;
	}
	if (block_index_find(&m->mark->index, word, &ref) &&
	    bit_is_set(m->unseen, ref.bit))
		push(m, &ref);
}

/*
 * Prefetch all memory that is needed to find and scan a block, so that the
 * CPU loads it in parallel.
 */
static inline void prefetch(const struct marker *m, uint64_t head)
{
	uint64_t offset = image_offset(m, head);

	if (offset == OFFSET_NONE)
		return;
	__builtin_prefetch(m->image->bytes + offset);
	if (m->are_bits_places)
		__builtin_prefetch(&m->unseen[offset / BLOCK_ALIGN / 64]);
	else
		__builtin_prefetch(&m->mark->index.pages[offset / IMAGE_PAGE_BYTES]);
}

static inline void visit_word(struct marker *m, uint64_t word)
{
	if (!block_index_may_hold(&m->mark->index, word))
		return;
	prefetch(m, word - m->blocks->head_bytes);
	if (m->candidate_count == CANDIDATES)
		push_candidate(m);
	m->candidates[(m->first_candidate + m->candidate_count++) % CANDIDATES] = word;
}

/* Treat each aligned word of a resident range as a possible address of a block. */
static void scan_words(struct marker *m, const uint8_t *at, uint64_t bytes)
{
	for (uint64_t offset = 0; offset + sizeof(uint64_t) <= bytes;
	     offset += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, at + offset, sizeof(word));
		visit_word(m, word);
	}
	m->done_bytes += bytes;
	if (m->done_bytes - m->reported_bytes >= PROGRESS_STEP_BYTES)
		report_progress(m);
}

/* Scan the resident parts of [start, end) for addresses of blocks. */
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
		if (length > PROGRESS_STEP_BYTES)
			length = PROGRESS_STEP_BYTES;
		scan_words(m,
			   m->image->bytes + run->offset_bytes +
				   (start - run->start_addr),
			   length);
		start += length;
	}
}

/*
 * Return a block's usable size. The size of a glibc block is read from its head, which is
 * next to the memory that the scan reads anyway.
 */
static uint64_t block_bytes(const struct marker *m, struct block_ref *ref)
{
	uint64_t size;

	if (ref->extent == EXTENT_OF_HEAD) {
		memcpy(&size, m->image->bytes + ref->bit * BLOCK_ALIGN + 8, sizeof(size));
		if (!(size & SIZE_MAPPED))
			return (size & ~SIZE_FLAGS) - 8;
		block_index_find(&m->mark->index, ref->addr, ref);
	}
	return block_index_bytes(&m->mark->index, ref);
}

static void scan_block(struct marker *m, struct block_ref *ref)
{
	uint64_t bytes = block_bytes(m, ref);
	uint64_t head = ref->addr - m->blocks->head_bytes;

	chunk_sum_add(&m->scanned, bytes);
	if (head - m->run->start_addr >= m->run->end_addr - m->run->start_addr) {
		const struct block_page *page = block_index_page(&m->mark->index, head);

		if (page)
			m->run = &m->image->runs[page->run];
	}
	scan(m, m->run, (ref->addr + 7) & ~UINT64_C(7), ref->addr + bytes);
}

static void drain_stack(struct marker *m)
{
	while (!m->is_stopped) {
		struct block_ref ref;

		while (m->depth == 0 && m->candidate_count > 0)
			push_candidate(m);
		if (m->depth == 0)
			return;
		ref = m->stack[--m->depth];
		scan_block(m, &ref);
	}
}

/*
 * Scan the blocks on the stack and in the prefetch ring, and all blocks that are
 * reachable from them.
 */
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
			bit_clear(m->waiting, block.bit);
			scan_block(m, &ref);
			drain_stack(m);
		}
	}
}

static void mark_roots(struct marker *m, const struct mark_input *input)
{
	const struct image_run *run = NULL;

	for (size_t i = 0; i < input->word_count; i++)
		visit_word(m, input->words[i]);
	for (size_t i = 0; i < input->roots->count && !m->is_stopped; i++) {
		const struct root_range *range = &input->roots->items[i];

		scan(m, run, (range->start_addr + 7) & ~UINT64_C(7), range->end_addr);
		drain(m);
	}
	drain(m);
}

static void add_leader(struct marker *m, uint64_t addr)
{
	m->leaders = xgrow(m->leaders, &m->leader_capacity, m->leader_count + 1,
			   sizeof(*m->leaders));
	m->leaders[m->leader_count++] = addr;
}

/*
 * Visit all leaked blocks in ascending address order. Each block that no earlier one
 * reaches becomes a possible direct leak (a leader), and all blocks reachable from it are
 * scanned. A leader may still be reachable from a leader with a higher address.
 */
static void choose_leaders(struct marker *m)
{
	struct block_place place = { 0 };
	struct block block;

	while (!m->is_stopped && blocks_next(m->blocks, &place, &block)) {
		struct block_ref ref = { block.addr, block.bit, block.extent };

		if (!bit_is_set(m->unseen, block.bit))
			continue;
		add_leader(m, block.addr);
		bit_clear(m->unseen, block.bit);
		scan_block(m, &ref);
		drain(m);
	}
}

static void free_marker(struct marker *m)
{
	if (!m)
		return;
	free(m->unseen);
	free(m->waiting);
	free(m->stack);
	free(m->leaders);
	free(m);
}

/*
 * Visit the leaders in descending address order. A leader never reaches a leader with a
 * higher address, because a block that is already reached does not become a leader. A
 * leader that is not yet reached is therefore a direct leak: the only leaked blocks
 * that can point to it are in a cycle with it.
 */
int mark_next_leak(struct mark *mark, struct leak *ret)
{
	struct marker *m = mark->marker;

	if (m)
		m->mark = mark;
	while (m && m->leader_count > 0 && !m->is_stopped) {
		struct chunk_sum before = m->scanned;
		struct leak leak = { .addr = m->leaders[--m->leader_count] };
		struct block_ref ref;

		if (!block_index_find(&mark->index, leak.addr, &ref) ||
		    !bit_is_set(m->unseen, ref.bit))
			continue;
		bit_clear(m->unseen, ref.bit);
		leak.bytes = block_index_bytes(&mark->index, &ref);
		scan_block(m, &ref);
		drain(m);
		leak.indirect.count = m->scanned.count - before.count - 1;
		leak.indirect.bytes = m->scanned.bytes - before.bytes - leak.bytes;
		chunk_sum_add(&mark->direct, leak.bytes);
		mark->indirect.count += leak.indirect.count;
		mark->indirect.bytes += leak.indirect.bytes;
		mark->scanned_bytes = m->done_bytes;
		if (m->is_stopped)
			break;
		*ret = leak;
		return 1;
	}
	if (m && m->is_stopped)
		return -ECANCELED;
	free_marker(m);
	mark->marker = NULL;
	return 0;
}

static size_t bit_words(const struct blocks *blocks)
{
	return (size_t)(blocks->bit_count / 64 + 1);
}

/*
 * Allocate a bit table. Each scanned word causes an access at a random position, and huge
 * pages make these accesses faster.
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

static void find_live(struct marker *m)
{
	struct block_place place = { 0 };
	struct block block;

	while (blocks_next(m->blocks, &place, &block)) {
		if (block.state != BLOCK_LIVE)
			continue;
		chunk_sum_add(&m->mark->live, block.bytes);
		bit_set(m->unseen, block.bit);
	}
}

static struct marker *begin(const struct mark_input *input, struct mark *ret)
{
	static const struct image_run no_run = { 0, 0, 0 };
	const struct blocks *blocks = input->blocks;
	uint64_t stack_bytes = blocks->image->length_bytes / STACK_SHARE;
	struct marker *m = xmalloc(sizeof(*m));

	*ret = (struct mark){ .marker = m };
	block_index_init(&ret->index, blocks);
	*m = (struct marker){
		.mark = ret,
		.blocks = blocks,
		.image = blocks->image,
		.run = &no_run,
		.are_bits_places = blocks->head_bytes == BLOCK_ALIGN,
		.progress = input->progress,
	};
	m->unseen = new_bits(blocks);
	find_live(m);
	m->total_bytes = input->roots->bytes + ret->live.bytes;
	m->waiting = xcalloc(bit_words(blocks), sizeof(*m->waiting));
	if (stack_bytes < STACK_MIN_BYTES)
		stack_bytes = STACK_MIN_BYTES;
	m->capacity = (size_t)(stack_bytes / sizeof(*m->stack));
	m->stack = xmalloc(m->capacity * sizeof(*m->stack));
	return m;
}

/*
 * Set the total for the progress report once the reachable blocks are known. The leaked
 * blocks will be scanned twice more.
 */
static void set_total(struct marker *m)
{
	m->total_bytes = m->done_bytes + 2 * (m->mark->live.bytes - m->scanned.bytes);
	report_progress(m);
}

int mark_run(const struct mark_input *input, struct mark *ret)
{
	size_t words = bit_words(input->blocks);
	struct marker *m = begin(input, ret);

	mark_roots(m, input);
	ret->reachable = m->scanned;
	ret->reached = xmalloc(words * sizeof(*ret->reached));
	for (size_t i = 0; i < words; i++)
		ret->reached[i] = ~m->unseen[i];
	set_total(m);
	choose_leaders(m);
	for (size_t i = 0; i < words; i++)
		m->unseen[i] = ~ret->reached[i];
	ret->scanned_bytes = m->done_bytes;
	return m->is_stopped ? -ECANCELED : 0;
}

void mark_release(struct mark *mark)
{
	block_index_release(&mark->index);
	free(mark->reached);
	free_marker(mark->marker);
	*mark = (struct mark){ 0 };
}
