/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/heap/heap_conclusion.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "classify/process/diagnose.h"
#include "model/allocator_signs.h"

/*
 * A formatted amount. Functions return this struct by value so that a sentence can
 * contain several amounts.
 */
struct amount {
	char text[UNITS_TEXT_SIZE];
};

static struct amount amount(uint64_t bytes)
{
	struct amount a;

	units_format_bytes(bytes, a.text);
	return a;
}

static unsigned int percent(uint64_t part, uint64_t whole)
{
	return (units_per_mille(part, whole) + 5) / 10;
}

/* The largest part of a heap's resident memory. */
enum heap_part {
	PART_LIVE,
	PART_PAGES,
	PART_FRAGMENTS,
	/* any part, if the commands for details do not support the allocator */
	PART_REPORTED,
	PART_COUNT_
};

/* command and options that show the details of each part of a heap */
static const struct {
	const char *command, *options;
} next_commands[PART_COUNT_] = {
	[PART_LIVE] = { " leaks", "" },
	[PART_PAGES] = { "", "" },
	/*
	 * request a long list, because the blocks that pin pages come after all other
	 * blocks
	 */
	[PART_FRAGMENTS] = { " heap", " --top 100" },
	[PART_REPORTED] = { " map", " -s rss" },
};

static enum heap_part find_largest(const struct heap *heap)
{
	uint64_t live = heap->owner_bytes[OWNER_LIVE];
	uint64_t pages = heap->owner_bytes[OWNER_POOL_PAGES];
	uint64_t fragments = heap->owner_bytes[OWNER_POOL_FRAGMENTS];

	/*
	 * 'memstate leaks' and the list of blocks that pin pages
	 * support only malloc's heap
	 */
	if (heap->is_reported || !allocator_has_leaks(heap->allocator))
		return PART_REPORTED;
	if (live >= pages && live >= fragments)
		return PART_LIVE;
	return pages >= fragments ? PART_PAGES : PART_FRAGMENTS;
}

/* Describe one heap of a process that has several. */
static void add_one_of_several(struct conclusion *c, const struct usage *u,
			       const struct heap *heap)
{
	uint64_t anon = matrix_owner_bytes(&u->matrix, OWNER_ANON);
	/* the heap of a Java virtual machine may be partly shared or file-backed */
	bool is_in_anon = heap->allocator != ALLOCATOR_HOTSPOT && bytes_known(anon);
	const char *title = allocator_titles[heap->allocator];

	if (heap->quality == QUALITY_UNKNOWN && is_in_anon) {
		conclusion_add(c, "%s: unknown, at most the %s in anon.", title,
			       amount(anon).text);
		return;
	}
	if (heap->quality == QUALITY_UNKNOWN) {
		conclusion_add(c, "%s: unknown.", title);
		return;
	}
	conclusion_add(c, "%s: %s allocated, %s in free pages, %s in free fragments.",
		       title, amount(heap->owner_bytes[OWNER_LIVE]).text,
		       amount(heap->owner_bytes[OWNER_POOL_PAGES]).text,
		       amount(heap->owner_bytes[OWNER_POOL_FRAGMENTS]).text);
}

static void add_trimmable(struct conclusion *c, const struct heap *heap)
{
	const char *call = heap_trim_call(heap->allocator);

	if (!call || !bytes_known(heap->trimmable_bytes) || heap->trimmable_bytes == 0)
		return;
	conclusion_add(c, "%s would return %s.",
		       heap->allocator == ALLOCATOR_JEMALLOC ? "A purge" : call,
		       amount(heap->trimmable_bytes).text);
}

static void add_parts(struct conclusion *c, const struct heap *heap)
{
	uint64_t live = heap->owner_bytes[OWNER_LIVE];
	uint64_t pages = heap->owner_bytes[OWNER_POOL_PAGES];
	uint64_t fragments = heap->owner_bytes[OWNER_POOL_FRAGMENTS];
	uint64_t sum = bytes_add(bytes_add(live, pages), fragments);

	if (bytes_known(sum))
		conclusion_add(
			c,
			"The heap has %s (%u%%) in allocated blocks, %s in free pages, "
			"and %s in free fragments between blocks.",
			amount(live).text, percent(live, sum), amount(pages).text,
			amount(fragments).text);
	else
		conclusion_add(c,
			       "The heap has %s, in use or free: the allocator does not "
			       "distinguish them.",
			       amount(live).text);
}

