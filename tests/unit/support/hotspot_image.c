/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "hotspot_image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "hotspot_library.h"
#include "made_memory.h"

#define HEAP_ADDR UINT64_C(0xf0000000)
#define REGION_PAGES 16
#define REGION_BYTES (REGION_PAGES * PAGE)
#define REGIONS 8
#define STRUCTS_ADDR UINT64_C(0x580100000000)
#define STRUCTS_PAGES 64
#define CODE_ADDR UINT64_C(0x580200000000)
#define CODE_PAGES 4
#define SEGMAP_ADDR UINT64_C(0x580200010000)
#define CLASS_ADDR UINT64_C(0x580300000000)
#define CLASS_PAGES 2
#define METASPACE_ADDR UINT64_C(0x580300400000)
#define CARDS_ADDR UINT64_C(0x580400000000)
#define STACK_ADDR UINT64_C(0x580500000000)
#define STACK_PAGES 4

uint8_t *hotspot_image_at(struct hotspot_image *h, uint64_t addr, uint64_t length)
{
	uint8_t *found = (uint8_t *)image_at(&h->image, addr, length);

	if (!found)
		abort();
	return found;
}

void hotspot_image_write(struct hotspot_image *h, uint64_t addr, uint64_t value)
{
	memcpy(hotspot_image_at(h, addr, sizeof(value)), &value, sizeof(value));
}

uint64_t hotspot_image_read(struct hotspot_image *h, uint64_t addr)
{
	uint64_t value;

	memcpy(&value, hotspot_image_at(h, addr, sizeof(value)), sizeof(value));
	return value;
}

uint64_t hotspot_image_add_struct(struct hotspot_image *h)
{
	uint64_t addr = h->next_addr;

	h->next_addr += STRUCT_BYTES;
	return addr;
}

void hotspot_image_set(struct hotspot_image *h, uint64_t addr, enum hotspot_field field,
		       uint64_t value)
{
	hotspot_image_write(h, hotspot_image_field(field, addr), value);
}

/* Add a mapping, of which the first `resident` pages are in the image. */
static void add_mapping(struct hotspot_image *h, uint64_t addr, uint64_t pages,
			uint64_t resident, uint32_t flags, const char *file)
{
	struct mapping m = { .start_addr = addr,
			     .end_addr = addr + pages * PAGE,
			     .flags = flags,
			     .name = file ? file : "" };
	struct stat st;

	if (file) {
		if (fstat(h->fd, &st) < 0)
			abort();
		m.inode = st.st_ino;
		m.dev_major = major(st.st_dev);
		m.dev_minor = minor(st.st_dev);
	}
	m.name_length = (uint32_t)strlen(m.name);
	m.counters.bytes[SMAPS_RSS] = resident * PAGE;
	mapping_list_add(&h->mappings, &m);
	if (resident > 0 && image_add_run(&h->image, addr, addr + resident * PAGE) < 0)
		abort();
}

static void add_mappings(struct hotspot_image *h)
{
	const uint32_t rw = MAPPING_READ | MAPPING_WRITE;
	bool is_g1 = h->collector == HOTSPOT_G1;

	/* six regions, the seventh from a file, and the last one not committed */
	add_mapping(h, HEAP_ADDR, 6 * REGION_PAGES, 6 * REGION_PAGES - 2, rw, NULL);
	add_mapping(h, HEAP_ADDR + 6 * REGION_BYTES, REGION_PAGES, 1, rw,
		    is_g1 ? "/archive.jsa" : NULL);
	add_mapping(h, HEAP_ADDR + 7 * REGION_BYTES, REGION_PAGES, 0, 0, NULL);
	add_mapping(h, LIBRARY_ADDR, LIBRARY_PAGES, 0, MAPPING_READ, h->library);
	add_mapping(h, DATA_ADDR, DATA_PAGES, DATA_PAGES, rw, h->library);
	h->mappings.items[h->mappings.count - 1].file_offset_bytes = LIBRARY_PAGES * PAGE;
	add_mapping(h, STRUCTS_ADDR, STRUCTS_PAGES, STRUCTS_PAGES, rw, NULL);
	add_mapping(h, CODE_ADDR, CODE_PAGES, CODE_PAGES - 1, rw | MAPPING_EXEC, NULL);
	add_mapping(h, SEGMAP_ADDR, 1, 1, rw, NULL);
	add_mapping(h, CLASS_ADDR, CLASS_PAGES, CLASS_PAGES, rw, NULL);
	add_mapping(h, METASPACE_ADDR, 3, 1, rw, NULL);
	add_mapping(h, CARDS_ADDR, 1, 1, rw, NULL);
	add_mapping(h, STACK_ADDR, STACK_PAGES, 2, rw, NULL);
}

