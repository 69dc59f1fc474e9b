/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * survey - walk the heaps of a running process to find out which pages a heap walk reads.
 * A pause then copies only these pages. Most heap walks read only the allocator's own
 * data, which is a small part of the heap.
 */
#ifndef MS_SAMPLE_HEAP_SURVEY_H
#define MS_SAMPLE_HEAP_SURVEY_H

#include "sample/heap/reader.h"
#include "walk/walk.h"

/*
 * A survey fails if it reads more than 1/SURVEY_PAGES_SHARE of all pages. With large
 * arenas of glibc's malloc, it fails instead if the walkers access too many of the pages
 * that it has read, see lazy_start().
 */
#define SURVEY_PAGES_SHARE 4

struct survey {
	uint64_t bytes; /* upper bound on the resident bytes that a pause will copy */
	/* true if the last walk needed only pages that were listed before it */
	bool is_stable;
};

/*
 * Return true if a survey is worthwhile: if the walkers and the caller probably
 * read only a small part of the pages. Return false if memstate has given up
 * surveys of the process.
 */
bool heap_survey_is_promising(const struct heap_reader *reader, int pid,
			      const struct mapping_list *mappings);

/* Give up surveys of the process in this reader. */
void heap_survey_give_up(struct heap_reader *reader, int pid);

/*
 * Find the pages that a pause should copy, and store them in reader->pages. If that
 * succeeds, reader->image is sparse. `mappings` is the result of the last reading. Add
 * the time for which the process was paused to *stopped_ns.
 *
 * Return 0; -ENODATA if the survey fails, because the heap walks read too large a part of
 * the pages, or because memstate cannot watch its own memory (lazy_is_possible());
 * -ENOMEM if there is too little memory for a survey; or an error of stop_run() if the
 * process cannot be paused.
 */
int heap_survey(struct heap_reader *reader, const struct usage *u,
		const struct mapping_list *mappings, struct survey *ret,
		uint64_t *stopped_ns);

/*
 * Walk the heap in the reader's sparse image. mem_fd is /proc/PID/mem of the process.
 * Return 0, or -ENODATA if the walkers read pages that were not copied, which are then
 * added to reader->pages. *ret is initialised in every case.
 */
int heap_survey_walk(struct heap_reader *reader, const struct walk_input *input,
		     int mem_fd, struct heap *ret);

#endif
