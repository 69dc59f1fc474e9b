/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader - read one process with its heap: pause it, copy its memory,
 * resume it, walk the copy, and add the result to the matrix. Queries the
 * allocator too, if requested.
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
#include "walk/blocks/blocks.h"
#include "walk/mark/roots.h"

struct heap_reader {
	const struct procfs *fs;
	struct sampler *sampler;
	struct sampler *own_sampler; /* replaces an abandoned sampler, or NULL */
	uint64_t max_pause_ns;
	bool is_running;   /* never pause the target; figures are estimates then */
	bool is_read_once; /* read once, rather than repeatedly to find the variation */
	/* also copy all memory that may hold pointers; set by the user */
	bool copies_roots;
	/* for querying the allocator; NULL: do not query it. Borrowed. */
	struct helpers *helpers;
	struct helper_answer answer; /* from the last read */
	struct image image;	     /* its memory is reused from read to read */
	struct blocks blocks;	     /* from the last read; they refer to the image */
	struct root_thread *threads; /* likewise */
	size_t thread_count;
	uint64_t *words; /* the contents of the threads' registers */
	size_t word_count;
	struct names names;	      /* of the process that was read last */
	struct allocator_codes codes; /* results for files of any process */
};

/*
 * The procfs and the sampler are borrowed. A reading that hangs in the kernel (-ETIME)
 * abandons the sampler, and the reader continues with a sampler of its own.
 */
void heap_reader_init(struct heap_reader *reader, const struct procfs *fs,
		      struct sampler *sampler, uint64_t max_pause_ns);
void heap_reader_release(struct heap_reader *reader);

/*
 * Estimate, as an upper bound from the last figures, how long the process would be
 * paused, in ns. Returns BYTES_UNKNOWN if the figures do not suffice.
 */
uint64_t heap_reader_estimate_pause_ns(const struct heap_reader *reader,
				       const struct usage *u,
				       const struct mapping_list *mappings);

/*
 * Like sampler_read_mappings(), and read the heap too. *ret is initialized in every case.
 * If ret->quality says that the heap's owners are known, they are in u->matrix. If the
 * target is not paused, the result is that of the last of several readings, with the
 * variation between them.
 *
 * Returns 0; or why the heap was not read, with *u and *mappings as
 * sampler_read_mappings() left them: like stop_run() and peek_copy(); -EFBIG if the pause
 * would exceed max_pause_ns, with the estimate in ret->expected_ns; -ENOMEM if there is
 * no memory for the copy; -EOPNOTSUPP for a captured tree. If u->error is set, nothing
 * was read. ret->pause_ns is the time that the process was paused, whatever the result.
 *
 * With helpers, reader->answer has the result of the query. If the walk did not find the
 * owners, the allocator's figures replace it (heap.is_said), which is not a failure. If
 * the heap cannot be walked, no copy is made.
 */
int heap_reader_read(struct heap_reader *reader, struct usage *u,
		     struct mapping_list *mappings, struct heap *ret);

/*
 * Do the same without a query, for a process that has memory and whose
 * mappings were just read.
 */
int heap_reader_walk(struct heap_reader *reader, struct usage *u,
		     struct mapping_list *mappings, struct heap *ret);

/*
 * Find types, pages and pins of the heap that was read last. mappings: from that reading;
 * they must stay valid until the next reading, because reader->names refers to them. *ret
 * is initialized; the caller releases it.
 */
void heap_reader_detail(struct heap_reader *reader, const struct mapping_list *mappings,
			struct heap_detail *ret);

#endif