static uint64_t resident(struct hotspot_image *h, uint64_t start, uint64_t end)
{
	return image_resident_bytes(&h->image, start, end);
}

/* Expect objects from bottom to top, and free memory to the end of a region or space. */
static void expect(struct hotspot_image *h, uint64_t bottom, uint64_t top, uint64_t end,
		   enum hotspot_space space)
{
	uint64_t whole = (top + PAGE - 1) / PAGE * PAGE;

	whole = whole < end ? whole : end;
	h->live_bytes[space] += top - bottom;
	h->free_bytes[space] += end - top;
	h->owner_bytes[OWNER_LIVE] += resident(h, bottom, top);
	h->owner_bytes[OWNER_POOL_FRAGMENTS] += resident(h, top, whole);
	h->owner_bytes[OWNER_POOL_PAGES] += resident(h, whole, end);
}

static void make_region(struct hotspot_image *h, unsigned int index, uint64_t tag,
			uint64_t used, enum hotspot_space space)
{
	uint64_t region = hotspot_image_add_struct(h),
		 bottom = HEAP_ADDR + index * REGION_BYTES;

	if (index == 0)
		h->region_addr = region;
	hotspot_image_write(h, h->table_addr + 8 * index, region);
	hotspot_image_set(h, region, FIELD_REGION_BOTTOM, bottom);
	hotspot_image_set(h, region, FIELD_REGION_TOP, bottom + used);
	hotspot_image_set(h, region, FIELD_REGION_END, bottom + REGION_BYTES);
	hotspot_image_write(
		h,
		hotspot_image_field(FIELD_REGION_TAG,
				    hotspot_image_field(FIELD_REGION_TYPE, region)),
		tag);
	if (space == HOTSPOT_ARCHIVE)
		/* its memory is that of a file */
		h->live_bytes[space] += used;
	else
		expect(h, bottom, bottom + used, bottom + REGION_BYTES, space);
}

static void make_g1(struct hotspot_image *h)
{
	uint64_t table = hotspot_image_field(
		FIELD_G1_REGIONS, hotspot_image_field(FIELD_G1_MANAGER, h->heap_addr));

	h->table_addr = hotspot_image_add_struct(h);
	hotspot_image_set(h, table, FIELD_G1_TABLE_BASE, h->table_addr);
	hotspot_image_set(h, table, FIELD_G1_TABLE_LENGTH, REGIONS);
	hotspot_image_set(h, 0, FIELD_REGION_BYTES, REGION_BYTES);
	make_region(h, 0, TAG_EDEN, REGION_BYTES, HOTSPOT_EDEN);
	make_region(h, 1, TAG_SURVIVOR, 0x5108, HOTSPOT_SURVIVOR);
	make_region(h, 2, TAG_OLD, 0x8000, HOTSPOT_OLD);
	make_region(h, 3, TAG_HUMONGOUS, REGION_BYTES, HOTSPOT_HUMONGOUS);
	make_region(h, 4, TAG_CONTINUED, 0x3010, HOTSPOT_HUMONGOUS);
	make_region(h, 5, TAG_FREE, 0, HOTSPOT_FREE);
	make_region(h, 6, TAG_ARCHIVE, 0x800, HOTSPOT_ARCHIVE);
	/* 14 pages of the free region are resident */
	h->trimmable_bytes = 6 * REGION_BYTES - MIN_HEAP_BYTES;
}

