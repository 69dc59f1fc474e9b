/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/zend/walk.h"

#include "base/search.h"

/* Return the run of a heap that contains the address, or NULL. */
static struct zend_run *find_run(struct zend *z, uint32_t heap, uint64_t addr)
{
	size_t i = SEARCH_FIRST(z->run_count, k, z->runs[k].addr > addr);
	struct zend_run *run = i > 0 ? &z->runs[i - 1] : NULL;

	if (!run || run->heap != heap ||
	    addr - run->addr >= run->page_count * ZEND_PAGE_BYTES)
		return NULL;
	return run;
}

/* Mark the blocks in the free list of a bin. Return false if a check fails. */
static bool read_list(struct zend *z, uint32_t heap, unsigned int bin)
{
	uint64_t bytes = zend_bin_bytes(bin), at;

	if (!image_read(z->image, z->heaps[heap].slots_addr + 8 * bin, &at))
		return false;
	while (at != 0) {
		struct zend_run *run = find_run(z, heap, at);
		uint64_t index = run ? (at - run->addr) / bytes : 0;

		if (!run || run->bin != bin || (at - run->addr) % bytes != 0 ||
		    index >= zend_block_count(run) ||
		    bit_is_set(z->blocks->not_live, run->first_bit + index) ||
		    !image_read(z->image, at, &at))
			return false;
		bit_set(z->blocks->not_live, run->first_bit + index);
		run->free_count++;
	}
	return true;
}

void zend_read_free(struct zend *z)
{
	for (uint32_t i = 0; i < z->heap_count; i++)
		for (unsigned int bin = 0; bin < ZEND_BINS; bin++)
			if (!z->heaps[i].is_broken && !read_list(z, i, bin))
				z->heaps[i].is_broken = true;
	for (size_t i = 0; i < z->run_count; i++) {
		const struct zend_run *run = &z->runs[i];
		uint64_t live = zend_block_count(run) - run->free_count;

		z->heaps[run->heap].live_bytes +=
			live * (run->bin == ZEND_LARGE ? run->page_count * ZEND_PAGE_BYTES
						       : zend_bin_bytes(run->bin));
	}
	for (size_t i = 0; i < z->heap_count; i++)
		if (z->heaps[i].live_bytes != z->heaps[i].size_bytes)
			z->heaps[i].is_broken = true;
}
