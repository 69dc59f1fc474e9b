/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/process/recount.h"

#include <stddef.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/process/classify.h"

/* fields of smaps that include every private dirty anonymous page */
static const enum smaps_field changing[] = {
	SMAPS_RSS, SMAPS_PSS, SMAPS_PSS_DIRTY, SMAPS_PRIVATE_DIRTY, SMAPS_ANONYMOUS,
};

/* fields of smaps that include only some of the resident pages */
static const enum smaps_field bounded[] = {
	SMAPS_REFERENCED,
	SMAPS_KSM,
	SMAPS_ANON_HUGE,
	SMAPS_LOCKED,
};

static bool is_private_anonymous(const struct mapping *m)
{
	return m->inode == 0 && !(m->flags & (MAPPING_SHARED | MAPPING_HUGETLB));
}

static void grow(uint64_t *bytes, uint64_t more_bytes)
{
	for (size_t i = 0; i < sizeof(changing) / sizeof(changing[0]); i++)
		bytes[changing[i]] = bytes_add(bytes[changing[i]], more_bytes);
}

static void shrink(uint64_t *bytes, uint64_t less_bytes)
{
	for (size_t i = 0; i < sizeof(changing) / sizeof(changing[0]); i++)
		bytes[changing[i]] = bytes_sub(bytes[changing[i]], less_bytes);
	for (size_t i = 0; i < sizeof(bounded) / sizeof(bounded[0]); i++)
		if (bytes_known(bytes[bounded[i]]) &&
		    bytes[bounded[i]] > bytes[SMAPS_RSS])
			bytes[bounded[i]] = bytes[SMAPS_RSS];
}

enum recount recount_mapping(struct mapping *m, uint64_t resident_bytes,
			     uint64_t swapped_bytes)
{
	uint64_t *bytes = m->counters.bytes;
	uint64_t rss = bytes[SMAPS_RSS];

	if (mapping_copyable_bytes(m) == resident_bytes)
		return RECOUNT_EQUAL;
	if (!is_private_anonymous(m) || !bytes_known(rss) ||
	    swapped_bytes != bytes[SMAPS_SWAP])
		return RECOUNT_UNKNOWN;
	if (resident_bytes < rss && bytes[SMAPS_PRIVATE_DIRTY] != rss)
		return RECOUNT_UNKNOWN;
	if (resident_bytes > rss)
		grow(bytes, resident_bytes - rss);
	else
		shrink(bytes, rss - resident_bytes);
	if (m->flags & MAPPING_LOCKED && resident_bytes > rss)
		bytes[SMAPS_LOCKED] =
			bytes_add(bytes[SMAPS_LOCKED], resident_bytes - rss);
	return RECOUNT_CHANGED;
}

void recount_usage(struct usage *u, const struct mapping_list *mappings)
{
	_cleanup_free_ uint64_t *stack_addrs =
		xcalloc(mappings->count + 1, sizeof(*stack_addrs));
	struct classifier classifier;
	size_t stack_count = 0;

	classifier_begin(&classifier, u);
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];

		classifier_add(&classifier, m);
		if (m->owner == OWNER_STACK)
			stack_addrs[stack_count++] = m->start_addr;
	}
	classifier_end(&classifier, stack_addrs, stack_count, NULL, NULL);
	classifier_release(&classifier);
}
