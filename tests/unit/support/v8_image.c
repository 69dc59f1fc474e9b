/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "v8_image.h"

#include <string.h>

#define PAGE IMAGE_PAGE_BYTES

#define PROGRAM_ADDR UINT64_C(0x1f000000)
#define VERSION_ADDR (PROGRAM_ADDR + 0x100)
#define V8_VERSION "11.3.244.8-node.38"
#define DATA_ADDR UINT64_C(0x20000000) /* spaces, descriptors, lists of free memory */
#define DATA_PAGES 4
#define DESCRIPTORS_ADDR DATA_ADDR
#define DESCRIPTOR_STRIDE 512
#define SPACES_ADDR (DATA_ADDR + 2 * PAGE)
#define SPACE_STRIDE 512
#define LISTS_ADDR (DATA_ADDR + 3 * PAGE)
#define CATEGORY_BYTES 40
#define CATEGORIES 24
#define HEAP_ADDR (DATA_ADDR + 16 * PAGE)
#define AREA_ADDR (HEAP_ADDR - 80)
#define CHUNKS_ADDR UINT64_C(0x100000000000)
#define LARGE_BYTES (V8_CHUNK_BYTES + 16 * PAGE)

#define NODE_ADDR UINT64_C(0x2010) /* offsets in the first chunk */
#define NODE_BYTES 48
#define LAST_NODE_ADDR UINT64_C(0x4800)
#define LAST_NODE_BYTES (2 * PAGE)
#define GAP_BYTES 8

struct version {
	bool is_apart;
	unsigned int flags; /* index of the word */
	unsigned int size, heap, start, end, allocated, owner, next, categories, front,
		capacity;
	uint64_t header_bytes, code_flags, trusted_flags, large_flags;
	unsigned int node_unit;
};

static const struct version versions[V8_IMAGE_VERSIONS] = {
	{ false, 1, 0, 2, 3, 4, 5, 8, 29, 31, 21, 32, 4400, 0x5, 0, 0x24, 1 },
	{ false, 1, 0, 2, 3, 4, 5, 8, 33, 35, 5, 17, 4424, 0x200004, 0, 0x84, 1 },
	{ true, 0, 2, 3, 4, 5, 6, 9, 33, 35, 5, 12, 4416, 0xc0004, 0x80004, 0x84, 1 },
	{ true, 0, 2, 8, 9, 7, 3, 10, 33, 35, 5, 13, 16, 0x600104, 0x400104, 0x504, 8 },
};

/* Indices of the spaces. The halves of the new space are spaces. */
enum {
	OLD,
	TO,
	FROM,
	CODE,
	TRUSTED,
	LARGE,
	SPACES
};

static const struct made_chunk {
	unsigned int space;
	enum v8_kind kind;
	unsigned int pages; /* resident */
} made_chunks[] = {
	{ OLD, V8_OLD, 8 },	    { OLD, V8_OLD, 2 },	    { TO, V8_NEW, 3 },
	{ TO, V8_NEW, 3 },	    { TO, V8_NEW, 3 },	    { FROM, V8_NEW, 2 },
	{ CODE, V8_CODE, 1 },	    { LARGE, V8_LARGE, 3 }, { OLD, V8_POOLED, 2 },
	{ TRUSTED, V8_TRUSTED, 2 },
};

#define CHUNKS (sizeof(made_chunks) / sizeof(made_chunks[0]))
#define TOP_CHUNK 3 /* the chunk of the allocation area */

static uint64_t chunk_addr(size_t index)
{
	return CHUNKS_ADDR + index * 4 * V8_CHUNK_BYTES;
}

static uint64_t descriptor_addr(const struct v8_image *h, size_t index)
{
	return versions[h->version].is_apart
		       ? DESCRIPTORS_ADDR + index * DESCRIPTOR_STRIDE
		       : chunk_addr(index);
}

static uint64_t space_addr(unsigned int space)
{
	return SPACES_ADDR + space * SPACE_STRIDE;
}

static uint64_t flags_of(const struct version *v, const struct made_chunk *chunk)
{
	switch (chunk->space) {
	case TO: return 0x12;
	case FROM: return 0xa;
	case CODE: return v->code_flags;
	case TRUSTED: return v->trusted_flags;
	case LARGE: return v->large_flags;
	default: return 0x4;
	}
}

