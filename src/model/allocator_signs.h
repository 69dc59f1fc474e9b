/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * allocator_signs - detect which allocator a process uses from its mappings. Every report
 * uses this detection. The files of the program show an allocator that is linked statically
 * (tracee/elf/allocator_code.h), and reading the heap shows which one is used.
 */
#ifndef MS_MODEL_ALLOCATOR_SIGNS_H
#define MS_MODEL_ALLOCATOR_SIGNS_H

#include "model/mapping.h"
#include "model/usage.h"

struct allocator_signs {
	enum allocator libc, other;	    /* found from the mapped libraries */
	uint64_t go_bytes, anonymous_bytes; /* resident bytes */
	bool has_go;
	struct partition_pools {
		uint64_t run_addr, run_end_addr; /* adjacent anonymous mappings */
		uint64_t addr;			 /* where the run may have pools, or 0 */
		uint64_t seen_bytes;		 /* resident from there on */
		uint64_t bytes;			 /* resident in pools that are whole */
		bool is_found;
	} pools;
	uint64_t brk_bytes; /* resident in [heap] */
};

#define ALLOCATOR_SIGNS_INIT              \
	{                                 \
		.libc = ALLOCATOR_UNKNOWN \
	}

/* Add one mapping. Call it for the mappings in ascending address order. */
void allocator_signs_add(struct allocator_signs *signs, const struct mapping *m);

/*
 * Return the allocator in use. PartitionAlloc is returned only if its pools hold at least
 * as much as [heap]: a program that contains V8 may use libc's malloc for its own memory.
 * Go is returned only if its heap holds at least half of the anonymous memory: C code in
 * a Go program uses libc's malloc.
 */
enum allocator allocator_signs_find(const struct allocator_signs *signs);

/*
 * Return true if memstate cannot read heaps of this allocator, so stopping
 * the process is pointless.
 */
bool allocator_is_unreadable(enum allocator allocator);

#endif
