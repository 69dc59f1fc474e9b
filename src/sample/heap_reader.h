/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_reader - one process with its heap: stop it, copy, let it go, walk the copy, put
 * it into the matrix; and ask its allocator, where that is wanted.
 */
#ifndef MS_SAMPLE_HEAP_READER_H
#define MS_SAMPLE_HEAP_READER_H

#include "model/heap.h"
#include "model/heap_detail.h"
#include "model/image.h"
#include "sample/helpers.h"
#include "sample/names.h"
#include "sample/sampler.h"
#include "walk/blocks.h"
#include "walk/roots.h"

struct heap_reader {
	const struct procfs *fs;
	struct sampler *sampler;
	struct sampler *own_sampler; /* replaces an abandoned one; NULL: there was none */
	uint64_t max_pause_ns;
	bool is_running; /* never stop the target: figures are estimates then */
	bool is_read_once; /* and not several times, to tell how far they are apart */
	bool copies_roots;  /* all memory too that may hold pointers: to be set by the user */
	struct helpers *helpers; /* the allocator is asked through these; NULL: it is not. Borrowed. */
	struct helper_answer answer; /* of the last read */
	struct image image; /* its room is kept from read to read */
	struct blocks blocks; /* of the last read, in the image */
	struct root_thread *threads; /* likewise */
	size_t thread_count;
	uint64_t *words; /* that were in the threads' registers */
	size_t word_count;
	struct names names; /* of the process that was read last */
};

/*
 * The procfs and the sampler are borrowed. A reading that hangs in the kernel (-ETIME)
 * abandons the sampler, and the reader continues with one of its own.
 */
void heap_reader_init(struct heap_reader *reader, const struct procfs *fs,
		      struct sampler *sampler, uint64_t max_pause_ns);
void heap_reader_release(struct heap_reader *reader);

/*
 * How long the process would stand still, from its last figures: a guess on the safe
 * side. BYTES_UNKNOWN if they do not tell.
 */
uint64_t heap_reader_estimate_pause_ns(const struct heap_reader *reader,
				       const struct usage *u,
				       const struct mapping_list *mappings);

/*
 * As sampler_read_mappings(), and the heap too: *ret is initialised, and the heap's
 * owners are in u->matrix if ret->quality says that they are known. Of a target that is
 * not stopped it is the last of several readings, with how far these were apart.
 *
 * Returns 0; or why the heap was not read, with *u and *mappings as
 * sampler_read_mappings() left them: as stop_run() and peek_copy(); -EFBIG when it would
 * take longer than max_pause_ns, ret->expected_ns being the estimate; -ENOMEM when there
 * is no room for the copy; -EOPNOTSUPP for a captured tree. Where u->error is set,
 * nothing was read. ret->pause_ns is how long the process was stopped, whatever came of
 * it.
 *
 * With helpers: reader->answer is what came of asking. Where the walk did not tell the
 * owners, what the allocator said does (heap.is_said), and that is no failure; of one
 * that cannot be walked no copy is made then.
 */
int heap_reader_read(struct heap_reader *reader, struct usage *u,
		     struct mapping_list *mappings, struct heap *ret);

/* The same without asking, of a process that has memory, and whose mappings were just read. */
int heap_reader_walk(struct heap_reader *reader, struct usage *u,
		     struct mapping_list *mappings, struct heap *ret);

/*
 * Types, pages and pins of the heap that was read last. mappings: as that gave them, to
 * stay until the next reading, as reader->names holds on to them. *ret is initialised,
 * and is to be released.
 */
void heap_reader_detail(struct heap_reader *reader, const struct mapping_list *mappings,
			struct heap_detail *ret);

#endif
