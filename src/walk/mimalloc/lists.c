/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mimalloc/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/xalloc.h"

/*
 * Offsets in struct mi_heap_s, relative to thread_delayed_free, the heap's list of
 * blocks that other threads freed.
 */
#define DELAYED_THREAD_ID 8
#define DELAYED_KEYS 32
#define DELAYED_READ_BYTES 48

/* How the addresses on a list are encoded. */
struct coding {
	const uint64_t *keys; /* NULL: not encoded */
	uint64_t null_addr;   /* the address that marks the end of the list */
};

/* Decode an address, like mi_ptr_decode() in mimalloc's internal.h. */
static uint64_t decode(uint64_t value, const struct coding *coding)
{
	unsigned int shift;

	if (!coding->keys)
		return value;
	shift = coding->keys[0] % 64;
	value -= coding->keys[0];
	if (shift > 0)
		value = value >> shift | value << (64 - shift);
	value ^= coding->keys[1];
	return value == coding->null_addr ? 0 : value;
}

/*
 * Mark the block at addr as free. Return false if it is not a block that the page has
 * handed out, or if another list contains it.
 */
static bool mark_block(struct mimalloc *m, const struct mimalloc_page *page,
		       uint64_t addr)
{
	uint64_t offset = addr - page->block_addr, index = offset / page->block_bytes;

	if (addr < page->block_addr || offset % page->block_bytes != 0 ||
	    index >= page->capacity ||
	    bit_is_set(m->blocks->not_live, page->first_bit + index))
		return false;
	bit_set(m->blocks->not_live, page->first_bit + index);
	return true;
}

uint64_t mimalloc_decode(const struct mimalloc_page *page, uint64_t value)
{
	const struct coding coding = { page->is_encoded ? page->keys : NULL,
				       page->struct_addr };

	return decode(value, &coding);
}

/*
 * Mark the blocks of one list of a page as free. Return their number, or UINT64_MAX if
 * the list is invalid. If the list continues in swapped-out memory, set page->is_absent,
 * and return the number of blocks before that memory.
 */
static uint64_t mark_list(struct mimalloc *m, struct mimalloc_page *page, uint64_t addr)
{
	uint64_t count = 0, value;

	for (; addr != 0; count++) {
		if (!mark_block(m, page, addr))
			return UINT64_MAX;
		if (!image_read(m->image, addr, &value)) {
			if (!walk_is_swapped(m->input, addr))
				return UINT64_MAX;
			page->is_absent = true;
			return count;
		}
		addr = mimalloc_decode(page, value);
	}
	return count;
}

static void read_page(struct mimalloc *m, struct mimalloc_page *page)
{
	uint64_t counts[MIMALLOC_LISTS_], sum;

	for (size_t i = 0; i < MIMALLOC_LISTS_; i++) {
		counts[i] = mark_list(m, page, page->lists[i]);
		if (counts[i] == UINT64_MAX) {
			m->broken_lists++;
			return;
		}
	}
	sum = page->used + counts[MIMALLOC_FREE] + counts[MIMALLOC_LOCAL];
	if ((page->is_absent ? sum > page->capacity : sum != page->capacity) ||
	    counts[MIMALLOC_THREAD] > page->used)
		m->broken_pages++;
	else
		m->absent_pages += page->is_absent;
}

/*
 * Mark the blocks that other threads freed in full pages of the heap at addr. Return
 * false if the heap or its list is invalid.
 */
static bool read_delayed(struct mimalloc *m, uint64_t addr, uint64_t thread_id)
{
	const uint8_t *at = addr <= UINT64_MAX - m->layout->delayed
				    ? image_at(m->image, addr + m->layout->delayed,
					       DELAYED_READ_BYTES)
				    : NULL;
	struct coding coding = { NULL, addr };
	uint64_t block, owner, keys[2];

	if (!at)
		return false;
	memcpy(&block, at, sizeof(block));
	memcpy(&owner, at + DELAYED_THREAD_ID, sizeof(owner));
	memcpy(keys, at + DELAYED_KEYS, sizeof(keys));
	if (m->layout->keys != 0)
		coding.keys = keys;
	if (owner != thread_id)
		return false;
	while (block != 0) {
		const struct mimalloc_page *page = mimalloc_find_page(m, block);
		uint64_t value;

		if (!page || page->heap_addr != addr || !mark_block(m, page, block) ||
		    !image_read(m->image, block, &value))
			return false;
		block = decode(value, &coding);
	}
	return true;
}

struct page_owner {
	uint64_t heap_addr, thread_id;
};

static int compare_owners(const void *a, const void *b)
{
	const struct page_owner *x = a, *y = b;

	return (x->heap_addr > y->heap_addr) - (x->heap_addr < y->heap_addr);
}

/*
 * For each heap to which pages belong, read the list of blocks that other threads freed.
 */
static void read_heaps(struct mimalloc *m)
{
	struct page_owner *owners = xcalloc(m->page_count + 1, sizeof(*owners));
	size_t count = 0;

	for (size_t i = 0; i < m->page_count; i++)
		if (m->pages[i].heap_addr != 0)
			owners[count++] = (struct page_owner){ m->pages[i].heap_addr,
							       m->pages[i].thread_id };
	if (count > 0)
		qsort(owners, count, sizeof(*owners), compare_owners);
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && owners[i].heap_addr == owners[i - 1].heap_addr) {
			m->broken_lists += owners[i].thread_id != owners[i - 1].thread_id;
			continue;
		}
		if (!read_delayed(m, owners[i].heap_addr, owners[i].thread_id))
			m->broken_lists++;
	}
	free(owners);
}

void mimalloc_read_lists(struct mimalloc *m)
{
	for (size_t i = 0; i < m->page_count; i++)
		read_page(m, &m->pages[i]);
	if (m->layout)
		read_heaps(m);
}
