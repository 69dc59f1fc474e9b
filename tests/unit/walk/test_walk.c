/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/walk.h"

#include <string.h>

#include "../support/unit.h"

/* Walk a process with two mappings: a library, and anonymous memory. */
static void walk_named(const char *library, uint64_t anonymous_addr,
		       const char *anonymous_name, struct heap *ret)
{
	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct image image = IMAGE_INIT;
	struct blocks blocks;
	struct mapping items[] = {
		{ .start_addr = anonymous_addr,
		  .end_addr = anonymous_addr + 4096,
		  .flags = MAPPING_READ | MAPPING_WRITE,
		  .name = anonymous_name },
		{ .start_addr = UINT64_C(0x7f0000000000),
		  .end_addr = UINT64_C(0x7f0000001000),
		  .inode = 7,
		  .flags = MAPPING_READ | MAPPING_EXEC,
		  .name = library },
	};
	const struct walk_input input = { .image = &image, .mappings = &mappings };

	for (size_t i = 0; i < ARRAY_SIZE(items); i++) {
		items[i].name_length = (uint32_t)strlen(items[i].name);
		mapping_list_add(&mappings, &items[i]);
	}
	assert_int_equal(image_reserve(&image, 4096), 0);
	memset(image.bytes, 0, 4096);
	assert_int_equal(image_add_run(&image, anonymous_addr, anonymous_addr + 4096), 0);
	walk_heap(&input, ret, &blocks);
	blocks_release(&blocks);
	image_release(&image);
	mapping_list_release(&mappings);
}

