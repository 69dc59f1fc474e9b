/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tcmalloc_image.h"

#include <stdlib.h>
#include <string.h>

#define PAGE UINT64_C(4096)

/* The library's data: the page heap, the classes, the central lists, and pointers. */
#define DATA_ADDR UINT64_C(0x7f1000000000)
#define ROW_ADDR (DATA_ADDR + 0x200068)
#define TABLES_ADDR (DATA_ADDR + 0x204000)
#define CENTRAL_ADDR (DATA_ADDR + 0x205008)
#define POINTERS_ADDR (DATA_ADDR + 0x214000)
#define DATA_END_ADDR (DATA_ADDR + 0x215000)

/* tcmalloc's own data: a page of spans, then two caches. */
#define OWN_ADDR UINT64_C(0x7f2000000000)
#define OWN_PAGES 5
#define CACHES_ADDR (OWN_ADDR + PAGE)
#define LEAF_ADDR UINT64_C(0x7f2100000000)
#define HEAP_ADDR UINT64_C(0x7f3000000000)

#define SPAN_BYTES 48
#define CENTRAL_BYTES 1216
#define CLASS_COUNT 41
#define SMALL_CLASS 3  /* 32 bytes */
#define TAILED_CLASS 4 /* 48 bytes: the span has an unused end */

const struct tcmalloc_layout tcmalloc_layouts[TCMALLOC_LAYOUT_COUNT] = {
	{ "2.10", 128, 48, 13, false, false },
	{ "2.6", 96, 48, 13, true, false },
	{ "2.7", 96, 48, 13, false, false },
	{ "2.18", 128, 32, 13, false, true },
	{ "pages of 32 KiB", 128, 48, 15, false, false },
};

static uint8_t *at(struct tcmalloc_image *h, uint64_t addr, uint64_t length)
{
	uint8_t *found = (uint8_t *)image_at(&h->image, addr, length);

	if (!found)
		abort();
	return found;
}

void tcmalloc_image_write(struct tcmalloc_image *h, uint64_t addr, uint64_t value)
{
	memcpy(at(h, addr, sizeof(value)), &value, sizeof(value));
}

uint64_t tcmalloc_image_read(struct tcmalloc_image *h, uint64_t addr)
{
	uint64_t value;

	memcpy(&value, at(h, addr, sizeof(value)), sizeof(value));
	return value;
}

static void write_u32(struct tcmalloc_image *h, uint64_t addr, uint64_t value)
{
	uint32_t v = (uint32_t)value;

	memcpy(at(h, addr, sizeof(v)), &v, sizeof(v));
}

/* Sizes 8, 16, 32, 48 … 464, then powers of two up to 256 KiB. */
static uint64_t class_bytes(unsigned int class)
{
	if (class <= 2)
		return class * 8;
	return class <= 30 ? 32 + 16 * (class - 3) : UINT64_C(512) << (class - 31);
}

static uint64_t batch_count(unsigned int class)
{
	return class_bytes(class) <= 2048 ? 32 : 2;
}

static uint64_t page_bytes(const struct tcmalloc_image *h)
{
	return UINT64_C(1) << h->layout->page_shift;
}

static void add_run(struct tcmalloc_image *h, uint64_t start, uint64_t end)
{
	if (image_add_run(&h->image, start & ~(PAGE - 1),
			  (end + PAGE - 1) & ~(PAGE - 1)) < 0)
		abort();
}

static void add_mapping(struct tcmalloc_image *h, uint64_t start, uint64_t end,
			uint64_t inode)
{
	struct mapping m = { .start_addr = start,
			     .end_addr = end,
			     .flags = MAPPING_READ | MAPPING_WRITE,
			     .inode = inode,
			     .name = inode ? "/lib/libtcmalloc.so" : "" };

	m.name_length = (uint32_t)strlen(m.name);
	m.counters.bytes[SMAPS_RSS] = end - start;
	mapping_list_add(&h->mappings, &m);
}

