/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/process/diagnose_rule.h"

bool diagnose_find_runtime(const struct usage *u, enum allocator runtime,
			   struct runtime_heap *ret)
{
	for (size_t i = 0; i < u->heap_count; i++) {
		const struct usage_heap *heap = &u->heaps[i];
		const uint64_t *bytes = heap->owner_bytes;

		if (heap->allocator != runtime)
			continue;
		*ret = (struct runtime_heap){
			.bytes = usage_heap_bytes(heap),
			.live_bytes = bytes[OWNER_LIVE],
			.free_bytes = bytes_add(bytes[OWNER_POOL_PAGES],
						bytes[OWNER_POOL_FRAGMENTS]),
			.trimmable_bytes = heap->trimmable_bytes,
		};
		return is_significant(ret->bytes, MIB, rss(u), 100);
	}
	return false;
}

bool diagnose_php_heap(const struct usage *u, struct diagnosis *d)
{
	struct runtime_heap heap;
	char trim[64] = "";

	if (!diagnose_find_runtime(u, ALLOCATOR_PHP, &heap))
		return false;
	if (bytes_known(heap.trimmable_bytes) && heap.trimmable_bytes > 0)
		snprintf(trim, sizeof(trim), ", and gc_mem_caches() would return %s",
			 amount(heap.trimmable_bytes).text);
	return say(
		d,
		"%s (%u%%) is PHP's heap: %s is allocated and %s is free. memory_limit "
		"limits it in each process%s. The cache of compiled scripts "
		"(opcache.memory_consumption) is shared memory.",
		amount(heap.bytes).text, percent(heap.bytes, rss(u)),
		amount(heap.live_bytes).text, amount(heap.free_bytes).text, trim);
}

bool diagnose_js_heap(const struct usage *u, struct diagnosis *d)
{
	uint64_t malloc_bytes = usage_heaps_sum(u, ALLOCATOR_UNKNOWN, true);
	struct runtime_heap heap;

	if (!diagnose_find_runtime(u, ALLOCATOR_V8, &heap))
		return false;
	if (!is_significant(malloc_bytes, MIB, rss(u), 100))
		return say(
			d,
			"%s (%u%%) is the JavaScript heap: %s is in use, garbage included, "
			"and %s is free. --max-old-space-size and --max-semi-space-size "
			"limit it.",
			amount(heap.bytes).text, percent(heap.bytes, rss(u)),
			amount(heap.live_bytes).text, amount(heap.free_bytes).text);
	return say(
		d,
		"%s (%u%%) is the JavaScript heap: %s is in use, garbage included, and "
		"%s is free. --max-old-space-size and --max-semi-space-size limit it, "
		"but not Buffers and ArrayBuffers: they are among the %s allocated by "
		"malloc.",
		amount(heap.bytes).text, percent(heap.bytes, rss(u)),
		amount(heap.live_bytes).text, amount(heap.free_bytes).text,
		amount(malloc_bytes).text);
}

bool diagnose_ruby_objects(const struct usage *u, struct diagnosis *d)
{
	uint64_t malloc_bytes = usage_heaps_sum(u, ALLOCATOR_UNKNOWN, true);
	struct runtime_heap heap;

	if (!diagnose_find_runtime(u, ALLOCATOR_RUBY, &heap))
		return false;
	if (!is_significant(malloc_bytes, MIB, rss(u), 100))
		return say(
			d,
			"%s (%u%%) is slots for Ruby objects: %s is in use and %s is free. "
			"Ruby returns a page only when no object is left in it; GC.compact "
			"moves objects together, and RUBY_GC_HEAP_FREE_SLOTS_MAX_RATIO "
			"limits the free slots.",
			amount(heap.bytes).text, percent(heap.bytes, rss(u)),
			amount(heap.live_bytes).text, amount(heap.free_bytes).text);
	return say(
		d,
		"%s (%u%%) is slots for Ruby objects: %s is in use and %s is free "
		"(GC.compact moves objects together). Their contents are among the %s "
		"allocated by malloc; Ruby collects garbage when malloc_increase_bytes of "
		"GC.stat exceeds its limit (RUBY_GC_MALLOC_LIMIT_MAX).",
		amount(heap.bytes).text, percent(heap.bytes, rss(u)),
		amount(heap.live_bytes).text, amount(heap.free_bytes).text,
		amount(malloc_bytes).text);
}
