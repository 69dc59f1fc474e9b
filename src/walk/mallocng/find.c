/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "walk/mallocng/walk.h"

#include <string.h>

#include "base/xalloc.h"
#include "walk/blocks/data_area.h"

/* Offsets in struct malloc_context, with PAGESIZE defined as on x86-64. */
#define CONTEXT_INIT_DONE 8
#define CONTEXT_AREA_HEAD 56
#define CONTEXT_USAGE 464
/* size of the first members of the context, up to and including meta_area_head */
#define CONTEXT_READ_BYTES (CONTEXT_AREA_HEAD + 8)

/*
 * Offset of the next area's address in struct meta_area. The struct begins with the
 * secret, this address, and the number of metas.
 */
#define AREA_NEXT 8
#define AREA_SLOTS 16
#define AREA_METAS 101

/*
 * Return true if there is a meta area with this secret at addr. Store the address of the
 * next area in *ret_next, or 0 at the end of the list.
 */
static bool read_area(struct mallocng *m, uint64_t addr, uint64_t secret,
		      uint64_t *ret_next)
{
	const uint8_t *at = addr % IMAGE_PAGE_BYTES == 0
				    ? image_at(m->image, addr, IMAGE_PAGE_BYTES)
				    : NULL;
	uint64_t found;
	int32_t slots;

	if (!at)
		return false;
	memcpy(&found, at, sizeof(found));
	memcpy(ret_next, at + AREA_NEXT, sizeof(*ret_next));
	memcpy(&slots, at + AREA_SLOTS, sizeof(slots));
	return found == secret && slots == AREA_METAS &&
	       *ret_next % IMAGE_PAGE_BYTES == 0;
}

/*
 * Read the context at addr. `at` points to the copy of its first members. Return false if
 * the context is invalid. If the page of a count was never written, the count is 0.
 */
static bool read_context(struct mallocng *m, uint64_t addr, const uint8_t *at)
{
	struct mallocng_context *context = &m->context;
	uint64_t secret, area, next;
	int32_t is_ready;

	memcpy(&area, at + CONTEXT_AREA_HEAD, sizeof(area));
	if (area == 0 || area % IMAGE_PAGE_BYTES != 0)
		return false;
	memcpy(&secret, at, sizeof(secret));
	memcpy(&is_ready, at + CONTEXT_INIT_DONE, sizeof(is_ready));
	if (secret == 0 || is_ready != 1 || !read_area(m, area, secret, &next))
		return false;
	context->addr = addr;
	context->secret = secret;
	context->first_area_addr = area;
	for (size_t i = 0; i < MALLOCNG_CLASS_COUNT; i++)
		if (!image_read(m->image, addr + CONTEXT_USAGE + 8 * i,
				&context->class_slots[i]))
			context->class_slots[i] = 0;
	context->is_swapped =
		walk_is_part_swapped(m->input, addr + CONTEXT_USAGE,
				     addr + CONTEXT_USAGE + sizeof(context->class_slots));
	return true;
}

static bool find_in_area(struct mallocng *m, const struct data_area *area)
{
	size_t i = image_find_run(m->image, area->start_addr);

	for (; i < m->image->run_count; i++) {
		const struct image_run *run = &m->image->runs[i];
		uint64_t start = run->start_addr > area->start_addr ? run->start_addr
								    : area->start_addr;
		uint64_t end = run->end_addr < area->end_addr ? run->end_addr
							      : area->end_addr;
		const uint8_t *bytes = m->image->bytes + run->offset_bytes;

		if (run->start_addr >= area->end_addr)
			return false;
		for (uint64_t addr = start; addr + CONTEXT_READ_BYTES <= end; addr += 8)
			if (read_context(m, addr, bytes + (addr - run->start_addr)))
				return true;
	}
	return false;
}

static bool find_context(struct mallocng *m)
{
	struct data_area area;
	size_t index = 0;

	while (data_area_next(m->input, &index, &area))
		if (find_in_area(m, &area))
			return true;
	return false;
}

const char *mallocng_find(struct mallocng *m)
{
	uint64_t addr, next, max = m->image->length_bytes / IMAGE_PAGE_BYTES;

	if (!find_context(m))
		return "musl's malloc was not found";
	for (addr = m->context.first_area_addr; addr != 0; addr = next) {
		/* a list with more areas than the image has pages contains a cycle */
		if (m->area_count > max)
			return "the list of musl's own data has no end";
		if (!read_area(m, addr, m->context.secret, &next))
			return "some of musl's own data may be swapped out";
		m->areas = xgrow(m->areas, &m->area_capacity, m->area_count + 1,
				 sizeof(*m->areas));
		m->areas[m->area_count++] = addr;
	}
	return NULL;
}
