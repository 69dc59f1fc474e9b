/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/xalloc.h"
#include "classify/compare/moment_rows.h"

/* A mapping at one of the two compared moments. */
struct entry {
	const struct mapping *mapping;
	/* name for matching mappings; "": match the mapping by address */
	const char *label;
	bool is_after;
};

/*
 * Return the label for matching a mapping. If the process exists at only one moment,
 * nameless mappings get the label "[anonymous]", because addresses of different processes
 * cannot be compared.
 */
static const char *label_of(const struct mapping *m, bool is_same_process)
{
	const char *name = mapping_group_name(m);

	if (name[0] != '\0')
		return name;
	if (m->owner == OWNER_STACK)
		return "[stacks of threads]";
	return is_same_process ? "" : "[anonymous]";
}

static void add_entries(struct entry *entries, size_t *count,
			const struct moment_mappings *m, bool is_after,
			bool is_same_process)
{
	for (size_t i = 0; m && i < m->list.count; i++)
		entries[(*count)++] =
			(struct entry){ &m->list.items[i],
					label_of(&m->list.items[i], is_same_process),
					is_after };
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *one = a, *other = b;
	int order = strcmp(one->label, other->label);

	if (order)
		return order;
	if (one->mapping->owner != other->mapping->owner)
		return one->mapping->owner < other->mapping->owner ? -1 : 1;
	if (one->mapping->start_addr != other->mapping->start_addr)
		return one->mapping->start_addr < other->mapping->start_addr ? -1 : 1;
	return (int)one->is_after - (int)other->is_after;
}

/*
 * Return the number of leading entries that belong to the same row because their labels
 * are equal or their addresses overlap.
 */
static size_t row_length(const struct entry *entries, size_t count)
{
	uint64_t end = entries[0].mapping->end_addr;
	size_t i;

	for (i = 1; i < count; i++) {
		const struct mapping *m = entries[i].mapping;

		if (strcmp(entries[i].label, entries[0].label) != 0 ||
		    m->owner != entries[0].mapping->owner ||
		    (entries[0].label[0] == '\0' && m->start_addr >= end))
			break;
		end = m->end_addr > end ? m->end_addr : end;
	}
	return i;
}

static void add_row(struct moment_diff *diff, const struct moment_process *before,
		    const struct moment_process *after, const struct entry *entries,
		    size_t count)
{
	const struct mapping *first = entries[0].mapping;
	uint64_t sums[2] = { 0, 0 };
	struct moment_change *change;

	for (size_t i = 0; i < count; i++) {
		uint64_t *to = &sums[entries[i].is_after];

		*to = bytes_add(*to, entries[i].mapping->counters.bytes[SMAPS_RSS]);
	}
	if (sums[0] == sums[1])
		return;
	change = moment_row_add_process(diff, PART_MAPPING, before->usage, after->usage);
	change->name = entries[0].label;
	change->owner = first->owner;
	change->start_addr = entries[0].label[0] == '\0' ? first->start_addr : 0;
	change->before = sums[0];
	change->after = sums[1];
}

void moment_rows_add_mappings(struct moment_diff *diff,
			      const struct moment_process *before,
			      const struct moment_process *after)
{
	bool is_same_process =
		before->usage && after->usage &&
		process_is_same(&before->usage->process, &after->usage->process);
	const struct moment_mappings *b = before->mappings, *a = after->mappings;
	struct entry *entries;
	size_t count = 0, length;

	if ((b && !moment_mappings_are_read(b)) || (a && !moment_mappings_are_read(a)))
		return;
	entries = xcalloc((b ? b->list.count : 0) + (a ? a->list.count : 0) + 1,
			  sizeof(*entries));
	add_entries(entries, &count, b, false, is_same_process);
	add_entries(entries, &count, a, true, is_same_process);
	qsort(entries, count, sizeof(*entries), compare_entries);
	for (size_t i = 0; i < count; i += length) {
		length = row_length(entries + i, count - i);
		add_row(diff, before, after, entries + i, length);
	}
	free(entries);
}
