/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/copies.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/xalloc.h"
#include "proc/cgroup/room.h"
#include "tracee/memory/early_keep.h"
#include "tracee/memory/huge_pages.h"

/*
 * All copies are released if less memory is available than 1/ROOM_SHARE of their size.
 * The first copy is made only if it takes at most three quarters of the available memory,
 * so that at least a third of its size remains.
 */
#define ROOM_SHARE 3

/*
 * A copy is not kept if the process writes more than 1/WRITTEN_SHARE of its pages between
 * two walks: tracking costs the process more than copying would cost memstate.
 */
#define WRITTEN_SHARE 2

/*
 * Upper bound on the range of addresses in a kept copy, including unused addresses:
 * LAYOUT_FACTOR times the size of the heap, plus LAYOUT_BYTES. The size of the walk's
 * tables is proportional to this range.
 */
#define LAYOUT_FACTOR 2
#define LAYOUT_BYTES (UINT64_C(4) << 30)

struct item {
	struct process process;
	struct early_copy copy;	  /* copy that is kept for the next walk; empty if none */
	unsigned int whole_count; /* number of complete copies made so far */
	bool is_futile;		  /* true if the process writes most of its pages */
};

struct heap_copies {
	struct item *items;
	size_t count, capacity;
	struct process current; /* process that was read last */
	uint64_t saved_ns;
};

struct heap_copies *heap_copies_new(void)
{
	return xcalloc(1, sizeof(struct heap_copies));
}

static struct item *find(const struct heap_copies *copies, const struct process *process)
{
	for (size_t i = 0; i < copies->count; i++)
		if (process_is_same(&copies->items[i].process, process))
			return &copies->items[i];
	return NULL;
}

static struct item *find_or_add(struct heap_copies *copies, const struct process *process)
{
	struct item *item = find(copies, process);

	if (item)
		return item;
	copies->items = xgrow(copies->items, &copies->capacity, copies->count + 1,
			      sizeof(*copies->items));
	item = &copies->items[copies->count++];
	*item = (struct item){ .process = *process, .copy = EARLY_COPY_INIT };
	return item;
}

static void release(struct item *item)
{
	uint64_t split_bytes, restored_bytes;

	early_copy_end(&item->copy);
	if (item->copy.huge.count > 0)
		huge_pages_restore(item->process.pid, &item->copy.huge, &split_bytes,
				   &restored_bytes);
	early_copy_release(&item->copy);
}

void heap_copies_free(struct heap_copies *copies)
{
	if (!copies)
		return;
	for (size_t i = 0; i < copies->count; i++)
		release(&copies->items[i]);
	free(copies->items);
	free(copies);
}

static uint64_t kept_bytes(const struct heap_copies *copies)
{
	uint64_t pages = 0;

	for (size_t i = 0; i < copies->count; i++)
		pages += copies->items[i].copy.copied_pages;
	return pages * IMAGE_PAGE_BYTES;
}

/* Release all copies if their memory is needed. */
static void release_if_short(struct heap_copies *copies, const struct procfs *fs)
{
	uint64_t bytes = kept_bytes(copies);
	struct room room;

	if (bytes == 0)
		return;
	room = proc_room_read(fs);
	if (!bytes_known(room.bytes) || room.bytes >= bytes / ROOM_SHARE)
		return;
	for (size_t i = 0; i < copies->count; i++)
		release(&copies->items[i]);
}

void heap_copies_begin(struct heap_reader *reader)
{
	heap_copies_store(reader);
	if (!reader->copies)
		return;
	reader->copies->saved_ns = 0;
	release_if_short(reader->copies, reader->fs);
}

/* Return true if memstate can map this many bytes of address space. */
static bool may_map(uint64_t bytes)
{
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	if (map == MAP_FAILED)
		return false;
	munmap(map, bytes);
	return true;
}

void heap_copies_prepare(struct heap_reader *reader, const struct process *process,
			 const struct page_list *mappings, uint64_t bytes)
{
	struct copy_layout *layout = &reader->early.layout;
	struct heap_copies *copies = reader->copies;

	if (!copies || reader->copies_roots)
		return;
	copies->current = *process;
	if (!find_or_add(copies, process)->is_futile &&
	    copy_layout_make(layout, mappings, bytes * LAYOUT_FACTOR + LAYOUT_BYTES) &&
	    !may_map(layout->bytes))
		copy_layout_release(layout);
}

bool heap_copies_take(struct heap_reader *reader, const struct process *process)
{
	struct heap_copies *copies = reader->copies;
	struct item *item;

	if (!copies)
		return false;
	heap_copies_store(reader);
	copies->current = *process;
	item = find(copies, process);
	if (!item || !early_copy_is_kept(&item->copy))
		return false;
	reader->early = item->copy;
	item->copy = (struct early_copy)EARLY_COPY_INIT;
	return true;
}

void heap_copies_judge(struct heap_reader *reader, uint64_t written_pages, uint64_t pages)
{
	struct heap_copies *copies = reader->copies;

	if (written_pages > pages / WRITTEN_SHARE)
		find_or_add(copies, &copies->current)->is_futile = true;
}

void heap_copies_add_cost(struct heap_reader *reader, uint64_t cpu_ns)
{
	struct heap_copies *copies = reader->copies;

	if (copies && find_or_add(copies, &copies->current)->whole_count++ == 0)
		copies->saved_ns = cpu_ns;
}

void heap_copies_store(struct heap_reader *reader)
{
	struct heap_copies *copies = reader->copies;
	struct item *item;

	if (!copies || !early_copy_is_kept(&reader->early))
		return;
	item = find_or_add(copies, &copies->current);
	release(item);
	early_keep_return(&reader->early, &reader->image);
	blocks_release(&reader->blocks);
	item->copy = reader->early;
	reader->early = (struct early_copy)EARLY_COPY_INIT;
	if (item->is_futile)
		release(item);
}

uint64_t heap_copies_saved_ns(const struct heap_reader *reader)
{
	const struct heap_copies *copies = reader->copies;
	const struct item *item = copies ? find(copies, &copies->current) : NULL;

	return item && early_copy_is_kept(&item->copy) ? copies->saved_ns : 0;
}

void heap_copies_prune(struct heap_copies *copies, const struct procfs *fs,
		       bool (*is_followed)(void *context, const struct process *process),
		       void *context)
{
	size_t count = 0;

	release_if_short(copies, fs);
	for (size_t i = 0; i < copies->count; i++)
		if (is_followed(context, &copies->items[i].process))
			copies->items[count++] = copies->items[i];
		else
			release(&copies->items[i]);
	copies->count = count;
}
