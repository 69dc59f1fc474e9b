/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - derive the state of an allocator from a copy of a process's memory.
 *
 * The walkers read only the copy. The copy is untrusted, so they check every address,
 * size and count before they use it. If the memory is corrupt, the result is "unknown".
 * Time and memory remain proportional to the size of the copy.
 */
#ifndef MS_WALK_WALK_H
#define MS_WALK_WALK_H

#include "model/heap.h"
#include "tracee/elf/allocator_code.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"

/*
 * Walk the heap of the allocator that the process uses. *ret lists the arenas that could
 * not be trusted, and *ret_blocks omits these arenas. *ret and *ret_blocks are always
 * initialised, and the caller releases both. *ret_blocks borrows the image.
 *
 * If a process uses several allocators whose heaps can be read, *ret is the first heap,
 * and lists the others. A malloc's heap precedes that of a language runtime. If the heap
 * cannot be read, ret->allocator is still set, and ret->quality is QUALITY_UNKNOWN.
 */
void walk_heap(const struct walk_input *input, struct heap *ret,
	       struct blocks *ret_blocks);

/*
 * Return true if the process maps a library whose malloc replaces libc's, but the walk
 * that set *heap did not find the heap of that malloc. Then set *ret, which must be
 * initialised, to the allocator and the reason why its heap was not read.
 */
bool walk_find_unread(const struct mapping_list *mappings, const struct heap *heap,
		      struct heap *ret);

/*
 * Return true if the mappings or the mapped files show that stopping the process would be
 * useless, because it has no heap that memstate can read. In this case, set
 * ret->allocator as walk_heap() does. *ret must be initialised. process_fd is the
 * process's directory in /proc, or negative to examine only the mappings.
 */
bool walk_is_hopeless(const struct mapping_list *mappings, int process_fd,
		      struct allocator_codes *codes, struct heap *ret);

/*
 * Return true if the mappings show an allocator or a runtime that stores its own data
 * separately from the blocks. The walkers then probably read only a small part of the
 * heap.
 */
bool walk_keeps_data_apart(const struct mapping_list *mappings);

/*
 * Return true if the mappings show no other allocator, such as jemalloc or Go's, and
 * neither Java, V8, Ruby nor Erlang, so that the process probably uses glibc's malloc.
 */
bool walk_is_plain_glibc(const struct mapping_list *mappings);

/*
 * Return true if the process probably uses glibc's malloc, and most of its memory is
 * outside of malloc's arenas: in blocks with their own mappings, of which the walkers
 * read only the first pages, or in mappings of the program.
 */
bool walk_has_small_arenas(const struct mapping_list *mappings);

/*
 * Return true if the process probably uses glibc's malloc, and a considerable part of its
 * memory is in malloc's arenas.
 */
bool walk_has_large_arenas(const struct mapping_list *mappings);

/*
 * Return true if the mapping probably belongs to an arena of glibc's malloc. The walkers
 * read the first words of each chunk of such a mapping.
 */
bool walk_may_be_arena(const struct mapping *m);

#endif
