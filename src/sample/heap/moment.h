/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moment - pause a process, copy its mappings, its memory and its threads'
 * registers, and resume it.
 */
#ifndef MS_SAMPLE_HEAP_MOMENT_H
#define MS_SAMPLE_HEAP_MOMENT_H

#include "sample/heap/reader.h"

/*
 * One pause: its input and everything read during it. If the reading thread hangs, all of
 * it, including the image, is left to that thread.
 */
struct heap_moment {
	struct heap_reader *reader;
	int pagemap_fd, mem_fd;
	int memory_pid; /* of a live thread */
	bool is_running;
	struct image image; /* the reader's image while the moment is taken */
	struct usage usage;
	struct mapping_list mappings;
	uint64_t *thread_addrs;
	size_t thread_count;
};

/* Whether the pages of the mapping are copied. */
bool heap_moment_wants(const struct heap_reader *reader, const struct mapping *m);

/*
 * Take a moment. Afterwards the reader owns the image and the registers. The target is
 * paused unless the reader's is_running is set. Returns 0 with *ret for
 * heap_moment_free(); or like stop_run() and peek_copy(), with *ret NULL.
 */
int heap_moment_take(struct heap_reader *reader, const struct usage *u,
		     struct heap_moment **ret, uint64_t *ret_pause_ns);
void heap_moment_free(struct heap_moment *moment);

#endif
