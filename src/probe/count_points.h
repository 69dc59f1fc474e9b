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
#include "probe/x86_code.h"

/*
 * A function; or, where is_inner, a call or a jump in the allocator's code that leads to one, which
 * is no call of the program's.
 */
struct count_point {
	enum counted_call call;
	size_t file;		/* index */
	uint64_t vaddr;		/* of the function's start, by the file's own addresses */
	uint64_t offset_bytes;	/* of the breakpoint, in the file */
	uint64_t pushed_bytes;	/* by which the stack pointer is lower there than at the function's start */
	bool is_stepped;	/* the kernel has to single-step what is there: that is dear */
	bool is_inner;
	bool size_is_first; /* see struct counted_name */
	/*
	 * Of an inner one, and of a function that begins with one: the number among the points of
	 * the function that it leads to; else COUNT_POINT_NONE.
	 */
	size_t leads_to;
	struct x86_branch branch;
};

#define COUNT_POINT_NONE SIZE_MAX

/* One that some of the functions are in. */
struct count_file {
	int fd;
	char *name; /* as it is mapped */
};

#define COUNT_POINTS_MAX 512
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
/* Append the names of the files. */
void count_points_add_files(const struct count_points *points, struct strbuf *out);

/* Write the descriptors of the files. Returns how many there are. */
size_t count_points_list_fds(const struct count_points *points, int ret[COUNT_FILES_MAX]);

void count_points_release(struct count_points *points);

#endif
