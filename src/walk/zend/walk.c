/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/zend/walk.h"

#include <stdlib.h>

/* Source: ZEND_MM_BINS_INFO in Zend/zend_alloc_sizes.h. */
static const struct {
	uint16_t bytes;
	uint8_t pages;
} bins[ZEND_BINS] = {
	{ 8, 1 },    { 16, 1 },	  { 24, 1 },   { 32, 1 },   { 40, 1 },	 { 48, 1 },
	{ 56, 1 },   { 64, 1 },	  { 80, 1 },   { 96, 1 },   { 112, 1 },	 { 128, 1 },
	{ 160, 1 },  { 192, 1 },  { 224, 1 },  { 256, 1 },  { 320, 5 },	 { 384, 3 },
	{ 448, 1 },  { 512, 1 },  { 640, 5 },  { 768, 3 },  { 896, 2 },	 { 1 << 10, 2 },
	{ 1280, 5 }, { 1536, 3 }, { 1792, 7 }, { 2048, 4 }, { 2560, 5 }, { 3072, 3 },
};

uint64_t zend_bin_bytes(unsigned int bin)
{
	return bins[bin].bytes;
}

uint64_t zend_bin_pages(unsigned int bin)
{
	return bins[bin].pages;
}

uint64_t zend_block_count(const struct zend_run *run)
{
	if (run->bin == ZEND_LARGE)
		return 1;
	return run->page_count * ZEND_PAGE_BYTES / bins[run->bin].bytes;
}

void walk_zend(const struct walk_input *input, struct heap *ret,
	       struct blocks *ret_blocks)
{
	struct zend z = {
		.input = input,
		.image = input->image,
		.heap = ret,
		.blocks = ret_blocks,
	};

	heap_init(ret);
	*ret_blocks = (struct blocks)BLOCKS_INIT;
	ret->problem = zend_find(&z);
	if (z.has_unknown_layout) {
		ret->allocator = ALLOCATOR_PHP;
		ret->problem = "PHP's heap does not have the layout of PHP 7.0 to 8.4";
	}
	if (!ret->problem) {
		ret->allocator = ALLOCATOR_PHP;
		ret->problem = zend_read_runs(&z);
	}
	if (!ret->problem) {
		blocks_init(ret_blocks, input->image, z.bit_count);
		zend_read_free(&z);
		zend_account(&z);
	}
	free(z.heaps);
	free(z.chunks);
	free(z.runs);
}
