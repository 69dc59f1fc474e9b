/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/hooks_names.h"

#include <stdio.h>
#include <string.h>

#include "agent/count/hooks.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "probe/borrow/own_number.h"

#define COMM_MAX 64

static void read_name(int process_fd, int tid, char name[COUNT_NAME_BYTES])
{
	_cleanup_strbuf_ struct strbuf comm = STRBUF_INIT;
	char path[64];
	size_t length;

	snprintf(path, sizeof(path), "task/%d/comm", tid);
	if (io_read_file_at(process_fd, path, COMM_MAX, &comm) < 0)
		return;
	length = strcspn(strbuf_text(&comm), "\n");
	if (length < COUNT_NAME_BYTES)
		memcpy(name, strbuf_text(&comm), length);
}

void hooks_name_threads(struct count_head *counts, int process_fd, int pid)
{
	uint32_t count = counts->slot_count, own_pid = own_number_read(process_fd, ".");

	for (uint32_t i = 1; i < count && i < HOOKS_SLOT_COUNT; i++) {
		struct count_slot *slot = (void *)((char *)counts + COUNT_HEAD_BYTES +
						   (size_t)i * COUNT_SLOT_BYTES);
		int tid = slot->tid;

		if (tid <= 0 || slot->name[0])
			continue;
		if (own_pid != (uint32_t)pid)
			tid = own_number_find_thread(process_fd, (uint32_t)tid);
		if (tid > 0)
			read_name(process_fd, tid, slot->name);
	}
}
