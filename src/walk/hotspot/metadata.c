/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/hotspot/walk.h"

#include <stdlib.h>

#include "base/xalloc.h"

/*
 * Minimum size of a root chunk. Since OpenJDK 16, metaspace consists of root chunks,
 * which are aligned to their size: MAX_CHUNK_BYTE_SIZE in
 * memory/metaspace/chunklevel.hpp, or more in newer versions. Therefore the whole root
 * chunk around a metaspace object belongs to the metaspace.
 */
#define ROOT_CHUNK_BYTES (UINT64_C(4) << 20)
#define ROOT_CHUNK_VERSION 16

/*
 * Minimum size of a class. The walk visits at most one class per this many bytes of the
 * image.
 */
#define KLASS_BYTES 64

/* Maximum number of threads whose stacks are looked up. */
#define THREADS_MAX 1000000

struct chunk {
	uint64_t addr;
	bool has_class;
};

struct chunks {
	struct chunk *items;
	size_t count, capacity;
};

static bool is_old_version(const struct hotspot *h)
{
	uint64_t addr = hotspot_field_addr(h, 0, FIELD_JDK_VERSION);
	uint64_t major_addr = hotspot_field_addr(h, addr, FIELD_JDK_VERSION_MAJOR);
	const uint8_t *major = addr && major_addr ? image_at(h->image, major_addr, 1)
						  : NULL;

	return !major || *major < ROOT_CHUNK_VERSION;
}

/*
 * Add the root chunk that contains addr, unless addr is in a mapped file such as the
 * class data archive.
 */
static void add_chunk(struct hotspot *h, struct chunks *chunks, uint64_t addr,
		      bool has_class)
{
	const struct mapping *m;
	struct chunk *last = chunks->count > 0 ? &chunks->items[chunks->count - 1] : NULL;
	uint64_t chunk_addr = addr & ~(ROOT_CHUNK_BYTES - 1);

	if (last && last->addr == chunk_addr && last->has_class == has_class)
		return;
	m = mapping_list_find(h->input->mappings, addr);
	if (!m || m->inode != 0 || !walk_wants_mapping(m))
		return;
	chunks->items = xgrow(chunks->items, &chunks->capacity, chunks->count + 1,
			      sizeof(*chunks->items));
	chunks->items[chunks->count++] = (struct chunk){ chunk_addr, has_class };
}

/*
 * Add the root chunk of a class, and the root chunk of the class's constant pool, which
 * is in another part of the metaspace.
 */
static void add_klass(struct hotspot *h, struct chunks *chunks, uint64_t addr)
{
	uint64_t constants;
	uint32_t layout;

	add_chunk(h, chunks, addr, h->flags[FLAG_CLASS_POINTERS] != 0);
	/* an array class, whose layout value is negative, has no constant pool */
	if (hotspot_read_int(h, addr, FIELD_KLASS_LAYOUT, &layout) &&
	    layout <= INT32_MAX &&
	    hotspot_read_word(h, addr, FIELD_KLASS_CONSTANTS, &constants))
		add_chunk(h, chunks, constants, false);
}

/*
 * Visit the classes of all class loaders. The number of classes is limited, because a
 * corrupt list may be endless.
 */
static void find_chunks(struct hotspot *h, struct chunks *chunks)
{
	uint64_t steps = h->image->length_bytes / KLASS_BYTES, loader, klass;

	if (!hotspot_read_word(h, 0, FIELD_CLASSES_HEAD, &loader))
		return;
	while (loader != 0 && steps-- > 0) {
		if (!hotspot_read_word(h, loader, FIELD_CLASSES_KLASSES, &klass))
			return;
		for (; klass != 0 && steps > 0; steps--) {
			add_klass(h, chunks, klass);
			if (!hotspot_read_word(h, klass, FIELD_KLASS_NEXT, &klass))
				break;
		}
		if (!hotspot_read_word(h, loader, FIELD_CLASSES_NEXT, &loader))
			return;
	}
}

static int compare_chunks(const void *a, const void *b)
{
	const struct chunk *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return y->has_class - x->has_class;
}

