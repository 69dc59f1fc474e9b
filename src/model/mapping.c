/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/mapping.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "model/allocator_signs.h"
#include "model/usage.h"

void counters_set_unknown(struct counters *c)
{
	for (size_t i = 0; i < SMAPS_FIELD_COUNT_; i++)
		c->bytes[i] = BYTES_UNKNOWN;
}

void counters_set_zero(struct counters *c)
{
	memset(c, 0, sizeof(*c));
}

/*
 * This function runs once per mapping of every target, so the common case comes first, in
 * a loop that the compiler vectorises.
 */
void counters_add(struct counters *sum, const struct counters *c)
{
	uint64_t all = 0;

	for (size_t i = 0; i < SMAPS_FIELD_COUNT_; i++)
		all |= sum->bytes[i] | c->bytes[i];
	if (all >> 63 == 0) { /* all amounts are known and below 2^63 */
		for (size_t i = 0; i < SMAPS_FIELD_COUNT_; i++)
			sum->bytes[i] += c->bytes[i];
		return;
	}
	for (size_t i = 0; i < SMAPS_FIELD_COUNT_; i++)
		sum->bytes[i] = bytes_add(sum->bytes[i], c->bytes[i]);
}

uint64_t mapping_copyable_bytes(const struct mapping *m)
{
	const uint64_t *bytes = m->counters.bytes;

	if (m->flags & MAPPING_HUGETLB)
		return bytes_add(bytes[SMAPS_SHARED_HUGETLB],
				 bytes[SMAPS_PRIVATE_HUGETLB]);
	return bytes[m->flags & MAPPING_REMOTE ? SMAPS_ANONYMOUS : SMAPS_RSS];
}

const char *mapping_format_perms(const struct mapping *m, char buf[5])
{
	buf[0] = m->flags & MAPPING_READ ? 'r' : '-';
	buf[1] = m->flags & MAPPING_WRITE ? 'w' : '-';
	buf[2] = m->flags & MAPPING_EXEC ? 'x' : '-';
	buf[3] = m->flags & MAPPING_SHARED ? 's' : 'p';
	buf[4] = '\0';
	return buf;
}

const char *mapping_group_name(const struct mapping *m)
{
	uint32_t allocator = (m->flags & MAPPING_ALLOCATOR_MASK) >>
			     MAPPING_ALLOCATOR_SHIFT;

	_Static_assert(ALLOCATOR_COUNT_ <=
			       (MAPPING_ALLOCATOR_MASK >> MAPPING_ALLOCATOR_SHIFT) + 1,
		       "every allocator fits into the flags of a mapping");
	if (m->name_length > 0)
		return m->name;
	if (m->use != USE_NONE && m->owner != OWNER_STACK)
		return known_use_texts[m->use].name;
	if (!(m->flags & MAPPING_HEAP))
		return m->name;
	return allocator == ALLOCATOR_UNKNOWN || allocator >= ALLOCATOR_COUNT_ ||
			       allocator_is_malloc((enum allocator)allocator)
		       ? "malloc"
		       : allocator_titles[allocator];
}

void mapping_list_add(struct mapping_list *list, const struct mapping *m)
{
	struct mapping *copy;

	list->items = xgrow(list->items, &list->capacity, list->count + 1, sizeof(*m));
	copy = &list->items[list->count++];
	*copy = *m;
	copy->name = m->name_length ? xstrndup(m->name, m->name_length) : "";
}

void mapping_list_release(struct mapping_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].name_length)
			free((char *)list->items[i].name);
	free(list->items);
	*list = (struct mapping_list)MAPPING_LIST_INIT;
}

const struct mapping *mapping_list_find(const struct mapping_list *list, uint64_t addr)
{
	size_t low = SEARCH_FIRST(list->count, i, list->items[i].end_addr > addr);

	return low < list->count && list->items[low].start_addr <= addr
		       ? &list->items[low]
		       : NULL;
}

bool mapping_is_skipped(const struct mapping *m)
{
	return m->flags & MAPPING_USERFAULT ||
	       (m->flags & MAPPING_REMOTE && m->flags & MAPPING_SHARED);
}
