/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is an smaps text, parsed in every way that the parser offers. All results
 * must be equal, and no field may be known that the text does not contain.
 */
#include "config.h"

#include <string.h>

#include "base/units.h"
#include "fuzz.h"
#include "proc/smaps/parse.h"

struct outcome {
	int r;
	struct mapping_list list;
};

static const char learnt_from[] = "0-1000 ---p 00000000 00:00 0\n"
				  "Size:                132 kB\n"
				  "Rss:                 100 kB\n"
				  "LazyFree:              8 kB\n"
				  "THPeligible:           0\n"
				  "VmFlags: rd \n";

static int keep(void *context, struct mapping *m)
{
	CHECK(m->end_addr >= m->start_addr);
	CHECK(strlen(m->name) <= m->name_length);
	mapping_list_add(context, m);
	return 0;
}

static int drop(void *context, struct mapping *m)
{
	(void)context;
	(void)m;
	return 0;
}

static struct outcome parse(struct smaps_layout *layout, struct strbuf *names,
			    const char *text, size_t length, size_t cut)
{
	struct outcome o = { 0, MAPPING_LIST_INIT };
	struct smaps_parse p;
	size_t used = 0, more = 0;

	smaps_parse_begin(&p, layout, names, keep, &o.list);
	o.r = smaps_parse_part(&p, text, cut, false, &used);
	if (o.r < 0)
		return o;
	CHECK(used <= cut);
	o.r = smaps_parse_part(&p, text + used, length - used, true, &more);
	CHECK(o.r < 0 || used + more == length);
	return o;
}

static void check_same(struct outcome want, struct outcome got)
{
	CHECK(want.r == got.r);
	/* after an error, one way may have parsed a record more than another */
	CHECK(want.r < 0 || want.list.count == got.list.count);
	for (size_t i = 0; want.r == 0 && i < want.list.count; i++) {
		const struct mapping *a = &want.list.items[i], *b = &got.list.items[i];

		CHECK(a->start_addr == b->start_addr && a->end_addr == b->end_addr);
		CHECK(a->file_offset_bytes == b->file_offset_bytes &&
		      a->inode == b->inode);
		CHECK(a->dev_major == b->dev_major && a->dev_minor == b->dev_minor);
		CHECK(a->flags == b->flags && a->name_length == b->name_length);
		CHECK(memcmp(a->name, b->name, a->name_length) == 0);
		CHECK(memcmp(&a->counters, &b->counters, sizeof(a->counters)) == 0);
	}
	mapping_list_release(&got.list);
}

static void check_known_fields(const struct outcome *o, const char *text, size_t length)
{
	static const struct {
		enum smaps_field field;
		const char *key;
	} rows[] = {
		{ SMAPS_RSS, "Rss:" },
		{ SMAPS_LAZYFREE, "LazyFree:" },
		{ SMAPS_SWAP_PSS, "SwapPss:" },
	};

	for (size_t i = 0; i < o->list.count; i++)
		for (size_t f = 0; f < sizeof(rows) / sizeof(rows[0]); f++)
			CHECK(!bytes_known(
				      o->list.items[i].counters.bytes[rows[f].field]) ||
			      memmem(text, length, rows[f].key, strlen(rows[f].key)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t cut = size ? data[size / 2] * (size + 1) / 256 : 0;
	struct smaps_reader reader;
	struct smaps_layout layout = { .line_count = 0 };
	struct outcome lines;
	size_t line;

	smaps_reader_init(&reader);
	lines = parse(NULL, reader.names, text, size, 0);
	check_known_fields(&lines, text, size);
	check_same(lines, parse(NULL, reader.names, text, size, cut));
	check_same(lines, parse(&layout, reader.names, text, size, 0));
	/* now the layout has been learnt, if the text has one */
	check_same(lines, parse(&layout, reader.names, text, size, 0));
	check_same(lines, parse(&layout, reader.names, text, size, cut));
	CHECK(smaps_parse(&reader, learnt_from, sizeof(learnt_from) - 1, drop, NULL,
			  &line) == 0);
	CHECK(reader.smaps_layout.line_count == 4);
	check_same(lines, parse(&reader.smaps_layout, reader.names, text, size, cut));
	mapping_list_release(&lines.list);
	smaps_reader_release(&reader);
	return 0;
}
