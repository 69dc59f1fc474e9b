/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/hooks_counts.h"

#include <stdlib.h>
#include <string.h>

#include "agent/count/hooks.h"
#include "base/xalloc.h"
#include "probe/count/reader.h"

#define READ_TRIES 3

/*
 * Copy the counts from the memory shared with the process. Return the
 * number of bytes copied.
 */
static size_t copy_counts(struct hooks_counts *copy, const struct count_head *counts)
{
	size_t length = HOOKS_COUNTS_BYTES;

	for (int try = 0; try < READ_TRIES; try++) {
		uint32_t slots = __atomic_load_n(&counts->slot_count, __ATOMIC_ACQUIRE);

		if (slots > HOOKS_SLOT_COUNT)
			slots = HOOKS_SLOT_COUNT;
		length = COUNT_HEAD_BYTES + (size_t)slots * COUNT_SLOT_BYTES;
		if (copy->capacity < length)
			copy->bytes = xgrow(copy->bytes, &copy->capacity, length, 1);
		memcpy(copy->bytes, counts, length);
		if (!count_is_torn(copy->bytes, length))
			break;
	}
	return length;
}

int hooks_counts_read(struct hooks_counts *copy, const struct count_head *counts, int pid,
		      struct count_program *p)
{
	size_t length = copy_counts(copy, counts);
	struct count_program read = *p;
	int r;

	read.pid = pid;
	r = count_read_program(copy->bytes, length, &read);
	p->threads = read.threads;
	p->thread_capacity = read.thread_capacity;
	if (r < 0)
		return r;
	read.parent_pid = p->parent_pid;
	memcpy(read.name, p->name, sizeof(read.name));
	*p = read;
	return 0;
}

void hooks_counts_release(struct hooks_counts *copy)
{
	free(copy->bytes);
	*copy = (struct hooks_counts){ NULL, 0 };
}
