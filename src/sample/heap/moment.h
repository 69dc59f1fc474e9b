/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moment - pause a process, copy its mappings, its memory and its threads'
 * registers, and resume the process.
 */
#ifndef MS_SAMPLE_HEAP_MOMENT_H
#define MS_SAMPLE_HEAP_MOMENT_H

#include "sample/heap/reader.h"
#include "walk/walk.h"

/*
 * Input and results of one pause of a process. If the reading thread hangs, it keeps the
 * whole struct, including the image, which is then leaked.
 */
struct heap_moment {
	struct heap_reader *reader;
	int process_fd, pagemap_fd, mem_fd;
	/* ID of a live thread, whose /proc files give access to the process's memory */
	int memory_pid;
	bool is_running;
	/*
	 * the reader's copy of the process's memory, and the list of pages to copy,
	 * borrowed until copying ends
	 */
	struct image image;
	struct page_list pages;
	/*
	 * Buffer for the pages that the pause copies, without gaps between them. Copying
	 * the pages into the sparse image would cause page faults, and so make the pause
	 * several times longer.
	 */
	struct image packed;
	/*
	 * The pages that were copied before the pause, borrowed from the reader. If
	 * `early` has ranges, the pause copies only the pages that `early` lacks.
	 */
	struct early_copy early;
	/* the figures of the process, which are read before the pause if possible */
	struct usage usage;
	struct mapping_list mappings;
	/*
	 * true if counters of the mappings were adjusted to the resident pages found in
	 * memory, so the mappings must be classified again
	 */
	bool is_recounted;
	uint64_t *thread_addrs;
	size_t thread_count;
};

/* Return true if the pages of the mapping must be copied for the heap walk. */
bool heap_moment_wants(const struct heap_reader *reader, const struct mapping *m);

/*
 * Return true if the mapping may contain anonymous pages that are shared with other
 * processes because of fork or KSM. File pages do not matter.
 */
bool heap_moment_may_share_pages(const struct mapping *m);

/*
 * Return the size in bytes of a complete copy for the heap walk according to smaps,
 * or BYTES_UNKNOWN.
 */
uint64_t heap_moment_bytes(const struct heap_reader *reader,
			   const struct mapping_list *mappings);

/*
 * Pause the process, copy its memory, and resume it. *u and *mappings are the last
 * reading of smaps; mappings may be NULL. Before the pause, memstate reads smaps again if
 * that reading is old, if the mappings have changed, or if counting the resident pages is
 * not sufficient to update its figures. In the pause, memstate checks the mappings and
 * the resident pages again, and reads smaps only if a check fails. The Rss of the copied
 * mappings is therefore from the pause itself. Pss, Swap, the states of the pages, such
 * as LazyFree, and the Rss of all other mappings may be from before the pause.
 *
 * If reader->is_running is set, copy without a pause. If the reader's image is sparse,
 * copy only reader->pages, which must be sorted; if reader->is_running is also set, pause
 * the process only to read the registers of its threads.
 *
 * If reader->early has ranges, first copy the pages in them that were written since the
 * previous round. In the pause, copy only the pages that were written after that.
 *
 * Return 0 on success; the reader then owns the image and the registers, and *ret must be
 * freed with heap_moment_free(). On failure, *ret is NULL, and the return value is an
 * error of stop_run() or peek_copy().
 */
int heap_moment_take(struct heap_reader *reader, const struct usage *u,
		     const struct mapping_list *mappings, struct heap_moment **ret,
		     uint64_t *ret_pause_ns);
void heap_moment_free(struct heap_moment *moment);

/*
 * Return the input for walking the heap in the copy that heap_moment_take() made. The
 * input borrows data of the reader and of *moment.
 */
struct walk_input heap_moment_input(struct heap_reader *reader,
				    const struct heap_moment *moment);

#endif