/* Return the chunk after or before a chunk in the list of its space, or CHUNKS. */
static size_t neighbour(size_t index, bool is_next)
{
	size_t found = CHUNKS;

	for (size_t i = 0; i < CHUNKS && made_chunks[index].kind != V8_POOLED; i++) {
		if (made_chunks[i].space != made_chunks[index].space ||
		    made_chunks[i].kind == V8_POOLED || i == index)
			continue;
		if (is_next ? i > index && found == CHUNKS : i < index)
			found = i;
	}
	return found;
}

static void write_word(struct v8_image *h, size_t chunk, unsigned int word,
		       uint64_t value)
{
	made_memory_write(&h->memory, descriptor_addr(h, chunk) + 8 * word, value);
}

static void count_chunk(struct v8_image *h, size_t i, uint64_t live_bytes,
			uint64_t area_bytes, uint64_t resident_free_bytes)
{
	enum v8_kind kind = made_chunks[i].kind;

	/* like the map space of Node.js 18, a space that differs only in its address */
	if (kind == V8_TRUSTED && versions[h->version].trusted_flags == 0)
		kind = V8_OLD;
	h->live_bytes[kind] += live_bytes;
	h->free_bytes[kind] += area_bytes - live_bytes;
	h->free_resident_bytes += resident_free_bytes;
}

static void count_area(struct v8_image *h, size_t i, uint64_t bytes, uint64_t allocated)
{
	uint64_t header = versions[h->version].header_bytes;
	uint64_t area = bytes - header;
	uint64_t resident = made_chunks[i].pages * PAGE - header;

	if (made_chunks[i].kind == V8_POOLED || made_chunks[i].space == FROM)
		count_chunk(h, i, 0, area, resident);
	else if (i == TOP_CHUNK)
		count_chunk(h, i, 0x1000, area, resident - 0x1000);
	else if (made_chunks[i].space == TO && i > TOP_CHUNK)
		count_chunk(h, i, 0, area, resident);
	else
		count_chunk(h, i, allocated, area,
			    i == 0 ? NODE_BYTES + LAST_NODE_BYTES : 0);
}

/* Add a chunk to its space's own sums. */
static void add_to_space(struct v8_image *h, size_t i, uint64_t area, uint64_t allocated)
{
	uint64_t addr =
		space_addr(made_chunks[i].space) + 8 * versions[h->version].capacity;

	made_memory_write(&h->memory, addr, made_memory_read(&h->memory, addr) + area);
	addr += 16;
	made_memory_write(&h->memory, addr,
			  made_memory_read(&h->memory, addr) + allocated);
}

static void make_chunk(struct v8_image *h, size_t i)
{
	const struct version *v = &versions[h->version];
	const struct made_chunk *chunk = &made_chunks[i];
	uint64_t addr = chunk_addr(i), next, prev;
	uint64_t bytes = chunk->kind == V8_LARGE ? LARGE_BYTES : V8_CHUNK_BYTES;
	uint64_t allocated = bytes - v->header_bytes;

	if (i == 0)
		allocated -= NODE_BYTES + LAST_NODE_BYTES + GAP_BYTES;
	made_memory_write(&h->memory, addr + 8 * v->flags, flags_of(v, chunk));
	if (v->is_apart) {
		made_memory_write(&h->memory, addr + 8, descriptor_addr(h, i));
		write_word(h, i, 1, addr);
	}
	next = neighbour(i, true);
	prev = neighbour(i, false);
	write_word(h, i, v->size, bytes);
	write_word(h, i, v->heap, HEAP_ADDR);
	write_word(h, i, v->start, addr + v->header_bytes);
	write_word(h, i, v->end, addr + bytes);
	write_word(h, i, v->allocated, allocated);
	write_word(h, i, v->owner, space_addr(chunk->space));
	write_word(h, i, v->next, next < CHUNKS ? descriptor_addr(h, next) : 0);
	write_word(h, i, v->next + 1, prev < CHUNKS ? descriptor_addr(h, prev) : 0);
	write_word(h, i, v->categories, i == 0 ? LISTS_ADDR : LISTS_ADDR + 2048);
	count_area(h, i, bytes, allocated);
	if (chunk->kind == V8_POOLED)
		return;
	add_to_space(h, i, bytes - v->header_bytes, allocated);
	if (prev == CHUNKS)
		made_memory_write(&h->memory, space_addr(chunk->space) + 8 * v->front,
				  descriptor_addr(h, i));
	if (next == CHUNKS)
		made_memory_write(&h->memory, space_addr(chunk->space) + 8 * v->front + 8,
				  descriptor_addr(h, i));
}

