/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/leak_scan.h"

#include "base/clock.h"

static int mark(struct heap_reader *reader, const struct mark_progress *progress,
		mark_leak_fn *on_leak, void *context, struct leak_scan *scan)
{
	struct root_list roots;
	struct mark_input input = {
		.blocks = &reader->blocks,
		.roots = &roots,
		.words = reader->words,
		.word_count = reader->word_count,
	};
	int r;

	if (progress)
		input.progress = *progress;
	roots_find(&reader->blocks, &scan->mappings, reader->threads,
		   reader->thread_count, &roots);
	r = mark_run(&input, on_leak, context, &scan->mark);
	root_list_release(&roots);
	if (r == 0)
		leaks_sum_resident(&reader->blocks, scan);
	return r;
}

int leak_scan_run(struct heap_reader *reader, struct usage *u,
		  const struct mark_progress *progress, mark_leak_fn *on_leak,
		  void *context, struct leak_scan *ret)
{
	uint64_t began_ns;
	int r;

	*ret = (struct leak_scan){ .mappings = MAPPING_LIST_INIT };
	r = heap_reader_read(reader, u, &ret->mappings, &ret->heap);
	if (r < 0 || u->error)
		return r;
	leaks_judge(ret);
	if (ret->quality == QUALITY_UNKNOWN)
		return 0;
	names_begin(&reader->names, &ret->mappings);
	began_ns = clock_now_ns();
	r = mark(reader, progress, on_leak, context, ret);
	ret->mark_ns = clock_now_ns() - began_ns;
	return r;
}

void leak_scan_release(struct leak_scan *scan)
{
	mark_release(&scan->mark);
	heap_release(&scan->heap);
	mapping_list_release(&scan->mappings);
}
