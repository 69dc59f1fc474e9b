/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/leak_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "classify/heap/block_groups.h"
#include "sample/heap/leak_scan.h"
#include "sample/heap/reader.h"

/* More than a user would scroll through. */
#define KINDS_MAX 500

void heap_leaks_release(struct heap_leaks *leaks)
{
	for (size_t i = 0; i < leaks->kind_count; i++)
		free(leaks->kinds[i].type);
	free(leaks->kinds);
	*leaks = (struct heap_leaks){ .is_done = false };
}

struct scanning {
	struct heap_reader *reader;
	struct leak_scan scan;
	struct block_groups groups;
	bool has_names;
};

/*
 * Return the type name of a leaked block, or NULL. The name is owned by the reader and
 * valid until the next names_begin().
 */
static const char *type_of(struct scanning *s, const struct leak *leak)
{
	struct heap_reader *reader = s->reader;
	struct block block;
	uint32_t type;

	if (!s->has_names)
		names_begin(&reader->names, &s->scan.mappings);
	s->has_names = true;
	if (!blocks_find(&reader->blocks, leak->addr, &block))
		return NULL;
	type = types_of_block(reader->names.types, &reader->blocks, &block);
	return type ? types_name(reader->names.types, type) : NULL;
}

static void note_leak(void *context, const struct leak *leak)
{
	struct scanning *s = context;
	enum content content =
		content_of(&s->reader->image, &s->scan.mappings, leak->addr, leak->bytes);

	block_groups_add(&s->groups, type_of(s, leak), content, leak);
}

static void keep_kinds(const struct block_groups *groups, struct heap_leaks *ret)
{
	ret->all_kind_count = groups->count;
	ret->kind_count = groups->count < KINDS_MAX ? groups->count : KINDS_MAX;
	ret->kinds = xcalloc(ret->kind_count, sizeof(*ret->kinds));
	for (size_t i = 0; i < ret->kind_count; i++) {
		const struct block_group *group = &groups->items[i];

		ret->kinds[i] = (struct leak_kind){
			.type = group->type ? xstrdup(group->type) : NULL,
			.content = group->content,
			.block_bytes = group->block_bytes,
			.sum = group->sum,
			.indirect = group->indirect,
			.example_addr = group->examples[0],
		};
	}
}

static void keep_sums(const struct leak_scan *scan, struct heap_leaks *ret)
{
	ret->is_done = true;
	ret->quality = scan->quality;
	ret->problem = scan->problem;
	ret->swapped_bytes = scan->swapped_bytes;
	ret->live = scan->mark.live;
	ret->reachable = scan->mark.reachable;
	ret->direct = scan->mark.direct;
	ret->indirect = scan->mark.indirect;
	ret->reachable_resident_bytes = scan->reachable_resident_bytes;
	ret->leaked_resident_bytes = scan->leaked_resident_bytes;
	ret->scanned_bytes = scan->mark.scanned_bytes;
	ret->mark_ns = scan->mark_ns;
}

int heap_leaks_scan(struct heap_reader *reader, struct usage *u,
		    const struct mark_progress *progress,
		    struct mapping_list *ret_mappings, struct heap *ret_heap,
		    struct heap_leaks *ret)
{
	struct scanning s = { .reader = reader, .groups = BLOCK_GROUPS_INIT };
	int r;

	*ret = (struct heap_leaks){ .taken_ns = clock_now_ns() };
	reader->copies_roots = true;
	r = leak_scan_run(reader, u, progress, note_leak, &s, &s.scan);
	reader->copies_roots = false;
	if (r == 0 && !u->error) {
		block_groups_sort(&s.groups);
		keep_kinds(&s.groups, ret);
		keep_sums(&s.scan, ret);
	}
	block_groups_release(&s.groups);
	/* hand the mappings and the heap over to the caller */
	*ret_mappings = s.scan.mappings;
	*ret_heap = s.scan.heap;
	s.scan.mappings = (struct mapping_list)MAPPING_LIST_INIT;
	heap_init(&s.scan.heap);
	leak_scan_release(&s.scan);
	return r;
}