/* Make an empty list, or the list of one span. */
static void make_list(struct tcmalloc_image *h, uint64_t head, uint64_t span)
{
	tcmalloc_image_write(h, head + 16, span ? span : head);
	tcmalloc_image_write(h, head + 24, span ? span : head);
	if (span) {
		tcmalloc_image_write(h, span + 16, head);
		tcmalloc_image_write(h, span + 24, head);
	}
}

static void make_classes(struct tcmalloc_image *h)
{
	uint64_t max = h->layout->class_max, bytes = 4 * max;
	uint64_t pages_addr = TABLES_ADDR + 2 * bytes;
	uint64_t count_addr = pages_addr + 8 * max;

	h->sizes_addr = TABLES_ADDR + bytes;
	for (unsigned int i = 1; i < CLASS_COUNT; i++) {
		uint64_t pages = (class_bytes(i) + page_bytes(h) - 1) / page_bytes(h);

		write_u32(h, TABLES_ADDR + 4 * i, batch_count(i));
		write_u32(h, h->sizes_addr + 4 * i, class_bytes(i));
		tcmalloc_image_write(h, pages_addr + 8 * i, pages);
	}
	tcmalloc_image_write(h, count_addr + (h->layout->has_word_between ? 8 : 0),
			     CLASS_COUNT);
	for (unsigned int i = 0; i < CLASS_COUNT; i++) {
		uint64_t addr = CENTRAL_ADDR + (uint64_t)CENTRAL_BYTES * i;

		tcmalloc_image_write(h, addr, i);
		make_list(h, addr + 8, 0);
		make_list(h, addr + 56, 0);
	}
}

struct made_span {
	uint64_t pages, objects;
	unsigned int taken, class, location;
};

/* Add a span after the others. Returns the address of its struct. */
static uint64_t make_span(struct tcmalloc_image *h, unsigned int index, uint64_t *page,
			  const struct made_span *made)
{
	uint64_t span = OWN_ADDR + SPAN_BYTES * (index + 1);
	uint64_t first = HEAP_ADDR >> h->layout->page_shift;
	uint64_t bytes = made->pages * page_bytes(h);

	tcmalloc_image_write(h, span, *page);
	tcmalloc_image_write(h, span + 8, made->pages);
	tcmalloc_image_write(h, span + 32, made->objects);
	tcmalloc_image_write(h, span + 40,
			     made->taken | (uint64_t)made->class << 16 |
				     (uint64_t)made->location << 24);
	tcmalloc_image_write(h, h->leaf_word_addr + 8 * (*page - first), span);
	tcmalloc_image_write(h, h->leaf_word_addr + 8 * (*page - first + made->pages - 1),
			     span);
	*page += made->pages;
	if (made->location == TCMALLOC_IN_USE)
		h->in_use_bytes += bytes;
	else if (made->location == TCMALLOC_FREE)
		h->free_span_bytes += bytes;
	else
		h->returned_bytes += bytes;
	if (made->location != TCMALLOC_RETURNED)
		h->resident_bytes += bytes;
	return span;
}

/* Link `count` blocks from addr on, each to the next. The last one links to nothing. */
static void link_blocks(struct tcmalloc_image *h, uint64_t addr, uint64_t bytes,
			uint64_t count, struct chunk_sum *sum)
{
	for (uint64_t i = 0; i < count; i++) {
		tcmalloc_image_write(h, addr + i * bytes,
				     i + 1 < count ? addr + (i + 1) * bytes : 0);
		chunk_sum_add(sum, bytes);
	}
}

