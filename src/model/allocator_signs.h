/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * allocator_signs - detect from the mappings which allocator a process uses. All reports
 * use this detection.
 *
 * The mappings do not show an allocator that is linked statically:
 * tracee/elf/allocator_code.h searches the program's files for its code. Only reading the
 * heap shows which allocator is really used.
 */
#ifndef MS_MODEL_ALLOCATOR_SIGNS_H
#define MS_MODEL_ALLOCATOR_SIGNS_H

#include "model/mapping.h"
#include "model/usage.h"

struct allocator_signs {
	/* libc's allocator, and the allocator of a library that replaces malloc */
	enum allocator libc, other;
	/*
	 * Resident bytes of Go's heap, and of all private anonymous memory
	 * except the stack.
	 */
	uint64_t go_bytes, anonymous_bytes;
	uint64_t go_end_addr; /* end of the last mapping of Go's heap */
	bool has_go;
	struct partition_pools {
		/*
		 * Address range of the current run of adjacent private
		 * anonymous mappings.
		 */
		uint64_t run_addr, run_end_addr;
		/* address at which two PartitionAlloc pools may begin, or 0 */
		uint64_t addr;
		/* resident bytes between addr and run_end_addr */
		uint64_t seen_bytes;
		uint64_t bytes; /* resident bytes in all PartitionAlloc pools */
		bool is_found;
		/* Address range of the first two pools; valid if is_found is set. */
		uint64_t found_addr, found_end_addr;
	} pools;
	uint64_t brk_bytes; /* resident bytes in [heap] */
};

#define ALLOCATOR_SIGNS_INIT              \
	{                                 \
		.libc = ALLOCATOR_UNKNOWN \
	}

/* Add one mapping. The caller adds the mappings in ascending address order. */
void allocator_signs_add(struct allocator_signs *signs, const struct mapping *m);

/*
 * Return the allocator in use, or ALLOCATOR_UNKNOWN. Return PartitionAlloc only if its
 * pools hold at least as many resident bytes as [heap], because a program that contains
 * V8 may use libc's malloc for its own memory. Return Go only if its heap holds at least
 * half of the anonymous memory, because C code in a Go program uses libc's malloc.
 */
enum allocator allocator_signs_find(const struct allocator_signs *signs);

/*
 * Return true if programs use the allocator through malloc(3), so that an unreachable
 * block is a leak. Return false for ALLOCATOR_UNKNOWN and for the heaps of language
 * runtimes, whose garbage collectors free unreachable blocks.
 */
bool allocator_is_malloc(enum allocator allocator);

/*
 * Return true if a search for leaked blocks makes sense: the allocator is a malloc, and
 * programs keep the addresses of its blocks as uncompressed pointers. Return false for
 * PartitionAlloc, because the heaps of V8 and Blink contain compressed addresses.
 */
bool allocator_has_leaks(enum allocator allocator);

/* Return true if memstate can walk the heaps of this allocator. */
bool allocator_is_walked(enum allocator allocator);

#endif