void heap_conclude(struct conclusion *c, const struct usage *u, const struct heap *heap,
		   const struct next_place *place)
{
	uint64_t rss = u->total.bytes[SMAPS_RSS];
	enum heap_part largest = find_largest(heap);
	struct diagnosis arenas = { .rule = NULL };

	if (bytes_known(rss))
		conclusion_add(c, "Rss %s.", amount(rss).text);
	for (size_t i = 0; heap->other_count > 0 && i < heap_count(heap); i++)
		add_one_of_several(c, u, heap_at(heap, i));
	if (heap->other_count == 0)
		add_parts(c, heap);
	for (size_t i = 0; i < heap_count(heap); i++)
		add_trimmable(c, heap_at(heap, i));
	if (diagnose_arenas(u, &arenas))
		conclusion_add(c, "%s", arenas.text);
	conclusion_set_next(c, "memstate%s%s -p %d%s", next_commands[largest].command,
			    place->options, u->process.pid,
			    next_commands[largest].options);
}

static void add_leaked(struct conclusion *c, const struct leak_scan *scan)
{
	const struct mark *mark = &scan->mark;
	uint64_t count = mark->direct.count + mark->indirect.count;
	uint64_t bytes = mark->direct.bytes + mark->indirect.bytes;

	conclusion_add(c,
		       "%s%s in %" PRIu64
		       " block%s (%u%% of %s live) is leaked: no pointer "
		       "to it was found.",
		       scan->quality == QUALITY_BOUND ? "At most " : "",
		       amount(bytes).text, count, count == 1 ? "" : "s",
		       percent(bytes, mark->live.bytes), amount(mark->live.bytes).text);
}

void leaks_conclude(struct conclusion *c, const struct usage *u,
		    const struct leak_scan *scan, const struct block_groups *fresh,
		    const struct next_place *place)
{
	const struct mark *mark = &scan->mark;
	uint64_t count = mark->direct.count + mark->indirect.count;

	if (count == 0)
		conclusion_add(c, "%s in %" PRIu64 " block%s live; no block is leaked.",
			       amount(mark->live.bytes).text, mark->live.count,
			       mark->live.count == 1 ? " is" : "s are");
	else
		add_leaked(c, scan);
	/*
	 * 'memstate count' does not support --procfs. At the default of one sample per
	 * 512K, a slow leak might be missed, so record every allocation.
	 */
	if (fresh && fresh->count > 0)
		conclusion_set_next(c, "memstate explain%s -p %d %" PRIx64,
				    place->options, u->process.pid,
				    fresh->items[0].examples[0]);
	else if (count > 0 && place->options[0] == '\0')
		conclusion_set_next(c, "memstate count -p %d --sample 1B -i 10s -n 1",
				    u->process.pid);
	else
		conclusion_set_next(c, "memstate heap%s -p %d", place->options,
				    u->process.pid);
}

/* Maximum number of processes that are named in the sentence about all processes. */
#define NAMED_MAX 5

static int compare_leaking(const void *a, const void *b)
{
	const struct leaking_process *p = a, *q = b;

	if (p->bytes != q->bytes)
		return p->bytes < q->bytes ? 1 : -1;
	return p->process.pid < q->process.pid ? -1 : p->process.pid > q->process.pid;
}

static void add_names(struct strbuf *out, const struct leaking_list *list)
{
	for (size_t i = 0; i < list->count && i < NAMED_MAX; i++) {
		const struct leaking_process *p = &list->items[i];

		strbuf_add_text(out, i > 0 ? ", " : "");
		text_add_printable(out, p->process.comm, strlen(p->process.comm), false);
		strbuf_addf(out, " (%d, %s%s)", p->process.pid,
			    p->is_bound ? "at most " : "", amount(p->bytes).text);
	}
	if (list->count > NAMED_MAX)
		strbuf_addf(out, " and %zu more", list->count - NAMED_MAX);
}

void leaks_conclude_all(struct conclusion *c, struct leaking_list *list)
{
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;
	size_t unknown = list->unknown_count;

	if (list->count > 0)
		qsort(list->items, list->count, sizeof(*list->items), compare_leaking);
	add_names(&names, list);
	if (list->count > 0)
		conclusion_add(c, "%zu of %zu processes %s leaked blocks: %s.",
			       list->count, list->process_count,
			       list->count == 1 ? "has" : "have", strbuf_text(&names));
	else if (unknown < list->process_count)
		conclusion_add(c, "No block is leaked in %zu of %zu processes.",
			       list->process_count - unknown, list->process_count);
	if (unknown > 0)
		conclusion_add(c, "%zu process%s could not be searched for leaks.",
			       unknown, unknown == 1 ? "" : "es");
}
