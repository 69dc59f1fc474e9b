/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/leak_kinds.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "sample/heap/leak_scan.h"

/* Maximum number of kinds of leaked blocks to copy; users would not scroll further. */
#define KINDS_MAX 500

void heap_leaks_release(struct heap_leaks *leaks)
{
	for (size_t i = 0; i < leaks->kind_count; i++)
		free(leaks->kinds[i].type);
	free(leaks->kinds);
	*leaks = (struct heap_leaks){ .is_done = false };
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

int heap_leaks_scan(struct heap_reader *reader, const struct mapping_list *mappings,
		    const struct heap *heap, const struct mark_progress *progress,
		    struct heap_leaks *ret)
{
	struct leak_scan scan;
	int r;

	r = leak_scan_mark(reader, mappings, heap, progress, &scan);
	if (r == 0)
		r = leak_scan_group(reader, &scan);
	if (r == 0) {
		keep_kinds(&scan.leaked, ret);
		keep_sums(&scan, ret);
	}
	leak_scan_release(&scan);
	return r;
}
