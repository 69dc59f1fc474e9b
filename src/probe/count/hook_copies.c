/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/hook_copies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "probe/count/hook_places.h"
#include "tracee/elf/reader.h"

/*
 * Alignment of glibc's malloc arenas. An arena, like a stack, may follow memory without
 * access rights. Its alignment distinguishes it from a stack.
 */
#define ARENA_BYTES (UINT64_C(64) << 20)

static bool is_own_data(const struct mapping *m)
{
	const unsigned int access = MAPPING_READ | MAPPING_WRITE | MAPPING_SHARED;

	return (m->flags & access) == (MAPPING_READ | MAPPING_WRITE) &&
	       !(m->flags & (MAPPING_HUGETLB | MAPPING_USERFAULT));
}

static bool is_of_file(const struct mapping *m, const struct mapping *first)
{
	return m->inode == 0 ||
	       (m->inode == first->inode && m->dev_major == first->dev_major &&
		m->dev_minor == first->dev_minor);
}

static void add_part(struct data_words *data, uint64_t start_addr, uint64_t end_addr,
		     size_t file)
{
	data->parts = xgrow(data->parts, &data->capacity, data->count + 1,
			    sizeof(*data->parts));
	data->parts[data->count++] = (struct data_part){ { start_addr, end_addr }, file };
}

/* Append to data->parts the parts of the segment that are writable in the process. */
static void add_segment(struct data_words *data, const struct loaded *file,
			const struct address_range *segment, size_t index)
{
	for (size_t i = 0; i < file->mappings->count; i++) {
		const struct mapping *m = &file->mappings->items[i];
		uint64_t start = m->start_addr, end = m->end_addr;

		if (start < segment->start_addr)
			start = segment->start_addr;
		if (end > segment->end_addr)
			end = segment->end_addr;
		if (start < end && is_own_data(m) && is_of_file(m, file->first))
			add_part(data, start, end, index);
	}
}

void data_words_add(struct data_words *data, const struct loaded *file, size_t index)
{
	_cleanup_elf_reader_ struct elf_reader reader = { .fd = -1 };

	if (elf_reader_open_native(file->fd, &reader) < 0 ||
	    elf_reader_read_segments(&reader) < 0)
		return;
	for (size_t i = 0; i < reader.header.e_phnum; i++) {
		const Elf64_Phdr *part = &reader.segments[i];
		uint64_t start = file->base_addr + part->p_vaddr;
		const struct address_range segment = { start, start + part->p_memsz };

		if (part->p_type == PT_LOAD && (part->p_flags & PF_W) &&
		    segment.start_addr < segment.end_addr)
			add_segment(data, file, &segment, index);
	}
}

int data_words_find(const struct data_words *data, struct find_words *f)
{
	int r = 0;

	f->reads_swapped = true;
	f->deadline_ns = clock_now_ns() + DATA_WORDS_LIMIT_NS;
	for (size_t i = 0; r == 0 && i < data->count; i++)
		r = find_words(f, &data->parts[i].range, 1);
	return r;
}

bool data_words_has(const struct data_words *data, uint64_t addr, size_t *ret_file)
{
	for (size_t i = 0; i < data->count; i++) {
		const struct data_part *part = &data->parts[i];

		if (addr < part->range.start_addr || addr >= part->range.end_addr)
			continue;
		*ret_file = part->file;
		return true;
	}
	return false;
}

void data_words_release(struct data_words *data)
{
	free(data->parts);
	*data = (struct data_words){ .parts = NULL };
}

/*
 * Return true if the mapping looks like a stack, because it follows a guard area.
 * memstate does not search stacks, because they contain stale words, such as the result
 * of the dynamic linker's last lookup.
 */
static bool is_stack(const struct mapping_list *mappings, size_t index)
{
	const struct mapping *m = &mappings->items[index], *guard = m - 1;

	if ((m->flags & MAPPING_GROWS_DOWN) || strncmp(m->name, "[stack", 6) == 0)
		return true;
	return index > 0 && guard->end_addr == m->start_addr && guard->inode == 0 &&
	       !(guard->flags & MAPPING_ACCESS) && m->start_addr % ARENA_BYTES != 0;
}

/*
 * Count the words in f->found that are outside the writable data of the mapped files.
 * Skip the words before index `first`.
 */