static void an_unsupported_allocator_is_named_and_its_heap_unknown(void **state)
{
	static const struct {
		const char *library;
		uint64_t anonymous_addr;
		const char *anonymous_name;
		enum allocator allocator;
		const char *word;
	} rows[] = {
		{ "/usr/lib/libtcmalloc.so.4", 0x10000, "", ALLOCATOR_TCMALLOC,
		  "tcmalloc" },
		{ "/usr/lib/libmimalloc.so.2", 0x10000, "", ALLOCATOR_MIMALLOC,
		  "mimalloc" },
		{ "/lib/ld-musl-x86_64.so.1", 0x10000, "", ALLOCATOR_MUSL, "musl" },
		{ "/usr/lib/libjemalloc.so.1", 0x10000, "", ALLOCATOR_JEMALLOC,
		  "versions" },
		{ "/usr/bin/go", UINT64_C(0xc000000000), "", ALLOCATOR_GO, "Go" },
		{ "/usr/bin/go", 0x10000, "[anon: Go: heap]", ALLOCATOR_GO, "Go" },
		{ "/opt/erlang/bin/beam.smp", 0x10000, "", ALLOCATOR_ERLANG, "Erlang" },
		{ "/bin/beam.emu.smp (deleted)", 0x10000, "", ALLOCATOR_ERLANG,
		  "Erlang" },
		{ "/usr/bin/xbeam.smp", 0x10000, "", ALLOCATOR_UNKNOWN, "glibc" },
		{ "/usr/bin/beam.xsmp", 0x10000, "", ALLOCATOR_UNKNOWN, "glibc" },
		{ "/usr/bin/true", 0x10000, "", ALLOCATOR_UNKNOWN, "glibc" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct heap heap;

		walk_named(rows[i].library, rows[i].anonymous_addr,
			   rows[i].anonymous_name, &heap);
		assert_row(heap.allocator == rows[i].allocator, rows[i].word);
		assert_row(heap.quality == QUALITY_UNKNOWN, rows[i].word);
		assert_row(heap.problem != NULL, rows[i].word);
		assert_row(strstr(heap.problem, rows[i].word) != NULL, rows[i].word);
		assert_row(heap.trimmable_bytes == BYTES_UNKNOWN, rows[i].word);
		assert_row((heap.evidence != NULL) ==
				   (heap.allocator != ALLOCATOR_UNKNOWN),
			   rows[i].word);
		heap_release(&heap);
	}
}

/* The heaps of a process that has a heap of Python and a library with another malloc. */
static void a_malloc_without_a_heap_is_named(void **state)
{
	static const struct {
		const char *library;
		enum allocator found, named;
	} rows[] = {
		{ "/usr/lib/libjemalloc.so.1", ALLOCATOR_PYTHON, ALLOCATOR_JEMALLOC },
		{ "/usr/lib/libtcmalloc.so.4", ALLOCATOR_PYTHON, ALLOCATOR_TCMALLOC },
		{ "/usr/lib/libtcmalloc.so.4", ALLOCATOR_TCMALLOC, ALLOCATOR_UNKNOWN },
		{ "/lib/ld-musl-x86_64.so.1", ALLOCATOR_PYTHON, ALLOCATOR_UNKNOWN },
		{ "/usr/lib/libc.so.6", ALLOCATOR_PYTHON, ALLOCATOR_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mapping library = { .end_addr = 4096,
					   .inode = 7,
					   .flags = MAPPING_EXEC,
					   .name = rows[i].library };
		const struct mapping_list mappings = { &library, 1, 1 };
		struct heap heap, unread;

		heap_init(&heap);
		heap_init(&unread);
		heap.allocator = rows[i].found;
		assert_row(walk_find_unread(&mappings, &heap, &unread) ==
				   (rows[i].named != ALLOCATOR_UNKNOWN),
			   rows[i].library);
		assert_row(unread.allocator == rows[i].named, rows[i].library);
		assert_row(!unread.problem == !rows[i].named, rows[i].library);
		assert_row(!unread.evidence == !rows[i].named, rows[i].library);
	}
}

#define MIB (UINT64_C(1) << 20)
#define ALIGNED_ADDR (UINT64_C(0x7f0000000000) + 64 * MIB)
#define OTHER_ADDR (ALIGNED_ADDR + 4096)

/* A mapping, and what follows from it in a process with 100 MiB of memory. */
struct arena_row {
	struct mapping m;
	uint64_t rss_bytes;
	bool is_small, is_arena;
};

#define CODE(path)                                                \
	{                                                         \
		.flags = MAPPING_EXEC, .inode = 7, .name = (path) \
	}

static const struct arena_row arena_rows[] = {
	{ { .name = "[heap]" }, 20 * MIB, true, true },
	{ { .name = "[heap]" }, 30 * MIB, false, true },
	{ { .start_addr = ALIGNED_ADDR, .name = "" }, 30 * MIB, false, true },
	{ { .start_addr = OTHER_ADDR, .name = "" }, 30 * MIB, true, false },
	{ { .start_addr = ALIGNED_ADDR, .inode = 7, .name = "/f" },
	  30 * MIB,
	  true,
	  false },
	/* processes with other heaps */
	{ CODE("/lib/libc.so.6"), MIB, true, false },
	{ CODE("/lib/libjemalloc.so.2"), MIB, false, false },
	{ CODE("/lib/libjvm.so"), MIB, false, false },
	{ CODE("/usr/bin/node"), MIB, false, false },
	{ CODE("/usr/bin/ruby3.1"), MIB, false, false },
	{ { .start_addr = OTHER_ADDR, .flags = MAPPING_EXEC, .name = "" },
	  MIB,
	  false,
	  false },
	{ { .flags = MAPPING_EXEC, .name = "[vdso]" }, MIB, true, false },
};

static void arenas_are_recognized_by_their_mappings(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(arena_rows); i++) {
		const struct arena_row *row = &arena_rows[i];
		struct mapping items[] = {
			{ .start_addr = 4096,
			  .flags = MAPPING_READ | MAPPING_WRITE,
			  .name = "" },
			row->m,
		};
		const struct mapping_list list = { items, ARRAY_SIZE(items), 0 };

		items[1].name_length = (uint32_t)strlen(items[1].name);
		items[1].flags |= MAPPING_READ;
		if (!(items[1].flags & MAPPING_EXEC))
			items[1].flags |= MAPPING_WRITE;
		items[0].counters.bytes[SMAPS_RSS] = 100 * MIB - row->rss_bytes;
		items[1].counters.bytes[SMAPS_RSS] = row->rss_bytes;
		for (size_t k = 0; k < ARRAY_SIZE(items); k++)
			items[k].end_addr = items[k].start_addr + 100 * MIB;
		assert_row(walk_has_small_arenas(&list) == row->is_small, items[1].name);
		assert_row(walk_may_be_arena(&items[1]) == row->is_arena, items[1].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unsupported_allocator_is_named_and_its_heap_unknown),
		cmocka_unit_test(a_malloc_without_a_heap_is_named),
		cmocka_unit_test(arenas_are_recognized_by_their_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