/* Make the 24 lists of free memory of a chunk, which are empty. */
static void make_lists(struct v8_image *h, uint64_t addr)
{
	for (unsigned int i = 0; i < CATEGORIES; i++) {
		uint64_t category = addr + 8 * CATEGORIES + i * CATEGORY_BYTES;

		made_memory_write(&h->memory, addr + 8 * i, category);
		made_memory_write(&h->memory, category, i);
	}
}

static void make_node(struct v8_image *h, unsigned int category, uint64_t addr,
		      uint64_t bytes)
{
	uint64_t list = LISTS_ADDR + 8 * CATEGORIES + category * CATEGORY_BYTES;

	made_memory_write(&h->memory, list, category | bytes << 32);
	made_memory_write(&h->memory, list + 8, addr + 1);
	made_memory_write(&h->memory, addr + 8,
			  bytes / versions[h->version].node_unit << 32);
}

/* Make the strings with the versions of Node.js and V8. */
static void make_versions(struct v8_image *h)
{
	static const char node[] = "20.20.2";

	made_memory_write(&h->memory, VERSION_ADDR, VERSION_ADDR + 16);
	made_memory_write(&h->memory, VERSION_ADDR + 8, sizeof(node) - 1);
	memcpy(made_memory_at(&h->memory, VERSION_ADDR + 16, 8), node, sizeof(node));
	made_memory_write(&h->memory, VERSION_ADDR + 32, PROGRAM_ADDR);
	made_memory_write(&h->memory, VERSION_ADDR + 40, sizeof(V8_VERSION) - 1);
	memcpy(made_memory_at(&h->memory, PROGRAM_ADDR, sizeof(V8_VERSION)), V8_VERSION,
	       sizeof(V8_VERSION));
	h->version_addr = VERSION_ADDR;
}

static void set_addresses(struct v8_image *h)
{
	const struct version *v = &versions[h->version];

	h->old_addr = chunk_addr(0);
	h->descriptor_addr = descriptor_addr(h, 0);
	h->next_word_addr = h->descriptor_addr + 8 * v->next;
	h->allocated_word_addr = h->descriptor_addr + 8 * v->allocated;
	h->front_addr = space_addr(OLD) + 8 * v->front;
	h->capacity_addr = space_addr(OLD) + 8 * v->capacity;
	h->node_addr = chunk_addr(0) + NODE_ADDR;
	h->category_addr = LISTS_ADDR + 8 * CATEGORIES + 2 * CATEGORY_BYTES;
	h->area_addr = AREA_ADDR;
	h->heap_addr = HEAP_ADDR;
}

void v8_image_init(struct v8_image *h, unsigned int version)
{
	uint64_t header = versions[version].header_bytes;
	uint64_t top = chunk_addr(TOP_CHUNK) + header + 0x1000, pages = 0;

	*h = (struct v8_image){ .version = version };
	for (size_t i = 0; i < CHUNKS; i++)
		pages += made_chunks[i].pages;
	h->resident_bytes = pages * PAGE;
	made_memory_init(&h->memory, (pages + DATA_PAGES + 3) * PAGE);
	made_memory_add_mapping(&h->memory, PROGRAM_ADDR, PAGE, "/usr/bin/program");
	made_memory_add_pages(&h->memory, PROGRAM_ADDR, PAGE);
	made_memory_add_mapping(&h->memory, DATA_ADDR, 32 * PAGE, "[heap]");
	made_memory_add_pages(&h->memory, DATA_ADDR, DATA_PAGES * PAGE);
	made_memory_add_pages(&h->memory, HEAP_ADDR - PAGE, 2 * PAGE);
	for (size_t i = 0; i < CHUNKS; i++) {
		made_memory_add_mapping(&h->memory, chunk_addr(i), 4 * V8_CHUNK_BYTES,
					"");
		made_memory_add_pages(&h->memory, chunk_addr(i),
				      made_chunks[i].pages * PAGE);
	}
	make_lists(h, LISTS_ADDR);
	make_lists(h, LISTS_ADDR + 2048);
	for (size_t i = 0; i < CHUNKS; i++)
		make_chunk(h, i);
	make_node(h, 2, chunk_addr(0) + NODE_ADDR, NODE_BYTES);
	make_node(h, 20, chunk_addr(0) + LAST_NODE_ADDR, LAST_NODE_BYTES);
	made_memory_write(&h->memory, AREA_ADDR, top - 0x100);
	made_memory_write(&h->memory, AREA_ADDR + 8, top);
	made_memory_write(&h->memory, AREA_ADDR + 16, top + 0x8000);
	make_versions(h);
	set_addresses(h);
}
