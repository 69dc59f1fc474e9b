/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader - read one process including its heap: pause the process, copy its memory,
 * resume it, walk the heap in the copy, and add the owners of the heap memory to the
 * usage. If requested, also query the allocator.
 */
#ifndef MS_SAMPLE_HEAP_READER_H
#define MS_SAMPLE_HEAP_READER_H

#include "model/heap.h"
#include "model/heap_detail.h"
#include "model/image.h"
#include "sample/heap/helpers.h"
#include "sample/process/names.h"
#include "sample/process/sampler.h"
#include "tracee/elf/allocator_code.h"
#include "tracee/memory/early_copy.h"
#include "tracee/memory/page_list.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"
#include "walk/mark/roots.h"

/* Whether memstate may copy a heap while the process runs (pre_copy.h). */
enum pre_copy {
	PRE_COPY_OFF,
	/*
	 * copy while the process runs only if a pause would be too long and the process
	 * does not rely on huge pages
	 */
	PRE_COPY_AUTO,
	/*
	 * copy while the process runs only if a pause would be too long, even if writes
	 * then split the huge pages of the process
	 */
	PRE_COPY_HUGE,
	/*
	 * copy while the process runs only if a pause would be too long, by means of
	 * soft-dirty bits; this clears the bits, which other programs may also use
	 */
	PRE_COPY_SOFT_DIRTY,
};

/* The parts of a heap that the caller uses after a read. */
enum heap_use {
	/* everything, including the contents of all blocks */
	HEAP_USE_ALL,
	/* the heap's figures, and the data that heap_reader_detail() reads */
	HEAP_USE_DETAIL,
	/* only the figures */
	HEAP_USE_FIGURES,
};

#define FUTILE_PIDS 64

/*
 * Processes for which a way to copy the heap is not tried again, because it has failed.
 * If the array is full, a new process replaces the oldest one.
 */
struct futile_pids {
	int items[FUTILE_PIDS];
	/* number of processes added so far, including replaced ones */
	unsigned int count;
};

static inline void futile_pids_add(struct futile_pids *pids, int pid)
{
	pids->items[pids->count++ % FUTILE_PIDS] = pid;
}

static inline bool futile_pids_contain(const struct futile_pids *pids, int pid)
{
	for (size_t i = 0; i < FUTILE_PIDS; i++)
		if (pids->items[i] == pid)
			return true;
	return false;
}

struct heap_copies;

struct heap_reader {
	const struct procfs *fs;
	struct sampler *sampler;
	/*
	 * sampler that the reader created after it abandoned the caller's sampler;
	 * otherwise NULL
	 */
	struct sampler *own_sampler;
	uint64_t max_pause_ns;
	/*
	 * Maximum number of bytes to copy; a heap that requires more fails with -EFBIG.
	 * 0 means that there is no limit. Set by the caller.
	 */
	uint64_t max_copy_bytes;
	/*
	 * true to read the heap without pausing the target; the figures
	 * are then estimates
	 */
	bool is_running;
	/*
	 * true to wait for up to a second if another memstate instance has
	 * paused the process
	 */
	bool waits_for_turn;
	/*
	 * true to read the heap of a running process only once; otherwise memstate reads
	 * it several times to measure the variation of the figures
	 */
	bool is_read_once;
	/* true to also copy all memory that can contain pointers; set by the caller */
	bool copies_roots;
	/*
	 * The parts of the heap that the caller uses. The copy may lack pages that are
	 * not needed for these parts. Set by the caller.
	 */
	enum heap_use use;
	/* helpers for querying the allocator, borrowed, or NULL to make no queries */
	struct helpers *helpers;
	/* the allocator's answer to the query during the last read */
	struct helper_answer answer;
	enum pre_copy pre_copy; /* set by the caller */
	/*
	 * true if memstate has tracked the writes of the process during this read;
	 * write-tracking flags in smaps then do not prove that another program tracks
	 * the process
	 */
	bool has_tracked;
	/* pages that were copied while the process ran; range_count is 0 if none were */
	struct early_copy early;
	/*
	 * The copies that are kept between the reads of a process (copies.h), borrowed,
	 * or NULL to keep no copies. Set by the caller.
	 */
	struct heap_copies *copies;
	/* copied memory; its buffer is reused by every read */
	struct image image;
	/*
	 * pages that the heap walk will probably read, sorted; used if only these pages
	 * are copied
	 */
	struct page_list pages;
	/* processes for which a survey failed, or did not list all pages in time */
	struct futile_pids futile;
	/* processes for which a copy before the pause failed, but a survey did not */
	struct futile_pids futile_pre_copies;
	/* CPU time that other threads used for the last read */
	uint64_t survey_cpu_ns;
	/* blocks found by the last read; they point into the image */
	struct blocks blocks;
	struct root_thread *threads; /* threads of the process that was read last */
	size_t thread_count;
	uint64_t *words; /* register contents of the threads in `threads` */
	size_t word_count;
	/* symbol and type names of the process that was read last */
	struct names names;
	/*
	 * cached results of the searches for allocators in the executable files of
	 * all processes
	 */
	struct allocator_codes codes;
};

