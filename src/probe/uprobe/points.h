/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * points - find, in the files that a process has mapped, the functions that allocate and
 * free, and the positions for breakpoints in them.
 */
#ifndef MS_PROBE_UPROBE_POINTS_H
#define MS_PROBE_UPROBE_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/count.h"
#include "probe/borrow/x86_code.h"
#include "probe/count/backend.h"

/*
 * A function whose calls are counted. If is_inner is set, it is instead a call or jump
 * from the allocator's code to one of its own functions, which must not be counted as a
 * call of the program.
 */
struct count_point {
	enum counted_call call;
	size_t file; /* index of the file in count_points */
	/* start of the function (or the inner call), as an address in the file */
	uint64_t vaddr;
	uint64_t offset_bytes; /* offset of the breakpoint in the file */
	/*
	 * how much lower the stack pointer is at the breakpoint than at the start of
	 * the function
	 */
	uint64_t pushed_bytes;
	/*
	 * the kernel has to single-step the instruction at the breakpoint, which
	 * is expensive
	 */
	bool is_stepped;
	bool is_inner;
	bool size_is_first; /* see struct counted_name: the size is the first argument */
	/*
	 * For a call or jump to another function, at an inner point or at the start of a
	 * function: index of that other function's point. Otherwise COUNT_POINT_NONE.
	 */
	size_t target;
	struct x86_branch branch;
};

#define COUNT_POINT_NONE SIZE_MAX

/* A file that defines some of the functions in struct count_points. */
struct count_file {
	int fd;
	char *name; /* name of the file, as in the mappings */
};

#define COUNT_POINTS_MAX 512
#define COUNT_FILES_MAX 8

struct count_points {
	struct count_point items[COUNT_POINTS_MAX];
	size_t count;
	struct count_file files[COUNT_FILES_MAX]; /* the first file defines malloc */
	size_t file_count;
};

#define COUNT_POINTS_INIT                   \
	{                                   \
		.count = 0, .file_count = 0 \
	}

/*
 * Find the functions to count. Return 0; -ENOENT if no file defines malloc; or, with the
 * reason appended to why, -EOPNOTSUPP, -EPERM or another -errno.
 */
int count_points_find(const struct count_place *place, struct count_points *ret,
		      struct strbuf *why);
/* Append the names of the files that contain functions. */
void count_points_add_files(const struct count_points *points, struct strbuf *out);

/* Store the descriptors of the files in ret. Return the number of descriptors. */
size_t count_points_list_fds(const struct count_points *points, int ret[COUNT_FILES_MAX]);

void count_points_release(struct count_points *points);

#endif
