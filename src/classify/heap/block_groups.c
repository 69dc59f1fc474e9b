/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/heap/block_groups.h"

#include <stdlib.h>

#include "base/xalloc.h"

#define FIRST_SLOTS 64

static size_t hash(const char *type, enum content content, uint64_t block_bytes)
{
	uint64_t key = block_bytes * CONTENT_COUNT_ + content;

	key = (key ^ (uintptr_t)type) * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(key >> 32);
}

static bool is_same(const struct block_group *g, const char *type, enum content content,
		    uint64_t block_bytes)
{
	return g->type == type && g->content == content && g->block_bytes == block_bytes;
}

/*
 * Return the hash slot of the group with the given type, content and block size, or an
 * empty slot if no such group exists.
 */
static size_t *find_slot(struct block_groups *groups, const char *type,
			 enum content content, uint64_t block_bytes)
{
	size_t i = hash(type, content, block_bytes);

	for (;; i++) {
		size_t *slot = &groups->slots[i & (groups->slot_count - 1)];

		if (*slot == 0 ||
		    is_same(&groups->items[*slot - 1], type, content, block_bytes))
			return slot;
	}
}

static void make_room(struct block_groups *groups)
{
	if (groups->count * 2 < groups->slot_count)
		return;
	free(groups->slots);
	groups->slot_count = groups->slot_count ? groups->slot_count * 2 : FIRST_SLOTS;
	groups->slots = xcalloc(groups->slot_count, sizeof(*groups->slots));
	for (size_t i = 0; i < groups->count; i++) {
		const struct block_group *g = &groups->items[i];

		*find_slot(groups, g->type, g->content, g->block_bytes) = i + 1;
	}
}

static struct block_group *get_group(struct block_groups *groups, const char *type,
				     enum content content, uint64_t block_bytes)
{
	struct block_group *g;
	size_t *slot;

	make_room(groups);
	slot = find_slot(groups, type, content, block_bytes);
	if (*slot)
		return &groups->items[*slot - 1];
	groups->items = xgrow(groups->items, &groups->capacity, groups->count + 1,
			      sizeof(*groups->items));
	g = &groups->items[groups->count++];
	*g = (struct block_group){
		.type = type,
		.content = content,
		.block_bytes = block_bytes,
	};
	*slot = groups->count;
	return g;
}

void block_groups_add(struct block_groups *groups, const char *type, enum content content,
		      const struct leak *block)
{
	struct block_group *g = get_group(groups, type, content, block->bytes);

	g->examples[g->sum.count % GROUP_EXAMPLES] = block->addr;
	if (g->example_count < GROUP_EXAMPLES)
		g->example_count++;
	chunk_sum_add(&g->sum, block->bytes);
	g->indirect.count += block->indirect.count;
	g->indirect.bytes += block->indirect.bytes;
}

static int compare_addrs(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static int compare_groups(const void *a, const void *b)
{
	const struct block_group *left = a, *right = b;
	uint64_t left_bytes = left->sum.bytes + left->indirect.bytes;
	uint64_t right_bytes = right->sum.bytes + right->indirect.bytes;

	if (left_bytes != right_bytes)
		return left_bytes < right_bytes ? 1 : -1;
	return compare_addrs(&left->examples[0], &right->examples[0]);
}

void block_groups_sort(struct block_groups *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		qsort(groups->items[i].examples, groups->items[i].example_count,
		      sizeof(uint64_t), compare_addrs);
	if (groups->count > 0)
		qsort(groups->items, groups->count, sizeof(*groups->items),
		      compare_groups);
}

void block_groups_release(struct block_groups *groups)
{
	free(groups->items);
	free(groups->slots);
	*groups = (struct block_groups)BLOCK_GROUPS_INIT;
}
