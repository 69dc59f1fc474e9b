/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moment - pause a process, copy its mappings, its memory and its
 * threads' registers, and resume the process.
 */
#ifndef MS_SAMPLE_HEAP_MOMENT_H
#define MS_SAMPLE_HEAP_MOMENT_H

#include "sample/heap/reader.h"

/*
 * One pause: its input and everything read during the pause. If the reading thread hangs,
 * the whole struct, including the image, is left to this thread and leaks.
 */
struct heap_moment {
	struct heap_reader *reader;
	int pagemap_fd, mem_fd;
	/* thread ID of a live thread, whose /proc files give access to the memory */
	int memory_pid;
	bool is_running;
	struct image image; /* the reader's image, borrowed until the copy is complete */
	struct usage usage;
	struct mapping_list mappings;
	uint64_t *thread_addrs;
	size_t thread_count;
};

/* Return true if the pages of the mapping must be copied. */
bool heap_moment_wants(const struct heap_reader *reader, const struct mapping *m);

/*
 * Pause the process, copy it, and resume it; if reader->is_running is set, copy without a
 * pause. On success, the reader owns the image and the registers, *ret must be freed with
 * heap_moment_free(), and the return value is 0. On failure, *ret is NULL and the error
 * is one of those of stop_run() and peek_copy().
 */
int heap_moment_take(struct heap_reader *reader, const struct usage *u,
		     struct heap_moment **ret, uint64_t *ret_pause_ns);
void heap_moment_free(struct heap_moment *moment);

#endif