struct made_space {
	enum hotspot_field pointer, bottom, top, end;
	unsigned int region, regions;
	uint64_t used;
	enum hotspot_space space;
};

static void make_space(struct hotspot_image *h, uint64_t generation,
		       const struct made_space *m)
{
	uint64_t space = hotspot_image_add_struct(h),
		 bottom = HEAP_ADDR + m->region * REGION_BYTES;
	uint64_t end = bottom + m->regions * REGION_BYTES;

	if (m->region == 0)
		h->space_addr = hotspot_image_field(m->bottom, space);
	hotspot_image_set(h, generation, m->pointer, space);
	hotspot_image_set(h, space, m->bottom, bottom);
	hotspot_image_set(h, space, m->top, bottom + m->used);
	hotspot_image_set(h, space, m->end, end);
	expect(h, bottom, bottom + m->used, end, m->space);
}

/* Two generations. The sixth region is in no space, and the last one not committed. */
static void make_generations(struct hotspot_image *h)
{
	bool is_serial = h->collector == HOTSPOT_SERIAL;
	uint64_t young = hotspot_image_add_struct(h), old = hotspot_image_add_struct(h);
	struct made_space spaces[] = {
		{ FIELD_DEFNEW_EDEN, 0, 0, 0, 0, 2, 0x11008, HOTSPOT_EDEN },
		{ FIELD_DEFNEW_FROM, 0, 0, 0, 2, 1, 0x2ff0, HOTSPOT_SURVIVOR },
		{ FIELD_DEFNEW_TO, 0, 0, 0, 3, 1, 0, HOTSPOT_SURVIVOR },
		{ FIELD_TENURED_SPACE, 0, 0, 0, 6, 1, 0x10, HOTSPOT_OLD },
	};
	static const enum hotspot_field parallel[] = { FIELD_PARALLEL_EDEN,
						       FIELD_PARALLEL_FROM,
						       FIELD_PARALLEL_TO,
						       FIELD_PARALLEL_OLD_SPACE };

	for (size_t i = 0; i < 4; i++) {
		struct made_space *m = &spaces[i];

		m->pointer = is_serial ? m->pointer : parallel[i];
		m->bottom = is_serial ? FIELD_SPACE_BOTTOM : FIELD_MUTABLE_BOTTOM;
		m->top = is_serial ? FIELD_CONTIGUOUS_TOP : FIELD_MUTABLE_TOP;
		m->end = is_serial ? FIELD_SPACE_END : FIELD_MUTABLE_END;
		make_space(h, i < 3 ? young : old, m);
	}
	hotspot_image_set(h, is_serial ? h->heap_addr : 0,
			  is_serial ? FIELD_SERIAL_YOUNG : FIELD_PARALLEL_YOUNG, young);
	hotspot_image_set(h, is_serial ? h->heap_addr : 0,
			  is_serial ? FIELD_SERIAL_OLD : FIELD_PARALLEL_OLD, old);
	expect(h, HEAP_ADDR + 4 * REGION_BYTES, HEAP_ADDR + 4 * REGION_BYTES,
	       HEAP_ADDR + 6 * REGION_BYTES, HOTSPOT_FREE);
	h->trimmable_bytes = BYTES_UNKNOWN;
}

static void make_z(struct hotspot_image *h)
{
	uint64_t allocator = hotspot_image_field(
		FIELD_Z_ALLOCATOR, hotspot_image_field(FIELD_Z_HEAP, h->heap_addr));

	hotspot_image_set(h, allocator, FIELD_Z_USED, 300000);
	hotspot_image_set(h, allocator, FIELD_Z_CAPACITY, 1000000);
	h->live_bytes[HOTSPOT_SHARED] = 300000;
	h->free_bytes[HOTSPOT_SHARED] = 700000;
	h->trimmable_bytes = BYTES_UNKNOWN;
}

