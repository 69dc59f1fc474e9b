/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/process/diagnose_rule.h"

#include <errno.h>

#include "classify/process/heap_problem.h"
#include "model/allocator_signs.h"

bool diagnose_is_heap_in_live(const struct usage *u)
{
	return u->heap_is_reported && !bytes_known(owner_bytes(u, OWNER_POOL_FRAGMENTS));
}

/* Return an owner's memory in malloc's heap, excluding the heaps of language runtimes. */
static uint64_t malloc_bytes(const struct usage *u, enum owner owner)
{
	if (!usage_heaps_are_listed(u))
		return owner_bytes(u, owner);
	/* malloc's heap is always the first heap */
	return allocator_is_malloc(u->heaps[0].allocator) ? u->heaps[0].owner_bytes[owner]
							  : 0;
}

/* Return true if 'memstate leaks' supports the allocator. */
static bool can_find_leaks(const struct usage *u)
{
	return allocator_is_walked(u->allocator) && allocator_has_leaks(u->allocator);
}

/*
 * the usage does not show whether blocks are leaked, so do not claim that the
 * program needs all of them
 */
bool diagnose_live(const struct usage *u, struct diagnosis *d)
{
	if (diagnose_is_heap_in_live(u) || !can_find_leaks(u) ||
	    !is_significant(malloc_bytes(u, OWNER_LIVE), MIB, rss(u), 500))
		return false;
	return say(d,
		   "It is unknown whether the program can still reach these "
		   "blocks; 'memstate leaks -p %d' checks this. A trim does not "
		   "return allocated blocks.",
		   u->process.pid);
}

/*
 * Minimum number of arenas that counts as many. glibc's default limit is 8 arenas per
 * CPU. A process has this many arenas because of its threads: a Java virtual machine has
 * many threads that call malloc now and then. Memory that a thread frees stays in the
 * thread's arena, where threads of other arenas cannot reuse it.
 */
#define MANY_ARENAS 8

bool diagnose_arenas(const struct usage *u, struct diagnosis *d)
{
	const struct usage_heap *heap = &u->heaps[0];

	if (!u->has_java || u->heap_count == 0 || heap->allocator != ALLOCATOR_GLIBC ||
	    heap->arena_count <= MANY_ARENAS ||
	    !is_significant(heap->arena_free_bytes, 8 * MIB, rss(u), 100))
		return false;
	return say(
		d,
		"%s (%u%%) is free, but held in %zu arenas of glibc malloc besides the "
		"main arena: MALLOC_ARENA_MAX=2 in the environment of the Java virtual "
		"machine limits their number.",
		amount(heap->arena_free_bytes).text,
		percent(heap->arena_free_bytes, rss(u)), heap->arena_count);
}

bool diagnose_pool_pages(const struct usage *u, struct diagnosis *d)
{
	uint64_t pool = malloc_bytes(u, OWNER_POOL_PAGES);
	const char *title = allocator_titles[u->allocator];
	uint64_t trimmable = usage_heaps_are_listed(u) ? u->heaps[0].trimmable_bytes
						       : u->trimmable_bytes;

	if (!is_significant(pool, MIB, rss(u), 100))
		return false;
	if (u->allocator == ALLOCATOR_GLIBC && bytes_known(trimmable))
		return say(
			d,
			"%s (%u%%) is free pages kept by %s: calling malloc_trim(0) in "
			"the program would return %s.",
			amount(pool).text, percent(pool, rss(u)), title,
			amount(trimmable).text);
	if (u->allocator == ALLOCATOR_MIMALLOC && !u->heap_is_reported)
		return say(
			d,
			"%s (%u%%) is free pages kept by mimalloc: with "
			"MIMALLOC_PURGE_DELAY=0 (before version 2.1, "
			"MIMALLOC_DECOMMIT_DELAY=0) and MIMALLOC_ARENA_EAGER_COMMIT=0 in "
			"the environment, it returns more of them; from version 2.1 on, "
			"mi_collect(true) returns some.",
			amount(pool).text, percent(pool, rss(u)));
	return say(d, "%s (%u%%) is free pages that %s keeps for future allocations.",
		   amount(pool).text, percent(pool, rss(u)),
		   title ? title : "the allocator");
}

bool diagnose_fragments(const struct usage *u, struct diagnosis *d)
{
	uint64_t fragments = malloc_bytes(u, OWNER_POOL_FRAGMENTS);

	if (!is_significant(fragments, MIB, rss(u), 100))
		return false;
	return say(d,
		   "%s (%u%%) is free fragments on pages that also hold live "
		   "blocks: a trim does not return them.%s",
		   amount(fragments).text, percent(fragments, rss(u)),
		   u->heap_is_reported ? ""
				       : " 'memstate heap' shows the sizes of these "
					 "blocks.");
}

bool diagnose_java_heap(const struct usage *u, struct diagnosis *d)
{
	struct runtime_heap heap;

	if (!diagnose_find_runtime(u, ALLOCATOR_HOTSPOT, &heap))
		return false;
	return say(d,
		   "%s (%u%%) belongs to the Java virtual machine: %s is in use, "
		   "including objects that have not been collected yet, and %s is "
		   "free. -Xmx or -XX:MaxRAMPercentage limits the objects.",
		   amount(heap.bytes).text, percent(heap.bytes, rss(u)),
		   amount(heap.live_bytes).text, amount(heap.free_bytes).text);
}

bool diagnose_go_heap(const struct usage *u, struct diagnosis *d)
{
	struct runtime_heap heap;

	if (!diagnose_find_runtime(u, ALLOCATOR_GO, &heap))
		return false;
	return say(d,
		   "%s (%u%%) is the Go heap: %s is allocated, including objects "
		   "that have not been collected yet, and %s is free. GOMEMLIMIT "
		   "and GOGC limit it; debug.FreeOSMemory() would return %s.",
		   amount(heap.bytes).text, percent(heap.bytes, rss(u)),
		   amount(heap.live_bytes).text, amount(heap.free_bytes).text,
		   amount(heap.trimmable_bytes).text);
}

bool diagnose_python_objects(const struct usage *u, struct diagnosis *d)
{
	struct runtime_heap heap;

	if (!diagnose_find_runtime(u, ALLOCATOR_PYTHON, &heap))
		return false;
	return say(d,
		   "%s (%u%%) is arenas for Python objects: %s is allocated and %s is "
		   "free. Python returns an arena only when no object is left in it.",
		   amount(heap.bytes).text, percent(heap.bytes, rss(u)),
		   amount(heap.live_bytes).text, amount(heap.free_bytes).text);
}

bool diagnose_heap_unknown(const struct usage *u, struct diagnosis *d)
{
	const char *help = heap_error_help(u->heap_error);
	uint64_t anon = owner_bytes(u, OWNER_ANON);

	if (u->heap_quality != QUALITY_UNKNOWN || !help ||
	    !is_significant(anon, MIB, rss(u), 250))
		return false;
	if (u->heap_error == -EFBIG)
		return say(d,
			   "To find out how much of the %s in anon is in use, %sallow a "
			   "pause of about %s with --max-pause.",
			   amount(anon).text,
			   u->heap_pre_copy_problem
				   ? ""
				   : "use --heap walk, which copies most of it while the "
				     "process runs, or ",
			   duration(u->heap_expected_ns).text);
	return say(d, "To find out how much of the %s in anon is in use: %s.",
		   amount(anon).text, help);
}
