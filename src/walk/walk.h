/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk - derive an allocator's state from a copy of a process's
 * memory. Reads only the copy.
 *
 * The copy is untrusted input. The walkers validate every address, size and count before
 * use. Corrupt memory makes the result "unknown", and time and memory stay proportional
 * to the size of the copy.
 */
#ifndef MS_WALK_WALK_H
#define MS_WALK_WALK_H

#include "model/heap.h"
#include "tracee/elf/allocator_code.h"
#include "walk/blocks/blocks.h"
#include "walk/blocks/input.h"

/*
 * Walk the heap of the process's allocator. *ret and *ret_blocks are initialised;
 * release both. *ret reports what could not be trusted, and *ret_blocks omits it.
 * *ret_blocks borrows the image.
 *
 * If a process uses two readable allocators, the one with more resident memory is walked
 * and the other's memory counts as ordinary anonymous memory. If the allocator cannot be
 * read, *ret names it and its quality is unknown.
 */
void walk_heap(const struct walk_input *input, struct heap *ret,
	       struct blocks *ret_blocks);

/*
 * Return true if the mappings or the mapped files show that the process has no heap that
 * can be read, so that there is no need to stop it. *ret must be initialised, and then
 * names the allocator as walk_heap() does. process_fd is the process's directory in
 * /proc, or negative to look at the mappings only.
 */
bool walk_is_hopeless(const struct mapping_list *mappings, int process_fd,
		      struct allocator_codes *codes, struct heap *ret);

#endif
