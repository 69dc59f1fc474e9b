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

/* Return an owner's memory in malloc's heap, without the heaps of language runtimes. */
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
	return allocator_is_walked(u->allocator);
}

/*
 * A usage does not contain the result of a leak scan, so do not claim that the program
 * still uses its live blocks: all of them may be leaked.
 */
bool diagnose_live(const struct usage *u, struct diagnosis *d)
{
	if (diagnose_is_heap_in_live(u) || !can_find_leaks(u) ||
	    !is_significant(malloc_bytes(u, OWNER_LIVE), MIB, rss(u), 500))
		return false;
	return say(d,
		   "Not checked: whether the program can still reach these blocks. "
		   "'memstate leaks -p %d' finds blocks that it cannot. No trim returns "
		   "allocated blocks.",
		   u->process.pid);
}

/*
 * The default limit of glibc is 8 arenas for each CPU. A process with more arenas has
 * them because of its threads. A Java virtual machine has many threads that call malloc
 * now and then. Memory that a thread frees stays in its arena, where threads of other
 * arenas do not reuse it.
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
		   "%s (%u%%) is free fragments on pages that also hold live blocks: no "
		   "trim returns them.%s",
		   amount(fragments).text, percent(fragments, rss(u)),
		   u->heap_is_reported ? ""
				       : " 'memstate heap' shows the sizes of these "
					 "blocks.");
}

/* Figures of a language runtime's heap that appear in a sentence of the diagnosis. */
struct runtime_heap {
	uint64_t bytes, live_bytes, free_bytes;
	uint64_t trimmable_bytes;
};

/*
 * Return true if the language runtime has a heap that makes up at least a tenth of Rss.
 */
static bool find_runtime(const struct usage *u, enum allocator runtime,
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

bool diagnose_java_heap(const struct usage *u, struct diagnosis *d)
{
	struct runtime_heap heap;

	if (!find_runtime(u, ALLOCATOR_HOTSPOT, &heap))
		return false;
	return say(d,
		   "%s (%u%%) belongs to the Java virtual machine: %s is in use, objects "
		   "that are not collected yet included, and %s is free. -Xmx or "
		   "-XX:MaxRAMPercentage limits the objects.",
		   amount(heap.bytes).text, percent(heap.bytes, rss(u)),
		   amount(heap.live_bytes).text, amount(heap.free_bytes).text);
}

bool diagnose_go_heap(const struct usage *u, struct diagnosis *d)
{
	struct runtime_heap heap;

	if (!find_runtime(u, ALLOCATOR_GO, &heap))
		return false;
	return say(
		d,
		"%s (%u%%) is the Go heap: %s is allocated, objects that are not "
		"collected yet included, and %s is free. GOMEMLIMIT and GOGC limit it; "
		"debug.FreeOSMemory() would return %s.",
		amount(heap.bytes).text, percent(heap.bytes, rss(u)),
		amount(heap.live_bytes).text, amount(heap.free_bytes).text,
		amount(heap.trimmable_bytes).text);
}

bool diagnose_python_objects(const struct usage *u, struct diagnosis *d)
{
	struct runtime_heap heap;

	if (!find_runtime(u, ALLOCATOR_PYTHON, &heap))
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
			   "To find out how much of the %s in anon is in use, allow a "
			   "pause of about %s with --max-pause.",
			   amount(anon).text, duration(u->heap_expected_ns).text);
	return say(d, "To know how much of the %s in anon is in use: %s.",
		   amount(anon).text, help);
}
