/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moment - pause a process, copy its mappings, its memory and its threads'
 * registers, and resume the process.
 */
#ifndef MS_SAMPLE_HEAP_MOMENT_H
#define MS_SAMPLE_HEAP_MOMENT_H

#include "sample/heap/reader.h"

/*
 * Input and results of one pause of a process. If the reading thread hangs, it keeps the
 * whole struct, including the image, which is then leaked.
 */
struct heap_moment {
	struct heap_reader *reader;
	int pagemap_fd, mem_fd;
	/* ID of a live thread, whose /proc files give access to the process's memory */
	int memory_pid;
	bool is_running;
	/* the image of the reader and its list of pages, borrowed until the copy ends */
	struct image image;
	struct page_list pages;
	struct usage usage;
	struct mapping_list mappings;
	uint64_t *thread_addrs;
	size_t thread_count;
};

/* Return true if the pages of the mapping must be copied for the heap walk. */
bool heap_moment_wants(const struct heap_reader *reader, const struct mapping *m);

/*
 * Pause the process, copy its memory, and resume it. If reader->is_running is set, copy
 * without a pause. If the reader's image is sparse, copy only reader->pages, which must
 * be sorted; if reader->is_running is also set, pause the process only to read the
 * registers of its threads.
 *
 * Returns 0 on success; the reader then owns the image and the registers, and *ret must
 * be freed with heap_moment_free(). On failure, *ret is NULL, and the return value is an
 * error of stop_run() or peek_copy().
 */
int heap_moment_take(struct heap_reader *reader, const struct usage *u,
		     struct heap_moment **ret, uint64_t *ret_pause_ns);
void heap_moment_free(struct heap_moment *moment);

#endif
