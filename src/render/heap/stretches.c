/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/heap/page.h"

#include <inttypes.h>
#include <stdio.h>

#define KEY_SIZE 32

void heap_page_add_stretches(const struct heap_page *p, const struct heap_arena *arena,
			     const char *title,
			     const char *const labels[HEAP_STRETCH_COUNT_])
{
	int width = heap_page_bytes_width(p);
	size_t begin = p->out->length;

	strbuf_addf(p->out, "\n  %-34s %12s %*s %*s\n", title, "COUNT", width, "BYTES",
		    width, "RESIDENT");
	heap_page_mark_heading(p, begin);
	for (size_t s = 0; s < HEAP_STRETCH_COUNT_; s++) {
		const struct stretch_sum *sum = &arena->stretches[s];

		if (!labels[s])
			continue;
		strbuf_addf(p->out, "  %-34s %12" PRIu64 " ", labels[s], sum->count);
		heap_page_add_bytes(p, sum->bytes, width);
		strbuf_add_char(p->out, ' ');
		heap_page_add_bytes(p, sum->resident_bytes, width);
		strbuf_add_char(p->out, '\n');
	}
}

void heap_json_add_stretch(struct json *j, const char *name,
			   const struct stretch_sum *sum, bool is_known)
{
	const struct chunk_sum extents = { sum->count, sum->bytes };
	char key[KEY_SIZE];

	heap_json_add_sum(j, name, &extents, is_known);
	snprintf(key, sizeof(key), "%s_resident_bytes", name);
	json_add_amount(j, key, is_known ? sum->resident_bytes : BYTES_UNKNOWN);
}
