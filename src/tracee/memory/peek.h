/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peek - copy the resident pages of another process, in bulk.
 *
 * Only pages that are there are read: reading one that is not would map or swap it in.
 * "There" is what smaps counts as Rss, so the shared page of zeros is not.
 */
#ifndef MS_TRACEE_MEMORY_PEEK_H
#define MS_TRACEE_MEMORY_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/image.h"

struct peek_range {
	uint64_t start_addr, end_addr; /* page aligned, readable */
	/*
	 * Pages may be shared since a fork, or by KSM. process_vm_readv(2) would give the
	 * target a copy of each (it pins them, which unshares them since Linux 5.19);
	 * they are read through mem, slower.
	 */
	bool is_shared;
	/*
	 * Only pages that are no longer the file's: those of the file may vanish at any time,
	 * and reading one then waits for its file system.
	 */
	bool is_anonymous_only;
};

struct peek {
	int pid;
	int pagemap_fd;	      /* its /proc/PID/pagemap */
	int mem_fd;	      /* its /proc/PID/mem */
	uint64_t deadline_ns; /* monotonic clock; 0: none */
	/* the target runs: a page that goes before it is copied is all zeros, and no error */
	bool is_running;
	bool no_scan; /* act as a kernel without PAGEMAP_SCAN (before Linux 6.7) */
};

/*
 * Copy the resident pages of the ranges, which are in order of address, into an image
 * without runs. Room that was reserved before is used first. Returns 0, -ETIMEDOUT,
 * -ENOMEM, -ESRCH, -EPERM, or -ESTALE when the memory changed under the copy.
 */
int peek_copy(const struct peek *peek, const struct peek_range *ranges, size_t count,
	      struct image *image);

enum page_presence {
	PAGE_ABSENT, /* never touched, given back, or in no mapping */
	PAGE_RESIDENT,
	PAGE_ZEROS, /* the shared page of zeros: read, never written; no part of Rss */
	PAGE_SWAPPED,
};

/*
 * What the page at addr is now. Before Linux 6.7 the page of zeros is resident like any
 * other. 0 or -errno.
 */
int peek_page(int pagemap_fd, uint64_t addr, enum page_presence *ret);

#endif
