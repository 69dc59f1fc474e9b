/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/smaps/maps.h"

#include <errno.h>

#include "base/strbuf.h"
#include "base/units.h"
#include "proc/process/dir.h"
#include "proc/smaps/smaps.h"
#include "proc/system/local_devices.h"

static int add_mapping(void *context, struct mapping *m)
{
	if (m->start_addr < m->end_addr)
		mapping_list_add(context, m);
	return 0;
}

/*
 * Read the maps file, and call fn for each mapping. Return 0, -errno, or the negative
 * value that fn returned.
 */
static int read_maps(int process_fd, mapping_fn fn, void *context)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct smaps_reader reader;
	size_t line;
	int r = proc_dir_read(process_fd, PROC_MAPS, 64 * MIB, &text);

	if (r < 0)
		return r;
	smaps_reader_init(&reader);
	r = smaps_parse(&reader, strbuf_text(&text), text.length, fn, context, &line);
	smaps_reader_release(&reader);
	return r;
}

int proc_maps_read(int process_fd, struct mapping_list *ret)
{
	int r = read_maps(process_fd, add_mapping, ret);

	if (r == 0)
		local_devices_mark(process_fd, ret);
	return r;
}

struct comparison {
	const struct mapping_list *list;
	size_t next;
};

static void skip_empty(struct comparison *c)
{
	while (c->next < c->list->count &&
	       c->list->items[c->next].start_addr >= c->list->items[c->next].end_addr)
		c->next++;
}

static int compare_mapping(void *context, struct mapping *m)
{
	const uint32_t flags = MAPPING_ACCESS | MAPPING_SHARED;
	struct comparison *c = context;
	const struct mapping *other;

	if (m->start_addr >= m->end_addr)
		return 0;
	skip_empty(c);
	if (c->next == c->list->count)
		return -ESTALE;
	other = &c->list->items[c->next++];
	return m->start_addr == other->start_addr && m->end_addr == other->end_addr &&
			       (m->flags & flags) == (other->flags & flags) &&
			       m->file_offset_bytes == other->file_offset_bytes &&
			       m->dev_major == other->dev_major &&
			       m->dev_minor == other->dev_minor &&
			       m->inode == other->inode
		       ? 0
		       : -ESTALE;
}

bool proc_maps_are(int process_fd, const struct mapping_list *list)
{
	struct comparison c = { list, 0 };

	if (read_maps(process_fd, compare_mapping, &c) < 0)
		return false;
	skip_empty(&c);
	return c.next == list->count;
}