static void read_metaspace(struct hotspot *h)
{
	struct chunks chunks = { NULL, 0, 0 };

	if (is_old_version(h))
		return;
	find_chunks(h, &chunks);
	if (chunks.count > 0)
		qsort(chunks.items, chunks.count, sizeof(*chunks.items), compare_chunks);
	for (size_t i = 0; i < chunks.count; i++) {
		const struct chunk *chunk = &chunks.items[i];
		enum hotspot_space space = chunk->has_class ? HOTSPOT_CLASS_SPACE
							    : HOTSPOT_METASPACE;

		if (i > 0 && chunk->addr == chunk[-1].addr)
			continue;
		h->spaces[space].count++;
		hotspot_add_range(h, chunk->addr, chunk->addr + ROOT_CHUNK_BYTES,
				  HOTSPOT_OWN, space);
	}
	free(chunks.items);
}

/*
 * Add the card table, in which the garbage collector records where objects have changed.
 */
static void read_cards(struct hotspot *h)
{
	uint64_t set, table, map, bytes;

	if (h->reserved_addr == 0 || !hotspot_read_word(h, 0, FIELD_BARRIER_SET, &set) ||
	    !hotspot_read_word(h, set, FIELD_BARRIER_CARDS, &table) ||
	    !hotspot_read_word(h, table, FIELD_CARDS_MAP, &map) ||
	    !hotspot_read_word(h, table, FIELD_CARDS_BYTES, &bytes) ||
	    map % IMAGE_PAGE_BYTES != 0 || map >= HOTSPOT_ADDR_MAX || bytes == 0 ||
	    bytes > h->reserved_end - h->reserved_addr || bytes > HOTSPOT_ADDR_MAX - map)
		return;
	bytes = (bytes + IMAGE_PAGE_BYTES - 1) / IMAGE_PAGE_BYTES * IMAGE_PAGE_BYTES;
	h->spaces[HOTSPOT_CARDS].count++;
	hotspot_add_range(h, map, map + bytes, HOTSPOT_OWN, HOTSPOT_CARDS);
}

/*
 * Count the stack of a thread. The memory after its guard pages must be in a single
 * mapping.
 */
static void add_stack(void *context, uint64_t thread_addr)
{
	struct hotspot *h = context;
	struct heap_space *space = &h->spaces[HOTSPOT_STACKS];
	uint64_t base, bytes;

	if (!hotspot_read_word(h, thread_addr, FIELD_THREAD_STACK_BASE, &base) ||
	    !hotspot_read_word(h, thread_addr, FIELD_THREAD_STACK_BYTES, &bytes) ||
	    base > HOTSPOT_ADDR_MAX || bytes == 0 || bytes > base)
		return;
	space->count++;
	space->resident_bytes += image_resident_bytes(h->image, base - bytes, base);
}

void hotspot_for_each_thread(struct hotspot *h,
			     void (*fn)(void *context, uint64_t thread_addr),
			     void *context)
{
	uint64_t list, array, thread, addr, end;
	uint32_t count;

	if (!hotspot_read_word(h, 0, FIELD_THREAD_LIST, &list) ||
	    !hotspot_read_int(h, list, FIELD_THREAD_LIST_LENGTH, &count) ||
	    !hotspot_read_word(h, list, FIELD_THREAD_LIST_ARRAY, &array) ||
	    count > THREADS_MAX || array % 8 != 0 || array >= HOTSPOT_ADDR_MAX)
		return;
	end = array + 8 * (uint64_t)count;
	for (addr = image_next_resident(h->image, array, end); addr < end;
	     addr = image_next_resident(h->image, addr + 8, end))
		if (image_read(h->image, addr, &thread))
			fn(context, thread);
}

void hotspot_read_metadata(struct hotspot *h)
{
	read_metaspace(h);
	read_cards(h);
	/*
	 * The stacks are not part of the heap: like all stacks, they belong to
	 * OWNER_STACK.
	 */
	hotspot_for_each_thread(h, add_stack, h);
}
