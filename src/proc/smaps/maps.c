/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/smaps/maps.h"

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

int proc_maps_read(int process_fd, struct mapping_list *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct smaps_reader reader;
	size_t line;
	int r;

	r = proc_dir_read(process_fd, PROC_MAPS, 64 * MIB, &text);
	if (r < 0)
		return r;
	smaps_reader_init(&reader);
	r = smaps_parse(&reader, strbuf_text(&text), text.length, add_mapping, ret,
			&line);
	smaps_reader_release(&reader);
	if (r == 0)
		local_devices_mark(process_fd, ret);
	return r;
}
