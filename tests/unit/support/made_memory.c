/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "made_memory.h"

#include <stdlib.h>
#include <string.h>

void made_memory_init(struct made_memory *m, uint64_t resident_bytes)
{
	*m = (struct made_memory){
		.image = IMAGE_INIT,
		.mappings = MAPPING_LIST_INIT,
		.blocks = BLOCKS_INIT,
	};
	if (image_reserve(&m->image, resident_bytes) < 0)
		abort();
	memset(m->image.bytes, 0, resident_bytes);
}

void made_memory_release(struct made_memory *m)
{
	blocks_release(&m->blocks);
	image_release(&m->image);
	mapping_list_release(&m->mappings);
}

void made_memory_add_mapping(struct made_memory *m, uint64_t addr, uint64_t bytes,
			     const char *name)
{
	struct mapping mapping = { .start_addr = addr,
				   .end_addr = addr + bytes,
				   .flags = MAPPING_READ | MAPPING_WRITE,
				   .inode = name[0] == '/' ? 7 : 0,
				   .name = name,
				   .name_length = (uint32_t)strlen(name) };

	mapping_list_add(&m->mappings, &mapping);
}

void made_memory_add_pages(struct made_memory *m, uint64_t addr, uint64_t bytes)
{
	struct mapping *last = &m->mappings.items[m->mappings.count - 1];

	last->counters.bytes[SMAPS_RSS] += bytes;
	if (image_add_run(&m->image, addr, addr + bytes) < 0)
		abort();
}

/* Return the image with the lowest run after addr. Set *ret to this run. */
static const struct image *find_lowest(const struct image *const images[], size_t count,
				       uint64_t addr, const struct image_run **ret)
{
	const struct image *found = NULL;

	for (size_t i = 0; i < count; i++)
		for (size_t r = 0; r < images[i]->run_count; r++) {
			const struct image_run *run = &images[i]->runs[r];

			if (run->start_addr >= addr &&
			    (!found || run->start_addr < (*ret)->start_addr)) {
				found = images[i];
				*ret = run;
			}
		}
	return found;
}

static int compare_mappings(const void *a, const void *b)
{
	const struct mapping *x = a, *y = b;

	return (x->start_addr > y->start_addr) - (x->start_addr < y->start_addr);
}

void made_memory_join(struct made_memory *m, const struct image *const images[],
		      const struct mapping_list *const lists[], size_t count)
{
	const struct image_run *run = NULL;
	const struct image *from;
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += images[i]->length_bytes;
	made_memory_init(m, bytes);
	while ((from = find_lowest(images, count, run ? run->end_addr : 0, &run))) {
		memcpy(m->image.bytes + m->image.length_bytes,
		       from->bytes + run->offset_bytes, run->end_addr - run->start_addr);
		if (image_add_run(&m->image, run->start_addr, run->end_addr) < 0)
			abort();
	}
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < lists[i]->count; k++)
			mapping_list_add(&m->mappings, &lists[i]->items[k]);
	qsort(m->mappings.items, m->mappings.count, sizeof(*m->mappings.items),
	      compare_mappings);
}

void made_memory_drop(struct image *image, uint64_t start_addr, uint64_t end_addr)
{
	struct image kept = IMAGE_INIT;

	if (image_reserve(&kept, image->length_bytes) < 0)
		abort();
	for (size_t i = 0; i < image->run_count; i++) {
		const struct image_run *run = &image->runs[i];

		for (uint64_t at = run->start_addr; at < run->end_addr;
		     at += IMAGE_PAGE_BYTES) {
			if (at >= start_addr && at < end_addr)
				continue;
			memcpy(kept.bytes + kept.length_bytes,
			       image->bytes + run->offset_bytes + (at - run->start_addr),
			       IMAGE_PAGE_BYTES);
			if (image_add_run(&kept, at, at + IMAGE_PAGE_BYTES) < 0)
				abort();
		}
	}
	image_release(image);
	*image = kept;
}

static struct mapping *find_mapping(struct mapping_list *mappings, uint64_t addr)
{
	for (size_t i = 0; i < mappings->count; i++)
		if (addr >= mappings->items[i].start_addr &&
		    addr < mappings->items[i].end_addr)
			return &mappings->items[i];
	return NULL;
}

void made_memory_count_swapped(struct mapping_list *mappings, uint64_t addr)
{
	find_mapping(mappings, addr)->counters.bytes[SMAPS_SWAP] += IMAGE_PAGE_BYTES;
}

void made_memory_remove_page(struct image *image, struct mapping_list *mappings,
			     uint64_t addr, bool is_swapped)
{
	addr &= ~(IMAGE_PAGE_BYTES - 1);
	made_memory_drop(image, addr, addr + IMAGE_PAGE_BYTES);
	find_mapping(mappings, addr)->counters.bytes[SMAPS_RSS] -= IMAGE_PAGE_BYTES;
	if (is_swapped)
		made_memory_count_swapped(mappings, addr);
}

void *made_memory_at(struct made_memory *m, uint64_t addr, uint64_t length)
{
	uint8_t *found = (uint8_t *)image_at(&m->image, addr, length);

	if (!found)
		abort();
	return found;
}

void made_memory_write(struct made_memory *m, uint64_t addr, uint64_t value)
{
	memcpy(made_memory_at(m, addr, sizeof(value)), &value, sizeof(value));
}

void made_memory_write_u32(struct made_memory *m, uint64_t addr, uint32_t value)
{
	memcpy(made_memory_at(m, addr, sizeof(value)), &value, sizeof(value));
}

uint64_t made_memory_read(struct made_memory *m, uint64_t addr)
{
	uint64_t value;

	memcpy(&value, made_memory_at(m, addr, sizeof(value)), sizeof(value));
	return value;
}

void made_memory_walk(struct made_memory *m, made_memory_walker walk, struct heap *ret)
{
	const struct walk_input input = {
		.image = &m->image,
		.mappings = &m->mappings,
		.is_running = m->is_running,
		.claimed = m->claimed,
	};

	blocks_release(&m->blocks);
	walk(&input, ret, &m->blocks);
}
