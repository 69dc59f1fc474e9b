/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * points - find the functions that allocate and free in the files that a process has
 * mapped, and the positions of breakpoints in these functions.
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
 * The location of a breakpoint. If is_inner is not set, it is in a function whose calls
 * are counted. If is_inner is set, it is a call or jump from the allocator's code to one
 * of the allocator's own functions. Such an inner call must not be counted, because the
 * program did not make it.
 */
struct count_point {
	enum counted_call call;
	size_t file; /* index of the file in struct count_points */
	/* link-time address of the start of the function, or of the inner call */
	uint64_t vaddr;
	uint64_t offset_bytes; /* file offset of the breakpoint */
	/*
	 * how much lower the stack pointer is at the breakpoint than at the start of the
	 * function, in bytes
	 */
	uint64_t pushed_bytes;
	/*
	 * true if the kernel has to single-step the instruction at the breakpoint, which
	 * is slow
	 */
	bool is_stepped;
	bool is_inner;
	/* true if the size is the first argument; see struct counted_name */
	bool size_is_first;
	/*
	 * If the instruction is a call or jump to another counted function, the index of
	 * that function's breakpoint; otherwise COUNT_POINT_NONE.
	 */
	size_t target;
	struct x86_branch branch;
};

#define COUNT_POINT_NONE SIZE_MAX

/* An ELF file of the process that defines some of the counted functions. */
struct count_file {
	int fd;
	char *name; /* path of the file as in the list of mappings */
};

#define COUNT_POINTS_MAX 512
#define COUNT_FILES_MAX 8

struct count_points {
	struct count_point items[COUNT_POINTS_MAX];
	size_t count;
	/* files that define the functions; the first file defines malloc */
	struct count_file files[COUNT_FILES_MAX];
	size_t file_count;
};

#define COUNT_POINTS_INIT                   \
	{                                   \
		.count = 0, .file_count = 0 \
	}

/*
 * Find the functions to count. Return 0; -ENOENT if no file defines malloc; or, with the
 * reason appended to `why`, -EOPNOTSUPP, -EPERM or another -errno.
 */
int count_points_find(const struct count_place *place, struct count_points *ret,
		      struct strbuf *why);
/* Append the names of the files that define the counted functions. */
void count_points_add_files(const struct count_points *points, struct strbuf *out);

/* Store the descriptors of the searched files in `ret`. Return their number. */
size_t count_points_list_fds(const struct count_points *points, int ret[COUNT_FILES_MAX]);

void count_points_release(struct count_points *points);

#endif