static void make_java_heap(struct hotspot_image *h)
{
	uint64_t reserved;

	h->heap_addr = hotspot_image_add_struct(h);
	reserved = hotspot_image_field(FIELD_HEAP_RESERVED, h->heap_addr);
	hotspot_image_set(h, 0, FIELD_UNIVERSE_HEAP, h->heap_addr);
	if (h->collector == HOTSPOT_Z) {
		make_z(h);
		return;
	}
	hotspot_image_set(h, reserved, FIELD_RANGE_START, HEAP_ADDR);
	hotspot_image_set(h, reserved, FIELD_RANGE_WORDS, REGIONS * REGION_BYTES / 8);
	if (h->collector == HOTSPOT_G1)
		make_g1(h);
	else
		make_generations(h);
}

/* A code heap with blocks of 3, 2 and 70 segments of 128 bytes. */
static void make_code(struct hotspot_image *h)
{
	static const struct {
		uint64_t segments;
		bool is_used;
	} made[] = { { 3, true }, { 2, false }, { 70, true } };
	uint64_t array = hotspot_image_add_struct(h), list = hotspot_image_add_struct(h),
		 code = hotspot_image_add_struct(h);
	uint64_t memory = hotspot_image_field(FIELD_CODE_MEMORY, code);
	uint64_t segmap = hotspot_image_field(FIELD_CODE_SEGMAP, code);
	uint64_t addr = CODE_ADDR;

	h->code_heap_addr = code;
	h->first_block_addr = addr;
	hotspot_image_set(h, 0, FIELD_CODE_HEAPS, array);
	hotspot_image_set(h, array, FIELD_ARRAY_LENGTH, 1);
	hotspot_image_set(h, array, FIELD_ARRAY_DATA, list);
	hotspot_image_write(h, list, code);
	hotspot_image_set(h, code, FIELD_CODE_LOG2_SEGMENT, 7);
	hotspot_image_set(h, memory, FIELD_VIRTUAL_LOW, CODE_ADDR);
	hotspot_image_set(h, memory, FIELD_VIRTUAL_HIGH, CODE_ADDR + CODE_PAGES * PAGE);
	hotspot_image_set(h, segmap, FIELD_VIRTUAL_LOW, SEGMAP_ADDR);
	hotspot_image_set(h, segmap, FIELD_VIRTUAL_HIGH, SEGMAP_ADDR + PAGE);
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		hotspot_image_set(h, addr, FIELD_HEAP_BLOCK_LENGTH, made[i].segments);
		hotspot_image_set(h, addr, FIELD_HEAP_BLOCK_USED, made[i].is_used);
		addr += 128 * made[i].segments;
	}
	/* code on the second page */
	hotspot_image_write(h, CODE_ADDR + PAGE, 1);
	h->live_bytes[HOTSPOT_CODE] = UINT64_C(73) * 128;
	h->free_bytes[HOTSPOT_CODE] = CODE_PAGES * PAGE - h->live_bytes[HOTSPOT_CODE];
	/* 75 segments end in the third page; the fourth page is absent */
	h->owner_bytes[OWNER_LIVE] += h->live_bytes[HOTSPOT_CODE];
	h->owner_bytes[OWNER_POOL_FRAGMENTS] += 3 * PAGE - h->live_bytes[HOTSPOT_CODE];
	h->owner_bytes[OWNER_HEAP_META] += PAGE;
}

