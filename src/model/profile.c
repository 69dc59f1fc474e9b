/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/profile.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

const struct profile_metric_info profile_metrics[PROFILE_METRIC_COUNT_] = {
	[PROFILE_ALLOCATIONS] = { "allocations", "allocations", false },
	[PROFILE_BYTES] = { "bytes", "requested bytes", true },
	[PROFILE_TEMPORARY] = { "temporary", "temporary allocations", false },
	[PROFILE_LIVE_BLOCKS] = { "live_blocks", "live blocks", false },
	[PROFILE_LIVE] = { "live", "live bytes", true },
	[PROFILE_PEAK] = { "peak", "bytes at the peak", true },
};

int profile_metric_find(const char *name, enum profile_metric *ret)
{
	for (int i = 0; i < PROFILE_METRIC_COUNT_; i++)
		if (strcmp(profile_metrics[i].name, name) == 0) {
			*ret = (enum profile_metric)i;
			return 0;
		}
	return -EINVAL;
}

void profile_init(struct profile *profile)
{
	*profile = (struct profile){ 0 };
}

void profile_release(struct profile *profile)
{
	for (size_t i = 0; i < profile->string_count; i++)
		free(profile->strings[i]);
	free(profile->strings);
	free(profile->modules);
	free(profile->frames);
	free(profile->nodes);
	free(profile->string_index.slots);
	free(profile->frame_index.slots);
	free(profile->node_index.slots);
	profile_init(profile);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static uint64_t hash_text(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return mix(hash, 0);
}

/* Functions that hash and compare the items of an index: strings, frames or nodes. */
struct indexed {
	uint64_t (*hash)(const struct profile *profile, size_t number);
	bool (*is_same)(const struct profile *profile, size_t number, const void *wanted);
};

static void index_put(struct profile_index *index, uint64_t hash, uint32_t number)
{
	size_t i = hash & (index->capacity - 1);

	while (index->slots[i])
		i = (i + 1) & (index->capacity - 1);
	index->slots[i] = number + 1;
}

/* Enlarge the index if it has no room for `count` + 1 items. */
static void index_grow(struct profile *profile, struct profile_index *index, size_t count,
		       const struct indexed *kind)
{
	if (count + 1 <= index->capacity / 2)
		return;
	index->capacity = index->capacity ? 2 * index->capacity : 64;
	free(index->slots);
	index->slots = xcalloc(index->capacity, sizeof(*index->slots));
	for (size_t i = 0; i < count; i++)
		index_put(index, kind->hash(profile, i), (uint32_t)i);
}

/*
 * Return the number of the item that equals *wanted, or UINT32_MAX if
 * there is no such item.
 */
static uint32_t index_find(const struct profile *profile,
			   const struct profile_index *index, const struct indexed *kind,
			   uint64_t hash, const void *wanted)
{
	if (index->capacity == 0)
		return UINT32_MAX;
	for (size_t i = hash & (index->capacity - 1); index->slots[i];
	     i = (i + 1) & (index->capacity - 1))
		if (kind->is_same(profile, index->slots[i] - 1, wanted))
			return index->slots[i] - 1;
	return UINT32_MAX;
}

static uint64_t string_hash(const struct profile *profile, size_t number)
{
	return hash_text(profile->strings[number]);
}

static bool string_is_same(const struct profile *profile, size_t number,
			   const void *wanted)
{
	return strcmp(profile->strings[number], wanted) == 0;
}

static const struct indexed strings_indexed = { string_hash, string_is_same };

const char *profile_string(struct profile *profile, const char *text)
{
	uint64_t hash;
	uint32_t found;

	if (!text)
		return NULL;
	hash = hash_text(text);
	found = index_find(profile, &profile->string_index, &strings_indexed, hash, text);
	if (found != UINT32_MAX)
		return profile->strings[found];
	index_grow(profile, &profile->string_index, profile->string_count,
		   &strings_indexed);
	profile->strings = xgrow(profile->strings, &profile->string_capacity,
				 profile->string_count + 1, sizeof(*profile->strings));
	profile->strings[profile->string_count] = xstrdup(text);
	index_put(&profile->string_index, hash, (uint32_t)profile->string_count);
	return profile->strings[profile->string_count++];
}

static bool module_is_same(const struct profile_module *a, const struct profile_module *b)
{
	return strcmp(a->path, b->path) == 0 && a->start == b->start &&
	       a->end == b->end && a->build_id_bytes == b->build_id_bytes &&
	       memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0;
}

/* A linear search is enough: a program has a few hundred modules at most. */
uint32_t profile_add_module(struct profile *profile, const struct profile_module *module)
{
	for (size_t i = 0; i < profile->module_count; i++)
		if (module_is_same(&profile->modules[i], module))
			return (uint32_t)i;
	profile->modules = xgrow(profile->modules, &profile->module_capacity,
				 profile->module_count + 1, sizeof(*profile->modules));
	profile->modules[profile->module_count] = *module;
	profile->modules[profile->module_count].path =
		profile_string(profile, module->path);
	return (uint32_t)profile->module_count++;
}

/*
 * Hash the addresses of strings, not their contents: profile_string() returns the same
 * address for equal strings.
 */
static uint64_t frame_hash_of(const struct profile_frame *frame)
{
	uint64_t hash = mix((uintptr_t)frame->function, (uintptr_t)frame->file);

	hash = mix(hash, (uint64_t)frame->module << 32 | frame->line);
	return mix(hash, frame->vaddr << 3 | (uint64_t)frame->is_inlined << 2 |
				 (uint64_t)frame->kind);
}

static uint64_t frame_hash(const struct profile *profile, size_t number)
{
	return frame_hash_of(&profile->frames[number]);
}

static bool frame_is_same(const struct profile *profile, size_t number,
			  const void *wanted)
{
	const struct profile_frame *a = &profile->frames[number], *b = wanted;

	return a->function == b->function && a->file == b->file && a->line == b->line &&
	       a->module == b->module && a->vaddr == b->vaddr &&
	       a->is_inlined == b->is_inlined && a->kind == b->kind;
}

static const struct indexed frames_indexed = { frame_hash, frame_is_same };

uint32_t profile_add_frame(struct profile *profile, const struct profile_frame *frame)
{
	struct profile_frame own = *frame;
	uint64_t hash;
	uint32_t found;

	assert(own.module == PROFILE_NO_MODULE || own.module < profile->module_count);
	own.function = profile_string(profile, frame->function);
	own.file = profile_string(profile, frame->file);
	hash = frame_hash_of(&own);
	found = index_find(profile, &profile->frame_index, &frames_indexed, hash, &own);
	if (found != UINT32_MAX)
		return found;
	index_grow(profile, &profile->frame_index, profile->frame_count, &frames_indexed);
	profile->frames = xgrow(profile->frames, &profile->frame_capacity,
				profile->frame_count + 1, sizeof(*profile->frames));
	profile->frames[profile->frame_count] = own;
	index_put(&profile->frame_index, hash, (uint32_t)profile->frame_count);
	return (uint32_t)profile->frame_count++;
}

static uint64_t node_hash_of(const struct profile_node *node)
{
	return mix(1, (uint64_t)node->parent << 32 | node->frame);
}

static uint64_t node_hash(const struct profile *profile, size_t number)
{
	return node_hash_of(&profile->nodes[number]);
}

static bool node_is_same(const struct profile *profile, size_t number, const void *wanted)
{
	const struct profile_node *a = &profile->nodes[number], *b = wanted;

	return a->parent == b->parent && a->frame == b->frame;
}

static const struct indexed nodes_indexed = { node_hash, node_is_same };

static uint32_t append_node(struct profile *profile, const struct profile_node *node)
{
	index_grow(profile, &profile->node_index, profile->node_count, &nodes_indexed);
	profile->nodes = xgrow(profile->nodes, &profile->node_capacity,
			       profile->node_count + 1, sizeof(*profile->nodes));
	profile->nodes[profile->node_count] = *node;
	index_put(&profile->node_index, node_hash_of(node),
		  (uint32_t)profile->node_count);
	return (uint32_t)profile->node_count++;
}

void profile_begin(struct profile *profile)
{
	if (profile->node_count == 0)
		append_node(profile, &(struct profile_node){ .frame = UINT32_MAX });
}

uint32_t profile_add_node(struct profile *profile, uint32_t parent, uint32_t frame)
{
	struct profile_node wanted = { .frame = frame, .parent = parent };
	uint32_t found;

	profile_begin(profile);
	assert(parent < profile->node_count && frame < profile->frame_count);
	found = index_find(profile, &profile->node_index, &nodes_indexed,
			   node_hash_of(&wanted), &wanted);
	return found != UINT32_MAX ? found : append_node(profile, &wanted);
}

void profile_sum(const struct profile *profile, uint64_t ret[PROFILE_METRIC_COUNT_])
{
	memset(ret, 0, PROFILE_METRIC_COUNT_ * sizeof(*ret));
	for (size_t i = 0; i < profile->node_count; i++)
		for (int m = 0; m < PROFILE_METRIC_COUNT_; m++)
			ret[m] += profile->nodes[i].values[m];
}

void profile_init_like(struct profile *profile, const struct profile *other)
{
	profile_init(profile);
	profile_begin(profile);
	profile->known = other->known;
	profile->sample_bytes = other->sample_bytes;
	profile->sample_count = other->sample_count;
	profile->by_pointer_count = other->by_pointer_count;
	profile->cut_count = other->cut_count;
	profile->lost_count = other->lost_count;
	profile->unix_ms = other->unix_ms;
	profile->elapsed_ns = other->elapsed_ns;
	profile->command = profile_string(profile, other->command);
	profile->pid = other->pid;
	for (size_t i = 0; i < other->module_count; i++)
		profile_add_module(profile, &other->modules[i]);
}

const char *profile_frame_name(const struct profile *profile,
			       const struct profile_frame *frame, char *buffer,
			       size_t size)
{
	const char *path, *slash;

	if (frame->kind == FRAME_CUT)
		return "[cut]";
	if (frame->function)
		return frame->function;
	if (frame->module == PROFILE_NO_MODULE)
		return "[unknown]";
	path = profile->modules[frame->module].path;
	slash = path[0] == '[' ? NULL : strrchr(path, '/');
	snprintf(buffer, size, "%s+0x%" PRIx64, slash ? slash + 1 : path, frame->vaddr);
	return buffer;
}