static void make_spans(struct tcmalloc_image *h)
{
	uint64_t bytes = page_bytes(h), page = HEAP_ADDR >> h->layout->page_shift;
	uint64_t small = class_bytes(SMALL_CLASS), tailed = class_bytes(TAILED_CLASS);
	uint64_t count = bytes / small, tailed_count = bytes / tailed, row = h->row_addr;
	uint64_t list = CENTRAL_ADDR + (uint64_t)CENTRAL_BYTES * SMALL_CLASS;
	struct made_span made[] = {
		{ 1, HEAP_ADDR + 100 * small, (unsigned int)count - 3, SMALL_CLASS, 0 },
		{ 3, 0, 1, 0, 0 },
		{ 2, 0, 0, 0, TCMALLOC_FREE },
		{ 1, 0, 0, 0, TCMALLOC_RETURNED },
		{ 1, 0, (unsigned int)tailed_count, TAILED_CLASS, 0 },
	};
	uint64_t spans[5];

	for (unsigned int i = 0; i < 5; i++)
		spans[i] = make_span(h, i, &page, &made[i]);
	make_list(h, list + 56, spans[0]);
	make_list(h, list + CENTRAL_BYTES + 8, spans[4]);
	make_list(h, row + 2 * SPAN_BYTES, spans[2]);
	make_list(h, row + SPAN_BYTES, spans[3]);
	h->small_span_addr = spans[0];
	h->large_span_addr = spans[1];
	h->small_addr = HEAP_ADDR;
	h->large_addr = HEAP_ADDR + bytes;
	h->small_class = SMALL_CLASS;
	h->listed_addr = made[0].objects;
	link_blocks(h, h->listed_addr, small, 3, &h->free);
	/* the central list's counter, and one batch in the transfer cache */
	tcmalloc_image_write(h, list + 112, 3);
	h->batch_addr = HEAP_ADDR + 8 * small;
	link_blocks(h, h->batch_addr, small, batch_count(SMALL_CLASS), &h->free);
	tcmalloc_image_write(h, list + 120, h->batch_addr);
	tcmalloc_image_write(h, list + 128,
			     h->batch_addr + (batch_count(SMALL_CLASS) - 1) * small);
	write_u32(h, list + 1144, 1);
	/* the threads' caches */
	h->cached_addr = HEAP_ADDR + 60 * small;
	link_blocks(h, h->cached_addr, small, 5, &h->cached);
	link_blocks(h, HEAP_ADDR + 7 * bytes + 9 * tailed, tailed, 1, &h->cached);
	h->live.count = count - 3 - batch_count(SMALL_CLASS) - 5 + tailed_count - 1 + 1;
	h->live.bytes = (count - 3 - batch_count(SMALL_CLASS) - 5) * small +
			(tailed_count - 1) * tailed + 3 * bytes;
}

static uint64_t cache_bytes(const struct tcmalloc_image *h)
{
	/* the alignment of a cache is 64 */
	return (h->layout->class_max * UINT64_C(32) + h->layout->link_offset + 16 + 63) &
	       ~UINT64_C(63);
}

static void make_caches(struct tcmalloc_image *h)
{
	uint64_t links = h->layout->class_max * UINT64_C(32) + h->layout->link_offset;
	uint64_t second = h->first_cache_addr + cache_bytes(h);

	for (unsigned int i = 0; i < CLASS_COUNT; i++) {
		write_u32(h, h->first_cache_addr + 32 * i + 24, class_bytes(i));
		write_u32(h, second + 32 * i + 24, class_bytes(i));
	}
	tcmalloc_image_write(h, h->first_cache_addr + links, second);
	tcmalloc_image_write(h, second + links + 8, h->first_cache_addr);
	tcmalloc_image_write(h, h->first_cache_addr + 32 * SMALL_CLASS, h->cached_addr);
	write_u32(h, h->first_cache_addr + 32 * SMALL_CLASS + 8, 5);
	tcmalloc_image_write(h, second + 32 * TAILED_CLASS,
			     HEAP_ADDR + 7 * page_bytes(h) +
				     9 * class_bytes(TAILED_CLASS));
	write_u32(h, second + 32 * TAILED_CLASS + 8, 1);
	/* next_memory_steal_, thread_heap_count_, then thread_heaps_ */
	tcmalloc_image_write(h, POINTERS_ADDR, second);
	h->count_addr = POINTERS_ADDR + 8;
	write_u32(h, h->count_addr, 2);
	tcmalloc_image_write(h, POINTERS_ADDR + 16, h->first_cache_addr);
}