/* Two class loaders: a class with a constant pool, a class of arrays, and none. */
static void make_classes(struct hotspot_image *h)
{
	uint64_t second = hotspot_image_add_struct(h);
	uint64_t klass = CLASS_ADDR + 0x100, array = CLASS_ADDR + PAGE;

	h->loader_addr = hotspot_image_add_struct(h);
	h->klass_addr = klass;
	*hotspot_image_at(h,
			  hotspot_image_field(FIELD_JDK_VERSION_MAJOR,
					      hotspot_image_field(FIELD_JDK_VERSION, 0)),
			  1) = 17;
	hotspot_image_set(h, 0, FIELD_CLASSES_HEAD, h->loader_addr);
	hotspot_image_set(h, h->loader_addr, FIELD_CLASSES_KLASSES, klass);
	hotspot_image_set(h, h->loader_addr, FIELD_CLASSES_NEXT, second);
	hotspot_image_set(h, klass, FIELD_KLASS_LAYOUT, 16);
	hotspot_image_set(h, klass, FIELD_KLASS_CONSTANTS, METASPACE_ADDR + 0x80);
	hotspot_image_set(h, klass, FIELD_KLASS_NEXT, array);
	hotspot_image_set(h, array, FIELD_KLASS_LAYOUT, UINT32_C(0x80000000));
	hotspot_image_set(h, array, FIELD_KLASS_CONSTANTS, STACK_ADDR);
	h->owner_bytes[OWNER_HEAP_META] += (CLASS_PAGES + 1) * PAGE;
}

static void make_others(struct hotspot_image *h)
{
	uint64_t set_addr = hotspot_image_add_struct(h),
		 list = hotspot_image_add_struct(h), array = hotspot_image_add_struct(h);

	h->cards_addr = hotspot_image_add_struct(h);
	h->thread_list_addr = list;
	hotspot_image_set(h, 0, FIELD_BARRIER_SET, set_addr);
	hotspot_image_set(h, set_addr, FIELD_BARRIER_CARDS, h->cards_addr);
	hotspot_image_set(h, h->cards_addr, FIELD_CARDS_MAP, CARDS_ADDR);
	hotspot_image_set(h, h->cards_addr, FIELD_CARDS_BYTES,
			  REGIONS * REGION_BYTES / 512 + 1);
	if (h->collector != HOTSPOT_Z)
		h->owner_bytes[OWNER_HEAP_META] += PAGE;
	hotspot_image_set(h, 0, FIELD_THREAD_LIST, list);
	hotspot_image_set(h, list, FIELD_THREAD_LIST_LENGTH, 2);
	hotspot_image_set(h, list, FIELD_THREAD_LIST_ARRAY, array);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t thread = hotspot_image_add_struct(h);

		hotspot_image_write(h, array + 8 * i, thread);
		hotspot_image_set(h, thread, FIELD_THREAD_STACK_BASE,
				  STACK_ADDR + 2 * (i + 1) * PAGE);
		hotspot_image_set(h, thread, FIELD_THREAD_STACK_BYTES, 2 * PAGE);
	}
	hotspot_image_set(h, 0, FIELD_VM_RELEASE,
			  hotspot_library_add_text(h, "17.0.21+9-Debian"));
}

void hotspot_image_init(struct hotspot_image *h, enum hotspot_collector collector)
{
	*h = (struct hotspot_image){
		.image = IMAGE_INIT,
		.mappings = MAPPING_LIST_INIT,
		.blocks = BLOCKS_INIT,
		.collector = collector,
		.next_addr = STRUCTS_ADDR,
		.text_addr = LIBRARY_ADDR + LIBRARY_TEXTS_OFFSET,
		.tables_addr = DATA_ADDR + 0x1000,
	};
	hotspot_library_open(h);
	if (image_reserve(&h->image, 256 * PAGE) < 0)
		abort();
	memset(h->image.bytes, 0, 256 * PAGE);
	add_mappings(h);
	hotspot_library_make_tables(h);
	make_java_heap(h);
	make_code(h);
	make_classes(h);
	make_others(h);
}

void hotspot_image_release(struct hotspot_image *h)
{
	hotspot_library_close(h);
	blocks_release(&h->blocks);
	image_release(&h->image);
	mapping_list_release(&h->mappings);
}

void hotspot_image_drop(struct hotspot_image *h, uint64_t addr)
{
	addr -= addr % PAGE;
	made_memory_drop(&h->image, addr, addr + PAGE);
}

