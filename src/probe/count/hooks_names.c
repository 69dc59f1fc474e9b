/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/hooks_names.h"

#include <string.h>

#include "agent/count/hooks.h"
#include "base/cleanup.h"
#include "proc/process/dir.h"
#include "proc/process/status.h"

#define COMM_MAX 64

static void read_name(int process_fd, int tid, char name[COUNT_NAME_BYTES])
{
	_cleanup_strbuf_ struct strbuf comm = STRBUF_INIT;
	size_t length;

	if (proc_dir_read_thread(process_fd, tid, PROC_COMM, COMM_MAX, &comm) < 0)
		return;
	length = strcspn(strbuf_text(&comm), "\n");
	if (length < COUNT_NAME_BYTES)
		memcpy(name, strbuf_text(&comm), length);
}

void hooks_name_threads(struct count_head *counts, int process_fd, int pid)
{
	uint32_t count = counts->slot_count,
		 own_pid = proc_status_read_own_number(process_fd, 0);

	for (uint32_t i = 1; i < count && i < HOOKS_SLOT_COUNT; i++) {
		struct count_slot *slot = (void *)((char *)counts + COUNT_HEAD_BYTES +
						   (size_t)i * COUNT_SLOT_BYTES);
		int tid = slot->tid;

		if (tid <= 0 || slot->name[0])
			continue;
		if (own_pid != (uint32_t)pid)
			tid = proc_status_find_thread(process_fd, (uint32_t)tid);
		if (tid > 0)
			read_name(process_fd, tid, slot->name);
	}
}