/*
 * Initialize a reader. The procfs and the sampler are borrowed. If a read hangs in the
 * kernel (-ETIME), the reader abandons the sampler and continues with one of its own.
 */
void heap_reader_init(struct heap_reader *reader, const struct procfs *fs,
		      struct sampler *sampler, uint64_t max_pause_ns);
void heap_reader_release(struct heap_reader *reader);

/*
 * Return an upper bound in ns on how long a read would pause the process, estimated from
 * the last figures. Return BYTES_UNKNOWN if these figures are not sufficient.
 */
uint64_t heap_reader_estimate_pause_ns(const struct heap_reader *reader,
				       const struct usage *u,
				       const struct mapping_list *mappings);

/*
 * Read the process like sampler_read_mappings(), and also read its heap. *ret is
 * initialized in every case. If ret->quality says that the heap's owners are known,
 * u->matrix contains them. If the target is not paused, *ret is the last of several
 * readings, with the variation between them.
 *
 * Return 0 on success. If u->error is set, nothing was read. If only the heap could not
 * be read, *u and *mappings are as after sampler_read_mappings(), and the return value is
 * an error of stop_run() or peek_copy(); -EFBIG if the pause would exceed max_pause_ns,
 * with the estimate in ret->expected_ns; -ENOMEM if there is no memory for the copy; or
 * -EOPNOTSUPP if the process is from a captured /proc tree. ret->pause_ns is always the
 * time for which the process was paused.
 *
 * With helpers, reader->answer contains the result of the query. If the heap walk could
 * not determine the owners, the allocator's own statistics are used instead, and
 * ret->is_reported is set; this does not count as a failure. If memstate cannot walk the
 * heap, it does not make a copy.
 */
int heap_reader_read(struct heap_reader *reader, struct usage *u,
		     struct mapping_list *mappings, struct heap *ret);

/*
 * Read the heap like heap_reader_read(), but without querying the allocator. The process
 * must have memory, and its mappings must have just been read.
 */
int heap_reader_walk(struct heap_reader *reader, struct usage *u,
		     struct mapping_list *mappings, struct heap *ret);

/*
 * Find the types of the blocks, the fill levels of the pages, and the blocks that pin
 * nearly free pages in each heap of the process that was read last. Count the objects of
 * Python and Java.
 * `heap` and `mappings` are those of the last read. The mappings must remain valid until
 * the next read, because reader->names refers to them.
 * *ret is initialized; the caller must release it.
 */
void heap_reader_detail(struct heap_reader *reader, const struct heap *heap,
			const struct mapping_list *mappings, struct heap_detail *ret);

/*
 * Read everything in the image that heap_reader_detail() would read, so that a survey
 * finds these pages, too. `input` is the input of the walk that found the heap.
 */
void heap_reader_touch_detail(struct heap_reader *reader, const struct walk_input *input,
			      const struct heap *heap);

#endif
