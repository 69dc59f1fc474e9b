/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_attach - count the allocations of a process that runs already, from now on, and
 * leave it as it was.
 *
 * There are several ways to do so. They are tried in the order of enum count_method until
 * one succeeds. One thread at a time.
 */
#ifndef MS_PROBE_COUNT_ATTACH_H
#define MS_PROBE_COUNT_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/count.h"
#include "model/mapping.h"
#include "model/stacks.h"
#include "probe/count_request.h"

struct count_attach;

/*
 * Whether this machine, and the rights that we have here, allow that way at all; no process is
 * touched. Returns 0, or -errno with words appended to why; -ENOSYS: it cannot be told.
 */
int count_method_check(enum count_method method, struct strbuf *why);

/*
 * Where malloc and its like are for breakpoints in a process with these mappings. Returns 0 with
 * the file's name appended, or -errno with why not.
 */
int count_attach_find(const struct procfs *fs, int pid, const struct mapping_list *mappings,
		      struct strbuf *out);

/*
 * Returns 0; or why not, with the process as it was: -ESRCH; -EPERM, -EACCES; -EBUSY
 * (another tracer), -EAGAIN (no safe moment in time), -ENOENT (there is no malloc to be
 * found in it), -ENODATA (only an allocator that cannot be counted), -EOPNOTSUPP; with
 * words appended to why that end no sentence.
 */
int count_attach_open(const struct count_request *request, struct count_attach **ret,
		      struct strbuf *why);

/*
 * What was counted since it was opened: *ret, which is the caller's to begin with {0} and to
 * free the threads of, is filled anew; what cannot be known is BYTES_UNKNOWN; its
 * means are the attach's. After the process's end it is what was counted up to then, and
 * has_ended. Returns 0 or -errno.
 */
int count_attach_read(struct count_attach *attach, struct count_program *ret);

/* Likewise, where stacks were wanted. -EOPNOTSUPP if they were not. */
int count_attach_read_stacks(struct count_attach *attach, struct stacks *ret);

/*
 * Leave the process as it was before, and free it all; NULL is fine. Returns 0, or -errno
 * if something stays behind: then why says what, and what becomes of it.
 */
int count_attach_close(struct count_attach *attach, struct strbuf *why);

#endif
