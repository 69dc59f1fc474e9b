/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mark/scan.h"

#include <string.h>

#include "walk/mark/workers.h"

#define PROGRESS_STEP_BYTES (UINT64_C(4) << 20)

/*
 * Flag bits in the size word of a glibc chunk, as defined in blocks.c. IS_MMAPPED is set
 * only in chunks with their own mappings.
 */
#define SIZE_FLAGS UINT64_C(7)
#define SIZE_MAPPED UINT64_C(2)

#define OFFSET_NONE UINT64_MAX

void marker_init(struct marker *m, const struct blocks *blocks,
		 const struct block_index *index)
{
	static const struct image_run no_run = { 0, 0, 0 };

	*m = (struct marker){
		.image = *blocks->image,
		.blocks = *blocks,
		.index = *index,
		.are_bits_places = blocks->head_bytes == BLOCK_ALIGN,
		.run = &no_run,
	};
	m->blocks.image = &m->image;
	m->index.blocks = &m->blocks;
}

/*
 * Return the offset of addr in the image, or OFFSET_NONE. The function tries the run of
 * the last block first, which avoids other memory accesses, because most heaps are a
 * single run.
 */
static inline uint64_t image_offset(const struct marker *m, uint64_t addr)
{
	const struct block_page *page;

	if (addr - m->run->start_addr < m->run->end_addr - m->run->start_addr)
		return m->run->offset_bytes + (addr - m->run->start_addr);
	page = block_index_page(&m->index, addr);
	return page ? (uint64_t)(page - m->index.pages) * IMAGE_PAGE_BYTES +
			       addr % IMAGE_PAGE_BYTES
		    : OFFSET_NONE;
}

static inline bool is_unseen(const struct marker *m, uint64_t bit)
{
	return __atomic_load_n(&m->unseen[bit / 64], __ATOMIC_RELAXED) >> bit % 64 & 1;
}

static void push(struct marker *m, const struct block_ref *ref)
{
	if (!marker_take_bit(m, m->unseen, ref->bit))
		return;
	if (m->depth < m->capacity) {
		m->stack[m->depth++] = *ref;
		return;
	}
	__atomic_fetch_or(&m->waiting[ref->bit / 64], UINT64_C(1) << ref->bit % 64,
			  __ATOMIC_RELAXED);
	atomic_store_explicit(&m->workers->has_waiting, true, memory_order_relaxed);
}

static void push_candidate(struct marker *m)
{
	uint64_t word = m->candidates[m->first_candidate];
	uint64_t head = word - m->blocks.head_bytes;
	struct block_ref ref = { .addr = word, .extent = EXTENT_OF_HEAD };

	m->first_candidate = (m->first_candidate + 1) % CANDIDATES;
	m->candidate_count--;
	/* fast path: most pointers contain the address of the start of a block */
	if (m->are_bits_places && head % BLOCK_ALIGN == 0) {
		uint64_t offset = image_offset(m, head);

		ref.bit = offset / BLOCK_ALIGN;
		if (offset != OFFSET_NONE && is_unseen(m, ref.bit)) {
			push(m, &ref);
			return;
		}
		if (offset != OFFSET_NONE && bit_is_set(m->blocks.starts, ref.bit))
			return;
	}
	if (block_index_find(&m->index, word, &ref))
		push(m, &ref);
}

/*
 * Prefetch all memory that is needed to find and scan a block, so that the CPU loads it
 * in parallel.
 */
static inline void prefetch(const struct marker *m, uint64_t head)
{
	uint64_t offset = image_offset(m, head);

	if (offset == OFFSET_NONE)
		return;
	__builtin_prefetch(m->image.bytes + offset);
	if (m->are_bits_places)
		__builtin_prefetch(&m->unseen[offset / BLOCK_ALIGN / 64]);
	else
		__builtin_prefetch(&m->index.pages[offset / IMAGE_PAGE_BYTES]);
}