static uint64_t count_others(const struct data_words *data, const struct find_words *f,
			     size_t first)
{
	uint64_t count = 0;
	size_t unused;

	for (size_t i = first; i < f->count; i++)
		count += !data_words_has(data, f->found[i].addr, &unused);
	return count;
}

int heap_words_find(const struct data_words *data, const struct mapping_list *mappings,
		    struct find_words *f, struct heap_words *ret)
{
	int r = 0;

	f->reads_swapped = false;
	f->deadline_ns = clock_now_ns() + HEAP_WORDS_LIMIT_NS;
	f->found_max = HEAP_WORDS_MAX;
	for (size_t i = 0; r == 0 && i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];
		size_t before = f->count;

		if (m->inode != 0 || !is_own_data(m) || is_stack(mappings, i))
			continue;
		r = find_words(f, &(struct address_range){ m->start_addr, m->end_addr },
			       1);
		*(strcmp(m->name, "[heap]") == 0
			  ? &ret->heap_count
			  : &ret->other_count) += count_others(data, f, before);
	}
	ret->unread_bytes = f->unread_bytes;
	return r == -E2BIG ? 0 : r;
}

struct wanted {
	uint64_t addr;
	enum hook hook;
};

static int compare(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->hook > y->hook) - (x->hook < y->hook);
}

static int compare_addrs(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/*
 * List the function addresses to search for, sorted and without duplicates. Return their
 * number.
 */
static size_t list_wanted(const struct hook_places_source *source,
			  const uint64_t *originals, struct wanted *ret)
{
	const uint64_t gates_addr = source->there.gates_addr;
	size_t count = 0, kept = 0;

	for (int i = 0; i < HOOK_COUNT_; i++) {
		uint64_t addr = originals[i];

		if (addr && source->finds_leading)
			addr = gates_addr ? gates_addr + offsetof(struct gates, code) +
						    (uint64_t)i * GATE_BYTES
					  : 0;
		if (addr)
			ret[count++] = (struct wanted){ addr, (enum hook)i };
	}
	qsort(ret, count, sizeof(*ret), compare);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || ret[i].addr != ret[kept - 1].addr)
			ret[kept++] = ret[i];
	return kept;
}

static enum hook find_hook(const struct wanted *wanted, size_t count, uint64_t addr)
{
	for (size_t i = 0; i < count; i++)
		if (wanted[i].addr == addr)
			return wanted[i].hook;
	return HOOK_COUNT_;
}

static void add_items(const struct data_words *data, const struct find_words *f,
		      const struct wanted *wanted, struct hook_copies *ret)
{
	ret->items = xcalloc(f->count + 1, sizeof(*ret->items));
	for (size_t i = 0; i < f->count; i++) {
		const struct found_word *found = &f->found[i];
		struct hook_copy copy = { found->addr, found->word,
					  find_hook(wanted, f->wanted_count, found->word),
					  0 };

		if (copy.hook != HOOK_COUNT_ &&
		    !bsearch(&copy.addr, ret->known, ret->known_count,
			     sizeof(*ret->known), compare_addrs) &&
		    data_words_has(data, found->addr, &copy.file))
			ret->items[ret->count++] = copy;
	}
	ret->unread_bytes = f->unread_bytes;
}

int hook_copies_find(const struct hook_places_source *source,
		     const struct data_words *data, const uint64_t *originals,
		     struct hook_copies *ret)
{
	struct wanted wanted[HOOK_COUNT_];
	uint64_t addrs[HOOK_COUNT_];
	struct find_words f = { .process_fd = source->process_fd,
				.mem_fd = source->mem_fd,
				.wanted = addrs,
				.wanted_count = list_wanted(source, originals, wanted),
				.found_max = HOOKS_RECORD_MAX };
	struct find_words heap = f;
	int r;

	for (size_t i = 0; i < f.wanted_count; i++)
		addrs[i] = wanted[i].addr;
	qsort(ret->known, ret->known_count, sizeof(*ret->known), compare_addrs);
	r = data_words_find(data, &f);
	if (r == 0)
		add_items(data, &f, wanted, ret);
	if (r == 0 && source->searches_heap)
		r = heap_words_find(data, source->mappings, &heap, &ret->heap);
	free(f.found);
	free(heap.found);
	return r;
}

void hook_copies_release(struct hook_copies *copies)
{
	free(copies->items);
	*copies = (struct hook_copies){ .items = NULL };
}
