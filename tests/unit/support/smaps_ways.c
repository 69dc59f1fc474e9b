/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "smaps_ways.h"

#include <errno.h>
#include <string.h>

#include "unit.h"

int keep_mapping(void *context, struct mapping *m)
{
	mapping_list_add(context, m);
	return 0;
}

struct smaps_reader reader;

int open_reader(void **state)
{
	(void)state;
	smaps_reader_init(&reader);
	return 0;
}

int close_reader(void **state)
{
	(void)state;
	smaps_reader_release(&reader);
	return 0;
}

int parse_parts(enum way way, const char *text, size_t length, size_t cut,
		struct mapping_list *ret)
{
	struct smaps_parse p;
	size_t used = 0, more;
	int r;

	*ret = (struct mapping_list)MAPPING_LIST_INIT;
	if (way == WAY_FRESH)
		reader.smaps_layout.line_count = 0;
	smaps_parse_begin(&p, way == WAY_LINES ? NULL : &reader.smaps_layout,
			  reader.names, keep_mapping, ret);
	r = smaps_parse_part(&p, text, cut, false, &used);
	if (r == 0)
		r = smaps_parse_part(&p, text + used, length - used, true, &more);
	if (r == 0 && used + more != length)
		r = -EIO;
	return r;
}

int parse_text(enum way way, const char *text, struct mapping_list *ret)
{
	return parse_parts(way, text, strlen(text), 0, ret);
}

void learn_6_18(void)
{
	struct mapping_list list;

	assert_int_equal(parse_text(WAY_FRESH, THREE_RECORDS, &list), 0);
	assert_true(reader.smaps_layout.line_count == 23);
	mapping_list_release(&list);
}

uint64_t field_bytes(const struct mapping_list *list, size_t index, enum smaps_field f)
{
	assert_true(index < list->count);
	return list->items[index].counters.bytes[f];
}

void assert_same_mappings(const struct mapping_list *a, const struct mapping_list *b)
{
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		const struct mapping *x = &a->items[i], *y = &b->items[i];

		assert_true(x->start_addr == y->start_addr && x->end_addr == y->end_addr);
		assert_true(x->file_offset_bytes == y->file_offset_bytes);
		assert_true(x->inode == y->inode && x->dev_major == y->dev_major);
		assert_true(x->dev_minor == y->dev_minor && x->flags == y->flags);
		assert_string_equal(x->name, y->name);
		assert_memory_equal(&x->counters, &y->counters, sizeof(x->counters));
	}
}