static inline void visit_word(struct marker *m, uint64_t word)
{
	if (!block_index_may_hold(&m->index, word))
		return;
	prefetch(m, word - m->blocks.head_bytes);
	if (m->candidate_count == CANDIDATES)
		push_candidate(m);
	m->candidates[(m->first_candidate + m->candidate_count++) % CANDIDATES] = word;
}

void marker_visit_word(struct marker *m, uint64_t word)
{
	visit_word(m, word);
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
	atomic_store_explicit(&m->done_bytes, m->done_bytes + bytes,
			      memory_order_relaxed);
}

/* Scan the resident parts of [start, end) for addresses of blocks. */
static void scan(struct marker *m, const struct image_run *run, uint64_t start,
		 uint64_t end)
{
	while (start < end && !workers_are_stopped(m->workers)) {
		uint64_t length;

		if (!run || start >= run->end_addr || start < run->start_addr) {
			start = image_next_resident(&m->image, start, end);
			if (start >= end)
				return;
			run = image_run_at(&m->image, start);
		}
		length = (run->end_addr < end ? run->end_addr : end) - start;
		if (length > PROGRESS_STEP_BYTES)
			length = PROGRESS_STEP_BYTES;
		scan_words(m,
			   m->image.bytes + run->offset_bytes + (start - run->start_addr),
			   length);
		start += length;
		workers_note_progress(m);
	}
}

static void scan_pieces(struct marker *m, const struct image_run *run, uint64_t start,
			uint64_t end)
{
	if (start < end && end - start > PIECE_BYTES && m->depth < m->capacity) {
		m->stack[m->depth++] = (struct block_ref){
			.addr = start + PIECE_BYTES,
			.bit = end,
			.extent = EXTENT_OF_RANGE,
		};
		end = start + PIECE_BYTES;
	}
	scan(m, run, start, end);
}

void marker_scan_range(struct marker *m, uint64_t start, uint64_t end)
{
	scan_pieces(m, NULL, (start + 7) & ~UINT64_C(7), end);
}

/*
 * Return a block's usable size. The size of a glibc block is read from its head, which is
 * next to the memory that the scan reads anyway.
 */
static uint64_t block_bytes(const struct marker *m, struct block_ref *ref)
{
	uint64_t size;

	if (ref->extent == EXTENT_OF_HEAD) {
		memcpy(&size, m->image.bytes + ref->bit * BLOCK_ALIGN + 8, sizeof(size));
		if (!(size & SIZE_MAPPED))
			return (size & ~SIZE_FLAGS) - 8 - m->blocks.chain_end_bytes;
		block_index_find(&m->index, ref->addr, ref);
	}
	return block_index_bytes(&m->index, ref);
}

void marker_scan_block(struct marker *m, struct block_ref *ref)
{
	uint64_t bytes = block_bytes(m, ref);
	uint64_t head = ref->addr - m->blocks.head_bytes;

	chunk_sum_add(&m->scanned, bytes);
	if (head - m->run->start_addr >= m->run->end_addr - m->run->start_addr) {
		const struct block_page *page = block_index_page(&m->index, head);

		if (page)
			m->run = &m->image.runs[page->run];
	}
	scan_pieces(m, m->run, (ref->addr + 7) & ~UINT64_C(7), ref->addr + bytes);
}

void marker_drain(struct marker *m)
{
	while (!workers_are_stopped(m->workers)) {
		struct block_ref ref;

		while (m->depth == 0 && m->candidate_count > 0)
			push_candidate(m);
		if (m->depth == 0)
			return;
		if (m->has_others && workers_need_work(m->workers))
			workers_hand_out(m);
		ref = m->stack[--m->depth];
		if (ref.extent == EXTENT_OF_RANGE)
			marker_scan_range(m, ref.addr, ref.bit);
		else
			marker_scan_block(m, &ref);
	}
}
