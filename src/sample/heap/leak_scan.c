/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/leak_scan.h"

#include "base/clock.h"
#include "base/thread.h"

/*
 * Minimum amount of memory to scan per thread. For less, starting a thread is
 * not worthwhile.
 */
#define THREAD_MIN_BYTES (UINT64_C(32) << 20)

static unsigned int choose_thread_count(const struct image *image)
{
	uint64_t count = image->length_bytes / THREAD_MIN_BYTES;
	unsigned int cpus = thread_count_cpus();

	return count < cpus ? (unsigned int)count : cpus;
}

int leak_scan_mark(struct heap_reader *reader, const struct mapping_list *mappings,
		   const struct heap *heap, const struct mark_progress *progress,
		   struct leak_scan *ret)
{
	struct root_list roots;
	struct mark_input input = {
		.blocks = &reader->blocks,
		.roots = &roots,
		.words = reader->words,
		.word_count = reader->word_count,
		.thread_count = choose_thread_count(&reader->image),
	};
	uint64_t began_ns = clock_now_ns();
	int r;

	*ret = (struct leak_scan){ .mappings = mappings, .heap = heap };
	leaks_set_quality(ret);
	if (ret->quality == QUALITY_UNKNOWN)
		return 0;
	if (progress)
		input.progress = *progress;
	roots_find(&reader->blocks, mappings, reader->threads, reader->thread_count,
		   &roots);
	r = mark_run(&input, &ret->mark);
	root_list_release(&roots);
	ret->mark_ns = clock_now_ns() - began_ns;
	return r;
}

void leak_scan_add(struct heap_reader *reader, const struct leak_scan *scan,
		   struct block_groups *groups, const struct leak *block)
{
	struct types *types = reader->names.types;
	struct image *image = &reader->image;
	uint64_t word;
	uint32_t type = 0;

	if (types && image_read(image, block->addr, &word))
		type = types_of_word(types, word);
	block_groups_add(groups, type ? types_name(types, type) : NULL,
			 content_of(image, scan->mappings, block->addr, block->bytes),
			 block);
}

int leak_scan_group(struct heap_reader *reader, struct leak_scan *scan)
{
	uint64_t began_ns;
	struct leak leak;
	int r;

	if (scan->quality == QUALITY_UNKNOWN)
		return 0;
	names_begin(&reader->names, scan->mappings);
	began_ns = clock_now_ns();
	while ((r = mark_next_leak(&scan->mark, &leak)) > 0)
		leak_scan_add(reader, scan, &scan->leaked, &leak);
	if (r == 0) {
		leaks_sum_resident(&reader->blocks, scan);
		block_groups_sort(&scan->leaked);
	}
	scan->mark_ns += clock_now_ns() - began_ns;
	return r;
}

void leak_scan_release(struct leak_scan *scan)
{
	mark_release(&scan->mark);
	block_groups_release(&scan->leaked);
}