void hotspot_image_walk(struct hotspot_image *h, struct heap *ret)
{
	const struct walk_input input = {
		.image = &h->image,
		.mappings = &h->mappings,
		.is_running = h->is_running,
		.memory = &h->memory,
	};

	memory_release(&h->memory);
	h->memory.found = 0;
	blocks_release(&h->blocks);
	walk_hotspot(&input, ret, &h->blocks);
}

/* Make a class and, in the same memory, its name. */
static uint64_t make_klass(struct hotspot_image *h, const char *name, uint32_t layout)
{
	uint64_t klass = hotspot_image_add_struct(h), symbol = klass + STRUCT_BYTES / 2;
	uint64_t body = hotspot_image_field(FIELD_SYMBOL_BODY, symbol);

	hotspot_image_set(h, klass, FIELD_KLASS_LAYOUT, layout);
	hotspot_image_set(h, klass, FIELD_KLASS_NAME, symbol);
	hotspot_image_set(h, symbol, FIELD_SYMBOL_LENGTH, strlen(name));
	memcpy(hotspot_image_at(h, body, strlen(name)), name, strlen(name));
	return klass;
}

/* Write the class of an object, and a number of 4 bytes at an offset. Returns its end. */
static uint64_t make_object(struct hotspot_image *h, uint64_t addr, uint64_t klass,
			    uint64_t offset, uint32_t number)
{
	uint32_t narrow = (uint32_t)(klass - STRUCTS_ADDR);
	uint64_t at = hotspot_image_field(FIELD_OBJECT_NARROW_KLASS, addr);

	memcpy(hotspot_image_at(h, at, sizeof(narrow)), &narrow, sizeof(narrow));
	memcpy(hotspot_image_at(h, addr + offset, sizeof(number)), &number,
	       sizeof(number));
	return addr + HOTSPOT_IMAGE_OBJECT_BYTES;
}

void hotspot_image_add_objects(struct hotspot_image *h)
{
	const uint32_t bytes = HOTSPOT_IMAGE_OBJECT_BYTES, mirror_offset = 24;
	uint64_t addr = HEAP_ADDR, list, thread, buffer, mirror;

	/* a narrow class pointer of 0 is invalid, so the base must not be a class */
	hotspot_image_set(h, 0, FIELD_NARROW_BASE, STRUCTS_ADDR);
	hotspot_image_set(h, 0, FIELD_MIRROR_WORDS, mirror_offset);
	h->thing_addr = make_klass(h, "app/Thing", bytes);
	/* a header of 16 bytes, and elements of 4 bytes */
	h->array_klass_addr = make_klass(h, "[I", UINT32_C(0xc0100a02));
	mirror = make_klass(h, "java/lang/Class", bytes / 2 | 1);
	h->things_addr = addr;
	for (int i = 0; i < HOTSPOT_IMAGE_THINGS; i++)
		addr = make_object(h, addr, h->thing_addr, 0, 1);
	h->arrays_addr = addr;
	for (int i = 0; i < HOTSPOT_IMAGE_ARRAYS; i++)
		addr = make_object(h, addr, h->array_klass_addr, 12, (bytes - 16) / 4);
	h->mirror_addr = addr;
	addr = make_object(h, addr, mirror, mirror_offset, bytes / 8);
	list = hotspot_image_read(h, hotspot_image_field(FIELD_THREAD_LIST, 0));
	thread = hotspot_image_read(
		h, hotspot_image_read(
			   h, hotspot_image_field(FIELD_THREAD_LIST_ARRAY, list)));
	buffer = hotspot_image_field(FIELD_THREAD_TLAB, thread);
	hotspot_image_set(h, buffer, FIELD_TLAB_TOP, addr);
	addr += HOTSPOT_IMAGE_UNUSED * (uint64_t)bytes;
	hotspot_image_set(h, buffer, FIELD_TLAB_END, addr - 16);
	for (int i = 0; i < HOTSPOT_IMAGE_LAST_THINGS; i++)
		addr = make_object(h, addr, h->thing_addr, 0, 1);
}
