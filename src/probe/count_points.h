/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_points - where in the files of a process the functions are that allocate and free:
 * for breakpoints.
 */
#ifndef MS_PROBE_COUNT_POINTS_H
#define MS_PROBE_COUNT_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/count.h"
#include "probe/count_way.h"

struct count_point {
	enum counted_call call;
	size_t file;		/* index */
	uint64_t offset_bytes;	/* in the file */
	uint64_t pushed_bytes;	/* by which the stack pointer is lower there than at the function's start */
	bool is_stepped;	/* the kernel has to single-step what is there: that is dear */
};

/* One that some of the functions are in. */
struct count_file {
	int fd;
	char *name; /* as it is mapped */
	/*
	 * Code of the allocator: calls that return to there are its own, and not the
	 * program's. 0, 0: not known. Addresses are the process's.
	 */
	uint64_t inner_start_addr, inner_end_addr;
	/*
	 * There a call is passed on to malloc, or free, by a jump, so that it returns to the
	 * program from there.
	 */
	bool passes_on;
};

#define COUNT_POINTS_MAX 48
#define COUNT_FILES_MAX	 8

struct count_points {
	struct count_point items[COUNT_POINTS_MAX];
	size_t count;
	struct count_file files[COUNT_FILES_MAX]; /* the first has malloc */
	size_t file_count;
};

#define COUNT_POINTS_INIT { .count = 0, .file_count = 0 }

/*
 * Returns 0; -ENOENT if there is no malloc to be found, -EOPNOTSUPP, -EPERM or other
 * -errno with words appended to why.
 */
int count_points_find(const struct count_place *place, struct count_points *ret,
		      struct strbuf *why);
void count_points_release(struct count_points *points);

#endif
