/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_moment - stop a process, copy its mappings, its memory and its threads' registers,
 * and let it go.
 */
#ifndef MS_SAMPLE_HEAP_MOMENT_H
#define MS_SAMPLE_HEAP_MOMENT_H

#include "sample/heap_reader.h"

/*
 * One stop: its input and what was read during it. All of it, the image included, is left
 * to the thread that reads if that hangs.
 */
struct heap_moment {
	struct heap_reader *reader;
	int pagemap_fd, mem_fd;
	int memory_pid; /* a thread's that lives */
	bool is_running;
	struct image image; /* the reader's, meanwhile */
	struct usage usage;
	struct mapping_list mappings;
	uint64_t *thread_addrs;
	size_t thread_count;
};

/* True if the pages of a mapping are copied. */
bool heap_moment_wants(const struct heap_reader *reader, const struct mapping *m);

/*
 * The image and the registers are the reader's afterwards. Unless the reader says that the
 * target runs meanwhile, it is stopped. Returns 0, with *ret for heap_moment_free(); or as
 * stop_run() and peek_copy(), with *ret NULL.
 */
int heap_moment_take(struct heap_reader *reader, const struct usage *u,
		     struct heap_moment **ret, uint64_t *ret_pause_ns);
void heap_moment_free(struct heap_moment *moment);

#endif
