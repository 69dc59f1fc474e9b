/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/process/heap_rows.h"

#include <inttypes.h>

#include "base/units.h"

void usage_heaps_add_titles(struct strbuf *out, const struct usage *u,
			    const char *separator)
{
	if (u->heap_count == 0 && allocator_titles[u->allocator])
		strbuf_addf(out, "%s%s", separator, allocator_titles[u->allocator]);
	for (size_t i = 0; i < u->heap_count; i++)
		strbuf_addf(out, "%s%s",
			    i == 0		     ? separator
			    : i + 1 == u->heap_count ? " and "
						     : ", ",
			    allocator_titles[u->heaps[i].allocator]);
}

static void add_amount(struct strbuf *out, uint64_t bytes, bool exact_bytes)
{
	char text[UNITS_TEXT_SIZE];

	if (exact_bytes && bytes_known(bytes))
		strbuf_addf(out, " %14" PRIu64, bytes);
	else
		strbuf_addf(out, " %*s", exact_bytes ? 14 : 8,
			    units_format_bytes(bytes, text));
}

void usage_heaps_add_rows(struct strbuf *out, const struct usage *u, bool exact_bytes)
{
	static const char *const headings[] = { "Rss", "live", "free", "own" };

	strbuf_addf(out, "%-17s", "heap");
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++)
		strbuf_addf(out, " %*s", exact_bytes ? 14 : 8, headings[i]);
	strbuf_add_text(out, "  quality\n");
	for (size_t i = 0; i < u->heap_count; i++) {
		const struct usage_heap *heap = &u->heaps[i];

		strbuf_addf(out, "%-17s", allocator_titles[heap->allocator]);
		add_amount(out, usage_heap_bytes(heap), exact_bytes);
		add_amount(out, heap->owner_bytes[OWNER_LIVE], exact_bytes);
		add_amount(out,
			   bytes_add(heap->owner_bytes[OWNER_POOL_PAGES],
				     heap->owner_bytes[OWNER_POOL_FRAGMENTS]),
			   exact_bytes);
		add_amount(out, heap->owner_bytes[OWNER_HEAP_META], exact_bytes);
		strbuf_addf(out, "  %s\n", quality_names[heap->quality]);
	}
}