static void set_places(struct tcmalloc_image *h)
{
	unsigned int shift = h->layout->page_shift, bits = (48 - shift + 1) / 2;
	uint64_t page = HEAP_ADDR >> shift, root_words = UINT64_C(1)
							 << (48 - shift - bits);
	uint64_t large = h->layout->has_large_heads ? 2 * SPAN_BYTES : 0;

	/* two objects std::set and a function, or two heads and a function */
	h->row_addr = ROW_ADDR + large;
	h->root_word_addr = h->row_addr - 104 - 8 * root_words + 8 * (page >> bits);
	h->leaf_word_addr = LEAF_ADDR + 8 * (page & ((UINT64_C(1) << bits) - 1));
	h->stats_addr = h->row_addr + (UINT64_C(2) << (20 - shift)) * SPAN_BYTES;
	h->central_addr = CENTRAL_ADDR;
	h->first_cache_addr = CACHES_ADDR;
}

static void make_memory(struct tcmalloc_image *h)
{
	uint64_t bytes = page_bytes(h);

	if (image_reserve(&h->image, 256 * PAGE) < 0)
		abort();
	add_mapping(h, DATA_ADDR, DATA_ADDR + PAGE, 7);
	add_mapping(h, DATA_ADDR + PAGE, DATA_END_ADDR, 0);
	add_run(h, h->root_word_addr, h->root_word_addr + 8);
	add_run(h, ROW_ADDR, DATA_END_ADDR);
	add_mapping(h, OWN_ADDR, OWN_ADDR + OWN_PAGES * PAGE, 0);
	add_run(h, OWN_ADDR, OWN_ADDR + OWN_PAGES * PAGE);
	add_mapping(h, LEAF_ADDR, LEAF_ADDR + (4 << 20), 0);
	add_run(h, h->leaf_word_addr, h->leaf_word_addr + 64);
	add_mapping(h, HEAP_ADDR, HEAP_ADDR + 8 * bytes, 0);
	add_run(h, HEAP_ADDR, HEAP_ADDR + 6 * bytes);
	/* the returned span has no pages */
	add_run(h, HEAP_ADDR + 7 * bytes, HEAP_ADDR + 8 * bytes);
	/* a page of the page map's root, and those up to the end of the row */
	h->resident_bytes = PAGE + (h->stats_addr & ~(PAGE - 1)) -
			    (ROW_ADDR & ~(PAGE - 1)) + (OWN_PAGES + 1) * PAGE;
	memset(h->image.bytes, 0, h->image.length_bytes);
}

void tcmalloc_image_init(struct tcmalloc_image *h, const struct tcmalloc_layout *layout)
{
	*h = (struct tcmalloc_image){ .image = IMAGE_INIT,
				      .mappings = MAPPING_LIST_INIT,
				      .blocks = BLOCKS_INIT,
				      .layout = layout };
	set_places(h);
	make_memory(h);
	for (uint64_t head = ROW_ADDR; head < h->stats_addr; head += SPAN_BYTES)
		make_list(h, head, 0);
	make_classes(h);
	tcmalloc_image_write(h, h->root_word_addr, LEAF_ADDR);
	make_spans(h);
	make_caches(h);
	tcmalloc_image_write(h, h->stats_addr,
			     h->in_use_bytes + h->free_span_bytes + h->returned_bytes);
	tcmalloc_image_write(h, h->stats_addr + 8, h->free_span_bytes);
	tcmalloc_image_write(h, h->stats_addr + 16, h->returned_bytes);
}

void tcmalloc_image_release(struct tcmalloc_image *h)
{
	blocks_release(&h->blocks);
	image_release(&h->image);
	mapping_list_release(&h->mappings);
}

void tcmalloc_image_walk(struct tcmalloc_image *h, struct heap *ret)
{
	struct walk_input input = { .image = &h->image,
				    .mappings = &h->mappings,
				    .is_running = h->is_running };

	blocks_release(&h->blocks);
	walk_tcmalloc(&input, ret, &h->blocks);
}
