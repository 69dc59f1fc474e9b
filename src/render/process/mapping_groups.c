/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/process/mapping_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

static int compare_names(const void *a, const void *b)
{
	const struct mapping_group *g_a = a, *g_b = b;
	const struct mapping *m_a = g_a->first, *m_b = g_b->first;
	int order;

	if (m_a->owner != m_b->owner)
		return m_a->owner > m_b->owner ? 1 : -1;
	order = strcmp(mapping_group_name(m_a), mapping_group_name(m_b));
	if (order)
		return order;
	return (m_a->start_addr > m_b->start_addr) - (m_a->start_addr < m_b->start_addr);
}

static int compare_sizes(const void *a, const void *b)
{
	const struct mapping_group *g_a = a, *g_b = b;

	if (g_a->first->owner != g_b->first->owner)
		return g_a->first->owner > g_b->first->owner ? 1 : -1;
	if (g_a->rss_bytes != g_b->rss_bytes)
		return g_a->rss_bytes < g_b->rss_bytes ? 1 : -1;
	return compare_names(a, b);
}

static bool is_same_group(const struct mapping_group *group, const struct mapping *m)
{
	const char *name = mapping_group_name(m);

	return name[0] != '\0' && m->owner == group->first->owner &&
	       strcmp(name, mapping_group_name(group->first)) == 0;
}

size_t mapping_groups_make(const struct mapping_list *mappings,
			   struct mapping_group **ret)
{
	struct mapping_group *groups = xcalloc(mappings->count, sizeof(*groups));
	size_t count = 0;

	for (size_t i = 0; i < mappings->count; i++)
		groups[i].first = &mappings->items[i];
	qsort(groups, mappings->count, sizeof(*groups), compare_names);
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = groups[i].first;

		if (count == 0 || !is_same_group(&groups[count - 1], m))
			groups[count++] = (struct mapping_group){ .first = m };
		groups[count - 1].rss_bytes = bytes_add(groups[count - 1].rss_bytes,
							m->counters.bytes[SMAPS_RSS]);
		groups[count - 1].size_bytes = bytes_add(groups[count - 1].size_bytes,
							 m->counters.bytes[SMAPS_SIZE]);
		groups[count - 1].mapping_count++;
	}
	qsort(groups, count, sizeof(*groups), compare_sizes);
	*ret = groups;
	return count;
}
