/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "render/heap/page.h"

/* The fields of struct mallinfo2, in the order of the man page mallinfo2(3). */
static const struct {
	const char *name;
	size_t offset;
} mallinfo_fields[] = {
#define FIELD(name)                                         \
	{                                                   \
#		name, offsetof(struct heap_mallinfo, name) \
	}
	FIELD(arena),	FIELD(ordblks), FIELD(smblks),	 FIELD(hblks),	  FIELD(hblkhd),
	FIELD(usmblks), FIELD(fsmblks), FIELD(uordblks), FIELD(fordblks), FIELD(keepcost),
#undef FIELD
};

#define MALLINFO_FIELDS (sizeof(mallinfo_fields) / sizeof(mallinfo_fields[0]))

static uint64_t mallinfo_field(const struct heap *heap, size_t index)
{
	uint64_t value;

	memcpy(&value, (const char *)&heap->mallinfo + mallinfo_fields[index].offset,
	       sizeof(value));
	return value;
}

void heap_mallinfo_add_text(const struct heap_page *p)
{
	strbuf_add_text(p->out, "\n  mallinfo2:");
	for (size_t i = 0; i < MALLINFO_FIELDS; i++)
		strbuf_addf(p->out, "%s%s=%" PRIu64, i == 5 ? "\n            " : " ",
			    mallinfo_fields[i].name, mallinfo_field(p->heap, i));
	strbuf_add_char(p->out, '\n');
}

void heap_mallinfo_add_json(struct json *j, const struct heap *heap)
{
	json_begin_object(j, "mallinfo2");
	for (size_t i = 0; i < MALLINFO_FIELDS; i++)
		json_add_number(j, mallinfo_fields[i].name, mallinfo_field(heap, i));
	json_end_object(j);
}
