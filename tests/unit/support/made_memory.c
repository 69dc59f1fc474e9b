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
